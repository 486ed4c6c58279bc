package mcp

import (
	"reflect"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// rawList is a list of objects as it was given, for a tool that reads it itself.
type rawList []byte

// UnmarshalJSON keeps the bytes.
func (l *rawList) UnmarshalJSON(b []byte) error {
	*l = slices.Clone(b)
	return nil
}

// lists are the schemas of the arguments that are lists of objects. They name what models write;
// an object of a list may have more members, if its tool takes them.
var lists = sync.OnceValue(func() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[plannedTasks](): listOf(
			listMember{name: "title", required: true}, listMember{name: "details"}, listMember{name: "name"}, listMember{name: "after", list: true},
			listMember{name: "after_failed", enum: []any{"continue"}},
			listMember{name: "assignee"},
		),
		reflect.TypeFor[attachmentList](): listOf(
			listMember{name: "type"}, listMember{name: "content"}, listMember{name: "path"},
		),
	}
})

// listMember is one of the objects of a list: a text, or a list of texts.
type listMember struct {
	name     string
	required bool
	list     bool
	enum     []any
}

func listOf(members ...listMember) *jsonschema.Schema {
	one := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, m := range members {
		p := &jsonschema.Schema{Type: "string", Enum: m.enum}
		if m.list {
			p = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}
		}
		one.Properties[m.name] = p
		one.PropertyOrder = append(one.PropertyOrder, m.name)
		if m.required {
			one.Required = append(one.Required, m.name)
		}
	}
	return &jsonschema.Schema{Type: "array", Items: one}
}
