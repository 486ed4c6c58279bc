package capsule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"hubcli/hub"
	"hubcli/internal/require"
)

// schemas are the published schemas: the kind, the struct, and an entry that has such lines.
var schemas = map[string]struct {
	line  any
	entry string
}{
	"manifest": {Manifest{}, nameManifest}, "project": {Project{}, nameProject}, "room": {Room{}, nameRooms}, "agent": {Agent{}, nameAgents},
	"decision": {Decision{}, nameDecisions}, "artifact": {Artifact{}, nameArtifacts}, "memory": {Memory{}, nameMemories},
	"run": {Run{}, nameRuns}, "task": {Task{}, nameTasks}, "message": {Message{}, MessagesPath("r1")},
}

// compiled returns the schemas by kind.
func compiled(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	urls := map[string]string{}
	files, err := filepath.Glob(filepath.Join("schema", "*.schema.json"))
	require.NoError(t, err)
	for _, name := range files {
		doc := parsed(t, mustRead(t, name))
		kind := strings.TrimSuffix(filepath.Base(name), ".schema.json")
		urls[kind] = doc.(map[string]any)["$id"].(string)
		require.NoError(t, compiler.AddResource(urls[kind], doc))
	}
	all := map[string]*jsonschema.Schema{}
	for kind, url := range urls {
		all[kind], err = compiler.Compile(url)
		require.NoError(t, err)
	}
	if len(all) != len(schemas)+1 { // and what they share
		t.Fatalf("there are %d schemas, want %d", len(all), len(schemas)+1)
	}
	return all
}

func mustRead(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(raw)
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	return v
}

// linesOf returns the lines of all entries of a kind.
func linesOf(t *testing.T, kind string) []string {
	t.Helper()
	d := newDraft(t)
	if kind == "manifest" {
		d.build(t)
	}
	data := d.of(schemas[kind].entry).data
	if kind == "message" {
		data += d.of(MessagesPath("r2")).data
	}
	return strings.Split(strings.TrimSuffix(data, "\n"), "\n")
}

func TestEveryLineFitsItsSchema(t *testing.T) {
	all := compiled(t)
	for kind := range schemas {
		for n, line := range linesOf(t, kind) {
			if err := all[kind].Validate(parsed(t, line)); err != nil {
				t.Errorf("%s, line %d: %v", kind, n+1, err)
			}
		}
	}
}

// TestSchemasAndStructsHaveTheSameMembers also looks into the structs in them.
func TestSchemasAndStructsHaveTheSameMembers(t *testing.T) {
	for kind, s := range schemas {
		doc := parsed(t, mustRead(t, filepath.Join("schema", kind+".schema.json"))).(map[string]any)
		sameMembers(t, kind, doc, reflect.TypeOf(s.line))
	}
}

func sameMembers(t *testing.T, where string, doc map[string]any, of reflect.Type) {
	t.Helper()
	properties := doc["properties"].(map[string]any)
	var names, needed []string
	for i := range of.NumField() {
		f := of.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
		if !strings.Contains(options, "omitempty") {
			needed = append(needed, name)
		}
		inner, ok := properties[name].(map[string]any)
		if items, list := inner["items"].(map[string]any); list {
			inner = items
		}
		of := f.Type
		if of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if ok && of.Kind() == reflect.Struct {
			sameMembers(t, where+"."+name, inner, of)
		}
	}
	if got := slices.Sorted(maps.Keys(properties)); !slices.Equal(got, slices.Sorted(slices.Values(names))) {
		t.Errorf("the schema of %s has the members %q, the struct %q", where, got, names)
	}
	var required []string
	for _, name := range doc["required"].([]any) {
		required = append(required, name.(string))
	}
	slices.Sort(required)
	if slices.Sort(needed); !slices.Equal(required, needed) {
		t.Errorf("the schema of %s requires %q, the struct %q", where, required, needed)
	}
	if doc["additionalProperties"] != false {
		t.Errorf("the schema of %s allows other members", where)
	}
}

// TestSchemasRefuseWhatTheReaderRefuses changes each member of each line.
func TestSchemasRefuseWhatTheReaderRefuses(t *testing.T) {
	all := compiled(t)
	cases := 0
	for kind, s := range schemas {
		for n, line := range linesOf(t, kind) {
			whole := parseObject(t, line)
			for i, m := range whole {
				f := fieldOf(reflect.TypeOf(s.line), m.name)
				changes := []object{{{m.name, "null"}}, {{strings.ToUpper(m.name), m.value}}, {m, {"x_" + m.name, "1"}}}
				if m.name != "metadata" {
					changes = append(changes, object{{m.name, `[{"x":1}]`}})
				}
				if strings.Contains(f.Tag.Get("json"), "omitempty") {
					if f.Type.Kind() == reflect.String {
						changes = append(changes, object{{m.name, `""`}})
					}
				} else {
					changes = append(changes, object{})
				}
				for _, by := range changes {
					cases++
					text := append(append(append(object{}, whole[:i]...), by...), whole[i+1:]...).String()
					if all[kind].Validate(parsed(t, text)) == nil {
						t.Errorf("%s, line %d: the schema takes %s", kind, n+1, text)
					}
				}
			}
		}
	}
	if cases < 500 {
		t.Errorf("there are only %d cases", cases)
	}
}

func fieldOf(of reflect.Type, member string) reflect.StructField {
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name == member {
			return of.Field(i)
		}
	}
	panic("there is no member " + member)
}

// TestSchemasKnowTheLimits compares the lengths in the schemas with those of the Reader.
func TestSchemasKnowTheLimits(t *testing.T) {
	all := compiled(t)
	l := DefaultLimits()
	long := func(n int) string { return strings.Repeat("x", n) }
	for what, c := range map[string]struct {
		kind string
		line interface{ check(*Limits) error }
		good bool
	}{
		"a title":             {"decision", &Decision{ID: "d1", Room: "r1", Title: long(600), Metadata: json.RawMessage("{}")}, true},
		"a long title":        {"decision", &Decision{ID: "d1", Room: "r1", Title: long(601), Metadata: json.RawMessage("{}")}, false},
		"a note":              {"decision", &Decision{ID: "d1", Room: "r1", Title: "t", Note: long(2 * hub.MaxNoteChars), Metadata: json.RawMessage("{}")}, true},
		"a long note":         {"decision", &Decision{ID: "d1", Room: "r1", Title: "t", Note: long(2*hub.MaxNoteChars + 1), Metadata: json.RawMessage("{}")}, false},
		"a topic":             {"room", &Room{ID: "r1", Slug: "a", Name: "a", Topic: long(2_000), Locks: hub.LocksWarn}, true},
		"a long topic":        {"room", &Room{ID: "r1", Slug: "a", Name: "a", Topic: long(2_001), Locks: hub.LocksWarn}, false},
		"a long name":         {"room", &Room{ID: "r1", Slug: "a", Name: long(401), Locks: hub.LocksWarn}, false},
		"a long slug":         {"room", &Room{ID: "r1", Slug: long(65), Name: "a", Locks: hub.LocksWarn}, false},
		"a memory":            {"memory", &Memory{ID: "k1", Scope: hub.ScopeProject, Text: long(64_000), Tags: []string{}}, true},
		"a long memory":       {"memory", &Memory{ID: "k1", Scope: hub.ScopeProject, Text: long(64_001), Tags: []string{}}, false},
		"a long display name": {"agent", &Agent{ID: "a", DisplayName: long(129)}, false},
		"a reserved agent":    {"agent", &Agent{ID: "hub"}, false},
		"a large artifact":    {"artifact", &Artifact{ID: "a1", Room: "r1", Title: "t", Kind: "k", Version: 1, Bytes: hub.MaxArtifactBytes + 1, SHA256: strings.Repeat("0", 64), ContentType: "a/b"}, false},
		"an artifact":         {"artifact", &Artifact{ID: "a1", Room: "r1", Title: "t", Kind: "k", Version: 1, Bytes: hub.MaxArtifactBytes, SHA256: strings.Repeat("0", 64), ContentType: "a/b"}, true},
		"an absent artifact":  {"artifact", &Artifact{ID: "a1", Room: "r1", Title: "t", Kind: "k", Version: 1, ContentType: "a/b", LeftOut: "binary"}, true},
	} {
		raw := mustJSON(t, c.line)
		ours, theirs := c.line.check(&l), all[c.kind].Validate(parsed(t, raw))
		if (ours == nil) != c.good || (theirs == nil) != c.good {
			t.Errorf("%s: the reader says %v, the schema says %v", what, ours, fmt.Sprint(theirs))
		}
	}
	var kinds []string
	for _, k := range hub.Kinds() {
		kinds = append(kinds, `"`+string(k)+`"`)
	}
	schema := mustRead(t, filepath.Join("schema", "message.schema.json"))
	var flat bytes.Buffer
	require.NoError(t, json.Compact(&flat, []byte(schema)))
	if want := `"kind":{"enum":[` + strings.Join(kinds, ",") + `]}`; !strings.Contains(flat.String(), want) {
		t.Errorf("the schema of messages does not have %s", want)
	}
}
