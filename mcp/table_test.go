package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

var toolNamePattern = regexp.MustCompile(`^hub_[a-z_]+$`)

// TestTable holds every tool to the rules that harnesses make.
func TestTable(t *testing.T) {
	for _, row := range table() {
		t.Run(row.name, func(t *testing.T) {
			if !toolNamePattern.MatchString(row.name) || len(row.name) > 40 {
				t.Errorf("the name is no tool name of at most 40 characters")
			}
			if row.title == "" || !strings.HasSuffix(row.description, ".") || utf8.RuneCountInString(row.description) > 300 {
				t.Errorf("title %q, description %q: wants a title and one or two sentences", row.title, row.description)
			}
			key := slices.Contains(row.form().hushed, "idempotency_key")
			if row.reads == key && !slices.Contains(keyless, row.name) {
				t.Errorf("reads %v, has an idempotency key %v", row.reads, key)
			}
			_, limit := row.form().input.Properties["limit"]
			_, cursor := row.form().input.Properties["cursor"]
			if limit != cursor && row.name != "hub_poll_messages" {
				t.Errorf("limit %v, cursor %v: a list has both", limit, cursor)
			}
			checkSchema(t, row.form().input)
			checkAnnotations(t, declare(row))
		})
	}
}

// keyless write nothing themselves, or take the key of what they call.
var keyless = []string{"hub_poll_messages", "hub_call_tool", "hub_start"}

// checkSchema refuses what some harness does not understand: unions, references,
// nested objects and properties that nothing is said about.
func checkSchema(t *testing.T, s *jsonschema.Schema) {
	t.Helper()
	b, err := json.Marshal(s)
	require.NoError(t, err)
	for _, word := range []string{"anyOf", "oneOf", "allOf", "$ref", "$defs", "null", `"not"`} {
		if strings.Contains(string(b), word) {
			t.Errorf("the schema has %s: %s", word, b)
		}
	}
	if s.Type != "object" || !strings.Contains(string(b), `"properties":{`) { // OpenAI refuses a request with a function without them
		t.Errorf("the schema is no object with properties: %s", b)
	}
	for name, p := range s.Properties {
		if p.Description == "" {
			t.Errorf("nothing is said about %s", name)
		}
		switch p.Type {
		case "string", "integer", "number", "boolean":
		case "array":
			if p.Items == nil || !slices.Contains([]string{"string", "integer", "object"}, p.Items.Type) {
				t.Errorf("the items of %s are neither plain values nor objects", name)
			}
		default:
			t.Errorf("%s is of type %q", name, p.Type)
		}
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			t.Errorf("%s is required and there is no such property", name)
		}
	}
}

// checkAnnotations reads them as a client does: what is left out is true.
func checkAnnotations(t *testing.T, d *sdk.Tool) {
	t.Helper()
	b, err := json.Marshal(d)
	require.NoError(t, err)
	var sent struct {
		Annotations map[string]any `json:"annotations"`
	}
	require.NoError(t, json.Unmarshal(b, &sent))
	for _, name := range []string{"readOnlyHint", "idempotentHint", "destructiveHint", "openWorldHint"} {
		if _, ok := sent.Annotations[name].(bool); !ok {
			t.Errorf("annotation %s is not sent", name)
		}
	}
	if sent.Annotations["openWorldHint"] != false {
		t.Error("the tool reaches beyond the hub")
	}
	if sent.Annotations["destructiveHint"] != false {
		t.Error("the tool destroys: Codex refuses it where nobody can be asked")
	}
}

// TestNoToolNeedsApproval reads the list as Codex does, which decides by the
// annotations whether a call needs the user's approval; with approval_policy never,
// as in all of codex exec, it refuses a call that does.
func TestNoToolNeedsApproval(t *testing.T) {
	asks := func(a *sdk.ToolAnnotations) bool {
		is := func(hint *bool) bool { return hint == nil || *hint }
		switch {
		case a == nil:
			return true
		case a.DestructiveHint != nil && *a.DestructiveHint:
			return true
		case a.ReadOnlyHint:
			return false
		}
		return is(a.DestructiveHint) || is(a.OpenWorldHint)
	}
	h := testhub.Start(t)
	for surface, want := range map[hub.Surface]int{hub.SurfaceFull: len(table()) - len(metaTools()), hub.SurfaceProgressive: 5} {
		me := bridgeTo(t, h, func(c *Config) { c.Surface, c.Harness = surface, "claude-code" }) // which is shown the most
		list, err := me.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != want {
			t.Fatalf("%s: %v, wants %d tools", surface, err, want)
		}
		for _, d := range list.Tools {
			if asks(d.Annotations) {
				t.Errorf("%s: a call of %s needs approval: %s", surface, d.Name, mustJSON(t, d.Annotations))
			}
		}
		me.end()
	}
}

// TestBadArgumentsAreRefusedAlike: whatever is wrong with the arguments of whatever
// tool, the answer is an error with code and way out, directly and through
// hub_call_tool.
func TestBadArgumentsAreRefusedAlike(t *testing.T) {
	me := bridgeTo(t, testhub.Start(t), nil)
	for _, row := range table() {
		bad := []map[string]any{{"no_such_argument": 1}}
		for name, p := range allProperties(row) {
			bad = append(bad, map[string]any{name: wrong(p)})
			if len(p.Enum) > 0 {
				bad = append(bad, map[string]any{name: "none of them"})
			}
		}
		if len(row.form().input.Required) > 0 {
			bad = append(bad, map[string]any{})
		}
		for _, args := range bad {
			direct := refusalOf(t, me, row.name, args)
			if row.name == "hub_call_tool" {
				continue
			}
			if through := refusalOf(t, me, "hub_call_tool", map[string]any{"name": row.name, "arguments": args}); through != direct {
				t.Errorf("%s %v: refused as\n%s\nand through hub_call_tool as\n%s", row.name, args, direct, through)
			}
		}
	}
}

// TestStringsAreBounded: no string of a call is so long that the hub cannot be asked,
// and a key that no header carries is refused; a JSON text that is given as an object
// is asked for as what it is.
func TestStringsAreBounded(t *testing.T) {
	me := bridgeTo(t, testhub.Start(t), nil)
	for _, row := range table() {
		for name, p := range row.form().input.Properties {
			if p.Type != "string" || len(p.Enum) > 0 {
				continue
			}
			limit := row.form().bounds[name].most
			if p.MaxLength != nil {
				limit = *p.MaxLength
			}
			if limit <= 0 || limit > defaultMost && strings.HasSuffix(name, "_id") {
				t.Errorf("%s of %s may have %d characters", name, row.name, limit)
			}
			if limit > 40_000 {
				continue
			}
			said := refusalOf(t, me, row.name, map[string]any{name: strings.Repeat("x", limit+1)})
			if !strings.Contains(said, "too long") {
				t.Errorf("%s of %s with %d characters: %s", name, row.name, limit+1, said)
			}
		}
	}
	for _, key := range []string{"a\nb", "ä", strings.Repeat("k", 256)} {
		if said := refusalOf(t, me, "hub_post_message", map[string]any{"body": "x", "idempotency_key": key}); !strings.Contains(said, "printable ASCII") {
			t.Errorf("the key %q: %s", key, said)
		}
	}
	for _, value := range []any{"[1]", "text", []int{1}, 7} {
		if said := refusalOf(t, me, "hub_post_message", map[string]any{"body": "x", "metadata": value}); !strings.Contains(said, "a JSON object in a string") {
			t.Errorf("metadata %v: %s", value, said)
		}
	}
}

// allProperties returns those of the schema and those that it leaves out.
func allProperties(row tool) map[string]*jsonschema.Schema {
	all := maps.Clone(row.form().input.Properties)
	if all == nil {
		all = map[string]*jsonschema.Schema{}
	}
	for name := range silent() {
		if p := row.property(name); p != nil {
			all[name] = p
		}
	}
	return all
}

// wrong is a value that does not fit a property.
func wrong(p *jsonschema.Schema) any {
	switch {
	case p.Type == "boolean":
		return "text"
	case p.Items != nil && p.Items.Type == "object":
		return 7
	}
	return map[string]any{"an": "object"}
}

// refusalOf calls a tool that is to refuse its arguments, and returns what it says.
func refusalOf(t *testing.T, r *rig, name string, args map[string]any) string {
	t.Helper()
	res, err := r.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	said := mustJSON(t, res.StructuredContent)
	var e refused
	if err := json.Unmarshal([]byte(said), &e); err != nil || !res.IsError || e.Code != "invalid" || e.Error == "" || e.Fix == "" {
		t.Errorf("%s %v: answers %s, wants an error with code invalid and a fix", name, args, said)
	}
	if !strings.Contains(text(res), "invalid: ") || !strings.Contains(text(res), "fix: ") {
		t.Errorf("%s %v: the text says %q", name, args, text(res))
	}
	return said
}

// TestDescribeIsTheList: what is listed, described and checked is one thing.
func TestDescribeIsTheList(t *testing.T) {
	me := bridgeTo(t, testhub.Start(t), nil)
	list, err := me.ListTools(context.Background(), nil)
	require.NoError(t, err)
	want := 0
	for _, row := range table() {
		if !row.apart {
			want++
		}
	}
	if len(list.Tools) != want {
		t.Errorf("%d tools are listed, the table has %d that do not stand apart", len(list.Tools), want)
	}
	for _, listed := range list.Tools {
		var d struct {
			Name, Description string
			InputSchema       json.RawMessage `json:"input_schema"`
		}
		me.must("hub_describe_tool", map[string]any{"name": listed.Name}, &d)
		var shown, want any
		if json.Unmarshal(d.InputSchema, &shown) != nil || json.Unmarshal([]byte(mustJSON(t, listed.InputSchema)), &want) != nil {
			t.Fatal("the schema is no JSON")
		}
		if d.Description != listed.Description || mustJSON(t, shown) != mustJSON(t, want) {
			t.Errorf("%s is listed as %s and described as %s", listed.Name, mustJSON(t, want), d.InputSchema)
		}
	}
	if said := me.refused("hub_describe_tool", map[string]any{"name": "claim_it"}); !strings.Contains(said, "hub_claim") {
		t.Errorf("an unknown name is answered with %q, wants similar names", said)
	}
}

// TestSearchToolsFinds holds the search to what models ask for.
func TestSearchToolsFinds(t *testing.T) {
	me := bridgeTo(t, testhub.Start(t), nil)
	for query, want := range map[string]string{
		"claiming work": "hub_claim", "lock a file": "hub_lock", "tasks": "hub_list_tasks", "remember facts": "hub_remember",
		"wait in the background": "hub_watch", "invite": "hub_create_invite", "decisions": "hub_list_decisions",
		"ask the human": "hub_ask_human", "who else is working": "hub_room_status", "what was decided": "hub_list_decisions",
		"wait for messages from teammates": "hub_poll_messages", "message other agents": "hub_dm", "take over a task": "hub_take",
		"finish a task": "hub_done", "who am I": "hub_whoami", "release a lock": "hub_unlock", "hand over a task": "hub_update_task",
	} {
		var hits struct {
			Tools []struct {
				Name        string
				InputSchema any `json:"input_schema"`
			}
			Names []string
		}
		me.must("hub_search_tools", map[string]any{"query": query}, &hits)
		if len(hits.Tools) == 0 || len(hits.Tools) > maxHits || !slices.Contains(toolNames(best(query)), want) {
			t.Errorf("%q finds %s, wants %s among at most %d", query, toolNames(best(query)), want, maxHits)
		}
		if len(hits.Names) > 0 {
			t.Errorf("%q lists the names of %d more tools", query, len(hits.Names))
		}
		for _, h := range hits.Tools {
			var row tool
			var want any
			if row, _ = find(h.Name); json.Unmarshal([]byte(mustJSON(t, row.form().input)), &want) != nil || mustJSON(t, h.InputSchema) != mustJSON(t, want) {
				t.Errorf("%q shows %s with the schema %s", query, h.Name, mustJSON(t, h.InputSchema))
			}
		}
	}
	for query, want := range map[string]string{
		"ask the human": "hub_ask_human", "who else is working": "hub_room_status hub_list_agents", "what was decided": "hub_list_decisions",
	} {
		if found := toolNames(best(query)); len(found) == 0 || !strings.Contains(want, found[0]) {
			t.Errorf("%q finds %s, wants %s first", query, found, want)
		}
	}
	for _, query := range []string{"how do I wait", "wait", "How can I wait for others?"} {
		if found := toolNames(best(query)); !slices.Contains(found, "hub_watch") || !slices.Contains(found, "hub_poll_messages") {
			t.Errorf("%q finds %s", query, found)
		}
	}
	for _, query := range []string{"", "xyzzy", "人工智能"} {
		var hits toolHits
		me.must("hub_search_tools", map[string]any{"query": query}, &hits)
		if len(hits.Tools) != 0 || len(hits.Names) != len(table()) {
			t.Errorf("%q shows %d tools and %d names, want the names of all %d", query, len(hits.Tools), len(hits.Names), len(table()))
		}
	}
}

func toolNames(list []tool) []string {
	var names []string
	for _, t := range list {
		names = append(names, t.name)
	}
	return names
}
