package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"hubcli/hub"
)

// Models know other programs better than this one. What they often send in
// another form than the schema asks for is accepted where its meaning is
// certain, and refused with the way out where it is not.

// agentArguments are the arguments that hold one agent id.
var agentArguments = []string{"to_agent", "from_agent", "agent_id", "assignee", "offer_to", "handle"}

// everyone are words that models write for all agents of a room.
var everyone = []string{"all", "everyone", "everybody", "anyone", "team", "room", "*", "here", "channel", "broadcast"}

// otherWords returns the values that stand for a value of the schema, by the
// tag words of the fields of In: "in_progress=working,completed=done".
func otherWords[In any]() map[string]map[string]string {
	out := map[string]map[string]string{}
	for field := range fields(reflect.TypeFor[In]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		for pair := range strings.SplitSeq(field.Tag.Get("words"), ",") {
			if theirs, ours, ok := strings.Cut(pair, "="); ok {
				if out[name] == nil {
					out[name] = map[string]string{}
				}
				out[name][theirs] = ours
			}
		}
	}
	return out
}

// accepted returns an argument in the form of its schema. What it cannot bring
// into that form it returns as it is, and the check of the schema refuses it.
func (t *tool) accepted(p *jsonschema.Schema, name string, raw json.RawMessage) json.RawMessage {
	raw = inForm(p, raw)
	var text string
	if p.Type != "string" || json.Unmarshal(raw, &text) != nil {
		return raw
	}
	before := text
	if slices.Contains(agentArguments, name) {
		text = strings.TrimPrefix(strings.TrimSpace(text), "@")
	}
	if ours, ok := t.form().words[name][strings.ToLower(strings.ReplaceAll(text, "-", "_"))]; ok {
		text = ours
	}
	if text == before {
		return raw
	}
	return asString(text)
}

// inForm gives a value the type that the schema names: a number or boolean that
// is written as a string, an object where its JSON text is asked for and the
// other way round, a single value where a list is asked for.
func inForm(p *jsonschema.Schema, raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	var text string
	isText := len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil
	trimmed := []byte(strings.TrimSpace(text))
	switch p.Type {
	case "integer", "number":
		if trimmed = bytes.TrimPrefix(trimmed, []byte("#")); isText && ofType[float64](trimmed) {
			raw = trimmed
		}
		if p.Type == "integer" {
			return whole(raw)
		}
	case "boolean":
		if isText && ofType[bool](bytes.ToLower(trimmed)) {
			return bytes.ToLower(trimmed)
		}
	case "string":
		if strings.HasPrefix(p.Description, "JSON ") && (ofType[map[string]any](raw) || ofType[[]any](raw)) {
			return asString(string(raw))
		}
	case "object":
		if isText && ofType[map[string]json.RawMessage](trimmed) {
			return trimmed
		}
	case "array":
		return inList(p, raw, isText, trimmed)
	}
	return raw
}

// whole writes a whole number without a point and an exponent: 60.0 and 6e1 are 60, as JSON
// Schema has it. Other values stay as they are.
func whole(raw json.RawMessage) json.RawMessage {
	var v float64
	if !bytes.ContainsAny(raw, ".eE") || raw[0] == '"' || json.Unmarshal(raw, &v) != nil || v != math.Trunc(v) || math.Abs(v) > hub.MaxMessageID {
		return raw
	}
	return strconv.AppendInt(nil, int64(v), 10)
}

// inList is inForm for a list.
func inList(p *jsonschema.Schema, raw json.RawMessage, isText bool, trimmed []byte) json.RawMessage {
	var items []json.RawMessage
	switch {
	case isText && ofType[[]any](trimmed):
		raw = trimmed
	case isText && p.Items != nil && p.Items.Type == "object" && ofType[map[string]any](trimmed):
		raw = slices.Concat([]byte("["), trimmed, []byte("]"))
	case isText || ofType[float64](raw) || p.Items != nil && p.Items.Type == "object" && ofType[map[string]any](raw):
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	if p.Items == nil || json.Unmarshal(raw, &items) != nil {
		return raw
	}
	for i := range items {
		items[i] = inForm(p.Items, items[i])
	}
	b, err := json.Marshal(items)
	if err != nil {
		return raw
	}
	return b
}

// ofType reports whether raw is JSON of a type.
func ofType[T any](raw []byte) bool {
	var v *T
	return json.Unmarshal(raw, &v) == nil && v != nil
}

func asString(s string) json.RawMessage {
	b, err := compact(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}

// misdirected refuses a recipient that names all agents instead of one: a
// message to it would reach no agent.
func misdirected(name, value string) error {
	if (name != "to_agent" && name != "offer_to" && name != "assignee") || !slices.Contains(everyone, strings.ToLower(value)) {
		return nil
	}
	fix := "name one agent; hub_list_agents shows who is live"
	if name == "to_agent" {
		fix = "to write to your whole room call hub_post_message and leave to_agent out; to write to one agent name it"
	}
	return hub.Invalid(name, quoted(value, 60)+" is not an agent").WithFix(fix)
}

// deeds names the tool that does what a message of a kind would only say.
var deeds = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"claim":    "hub_take or hub_claim reserves work",
		"release":  "hub_done or hub_release gives a claim back",
		"handoff":  "hub_update_task with task_id and offer_to hands a task over",
		"artifact": "hub_add_artifact stores a text or file in the room",
	}
})

// deed refuses a kind of message that names a deed: the message would be taken
// for the deed, and nothing would be done.
func deed(kind string) error {
	tool, ok := deeds()[strings.ToLower(kind)]
	if !ok {
		return nil
	}
	return hub.Invalid("kind", fmt.Sprintf("a message of kind %s only says so and does nothing", kind)).
		WithFix(tool + "; to say something leave kind out")
}
