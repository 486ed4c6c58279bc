package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"hubcli/hub"
)

// maxHits is how many tools a search of tools shows.
const maxHits = 10

// prefix begins the name of every tool.
const prefix = "hub_"

// metaTools returns the tools that find, describe and call the other tools, for
// harnesses that are shown few tools. They read the table of tools only in a
// call, because the table contains them.
func metaTools() []tool {
	return []tool{
		define(tool{
			name: "hub_search_tools", title: "Find a tool", live: true, alone: true, reads: true, idempotent: true,
			description: "Find the hub's other tools: rooms, tasks, claims, locks, decisions, artifacts, memory, agents, waiting.",
		}, searchTools),
		define(tool{
			name: "hub_describe_tool", title: "Describe a tool", live: true, alone: true, reads: true, idempotent: true,
			description: "Get a tool's full schema before hub_call_tool.",
		}, describeTool),
		define(tool{
			name: "hub_call_tool", title: "Call a tool", live: true, alone: true,
			description: "Call any hub tool by name.",
		}, callTool),
	}
}

type searchToolsIn struct {
	Query string `json:"query,omitempty" jsonschema:"what you want to do"`
}

// toolHit describes a tool briefly.
type toolHit struct {
	Name     string   `json:"name"`
	Use      string   `json:"use"`
	Required []string `json:"required"`
}

// toolHits holds the tools that fit best. If more tools fit, or none, Others
// names all other tools.
type toolHits struct {
	Tools     []toolHit `json:"tools"`
	Truncated bool      `json:"truncated"`
	Others    []string  `json:"others,omitempty"`
}

func searchTools(_ context.Context, _ *call, in searchToolsIn) (*answer, error) {
	ranked := rank(in.Query)
	hits := toolHits{Tools: []toolHit{}}
	for _, t := range ranked[:min(len(ranked), maxHits)] {
		hits.Tools = append(hits.Tools, toolHit{t.name, t.description, append([]string{}, t.input.Required...)})
	}
	hits.Truncated = len(ranked) > maxHits
	if hits.Truncated || len(ranked) == 0 {
		for _, t := range table() {
			if !slices.ContainsFunc(hits.Tools, func(h toolHit) bool { return h.Name == t.name }) {
				hits.Others = append(hits.Others, t.name)
			}
		}
	}
	line := "Next: hub_describe_tool for the arguments, then hub_call_tool."
	if len(ranked) == 0 {
		line = "No tool fits these words. The list others names all tools."
	}
	return &answer{data: hits, line: fmt.Sprintf("%d tools. %s", len(hits.Tools), line)}, nil
}

// noise lists words that do not help to find a tool.
const noise = " how do does did can could should would must may will i me my we us our you your it its the an and or of to in on at by is are be am other others" +
	" for from with what where when which why who want need like please there this that if not tool tools hub use "

// rank returns the tools that contain a word of the query, the best first. An
// empty query returns all tools.
func rank(query string) []tool {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	type scored struct {
		tool  tool
		score int
	}
	var list []scored
	words = slices.DeleteFunc(words, func(w string) bool { return strings.Contains(noise, " "+w+" ") })
	for _, t := range table() {
		s := scored{tool: t}
		for _, w := range words {
			s.score += t.score(w)
		}
		if s.score > 0 || len(words) == 0 {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return b.score - a.score })
	out := make([]tool, len(list))
	for i, s := range list {
		out[i] = s.tool
	}
	return out
}

// score says how well a word fits a tool. It cuts common endings off the word,
// so that tasks finds task and claiming finds claim.
func (t *tool) score(w string) int {
	stem := w
	for _, end := range []string{"ing", "es", "s"} {
		if short := strings.TrimSuffix(w, end); len(short) >= 3 && short != w {
			stem = short
			break
		}
	}
	n := 0
	if len(stem) < 2 {
		return 0
	}
	if strings.Contains(t.name, stem) {
		n += 4
	}
	if title := strings.ToLower(t.title); strings.HasPrefix(title, stem) {
		n += 4
	} else if strings.Contains(title, stem) {
		n += 2
	}
	if strings.Contains(strings.ToLower(t.description), stem) {
		n++
	}
	for _, name := range t.input.PropertyOrder {
		if strings.Contains(name, stem) {
			n++
			break
		}
	}
	return n
}

type toolName struct {
	Name string `json:"name" jsonschema:"tool"`
}

// described is the full description of a tool.
type described struct {
	Name        string             `json:"name"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	ReadOnly    bool               `json:"read_only"`
	Idempotent  bool               `json:"idempotent"`
	InputSchema *jsonschema.Schema `json:"input_schema"`
}

func describeTool(_ context.Context, _ *call, in toolName) (*answer, error) {
	t, err := named(in.Name)
	if err != nil {
		return nil, err
	}
	return &answer{
		data: described{t.name, t.title, t.description, t.reads, t.idempotent, t.input},
		line: fmt.Sprintf(`Next: hub_call_tool {"name":%q,"arguments":{…}}; it takes %s`, t.name, t.usage()),
	}, nil
}

// named finds a tool by its name, with or without the prefix. Error: invalid,
// with the names of similar tools.
func named(name string) (tool, error) {
	given := strings.ToLower(strings.TrimSpace(name))
	if i := strings.LastIndex(given, "__"); i >= 0 {
		given = given[i+2:] // some harnesses write mcp__hub__hub_claim
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
	Name      string                     `json:"name" jsonschema:"tool"`
	Arguments map[string]json.RawMessage `json:"arguments,omitempty" jsonschema:"as its schema says"`
}

func callTool(ctx context.Context, c *call, in callToolIn) (*answer, error) {
	t, err := named(in.Name)
	if err != nil {
		return nil, err
	}
	if t.name == "hub_call_tool" {
		return nil, hub.Invalid("name", "hub_call_tool calls the other tools, not itself").WithFix("name the tool that you want to call")
	}
	args, err := json.Marshal(in.Arguments)
	if err != nil {
		return nil, hub.Invalid("arguments", "the arguments are not JSON")
	}
	return c.bridge.run(ctx, c, t, args) // run opens the session, because hub_call_tool works without one
}
