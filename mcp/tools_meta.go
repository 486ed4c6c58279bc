package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"hubcli/hub"
)

// maxHits is how many tools a search of tools shows, with their arguments.
const maxHits = 3

// prefix begins the name of every tool.
const prefix = "hub_"

// metaTools returns the tools that find, describe and call the other tools, for
// harnesses that are shown few tools. They read the table of tools only in a
// call, because the table contains them.
func metaTools() []tool {
	return []tool{
		define(tool{
			name: "hub_search_tools", title: "Find a tool", meta: true, alone: true, reads: true, idempotent: true,
			description: "Find other hub tools: returns the best three, with arguments.",
		}, searchTools),
		define(tool{
			name: "hub_describe_tool", title: "Describe a tool", meta: true, alone: true, reads: true, idempotent: true,
			description: "Get one tool's arguments.",
		}, describeTool),
		define(tool{
			name: "hub_call_tool", title: "Call a tool", meta: true, alone: true,
			description: "Call any hub tool.",
		}, callTool),
	}
}

type searchToolsIn struct {
	Query string `json:"query,omitempty" jsonschema:"your aim"`
}

// toolHits holds the tools that fit best, ready to be called. If no tool fits,
// Names holds the names of all.
type toolHits struct {
	Tools []toolHit `json:"tools" lean:"empty"`
	Names []string  `json:"names,omitempty"`
}

// toolHit describes a tool with its arguments.
type toolHit struct {
	Name        string             `json:"name"`
	Use         string             `json:"use"`
	InputSchema *jsonschema.Schema `json:"input_schema"`
}

func searchTools(_ context.Context, _ *call, in searchToolsIn) (*answer, error) {
	hits := toolHits{Tools: []toolHit{}}
	for _, t := range best(in.Query) {
		hits.Tools = append(hits.Tools, toolHit{t.name, t.description, t.form().input})
	}
	line := "Call one with hub_call_tool."
	if len(hits.Tools) == 0 {
		for _, t := range table() {
			hits.Names = append(hits.Names, t.name)
		}
		line = "No tool fits these words. Get the arguments of one with hub_describe_tool."
	}
	return &answer{data: hits, line: line}, nil
}

// best returns the tools to show for a query.
func best(query string) []tool {
	ranked := rank(query)
	return ranked[:min(len(ranked), maxHits)]
}

// noise lists words that do not help to find a tool.
const noise = " how do does did can could should would must may will i me my we us our you your it its the an and or of to in on at by is are be am other others" +
	" for from with what where when which why who want need like please there this that if not tool tools hub use "

// queryWords returns the words of a query that help to find a tool.
func queryWords(query string) []string {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 2 })
	telling := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.Contains(noise, " "+w+" ") })
	if len(telling) == 0 {
		return words // "who am I"
	}
	return telling
}

// rank returns the tools that contain a word of the query, the best first. A
// word that few tools contain counts more.
func rank(query string) []tool {
	all := table()
	total := make([]float64, len(all))
	for _, w := range queryWords(query) {
		scores, found := make([]int, len(all)), 0
		for i := range all {
			if scores[i] = all[i].score(w); scores[i] > 0 {
				found++
			}
		}
		for i, n := range scores {
			if n > 0 {
				total[i] += float64(n) / float64(found+2)
			}
		}
	}
	var places []int
	for i, n := range total {
		if n > 0 {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(total[b], total[a]) })
	out := make([]tool, len(places))
	for i, at := range places {
		out[i] = all[at]
	}
	return out
}

// stem cuts common endings off a word, so that tasks and task are one word, and
// decided and decisions begin alike.
func stem(w string) string {
	for _, end := range []string{"isions", "ision", "ided", "ide", "ing", "ed", "es", "s", "e"} {
		if short := strings.TrimSuffix(w, end); len(short) >= 3 && short != w {
			return short
		}
	}
	return w
}

// has reports whether a word of text has the stem.
func has(text, of string) bool {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		if stem(w) == of {
			return true
		}
	}
	return false
}

// score says how well a word fits a tool. The name and the title say what the
// tool does, the hint what else it is good for.
func (t *tool) score(w string) int {
	w = stem(w)
	n := 0
	if has(strings.TrimPrefix(t.name, prefix), w) {
		n += 4
	}
	if has(t.title, w) {
		n += 2
	}
	if has(hints()[t.name], w) {
		n += 3
	}
	if has(t.description, w) {
		n += 2
	}
	if slices.ContainsFunc(t.form().input.PropertyOrder, func(name string) bool { return has(name, w) }) {
		n++
	}
	return n
}

type toolName struct {
	Name string `json:"name" jsonschema:"tool"`
}

// described is the full description of a tool.
type described struct {
	Name        string             `json:"name"`
	Title       string             `json:"title" lean:"-"`
	Description string             `json:"description"`
	ReadOnly    bool               `json:"read_only" lean:"-"`
	Idempotent  bool               `json:"idempotent" lean:"-"`
	InputSchema *jsonschema.Schema `json:"input_schema"`
	Also        map[string]string  `json:"also"` // arguments that the schema leaves out
}

func describeTool(_ context.Context, _ *call, in toolName) (*answer, error) {
	t, err := named(in.Name)
	if err != nil {
		return nil, err
	}
	also := map[string]string{}
	for name, p := range silent() {
		if t.property(name) != nil {
			also[name] = p.Description
		}
	}
	return &answer{
		data: described{t.name, t.title, t.description, t.reads, t.idempotent, t.form().input, also},
		line: fmt.Sprintf(`Call it with hub_call_tool {"name":%q,"arguments":{…}}.`, t.name),
	}, nil
}

// named finds a tool by its name, with or without the prefix. Error: invalid,
// with the names of similar tools.
func named(name string) (tool, error) {
	given := strings.ToLower(strings.TrimSpace(name))
	if i := strings.LastIndex(given, "__"); i >= 0 {
		given = given[i+2:] // some harnesses write mcp__hub__hub_claim
	}
	if i := strings.LastIndex(given, prefix); i > 0 {
		given = given[i:] // others write mcp_hub_hub_claim or hub_hub_claim
	}
	if t, ok := find(given); ok {
		return t, nil
	}
	if t, ok := find(prefix + given); ok {
		return t, nil
	}
	e := hub.Invalid("name", "there is no tool "+quoted(name, 60)).WithFix("hub_search_tools finds tools and shows their names")
	var similar []string
	for _, t := range rank(name)[:min(len(rank(name)), 3)] {
		similar = append(similar, t.name)
	}
	if len(similar) > 0 {
		e = e.With("similar", similar)
	}
	return tool{}, e
}

type callToolIn struct {
	Name      string `json:"name" jsonschema:"tool"`
	Arguments string `json:"arguments,omitempty" jsonschema:"JSON object" most:"16000000"`
}

func callTool(ctx context.Context, c *call, in callToolIn) (*answer, error) {
	t, err := named(in.Name)
	if err != nil {
		return nil, err
	}
	if t.name == "hub_call_tool" {
		return nil, hub.Invalid("name", "hub_call_tool calls the other tools, not itself").WithFix("name the tool that you want to call")
	}
	args, err := object("arguments", in.Arguments)
	if err != nil {
		return nil, err
	}
	return c.bridge.run(ctx, c, t, args) // run opens the session, because hub_call_tool works without one
}
