package adapter

import (
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

// inCorpus says where the files of the corpus stand in a home folder, by the
// beginning of their names. keys lead to the servers of the file.
var inCorpus = []struct {
	prefix  string
	harness hub.Harness
	at      string
	format  edit.Format
	keys    []string // empty: the file has no servers
}{
	{"claude-code.settings", hub.HarnessClaudeCode, ".claude/settings.json", edit.JSON, nil},
	{"claude-code.", hub.HarnessClaudeCode, ".claude.json", edit.JSON, inServers},
	{"codex.", hub.HarnessCodex, ".codex/config.toml", edit.TOML, []string{"mcp_servers"}},
	{"gemini-cli.", hub.HarnessGeminiCLI, ".gemini/settings.json", edit.JSON, inServers},
	{"qwen-code.", hub.HarnessQwenCode, ".qwen/settings.json", edit.JSON, inServers},
	{"opencode.", hub.HarnessOpenCode, ".config/opencode/opencode.json", edit.JSON, []string{"mcp"}},
	{"cursor.hooks", hub.HarnessCursor, ".cursor/hooks.json", edit.JSON, nil},
	{"cursor.", hub.HarnessCursor, ".cursor/mcp.json", edit.JSON, inServers},
	{"kimi.config", hub.HarnessKimi, ".kimi-code/config.toml", edit.TOML, nil},
	{"crush.", hub.HarnessCrush, ".config/crush/crush.json", edit.JSON, []string{"mcp"}},
	{"zed.", hub.HarnessZed, ".config/zed/settings.json", edit.JSON, []string{"context_servers"}},
}

// TestWhatIsNotOursStays: every file of the corpus gets all that an install
// writes for its harness. Then the user adds an entry, a rule and a hook of
// his own beside it. When the adapter goes, they are all that is left of the change.
func TestWhatIsNotOursStays(t *testing.T) {
	testrace.Avoid(t, "one goroutine tries every change of a file")
	tried := 0
	for _, name := range corpusFiles(t) {
		for _, c := range inCorpus {
			if !strings.HasPrefix(filepath.Base(name), c.prefix) {
				continue
			}
			tried++
			t.Run(filepath.Base(name), func(t *testing.T) {
				r := newRig(t)
				in, path := r.edits(), filepath.Join(r.home, c.at)
				own := r.read(name)
				r.write(path, own)
				r.must(c.harness, hub.AdapterInstall, in)
				r.must(c.harness, hub.AdapterUninstall, in)
				if got := r.read(path); got != own {
					t.Fatalf("untouched, but it is\n%q\nnot\n%q", got, own)
				}
				r.must(c.harness, hub.AdapterInstall, in)
				theirs := theirsIn(c.keys, c.prefix)
				before, after := own, r.read(path)
				for _, e := range theirs {
					before, after = inserted(t, c.format, before, e), inserted(t, c.format, after, e)
				}
				r.write(path, after)
				r.must(c.harness, hub.AdapterUninstall, in)
				got := r.read(path)
				if strings.Contains(got, r.self) || strings.Contains(got, `"mcp__hub"`) {
					t.Errorf("something of the hub's is left:\n%s", got)
				}
				for _, e := range theirs {
					want, _, err := edit.Get(c.format, []byte(before), e.at)
					have, found, err2 := edit.Get(c.format, []byte(got), e.at)
					require.NoError(t, err)
					require.NoError(t, err2)
					if !found || string(have) != string(want) {
						t.Errorf("%s is %s, want %s", e.at, have, want)
					}
				}
			})
			break
		}
	}
	if tried < 30 {
		t.Errorf("only %d files of the corpus were tried", tried)
	}
}

func corpusFiles(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("edit", "testdata", "corpus", "*"))
	require.NoError(t, err)
	return names
}

// theirEntry is something that a user adds.
type theirEntry struct {
	at    edit.Pointer
	value any
}

func theirsIn(keys []string, prefix string) []theirEntry {
	var list []theirEntry
	if len(keys) > 0 {
		list = append(list, theirEntry{edit.Pointer{Keys: append(append([]string{}, keys...), "theirs")}, object{{"command", "their-server"}}})
	}
	if prefix == "claude-code.settings" {
		list = append(list,
			theirEntry{edit.Pointer{Keys: []string{"permissions", "allow"}, Mark: "mcp__hubspot", Exact: true}, "mcp__hubspot"},
			theirEntry{
				edit.Pointer{Keys: []string{"hooks", "Stop"}, Mark: "their-hook"},
				object{{"hooks", []any{object{{"type", "command"}, {"command", "their-hook"}}}}},
			})
	}
	return list
}

func inserted(t *testing.T, f edit.Format, doc string, e theirEntry) string {
	t.Helper()
	out, _, err := edit.Insert(f, []byte(doc), e.at, e.value)
	require.NoError(t, err)
	return string(out)
}
