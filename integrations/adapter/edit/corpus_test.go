package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"hubcli/internal/require"
)

// wanted is an entry that an adapter writes into a file of the corpus.
type wanted struct {
	at    Pointer
	value any
}

// inFile lists the entries for the files of the corpus by the beginning of the
// name; the first match counts.
var inFile = []struct {
	prefix  string
	f       Format
	entries []wanted
}{
	{"claude-code.settings", JSON, hooksAt("SessionStart", "Stop")},
	{"codex.", TOML, []wanted{{codex, tomlServer}}},
	{"kimi.config", TOML, []wanted{{kimi, tomlHook}, {Pointer{Keys: []string{"hooks"}, Mark: "hubcli hook session-start"}, json.RawMessage(`{"event":"SessionStart","command":"hubcli hook session-start"}`)}}},
	{"gemini-cli.", JSON, append(hooksAt("SessionStart", "AfterAgent"), wanted{Pointer{Keys: []string{"mcpServers", "hub"}}, server})},
	{"antigravity.hooks", JSON, []wanted{{Pointer{Keys: []string{"hubcli"}}, hook}}},
	{"cursor.hooks", JSON, hooksAt("sessionStart", "stop")},
	{"vscode.", JSON, []wanted{{Pointer{Keys: []string{"servers", "hub"}}, server}}},
	{"opencode.", JSON, []wanted{{Pointer{Keys: []string{"mcp", "hub"}}, json.RawMessage(`{"type":"local","command":["/opt/hub/hubcli","mcp"],"enabled":true}`)}}},
	{"droid.hooks", JSON, []wanted{{Pointer{Keys: []string{"Stop"}, Mark: "hubcli hook stop"}, hook}}},
	{"crush.", JSON, []wanted{{Pointer{Keys: []string{"mcp", "hub"}}, server}}},
	{"zed.", JSON, []wanted{{Pointer{Keys: []string{"context_servers", "hub"}}, server}}},
	{"amp.", JSON, []wanted{{Pointer{Keys: []string{"amp.mcpServers", "hub"}}, server}}},
	{"goose.", YAML, []wanted{{goose, extension}}},
	{"git.", Shell, []wanted{{block, "if true; then\n\ttrue || exit 1\nfi"}}},
	{"agents.", Markdown, []wanted{{block, advice}}},
	{"", JSON, []wanted{{Pointer{Keys: []string{"mcpServers", "hub"}}, server}}},
}

func hooksAt(first, second string) []wanted {
	return []wanted{
		{Pointer{Keys: []string{"hooks", first}, Mark: "hubcli hook session-start"}, json.RawMessage(`{"hooks":[{"type":"command","command":"/opt/hub/hubcli hook session-start","timeout":5}]}`)},
		{Pointer{Keys: []string{"hooks", second}, Mark: "hubcli hook stop"}, hook},
	}
}

func corpus(t *testing.T, folder string, atLeast int, check func(t *testing.T, name string, f Format, doc []byte, entries []wanted)) {
	names, err := filepath.Glob(filepath.Join("testdata", folder, "*"))
	if err != nil || len(names) < atLeast {
		t.Fatalf("found %d files (error: %v), want at least %d", len(names), err, atLeast)
	}
	for _, name := range names {
		doc, err := os.ReadFile(name)
		require.NoError(t, err)
		name = filepath.Base(name)
		for _, c := range inFile {
			if strings.HasPrefix(name, c.prefix) {
				t.Run(name, func(t *testing.T) { check(t, name, c.f, doc, c.entries) })
				break
			}
		}
	}
}

// TestCorpus: every file survives install and uninstall byte for byte, and the
// harness reads the same values as before beside our entries.
func TestCorpus(t *testing.T) {
	corpus(t, "corpus", 60, func(t *testing.T, _ string, f Format, doc []byte, entries []wanted) {
		before := harnessReads(t, f, doc)
		now, traces := doc, []Trace{}
		for _, e := range entries {
			next, trace, err := Insert(f, now, e.at, e.value)
			if err != nil {
				t.Fatalf("%s: %v", e.at, err)
			}
			again, _, err := Insert(f, next, e.at, e.value)
			if err != nil || !bytes.Equal(again, next) {
				t.Errorf("%s: a second insert changes the file: %v", e.at, err)
			}
			now, traces = next, append(traces, trace)
		}
		checkStyle(t, doc, now)
		after := harnessReads(t, f, now)
		for _, e := range entries {
			without(t, after, e.at)
		}
		for _, e := range entries {
			pruneEmpty(before, e.at.Keys)
			pruneEmpty(after, e.at.Keys)
		}
		if f != Markdown && !reflect.DeepEqual(before, after) {
			t.Errorf("besides our entries the harness read\n%v\nand now reads\n%v", before, after)
		}
		for i := len(entries) - 1; i >= 0; i-- {
			next, err := Remove(f, now, entries[i].at, traces[i])
			if err != nil {
				t.Fatalf("%s: %v", entries[i].at, err)
			}
			now = next
		}
		if !bytes.Equal(now, doc) {
			t.Errorf("after all removals the file is\n%q\nwant\n%q", now, doc)
		}
	})
}

// checkStyle checks that an edit brings no other line ending into a file.
func checkStyle(t *testing.T, doc, now []byte) {
	t.Helper()
	crlf := bytes.Count(doc, []byte("\r\n"))
	if crlf > 0 && crlf == bytes.Count(doc, []byte("\n")) && bytes.Count(now, []byte("\r\n")) != bytes.Count(now, []byte("\n")) {
		t.Errorf("line endings are mixed now: %q", now)
	}
	if crlf == 0 && bytes.Contains(now, []byte("\r")) {
		t.Errorf("the file got a carriage return: %q", now)
	}
	if bytes.HasPrefix(doc, bom) != bytes.HasPrefix(now, bom) {
		t.Error("the byte order mark was lost or added")
	}
}

// harnessReads decodes a document as a harness would, with other code than this
// package's.
func harnessReads(t *testing.T, f Format, doc []byte) map[string]any {
	t.Helper()
	doc = bytes.TrimPrefix(doc, bom)
	out := map[string]any{}
	var err error
	switch f {
	case JSON:
		strict, serr := hujson.Standardize(append(bytes.Clone(doc), '\n'))
		if serr != nil {
			return out // only blanks and comments
		}
		dec := json.NewDecoder(bytes.NewReader(strict))
		dec.UseNumber()
		err = dec.Decode(&out)
	case TOML:
		err = toml.Unmarshal(doc, &out)
	case YAML:
		err = yaml.Unmarshal(doc, &out)
	case Shell:
		check := exec.Command("sh", "-n")
		check.Stdin = bytes.NewReader(bytes.ReplaceAll(doc, []byte("\r\n"), []byte("\n")))
		err = check.Run()
	case Markdown, Whole:
	}
	require.NoError(t, err)
	if out == nil {
		out = map[string]any{}
	}
	return out
}

// without removes an entry from the values that a harness reads.
func without(t *testing.T, tree map[string]any, at Pointer) {
	t.Helper()
	for _, key := range at.Keys[:len(at.Keys)-1] {
		next, ok := tree[key].(map[string]any)
		if !ok {
			return
		}
		tree = next
	}
	last := at.Keys[len(at.Keys)-1]
	if at.Mark == "" {
		delete(tree, last)
		return
	}
	list, _ := tree[last].([]any)
	var kept []any
	for _, e := range list {
		if !strings.Contains(fmt.Sprint(e), at.Mark) {
			kept = append(kept, e)
		}
	}
	tree[last] = kept
}

// pruneEmpty removes empty parents on the way to an entry: they were made for the entry.
func pruneEmpty(tree map[string]any, keys []string) {
	child, ok := tree[keys[0]]
	if !ok {
		return
	}
	if object, ok := child.(map[string]any); ok && len(keys) > 1 {
		pruneEmpty(object, keys[1:])
	}
	v := reflect.ValueOf(child)
	if child == nil || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0 {
		maps.DeleteFunc(tree, func(k string, _ any) bool { return k == keys[0] })
	}
}

// TestRefusedCorpus: a broken or unusual file is refused with a reason, for at
// least one entry.
func TestRefusedCorpus(t *testing.T) {
	corpus(t, "refused", 30, func(t *testing.T, _ string, f Format, doc []byte, entries []wanted) {
		was := bytes.Clone(doc)
		refused := 0
		for _, e := range entries {
			_, _, err := Insert(f, doc, e.at, e.value)
			if ReasonOf(err) != "" && ReasonOf(err) != Unsafe {
				refused++
			}
		}
		if refused == 0 {
			t.Error("no entry was refused")
		}
		if !bytes.Equal(doc, was) {
			t.Error("Insert changed its argument")
		}
	})
}
