package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// tool is one row of the table that drives list, search, describe and call.
type tool struct {
	name, title string
	description string      // the first sentence says when to use it
	form        func() form // of its arguments; made when it is first wanted, because a bridge begins without it
	meta        bool        // finds, describes or calls other tools
	apart       bool        // stands on no surface: a search finds it
	preload     bool        // shown at once by harnesses that hide most tools behind a search
	reads       bool        // changes nothing
	idempotent  bool        // twice is as once
	alone       bool        // works without a session, so that c.hub and c.agent are not for it
	run         func(ctx context.Context, c *call, args json.RawMessage) (*answer, error)
}

// form says which arguments a tool takes.
type form struct {
	input  *jsonschema.Schema           // no null unions, each property described
	bounds map[string]bounds            // by argument: what input does not say
	words  map[string]map[string]string // by argument: values that stand for another value
	hushed []string                     // arguments that it takes and input leaves out; see silent
}

var tables struct {
	once sync.Once
	all  []tool
}

// table lists the tools in the order of their names. It is made when it is first
// wanted: some of the tools read it themselves.
func table() []tool {
	tables.once.Do(func() {
		tables.all = slices.Concat(
			startTools(), planTools(), workTools(), messageTools(), pollTools(), rpcTools(), agentTools(), joinTools(), roomTools(), leaseTools(), taskTools(),
			watchTools(), recordTools(), memoryTools(), askTools(), spawnTools(), browserTools(), metaTools(),
		)
		slices.SortFunc(tables.all, func(a, b tool) int { return strings.Compare(a.name, b.name) })
	})
	return tables.all
}

// ToolNames returns the names of all tools that a bridge may show, sorted.
func ToolNames() []string {
	var names []string
	for _, t := range table() {
		names = append(names, t.name)
	}
	return names
}

// wantsAll reports whether the arguments of a call, which are checked, ask for
// all members of the answer.
func wantsAll(args json.RawMessage) bool {
	var in struct {
		Verbose json.RawMessage `json:"verbose"`
	}
	return json.Unmarshal(args, &in) == nil && string(inForm(silent()["verbose"], in.Verbose)) == "true"
}

// find returns the tool of a name.
func find(name string) (tool, bool) {
	i := slices.IndexFunc(table(), func(t tool) bool { return t.name == name })
	if i < 0 {
		return tool{}, false
	}
	return table()[i], true
}

// define completes a tool whose arguments are an In: the schema is made of its
// fields, and what run gets has been checked against it.
func define[In any](t tool, run func(context.Context, *call, In) (*answer, error)) tool {
	t.form = sync.OnceValue(func() (f form) {
		schema, err := schemaOf[In]()
		if err != nil {
			panic("the arguments of " + t.name + " have no schema: " + err.Error())
		}
		if f.bounds, err = boundsOf[In](); err != nil {
			panic("the arguments of " + t.name + " have no bounds: " + err.Error())
		}
		f.words, f.hushed, f.input = otherWords[In](), hush(schema), schema
		return f
	})
	t.run = func(ctx context.Context, c *call, args json.RawMessage) (*answer, error) {
		in, err := decode[In](&t, args)
		if err != nil {
			return nil, err
		}
		c.verbose = c.verbose || wantsAll(args)
		return run(ctx, c, in)
	}
	return t
}
