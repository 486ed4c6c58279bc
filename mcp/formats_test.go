package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// toolFormat holds the rules that the makers of models set for tools: testdata/tool_formats.json
// has them, with the source of each. A rule that is absent does not hold.
type toolFormat struct {
	Name    string
	Sources []string
	// Convert is what a client does with a schema to use the format's strict mode; nil: nothing.
	Convert *struct {
		Required bool     // an argument that may be left out is required and may be null
		Closed   bool     // objects take no other members
		Drop     []string // keywords that the mode does not know
	}
	NamePattern      string              `json:"name_pattern"`
	PropertyPattern  string              `json:"property_pattern"`
	DescriptionMost  int                 `json:"description_most"` // characters
	NeedsProperties  bool                `json:"needs_properties"` // also an object without members says that it has none
	NeedsItems       bool                `json:"needs_items"`
	NoKeywordsAtRoot []string            `json:"no_keywords_at_root"`
	Closed           bool                // each object refuses other members
	AllRequired      bool                `json:"all_required"`
	NullUnions       bool                `json:"null_unions"`     // a type may be a list of one type and null
	NoFreeObjects    bool                `json:"no_free_objects"` // below the root, each object names its members
	EnumOfStrings    bool                `json:"enum_of_strings"` // which are not empty
	Formats          map[string][]string // by type
	Keywords         map[string][]string // by type
	NestingMost      int                 `json:"nesting_most"`
	PropertiesMost   int                 `json:"properties_most"`
	EnumValuesMost   int                 `json:"enum_values_most"`
	TextMost         int                 `json:"text_most"` // characters of names and values
	OptionalMost     int                 `json:"optional_most"`
	Refused          []schemaMap         // schemas that the format does not take
}

type schemaMap = map[string]any

func toolFormats(t *testing.T) (formats []toolFormat) {
	t.Helper()
	b, err := os.ReadFile("testdata/tool_formats.json")
	require.NoError(t, err)
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&formats))
	return formats
}

// TestSchemasFitTheFormats: each tool of each surface can be handed to each maker's models as it is, and
// in the strict modes after a conversion that needs no knowledge of the tool.
func TestSchemasFitTheFormats(t *testing.T) {
	for _, f := range toolFormats(t) {
		t.Run(f.Name, func(t *testing.T) {
			if len(f.Sources) == 0 || len(f.Refused) == 0 {
				t.Fatal("the rules have no source, or nothing that they refuse")
			}
			for _, row := range table() {
				for _, bad := range f.check(toolNameIn(row.name), row.description, f.convert(asMap(t, row.form().input))) {
					t.Errorf("%s: %s", row.name, bad)
				}
			}
			for _, schema := range f.Refused {
				if len(f.check("a", "b", f.convert(schema))) == 0 {
					t.Errorf("%s is not refused", mustJSON(t, schema))
				}
			}
		})
	}
}

// toolNameIn returns the longest name that a harness makes of a tool's.
func toolNameIn(name string) string {
	longest := name
	for _, f := range hub.AllHarnessFacts() {
		if spelled := f.ToolPrefix + name; len(spelled) > len(longest) {
			longest = spelled
		}
	}
	return longest
}

func asMap(t *testing.T, v any) (m schemaMap) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(mustJSON(t, v)), &m))
	return m
}

// TestNullIsAbsent: a client in strict mode gives null for what it leaves out.
func TestNullIsAbsent(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	for _, row := range table() {
		given := args{}
		for name, p := range row.form().input.Properties {
			switch {
			case name == "timeout_seconds" && row.name != "hub_watch":
				given[name] = 0
			case !slices.Contains(row.form().input.Required, name):
				given[name] = nil
			case p.Type == "integer":
				given[name] = 1
			case p.Type == "array":
				given[name] = []any{}
			default:
				given[name] = "x"
			}
		}
		if said := text(me.try(row.name, given)); strings.Contains(said, "must be") && !strings.Contains(said, "browser") || strings.Contains(said, "is missing") || strings.Contains(said, "null") {
			t.Errorf("%s with %v: %s", row.name, given, said)
		}
	}
}

// convert returns the schema as a client sends it.
func (f *toolFormat) convert(s schemaMap) schemaMap {
	if f.Convert == nil {
		return s
	}
	out := maps.Clone(s)
	for _, keyword := range f.Convert.Drop {
		delete(out, keyword)
	}
	if items, ok := out["items"].(schemaMap); ok {
		out["items"] = f.convert(items)
	}
	if out["type"] != "object" {
		return out
	}
	required, properties := listOfTexts(out["required"]), schemaMap{}
	given, _ := out["properties"].(schemaMap)
	for name, p := range given {
		one, _ := p.(schemaMap)
		properties[name] = f.convert(one)
		if f.Convert.Required && !slices.Contains(required, name) {
			properties[name] = orNull(f.convert(one))
			required = append(required, name)
		}
	}
	out["properties"], out["required"] = properties, required
	if f.Convert.Closed {
		out["additionalProperties"] = false
	}
	return out
}

func orNull(s schemaMap) schemaMap {
	s["type"] = []any{s["type"], "null"}
	if list, ok := s["enum"].([]any); ok {
		s["enum"] = append(slices.Clone(list), nil)
	}
	return s
}

// listOfTexts returns the texts of a list of JSON, or of a list that convert has made.
func listOfTexts(v any) (out []string) {
	switch list := v.(type) {
	case []string:
		return slices.Clone(list)
	case []any:
		for _, one := range list {
			text, _ := one.(string)
			out = append(out, text)
		}
	}
	return out
}

// judge collects what breaks the rules, and counts.
type judge struct {
	*toolFormat
	bad                                []string
	properties, values, text, optional int
}

func (j *judge) say(format string, args ...any) { j.bad = append(j.bad, fmt.Sprintf(format, args...)) }

// check returns what breaks the format's rules.
func (f *toolFormat) check(name, description string, s schemaMap) []string {
	j := judge{toolFormat: f}
	if !regexp.MustCompile(f.NamePattern).MatchString(name) {
		j.say("the name %s", name)
	}
	if f.DescriptionMost > 0 && len([]rune(description)) > f.DescriptionMost {
		j.say("a description of %d characters", len([]rune(description)))
	}
	if s["type"] != "object" {
		j.say("the root is of type %v", s["type"])
	}
	for _, keyword := range f.NoKeywordsAtRoot {
		if _, has := s[keyword]; has {
			j.say("%s at the root", keyword)
		}
	}
	j.schema("the root", s, 0)
	for what, n := range map[string][2]int{
		"properties": {j.properties, f.PropertiesMost}, "values of enums": {j.values, f.EnumValuesMost},
		"characters of names and values": {j.text, f.TextMost}, "optional arguments": {j.optional, f.OptionalMost},
	} {
		if n[1] > 0 && n[0] > n[1] {
			j.say("%d %s, at most %d", n[0], what, n[1])
		}
	}
	return j.bad
}

// schema judges one schema at a depth of objects.
func (j *judge) schema(at string, s schemaMap, depth int) {
	kind := j.typeOf(at, s["type"])
	if known, has := j.Keywords[kind]; j.Keywords != nil {
		for keyword := range s {
			if !has || !slices.Contains(known, keyword) {
				j.say("%s has %s", at, keyword)
			}
		}
	}
	if format, has := s["format"].(string); has && j.Formats != nil && !slices.Contains(j.Formats[kind], format) {
		j.say("%s has the format %s", at, format)
	}
	j.enum(at, kind, s["enum"])
	switch items, has := s["items"].(schemaMap); {
	case has:
		j.schema("the items of "+at, items, depth)
	case kind == "array" && j.NeedsItems:
		j.say("%s is a list of nothing", at)
	}
	if kind == "object" {
		j.object(at, s, depth+1)
	}
}

func (j *judge) typeOf(at string, of any) string {
	if list, ok := of.([]any); ok && j.NullUnions && len(list) == 2 && list[1] == "null" {
		of = list[0]
	}
	kind, _ := of.(string)
	if !slices.Contains([]string{"object", "array", "string", "integer", "number", "boolean"}, kind) {
		j.say("%s is of type %v", at, of)
	}
	return kind
}

func (j *judge) enum(at, kind string, list any) {
	values, _ := list.([]any)
	j.values += len(values)
	for _, v := range values {
		j.text += len(fmt.Sprint(v))
		if j.EnumOfStrings && (kind != "string" || v == "" || v == nil) {
			j.say("%s allows %v", at, v)
		}
	}
}

func (j *judge) object(at string, s schemaMap, depth int) {
	properties, has := s["properties"].(schemaMap)
	if !has && j.NeedsProperties {
		j.say("%s has no properties", at)
	}
	if depth > 1 && j.NoFreeObjects && len(properties) == 0 {
		j.say("%s names no members", at)
	}
	if j.NestingMost > 0 && depth > j.NestingMost {
		j.say("%s is %d objects deep", at, depth)
	}
	if j.Closed && s["additionalProperties"] != false {
		j.say("%s takes other members", at)
	}
	required := listOfTexts(s["required"])
	for _, name := range required {
		if properties[name] == nil {
			j.say("%s requires %s, which it has not", at, name)
		}
	}
	for name, p := range properties {
		one, _ := p.(schemaMap)
		j.properties, j.text = j.properties+1, j.text+len(name)
		if !slices.Contains(required, name) {
			j.optional++
			if j.AllRequired {
				j.say("%s of %s is not required", name, at)
			}
		}
		if j.PropertyPattern != "" && !regexp.MustCompile(j.PropertyPattern).MatchString(name) {
			j.say("%s has a member %s", at, name)
		}
		j.schema(name, one, depth)
	}
}
