package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/internal/testlog"
	"hubcli/mcp/session"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// The tokens that a surface may take of a model's context.
const (
	maxProgressiveTokens = 700
	maxFullTokens        = 6_000
)

// listFrame returns the frame that answers tools/list, as it is sent.
func listFrame(t *testing.T, surface hub.Surface) []byte {
	t.Helper()
	h := testhub.Start(t)
	var out testlog.Buffer
	request := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"rig","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	}, "\n") + "\n"
	in := newScript(request, func() bool { return strings.Contains(out.String(), `"id":2,`) })
	cfg := Config{
		Version: "test", Surface: surface, In: in, Out: &out, Log: t.Output(),
		Config: session.Config{BaseURL: h.URL, Agent: "me", Getenv: func(string) string { return "" }, Now: testNow},
	}
	require.NoError(t, Run(context.Background(), cfg))
	for frame := range bytes.Lines([]byte(out.String())) {
		if bytes.Contains(frame, []byte(`"id":2,`)) {
			return bytes.TrimSpace(frame)
		}
	}
	t.Fatalf("no answer to tools/list in %s", &out)
	return nil
}

// TestSurfacesAreSmall counts the tokens of what a harness is shown, frame and
// all, in both vocabularies that current models of their maker have; other models
// count much alike.
func TestSurfacesAreSmall(t *testing.T) {
	for _, c := range []struct {
		surface hub.Surface
		most    int
	}{{hub.SurfaceProgressive, maxProgressiveTokens}, {hub.SurfaceFull, maxFullTokens}} {
		frame := listFrame(t, c.surface)
		for _, name := range []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase} {
			codec, err := tokenizer.Get(name)
			require.NoError(t, err)
			n, err := codec.Count(string(frame))
			require.NoError(t, err)
			t.Logf("surface %s: %d bytes, %d tokens of %s, at most %d", c.surface, len(frame), n, name, c.most)
			if n > c.most {
				t.Errorf("surface %s takes %d tokens of %s, more than %d", c.surface, n, name, c.most)
			}
		}
	}
}

// TestSurfacesAreGolden pins what a harness is shown: a change of it is a change of
// what every agent reads.
func TestSurfacesAreGolden(t *testing.T) {
	for _, surface := range []hub.Surface{hub.SurfaceProgressive, hub.SurfaceFull} {
		var got bytes.Buffer
		require.NoError(t, json.Indent(&got, listFrame(t, surface), "", " "))
		got.WriteByte('\n')
		path := filepath.Join("testdata", "tools_"+string(surface)+".json")
		if *rewrite {
			require.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs from what is shown; if that is meant: go test ./mcp -run Golden -rewrite", path)
		}
	}
}

// TestClaudeCodeSearchesItself: where the harness has a search of tools, the
// hub's own is not shown beside it, each tool has words for the search, and the
// tools of every session are shown at once.
func TestClaudeCodeSearchesItself(t *testing.T) {
	h := testhub.Start(t)
	for _, surface := range []hub.Surface{hub.SurfaceFull, hub.SurfaceProgressive} {
		me := bridgeTo(t, h, func(c *Config) { c.Surface, c.Harness = surface, "claude-code" })
		list, err := me.ListTools(t.Context(), nil)
		require.NoError(t, err)
		var loaded []string
		for _, d := range list.Tools {
			row, _ := find(d.Name)
			if row.meta && surface == hub.SurfaceFull {
				t.Errorf("surface %s shows %s", surface, d.Name)
			}
			if d.Meta["anthropic/alwaysLoad"] == true {
				loaded = append(loaded, d.Name)
			}
			if hint, _ := d.Meta["anthropic/searchHint"].(string); hint == "" && !row.meta {
				t.Errorf("%s has no words for the search", d.Name)
			}
		}
		if want := "hub_list_tasks hub_poll_messages hub_post_message hub_start"; surface == hub.SurfaceFull && strings.Join(loaded, " ") != want {
			t.Errorf("shown at once are %v, want %s", loaded, want)
		}
		me.end()
	}
	other := bridgeTo(t, h, nil)
	list, err := other.ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, d := range list.Tools {
		if len(d.Meta) > 0 {
			t.Errorf("another harness is told %v of %s", d.Meta, d.Name)
		}
	}
}

// TestInstructionsSpellTheTools: the instructions name the tools as the harness
// lists them, and fit what Claude Code keeps of them.
func TestInstructionsSpellTheTools(t *testing.T) {
	h := testhub.Start(t)
	for harness, want := range map[string]string{
		"claude-code": "mcp__hub__hub_start", "gemini-cli": "mcp_hub_hub_start", "qwen-code": "mcp__hub__hub_start", "opencode": "hub_hub_start", "": "hub_call_tool",
	} {
		me := bridgeTo(t, h, func(c *Config) { c.Harness = harness })
		said := me.InitializeResult().Instructions
		if !strings.Contains(said, want) || len(said) > 2048 {
			t.Errorf("%q is told in %d bytes: %s", harness, len(said), said)
		}
		me.end()
	}
}

// TestToolNames: they are all that any surface shows, so that an allow list that
// names each tool leaves none out.
func TestToolNames(t *testing.T) {
	h := testhub.Start(t)
	shown := map[string]bool{}
	for harness, surface := range map[string]hub.Surface{"": hub.SurfaceFull, "cursor": hub.SurfaceProgressive, "claude-code": hub.SurfaceFull} {
		me := bridgeTo(t, h, func(c *Config) { c.Surface, c.Harness = surface, harness })
		list, err := me.ListTools(t.Context(), nil)
		require.NoError(t, err)
		for _, d := range list.Tools {
			shown[d.Name] = true
		}
		me.end()
	}
	if got, want := ToolNames(), slices.Sorted(maps.Keys(shown)); !slices.Equal(got, want) {
		t.Errorf("named are %v, shown are %v", got, want)
	}
}
