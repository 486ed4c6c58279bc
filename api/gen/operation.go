package main

import (
	"errors"
	"fmt"
	"strings"

	"hubcli/api"
)

// operation describes one operation.
func (m *maker) operation(op *api.Operation, shared *shared) (schema, error) {
	said, ok := m.src.rows[op.ID]
	if !ok {
		return nil, errors.New("its row has no comment")
	}
	s := m.described(schema{{"operationId", op.ID}, {"summary", said.summary}}, said.description)
	if op.Errors != "" {
		s = s.with("x-codes", strings.Fields(op.Errors))
	}
	if said.bounded != "" {
		s = s.with("x-bounded", said.bounded)
	}
	switch {
	case op.Plane == api.PlaneOperator:
		s = s.with("security", []schema{{{"operator", []string{}}}})
	case op.Auth == api.AuthNone:
		s = s.with("security", []schema{{}})
	}
	parameters, err := m.parameters(op, &said, shared)
	if err != nil {
		return nil, err
	}
	s = s.with("parameters", parameters)
	if t := op.Body.Type; t != nil && t.NumField() > 0 {
		s = s.with("requestBody", schema{{"content", schema{{api.ContentType, schema{{"schema", m.of(t)}}}}}})
	}
	answer := m.answer(op, said.answer)
	var responses schema
	if op.Makes != api.MakesRow {
		responses = responses.with("200", answer)
	}
	if op.Makes != api.MakesNothing {
		responses = responses.with("201", answer)
	}
	return s.with("responses", responses.with("default", component("responses", "Error"))), nil
}

func component(kind, name string) schema {
	return schema{{"$ref", "#/components/" + kind + "/" + name}}
}

// keyed reports whether a call takes an idempotency key.
func keyed(op *api.Operation) bool { return op.Changes() && !op.Unkeyed }

// parameters describes what a call sends beside its body.
func (m *maker) parameters(op *api.Operation, said *prose, shared *shared) (list []schema, err error) {
	add := func(p parameter, in string) {
		described, refused := m.parameter(p, in)
		err = errors.Join(err, refused)
		list = append(list, described)
	}
	if _, name, found := strings.Cut(op.Path, "{"); found {
		name = strings.TrimRight(name[:strings.Index(name, "}")], ".")
		p, known := shared.path[name]
		if said.path != nil {
			p, known = *said.path, said.path.name == name
		}
		if !known {
			return nil, fmt.Errorf("say in a paragraph Path: of its comment what %s is", name)
		}
		add(p, "path")
	}
	for _, p := range said.query {
		if p.alone {
			var known bool
			if p, known = shared.query[p.name]; !known {
				return nil, fmt.Errorf("no parameter %s is shared: say what it is", p.name)
			}
		}
		add(p, "query")
	}
	if said.header != nil {
		add(*said.header, "header")
	}
	for _, name := range []string{api.HeaderInstance, api.HeaderSession, api.HeaderOperator, api.HeaderRelay} {
		list = append(list, component("parameters", name))
	}
	if op.Wait.By == api.WaitSec && op.NotRelayed == "" {
		list = append(list, component("parameters", api.HeaderMaxWait))
	}
	if keyed(op) {
		list = append(list, component("parameters", api.HeaderIdempotency))
	}
	return list, err
}

func (m *maker) parameter(p parameter, in string) (schema, error) {
	b, err := parseBounds(p.bounds, m.src.limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	form := typed("string")
	if p.repeated {
		form = typed("array").with("items", form)
	}
	form = m.bounded(form, b)
	s := schema{{"name", p.sent}, {"in", in}}
	if in == "path" || p.required {
		s = s.with("required", true)
	}
	return m.described(s, p.description).with("schema", form), nil
}

// shared are the parameters that rows name without describing them.
type shared struct{ query, path map[string]parameter }

func readShared() (*shared, error) {
	s := &shared{query: map[string]parameter{}, path: map[string]parameter{}}
	for _, list := range []struct {
		into map[string]parameter
		text string
	}{{s.query, sharedQuery}, {s.path, sharedPath}} {
		read, err := parseQuery(list.text)
		if err != nil {
			return nil, err
		}
		for _, p := range read {
			list.into[p.name] = p
		}
	}
	return s, nil
}

// answer describes a success.
func (m *maker) answer(op *api.Operation, words string) schema {
	headers := schema{{api.HeaderInstance, component("headers", api.HeaderInstance)}}
	if keyed(op) {
		headers = headers.with(api.HeaderReplayed, component("headers", api.HeaderReplayed))
	}
	var content schema
	if op.Answer.Type != nil || op.Answer.Schema != "" {
		content = content.with(api.ContentType, schema{{"schema", m.envelope(&op.Answer)}})
	}
	for media := range strings.FieldsSeq(op.Media) {
		text := typed("string")
		if media == "application/octet-stream" {
			text = text.with("format", "binary")
		}
		content = content.with(media, schema{{"schema", text}})
	}
	return schema{{"description", words}, {"headers", headers}, {"content", content}}
}

// extra is a member of an envelope beside its result.
type extra struct {
	name     string
	form     schema
	required bool
}

// extras are those of the forms of answers.
var extras = map[api.Form][]extra{
	api.FormPages:  {{"NextCursor", refTo("NextCursor"), false}},
	api.FormLease:  {{"Acquired", typed("boolean"), true}, circle},
	api.FormPosted: {{"Recipient", refTo("Recipient"), false}, {"Muted", refTo("Mute"), false}},
	api.FormFeed:   {{"NextSinceID", refTo("Cursor"), true}, circle},
	api.FormFound:  {{"Behind", refTo("Count"), true}},
}

var circle = extra{"Circle", schema{{"type", "array"}, {"minItems", 2}, {"items", refTo("AgentID")}}, false}

// suffixes part the names of the answers that have the same rows.
var suffixes = map[api.Form]string{
	api.FormRows: "List", api.FormPages: "List", api.FormLease: "Grant", api.FormPosted: "Posted", api.FormFeed: "Page", api.FormFound: "Page",
}

// envelope makes the schema of a JSON answer, and returns a reference to it.
func (m *maker) envelope(answer *api.Answer) schema {
	name, result := answer.Schema, refTo(answer.Schema)
	if answer.Type != nil {
		name, result = nameOf(answer.Type), m.of(answer.Type)
	}
	if answer.Form == api.FormBare {
		return result
	}
	switch answer.Form {
	case api.FormRows, api.FormPages, api.FormFeed, api.FormFound:
		result = typed("array").with("items", result)
		if answer.Most > 0 {
			result = result.with("maxItems", answer.Most)
		}
	case api.FormRow, api.FormLease, api.FormPosted, api.FormBare:
	}
	name += suffixes[answer.Form] + "Answer"
	required, properties := []string{"ok", "result"}, schema{{"ok", typed("boolean").with("const", true)}, {"result", result}}
	for _, x := range extras[answer.Form] {
		wire := snake(x.name)
		properties = append(properties, member{wire, m.described(x.form, m.src.docs["Envelope."+x.name])})
		if x.required {
			required = append(required, wire)
		}
	}
	m.made[name] = typed("object").with("required", required).with("properties", properties)
	return refTo(name)
}

// snake is the name of a member as the wire has it.
func snake(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		upper := r >= 'A' && r <= 'Z'
		if upper && lower {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
		lower = !upper
	}
	return b.String()
}
