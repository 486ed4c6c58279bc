package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"hubcli/api"
	"hubcli/hub"
)

// services are what the Go client offers of the hub.
var services = []reflect.Type{
	reflect.TypeFor[hub.Service](), reflect.TypeFor[hub.Control](), reflect.TypeFor[hub.Capsules](), reflect.TypeFor[hub.CapsuleImports](),
	reflect.TypeFor[hub.Licenses](), reflect.TypeFor[hub.Adapters](), reflect.TypeFor[hub.Status](), reflect.TypeFor[hub.Browsers](), reflect.TypeFor[hub.Overviews](),
}

// client makes the methods of the Go client that do nothing but send their arguments: of services,
// by the names that methodOf gives, where no method is written by hand.
func client(src *source, root string) ([]byte, error) {
	written, err := methodsByHand(filepath.Join(root, "api", "client"))
	if err != nil {
		return nil, err
	}
	declared := map[string]reflect.Type{}
	for _, service := range services {
		for i := range service.NumMethod() {
			declared[service.Method(i).Name] = service.Method(i).Type
		}
	}
	methods := map[string]string{}
	for i := range api.Operations() {
		op := &api.Operations()[i]
		name := methodOf(op.ID)
		if t, ok := declared[name]; ok && !written[name] {
			if code, plain := src.method(op, name, t); plain {
				methods[name] = code
			}
		}
	}
	var out bytes.Buffer
	out.WriteString(madeBy + "package client\n\nimport (\n\"context\"\n\n\"hubcli/hub\"\n)\n")
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		out.WriteString(methods[name])
	}
	return format.Source(out.Bytes())
}

// methodOf is the name of an operation in Go: its id, of reads without list and get.
func methodOf(id string) string {
	for _, verb := range []string{"list", "get"} {
		if rest, ok := strings.CutPrefix(id, verb); ok && rest != "" && rest[0] < 'a' {
			return rest
		}
	}
	return strings.ToUpper(id[:1]) + id[1:]
}

// methodsByHand are the methods of Client in files that nothing makes.
func methodsByHand(dir string) (map[string]bool, error) {
	files, err := parse(token.NewFileSet(), dir)
	if err != nil {
		return nil, err
	}
	written := map[string]bool{}
	for _, f := range files {
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil && !ast.IsGenerated(f) && isClient(fn.Recv.List[0].Type) {
				written[fn.Name.Name] = true
			}
		}
	}
	return written, nil
}

func isClient(receiver ast.Expr) bool {
	star, ok := receiver.(*ast.StarExpr)
	if !ok {
		return false
	}
	name, ok := star.X.(*ast.Ident)
	return ok && name.Name == "Client"
}

// method is one method, if its signature is plain: a context, the parameter of the path, the body
// and the agent that looks, each if the operation has it; and what the operation answers.
func (s *source) method(op *api.Operation, name string, t reflect.Type) (code string, plain bool) {
	in, target, arguments := 1, fmt.Sprintf("to(%q)", op.ID), "ctx context.Context"
	if strings.Contains(op.Path, "{") {
		if t.NumIn() <= in || t.In(in).Kind() != reflect.String && t.In(in).Kind() != reflect.Int64 {
			return "", false
		}
		arguments += ", id " + t.In(in).String()
		target = fmt.Sprintf("at(%q, id)", op.ID)
		in++
	}
	body := "nil"
	if op.Body.Type != nil && op.Body.Type.NumField() > 0 {
		if t.NumIn() <= in || t.In(in) != op.Body.Type {
			return "", false
		}
		arguments += ", in " + t.In(in).String()
		body = "in"
		in++
	}
	if looks := reflect.TypeFor[hub.AgentID](); body == "nil" && t.NumIn() == in+1 && t.In(in) == looks && op.Agent == "agent_id" {
		arguments += ", viewer hub.AgentID"
		body = `params("agent_id", c.viewer(viewer))`
		in++
	}
	if t.NumIn() != in || t.NumOut() != 2 || op.Answer.Type == nil {
		return "", false
	}
	row := op.Answer.Type.String()
	result, send := t.Out(0), ""
	switch {
	case op.Changes() && outcomeOf(result) == op.Answer.Type && (op.Answer.Form == api.FormRow):
		send = "write"
	case op.Changes() && result == op.Answer.Type && op.Answer.Form == api.FormRow:
		send = "change"
	case !op.Changes() && result == op.Answer.Type && op.Answer.Form == api.FormRow:
		send = "get"
	case !op.Changes() && result == reflect.SliceOf(op.Answer.Type) && op.Answer.Form == api.FormRows:
		send, row = "get", "[]"+row
	default:
		return "", false
	}
	returned := row
	if send == "write" {
		returned = "hub.Outcome[" + row + "]"
	}
	words := fmt.Sprintf("// %s calls %s: %s", name, op.ID, s.rows[op.ID].summary)
	if op.Plane == api.PlaneOperator {
		words += " It carries the operator token."
	}
	return fmt.Sprintf("\n%s\nfunc (c *Client) %s(%s) (%s, error) {\nreturn %s[%s](ctx, c, %s, %s)\n}\n", words, name, arguments, returned, send, row, target, body), true
}

// outcomeOf returns the row of an outcome, or nil.
func outcomeOf(t reflect.Type) reflect.Type {
	if f, ok := t.FieldByName("Row"); ok && strings.HasPrefix(t.Name(), "Outcome[") {
		return f.Type
	}
	return nil
}
