package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/internal/testhub"
	"hubcli/mcp/session"
)

// spokenLine is a message of the bridge.
type spokenLine struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// spokenTo runs a bridge against a client that says lines, and returns all that the
// client reads; next waits for the next message.
func spokenTo(t *testing.T, h *testhub.Hub, change func(*Config), talk func(b *bridge, say func(string), next func() spokenLine)) (all []spokenLine) {
	t.Helper()
	toBridge, fromClient := io.Pipe()
	toClient, fromBridge := io.Pipe()
	cfg := Config{
		Version: "test", In: toBridge, Out: fromBridge, Log: t.Output(),
		Config: session.Config{BaseURL: h.URL, Agent: "me", Getenv: func(string) string { return "" }, Now: time.Now},
	}
	if change != nil {
		change(&cfg)
	}
	b := newBridge(cfg)
	done := make(chan error, 1)
	go func() {
		done <- b.serve(context.Background())
		_ = fromBridge.Close()
	}()
	read := make(chan spokenLine, 100)
	go func() {
		defer close(read)
		for lines := bufio.NewReader(toClient); ; {
			text, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var l spokenLine
			if err := json.Unmarshal(text, &l); err != nil {
				t.Errorf("%q: %v", text, err)
			}
			read <- l
		}
	}()
	talk(
		b,
		func(s string) { _, _ = io.WriteString(fromClient, s+"\n") },
		func() spokenLine {
			select {
			case l := <-read:
				all = append(all, l)
				return l
			case <-time.After(30 * time.Second):
				t.Fatalf("no answer; until now %s", mustJSON(t, all))
				return spokenLine{}
			}
		},
	)
	_ = fromClient.Close()
	for l := range read {
		all = append(all, l)
	}
	if err := <-done; err != nil {
		t.Errorf("the bridge ended with %v", err)
	}
	return all
}

// spoken is spokenTo behind the handshake.
func spoken(t *testing.T, h *testhub.Hub, talk func(say func(string), next func() spokenLine)) []spokenLine {
	t.Helper()
	return spokenTo(t, h, nil, func(_ *bridge, say func(string), next func() spokenLine) {
		say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"wire","version":"1"}}}`)
		next()
		say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		talk(say, next)
	})
}

// read reads the data of a tool's answer.
func read(tb testing.TB, res *sdk.CallToolResult, out any) {
	tb.Helper()
	b, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(b, out)
	}
	if err != nil || res.IsError {
		tb.Fatalf("%v: %s", err, text(res))
	}
}
