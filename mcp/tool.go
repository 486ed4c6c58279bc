package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"hubcli/hub"
)

// tool is one row of the table that drives list, search, describe and call.
type tool struct {
	name, title string
	description string             // the first sentence says when to use it
	input       *jsonschema.Schema // flat, no null unions, each property described
	live        bool               // shown on the progressive surface
	reads       bool               // changes nothing
	idempotent  bool               // twice is as once
	destructive bool               // may end or replace what others rely on
	alone       bool               // works without a session, so that c.hub and c.agent are not for it
	run         func(ctx context.Context, c *call, args json.RawMessage) (*answer, error)
}

// answer is what a tool has to say.
type answer struct {
	data any    // an object; becomes structuredContent
	line string // one compact line: what happened and what to do next
}

// table lists the tools in the order of their names.
var table = sync.OnceValue(func() []tool {
	return slices.Concat(agentTools(), joinTools(), messageTools())
})

// find returns the tool of a name.
func find(name string) (tool, bool) {
	i := slices.IndexFunc(table(), func(t tool) bool { return t.name == name })
	if i < 0 {
		return tool{}, false
	}
	return table()[i], true
}

// define completes a tool whose arguments are an In: the schema comes from its
// fields unless t has one, and what run gets has been checked against it.
func define[In any](t tool, run func(context.Context, *call, In) (*answer, error)) tool {
	if t.input == nil {
		schema, err := jsonschema.For[In](nil)
		if err != nil {
			panic("the arguments of " + t.name + " have no schema: " + err.Error())
		}
		t.input = schema
	}
	resolved := sync.OnceValues(func() (*jsonschema.Resolved, error) { return t.input.Resolve(nil) })
	t.run = func(ctx context.Context, c *call, args json.RawMessage) (*answer, error) {
		schema, err := resolved()
		if err != nil {
			return nil, err
		}
		in, err := decode[In](schema, args)
		if err != nil {
			return nil, hub.Errorf(hub.CodeInvalid, "the arguments of %s are refused: %v", t.name, err).
				WithFix("call hub_describe_tool with name " + t.name + " for what it takes")
		}
		return run(ctx, c, in)
	}
	return t
}

// decode reads arguments that fit a schema.
func decode[In any](schema *jsonschema.Resolved, args json.RawMessage) (in In, err error) {
	if len(bytes.TrimSpace(args)) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	var loose any
	if err := json.Unmarshal(args, &loose); err != nil {
		return in, err
	}
	if err := schema.Validate(loose); err != nil {
		return in, err
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	if err := dec.Decode(&in); err != nil {
		return in, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return in, errors.New("something follows the object")
	}
	return in, nil
}
