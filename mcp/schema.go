package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"hubcli/hub"
	"hubcli/internal/strictjson"
)

// schemaOf makes the schema of a tool's arguments of the fields of In, each property of one
// plain type; docs/tools.md says which formats of models it has to fit. Beside the tags json and
// jsonschema a field may have more: enum (values, parted by commas), range (minimum and maximum of
// a number, or the maximum length of a string), most (a maximum length that is
// enforced but left out of the schema: the hub has the exact limit, and schemas
// cost tokens) and words (see otherWords). range and most may name a member of an input of the hub
// instead, such as ClaimInput.ttl_sec: its bounds are meant.
func schemaOf[In any]() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: lists()})
	if err != nil {
		return nil, err
	}
	if s.Properties == nil { // strict clients refuse an object that has no member of this name
		s.Properties = map[string]*jsonschema.Schema{}
	}
	plainly(s)
	for field := range fields(reflect.TypeFor[In]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p == nil {
			return nil, fmt.Errorf("field %s has no property", field.Name)
		}
		setEnum(p, field.Tag.Get("enum"))
		if err := setRange(p, inputLimit(field.Tag.Get("range"))); err != nil {
			return nil, fmt.Errorf("field %s: %w", field.Name, err)
		}
	}
	return s, nil
}

// plainly takes out of a schema what clients need not know: that null is absent, and that
// unknown members are refused. It would cost each tool tokens.
func plainly(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" { // a pointer tells absent from zero
		s.Type, s.Types = s.Types[1], nil
	}
	s.AdditionalProperties = nil
	for _, p := range s.Properties {
		plainly(p)
	}
	if s.Items != nil {
		plainly(s.Items)
	}
}

func setEnum(p *jsonschema.Schema, list string) {
	if list == "" {
		return
	}
	for value := range strings.SplitSeq(list, ",") {
		p.Enum = append(p.Enum, value)
	}
}

// fields are those of a struct, embedded ones taken in.
func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			if !f.Anonymous && f.Tag.Get("json") != "" && !yield(f) {
				return
			}
		}
	}
}

// defaultMost is the maximum length of a string without a tag of its own:
// names, ids and cursors travel in URLs, which have little room.
const defaultMost = 1_000

// bounds limit one argument beyond what its schema says.
type bounds struct {
	most         int      // characters of a string whose schema sets no length
	least, limit *float64 // of a number; nil: none
}

// boundsOf returns the bounds of the fields of In.
func boundsOf[In any]() (map[string]bounds, error) {
	out := map[string]bounds{}
	for field := range fields(reflect.TypeFor[In]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		b, err := bounds{most: defaultMost}, error(nil)
		if most := inputLimit(field.Tag.Get("most")); most != "" {
			b.most, err = strconv.Atoi(most)
		}
		if low, high, two := strings.Cut(inputLimit(field.Tag.Get("range")), ","); two && err == nil {
			b.least, b.limit, err = limits(low, high)
		}
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", field.Name, err)
		}
		out[name] = b
	}
	return out, nil
}

func limits(low, high string) (least, most *float64, err error) {
	l, err := strconv.ParseFloat(low, 64)
	m, err2 := strconv.ParseFloat(high, 64)
	return &l, &m, errors.Join(err, err2)
}

// toldMaximum is the highest maximum of a number that a schema names: no model comes near a higher one.
const toldMaximum = 1_000_000

// setRange tells the client of a range. That a count is not negative goes without saying.
func setRange(p *jsonschema.Schema, tag string) error {
	if tag == "" {
		return nil
	}
	low, high, two := strings.Cut(tag, ",")
	if !two {
		n, err := strconv.Atoi(low)
		p.MaxLength = &n
		return err
	}
	least, most, err := limits(low, high)
	if err != nil {
		return err
	}
	if *least > 1 {
		p.Minimum = least
	}
	if *most <= toldMaximum {
		p.Maximum = most
	}
	return nil
}

// silent are arguments that tools take and schemas leave out, because each
// schema would repeat them. The instructions say once what they do.
var silent = sync.OnceValue(func() map[string]*jsonschema.Schema {
	return map[string]*jsonschema.Schema{
		"idempotency_key": {Type: "string", Description: "repeat a failed write with the same key: it happens once"},
		"new":             {Type: "boolean", Description: "true: the agent is still to come, although its id is like a known one"},
		"verbose":         {Type: "boolean", Description: "true: the answer has all members"},
	}
})

// property returns what the tool says of an argument, or nil if it takes none
// of this name.
func (t *tool) property(name string) *jsonschema.Schema {
	if p := t.form().input.Properties[name]; p != nil {
		return p
	}
	if name == "verbose" || slices.Contains(t.form().hushed, name) {
		return silent()[name]
	}
	return nil
}

// hush takes the silent arguments out of a schema, and returns them.
func hush(s *jsonschema.Schema) (hushed []string) {
	for name := range silent() {
		if s.Properties[name] != nil {
			hushed = append(hushed, name)
			delete(s.Properties, name)
		}
	}
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool { return slices.Contains(hushed, name) })
	return hushed
}

// decode checks arguments against a schema and reads them. null is absent.
func decode[In any](t *tool, args json.RawMessage) (in In, err error) {
	given, err := arguments(args)
	if err != nil {
		return in, refuse(t, err)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := t.property(name)
		if p == nil {
			return in, refuse(t, unknown(t, name))
		}
		if string(given[name]) == "null" {
			delete(given, name)
			continue
		}
		given[name] = t.accepted(p, name, given[name])
		if err := fits(p, name, given[name], t.form().bounds[name]); err != nil {
			return in, refuse(t, err)
		}
	}
	for _, name := range t.form().input.Required {
		if _, ok := given[name]; !ok {
			return in, refuse(t, hub.Invalid(name, name+" is missing"))
		}
	}
	b, err := json.Marshal(given)
	if err != nil {
		return in, refuse(t, err)
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return in, refuse(t, hub.Invalid("arguments", "the arguments do not fit: "+err.Error()))
	}
	return in, nil
}

// arguments reads an object of arguments; no input counts as an empty object. A
// member that occurs twice is refused, because it is unclear which one counts.
func arguments(args json.RawMessage) (map[string]json.RawMessage, error) {
	given := map[string]json.RawMessage{}
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		return given, nil
	}
	err := strictjson.Read(args, 0, func(s *strictjson.Scanner) error {
		if s.Peek() != '{' {
			return s.NotA("is no JSON object")
		}
		return s.Object(nil, func(name []byte, _ int) error {
			start := s.Pos()
			if err := s.Pass(); err != nil {
				return err
			}
			given[string(name)] = s.Since(start)
			return nil
		})
	})
	refused, ok := errors.AsType[*strictjson.Error](err)
	switch {
	case !ok:
		return given, err
	case refused.Reason == strictjson.Twice:
		return nil, hub.Invalid(refused.Name, refused.Name+" is given twice")
	case refused.Reason == strictjson.Malformed:
		return nil, hub.Invalid("arguments", "the arguments are no JSON object")
	}
	return nil, hub.Invalid("arguments", refused.Of("the text of the arguments"))
}

// fits checks one argument against its property and its bounds.
func fits(p *jsonschema.Schema, name string, raw json.RawMessage, b bounds) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return hub.Invalid(name, name+" is no JSON")
	}
	switch v := value.(type) {
	case string:
		if p.Type != "string" {
			break
		}
		if err := misdirected(name, v); err != nil {
			return err
		}
		if name == "kind" && len(p.Enum) > 0 {
			if err := deed(v); err != nil {
				return err
			}
		}
		if len(p.Enum) > 0 && !slices.Contains(p.Enum, any(v)) {
			return hub.Invalid(name, name+" is none of "+join(p.Enum)).With("allowed", p.Enum)
		}
		most := b.most
		if p.MaxLength != nil {
			most = *p.MaxLength
		}
		if n := utf8.RuneCountInString(v); n > most {
			return hub.Invalid(name, fmt.Sprintf("%s is too long: %d characters, at most %d", name, n, most)).With("limit", most).With("size", n)
		}
		if name == "idempotency_key" {
			return fitsKey(v)
		}
		return nil
	case float64:
		if p.Type == "integer" && (v != math.Trunc(v) || math.Abs(v) > hub.MaxMessageID) || p.Type != "integer" && p.Type != "number" {
			break
		}
		if b.least != nil && (v < *b.least || v > *b.limit) {
			return hub.Invalid(name, fmt.Sprintf("%s must be from %.0f to %.0f", name, *b.least, *b.limit))
		}
		return nil
	case bool:
		if p.Type == "boolean" {
			return nil
		}
	case []any:
		if p.Type == "array" {
			return fitsAll(p.Items, name, raw, b)
		}
	case map[string]any:
		if p.Type == "object" {
			return nil
		}
	}
	if p.Type == "string" && strings.HasPrefix(p.Description, "JSON ") {
		return hub.Invalid(name, name+" must be a "+p.Description+" in a string").
			WithFix("write the object or list as the text of a string, with its quotes escaped")
	}
	if p.Type == "integer" {
		return hub.Invalid(name, name+" must be a whole number")
	}
	return hub.Invalid(name, name+" must be of type "+p.Type)
}

// fitsKey refuses a key that an HTTP header cannot carry.
func fitsKey(key string) error {
	if len(key) <= hub.MaxIdempotencyKey && !strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil
	}
	return hub.Invalid("idempotency_key", fmt.Sprintf("idempotency_key must be 1 to %d printable ASCII characters on one line", hub.MaxIdempotencyKey)).
		WithFix("make one of letters, digits and hyphens, and keep it for retries")
}

func fitsAll(p *jsonschema.Schema, name string, raw json.RawMessage, b bounds) error {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return hub.Invalid(name, name+" is no list")
	}
	for i, item := range list {
		if err := fits(p, name, item, b); err != nil {
			return hub.Invalid(name, fmt.Sprintf("item %d of %s: %v", i+1, name, err))
		}
	}
	return nil
}

func join(values []any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, ", ")
}

// refuse adds the tool's name and its usage to an error.
func refuse(t *tool, err error) error {
	e, ok := errors.AsType[*hub.Error](err)
	if !ok {
		e = hub.Invalid("arguments", err.Error())
	}
	e.Message = t.name + ": " + e.Message
	if e.Fix == "" {
		e.Fix = "it takes " + t.usage()
	}
	return e
}

// usage lists the tool's arguments on one line.
func (t *tool) usage() string {
	var parts []string
	for _, name := range t.form().input.PropertyOrder {
		p := t.form().input.Properties[name]
		part := name + " (" + p.Type
		if len(p.Enum) > 0 {
			part = name + " (one of " + join(p.Enum)
		}
		if slices.Contains(t.form().input.Required, name) {
			part += ", required"
		}
		parts = append(parts, part+")")
	}
	if len(parts) == 0 {
		return "no arguments"
	}
	return strings.Join(parts, ", ")
}
