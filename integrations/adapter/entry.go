package adapter

import (
	"bytes"
	"encoding/json"
	"slices"

	"hubcli/hub"
)

// serverName is the name under which harnesses know the bridge. Clients put it
// before the names of tools, so it is short and has no underscore, which some
// take for a separator.
const serverName = "hub"

// Entry is the content of every harness's entry: the executable and how it
// finds the hub.
type Entry struct {
	Command  string // absolute path of the executable
	BaseURL  string // empty: the default
	DataRoot string // empty: the default
	Storage  string // store that a hub started by the entry opens; empty: the default
	GOOS     string
}

// args returns the arguments of the bridge. In a file that several harnesses
// read they name no harness.
func (e Entry) args(h hub.Harness) []string {
	args := []string{"mcp"}
	if h != "" {
		args = append(args, "--harness", string(h))
	}
	if e.BaseURL != "" {
		args = append(args, "--base-url", e.BaseURL)
	}
	if e.Storage != "" {
		args = append(args, "--storage", e.Storage)
	}
	return args
}

// env returns the variables that differ from the bridge's defaults, because
// harnesses pass on little of their own environment.
func (e Entry) env() object {
	if e.DataRoot == "" {
		return object{}
	}
	return object{{"HUB_DATA_ROOT", e.DataRoot}}
}

// object is a JSON object with members in a given order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// text returns v as the JSON text of a file.
func text(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic("harness: a template is not JSON: " + err.Error())
	}
	return b.String()
}

// shape makes the value of the entry. h is the harness that the arguments name;
// "" names none.
type shape func(e Entry, h hub.Harness) any

// common is the shape {command, args, env} with a harness's own members before
// and after.
func common(before, behind object) shape {
	return func(e Entry, h hub.Harness) any {
		value := slices.Clone(before)
		value = append(value, member{"command", e.Command}, member{"args", e.args(h)}, member{"env", e.env()})
		return append(value, behind...)
	}
}

// The shapes, with the timeout of a call if the format has one. The bridge's
// waits are shorter.
var (
	plainShape   = common(nil, nil)
	stdioShape   = common(object{{"type", "stdio"}}, nil)
	claudeShape  = common(object{{"type", "stdio"}}, object{{"timeout", 600_000}}) // ms
	geminiShape  = common(nil, object{{"timeout", 600_000}})                       // ms
	copilotShape = common(object{{"type", "local"}}, object{{"tools", []string{"*"}}})
	clineShape   = common(nil, object{{"disabled", false}, {"timeout", 120}})  // s
	zedShape     = common(nil, object{{"timeout", 120}})                       // s
	crushShape   = common(object{{"type", "stdio"}}, object{{"timeout", 120}}) // s, for connecting
)

// opencodeShape has command and arguments in one list, and a timeout in ms.
func opencodeShape(e Entry, h hub.Harness) any {
	return object{
		{"type", "local"},
		{"command", append([]string{e.Command}, e.args(h)...)},
		{"environment", e.env()},
		{"enabled", true},
		{"timeout", 60_000},
	}
}

// codexShape has timeouts in s.
func codexShape(e Entry, h hub.Harness) any {
	value := object{
		{"command", e.Command},
		{"args", e.args(h)},
		{"startup_timeout_sec", 30},
		{"tool_timeout_sec", 300},
		// Where the bridge finds the session that it wakes, and whether it does without a terminal.
		{"env_vars", []any{"CODEX_HOME", hub.EnvWithoutTerminal}},
	}
	if env := e.env(); len(env) > 0 {
		value = append(value, member{"env", env})
	}
	return value
}
