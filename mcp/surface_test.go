package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
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
