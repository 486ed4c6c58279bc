package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hubcli/hub"
)

// schema is a mapping of YAML whose members keep their order.
type schema []member

type member struct {
	name  string
	value any
}

// with returns a copy in which a member has a value.
func (s schema) with(name string, value any) schema {
	s = slices.Clone(s)
	for i := range s {
		if s[i].name == name {
			s[i].value = value
			return s
		}
	}
	return append(s, member{name, value})
}

func (s schema) get(name string) any {
	for _, m := range s {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// MarshalYAML implements yaml.Marshaler. Mappings of single values stand on one line.
func (s schema) MarshalYAML() (any, error) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	short := 0
	for _, m := range s {
		var key, value yaml.Node
		if n, ok := m.value.(json.Number); ok {
			value = yaml.Node{Kind: yaml.ScalarNode, Value: n.String()}
		} else if err := value.Encode(m.value); err != nil {
			return nil, err
		}
		if err := key.Encode(m.name); err != nil {
			return nil, err
		}
		if _, list := m.value.([]string); list {
			value.Style = yaml.FlowStyle
		}
		if value.Kind == yaml.ScalarNode && len(value.Value) < 60 {
			short++
		}
		node.Content = append(node.Content, &key, &value)
	}
	if short == len(s) && short < 5 {
		node.Style = yaml.FlowStyle
	}
	return node, nil
}

func typed(name string) schema { return schema{{"type", name}} }
func refTo(name string) schema { return schema{{"$ref", "#/components/schemas/" + name}} }

// maker makes the schemas of types of Go.
type maker struct {
	src   *source
	made  map[string]schema // by name; the frame's are in it from the beginning
	wrong []error
}

// scalars are the types whose schemas stand in the frame by themselves.
var scalars = map[reflect.Type]string{
	reflect.TypeFor[hub.AgentID]():     "AgentID",
	reflect.TypeFor[hub.ThreadID]():    "ThreadID",
	reflect.TypeFor[hub.MessageID]():   "ID",
	reflect.TypeFor[hub.Time]():        "Time",
	reflect.TypeFor[json.RawMessage](): "Metadata",
	reflect.TypeFor[hub.More]():        "More",
}

// isSet reports whether a type of strings has no other values than its constants, or than a table
// of package hub has.
func (m *maker) isSet(name string) bool {
	return len(m.src.values[name]) > 0 && name != "ProviderID" && name != "ChannelName" || name == "Code" || name == "Harness"
}

// nameOf returns the name of the schema of a struct or of a set of values.
func nameOf(t reflect.Type) string {
	if t == reflect.TypeFor[hub.Info]() {
		return "HubInfo"
	}
	return t.Name()
}

// of returns the schema of a type, as a reference if it has a name.
func (m *maker) of(t reflect.Type) schema {
	if name, ok := scalars[t]; ok {
		return refTo(name)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.of(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return m.as("base64")
		}
		return typed("array").with("items", m.of(t.Elem()))
	case reflect.Array:
		length := t.Len()
		return typed("array").with("items", m.of(t.Elem())).with("minItems", length).with("maxItems", length)
	case reflect.Map:
		return typed("object").with("additionalProperties", m.of(t.Elem()))
	case reflect.Struct:
		return m.named(t)
	case reflect.String:
		if m.isSet(t.Name()) {
			return m.set(t.Name())
		}
		return typed("string")
	case reflect.Bool:
		return typed("boolean")
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return typed("integer")
	case reflect.Float64:
		return typed("number")
	default:
		return schema{}
	}
}

// named makes the schema of a struct once, and returns a reference to it.
func (m *maker) named(t reflect.Type) schema {
	name := nameOf(t)
	if m.made[name] == nil {
		m.made[name] = schema{} // a struct may hold itself
		m.made[name] = m.object(t)
	}
	return refTo(name)
}

// set makes the schema of a type of strings with its constants, and returns a reference to it.
func (m *maker) set(name string) schema {
	list := m.src.values[name]
	switch name {
	case "Code":
		for code := range hub.Codes() {
			list = append(list, string(code))
		}
		slices.Sort(list)
	case "Harness":
		list = nil
		for _, harness := range hub.Harnesses() {
			list = append(list, string(harness))
		}
	}
	m.made[name] = m.described(typed("string").with("enum", list), m.src.docs[name])
	return refTo(name)
}

func (m *maker) described(s schema, words string) schema {
	if words == "" {
		return s
	}
	return s.with("description", words)
}

// object is the schema of a struct.
func (m *maker) object(t reflect.Type) schema {
	var required []string
	var properties schema
	for f := range fields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		b, err := parseBounds(f.Tag.Get("bounds"), m.src.limits)
		if err != nil {
			m.wrong = append(m.wrong, fmt.Errorf("%s.%s: %w", t.Name(), f.Name, err))
			continue
		}
		optional := strings.Contains(options, "omitempty")
		if !optional && !b.fromSession {
			required = append(required, name)
		}
		words := m.src.docs[owner(t, f).Name()+"."+f.Name]
		properties = append(properties, member{name, m.property(f.Type, b, isInput(t), optional, words)})
	}
	s := m.described(typed("object"), m.src.docs[t.Name()])
	if required != nil {
		s = s.with("required", required)
	}
	return s.with("properties", properties)
}

// fields are those of a struct that are on the wire, embedded ones taken in.
func fields(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.Anonymous && name != "" && name != "-" && !yield(f) {
				return
			}
		}
	}
}

// isInput reports whether a struct is the body of a request: null in it is as if the member
// were absent.
func isInput(t reflect.Type) bool { return strings.HasSuffix(t.Name(), "Input") }

// owner returns the struct that declares a field: t, or one that it embeds.
func owner(t reflect.Type, f reflect.StructField) reflect.Type {
	for _, i := range f.Index[:len(f.Index)-1] {
		t = t.Field(i).Type
	}
	return t
}

// property is the schema of a member of a struct.
func (m *maker) property(t reflect.Type, b *bounds, input, optional bool, words string) schema {
	if optional && b.kind != "" {
		b.low = "" // empty is left out
	}
	s := m.bounded(m.of(t), b)
	if input && optional && t.Kind() == reflect.Bool && b.absent == "" {
		s = s.with("default", false)
	}
	if input && (optional || b.fromSession) || !input && t.Kind() == reflect.Pointer {
		s = nullable(s)
	}
	if b.fromSession {
		s = s.with("x-from-session", true)
	}
	return m.described(s, words)
}

// nullable is a schema that takes null, too.
func nullable(s schema) schema {
	name, plain := s.get("type").(string)
	if !plain {
		if len(s) == 0 {
			return s
		}
		return schema{{"anyOf", []schema{s, typed("null")}}}
	}
	s = s.with("type", []string{name, "null"})
	if list, ok := s.get("enum").([]string); ok {
		values := make([]any, 0, len(list)+1)
		for _, v := range list {
			values = append(values, v)
		}
		s = s.with("enum", append(values, nil))
	}
	return s
}

// inline returns what a reference to a scalar stands for. bare is its type alone.
func (m *maker) inline(s schema, bare bool) schema {
	name, ok := s.get("$ref").(string)
	if ok {
		s = m.made[strings.TrimPrefix(name, "#/components/schemas/")]
	}
	if kind, scalar := s.get("type").(string); scalar && bare && kind != "array" && kind != "object" {
		return typed(kind)
	}
	return s
}
