package adapter

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"hubcli/integrations/adapter/edit"
)

// document is the text of a file of the hub's own that names its server: a JSON document, or
// a program of which one line does.
type document struct {
	head, server, tail string   // server is JSON
	keys               []string // of the server's entry in it; none: it is the entry
}

// serverLine begins the line of a program that names the server; ";" and the line's end end it.
const serverLine = "const server = "

// documentOf finds the server in the text of a file; ok is false if there is none.
func documentOf(text string) (d document, ok bool) {
	if head, rest, found := strings.Cut(text, serverLine); found {
		server, tail, ended := strings.Cut(rest, ";\n")
		return document{head: head + serverLine, server: server, tail: ";\n" + tail}, ended && json.Valid([]byte(server))
	}
	d = document{server: text, keys: []string{"mcpServers", serverName}}
	_, found, err := edit.Get(edit.JSON, []byte(text), edit.Pointer{Keys: d.keys})
	return d, err == nil && found
}

// entry returns the server's entry.
func (d document) entry() json.RawMessage {
	if len(d.keys) == 0 {
		return json.RawMessage(d.server)
	}
	raw, _, _ := edit.Get(edit.JSON, []byte(d.server), edit.Pointer{Keys: d.keys}) // documentOf has found it
	return raw
}

// with returns the text with another value of a member of the server's entry.
func (d document) with(name string, value any) (string, error) {
	server, err := edit.Replace(edit.JSON, []byte(d.server), edit.Pointer{Keys: append(append([]string{}, d.keys...), name)}, value)
	return d.head + string(server) + d.tail, err
}

// same reports whether two texts say the same, whatever the blanks in their JSON.
func (d document) same(o document) bool {
	var a, b any
	if d.head != o.head || d.tail != o.tail || json.Unmarshal([]byte(d.server), &a) != nil || json.Unmarshal([]byte(o.server), &b) != nil {
		return false
	}
	return reflect.DeepEqual(a, b)
}

// variablesOf is the name of the member with the variables of a server.
func variablesOf(entry map[string]json.RawMessage) string {
	if _, ok := entry["environment"]; ok {
		return "environment"
	}
	return "env"
}

// withVariables returns the text of a file of the hub's own, present, with other variables of the
// server. A text without a server stays as it is.
func withVariables(present []byte, vars map[string]string) ([]byte, error) {
	d, ok := documentOf(string(present))
	if !ok {
		return present, nil
	}
	var entry map[string]json.RawMessage
	if err := json.Unmarshal(d.entry(), &entry); err != nil {
		return nil, err
	}
	text, err := d.with(variablesOf(entry), vars)
	return bytes.Clone([]byte(text)), err
}
