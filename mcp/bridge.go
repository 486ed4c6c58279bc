package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
)

// Config is what a bridge knows of the world. In, Out, Getenv and Now are
// required.
type Config struct {
	Version string

	In  io.Reader // the client's messages, one a line
	Out io.Writer // messages to the client, and nothing else
	Log io.Writer // remarks for people; nil drops them

	Getenv func(string) string
	Now    func() time.Time

	// BaseURL is the hub; empty is client.DefaultBaseURL.
	BaseURL string
	// Agent is the identity that the command line names; may be empty.
	Agent hub.AgentID
	// Harness is the program that the command line names; may be empty.
	Harness string
	// Surface is what the command line asks for; empty leaves it to the hub.
	Surface hub.Surface
	// Ensure brings a hub up at BaseURL; nil: whoever runs hubs does.
	Ensure func(context.Context) error
}

// closing bounds what is done after the client has gone.
const closing = 700 * time.Millisecond

// bridge is one session of a harness.
type bridge struct {
	Config
	log    *slog.Logger
	link   *link
	server *sdk.Server

	mu     sync.Mutex
	client string // the name by which the client has introduced itself
}

// Run serves the client until In ends or ctx does, whichever is first; neither is
// an error. The agent's session with the hub ends with it.
func Run(ctx context.Context, cfg Config) error {
	b := newBridge(cfg)
	out := &frameWriter{w: cfg.Out}
	return b.serve(ctx, &sdk.IOTransport{Reader: filter(cfg.In, out, maxFrame), Writer: out, MaxLineLength: -1})
}

func newBridge(cfg Config) *bridge {
	if cfg.Log == nil {
		cfg.Log = io.Discard
	}
	b := &bridge{Config: cfg, log: slog.New(slog.NewTextHandler(cfg.Log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	b.link = newLink(b)
	b.server = newServer(b)
	return b
}

func (b *bridge) serve(ctx context.Context, t sdk.Transport) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.link.open(ctx)
	err := b.server.Run(ctx, t)
	cancel()
	b.link.close()
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// harness is what the agent runs in, as far as that is known by now.
func (b *bridge) harness() hub.Harness {
	if h, ok := hub.ParseHarness(b.Harness); ok {
		return h
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return hub.HarnessOfClient(b.client)
}

// meet notes who the client says it is.
func (b *bridge) meet(info *sdk.Implementation) {
	if info == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.client == "" {
		b.client = info.Name
	}
}

// handler runs a tool for the SDK.
func (b *bridge) handler(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		a, err := b.run(ctx, b.newCall(req), t, req.Params.Arguments)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return refusal(err), nil
		}
		return success(a), nil
	}
}

// run runs a tool in the live session, once more if that turns out to be gone.
func (b *bridge) run(ctx context.Context, c *call, t tool, args json.RawMessage) (a *answer, err error) {
	for again := false; ; again = true {
		if c.at, err = b.link.seat(ctx); err != nil {
			return nil, err
		}
		c.writes = 0 // the same writes have the same keys
		a, err = b.attempt(ctx, c, t, args)
		if err == nil || again || ctx.Err() != nil {
			return a, err
		}
		var worth bool
		if worth, err = b.link.lost(c.at, err); !worth {
			return nil, err
		}
	}
}

// attempt turns a panic into an error: the session outlives it.
func (b *bridge) attempt(ctx context.Context, c *call, t tool, args json.RawMessage) (a *answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			b.log.Error("a tool panicked", "tool", t.name, "panic", p, "stack", string(debug.Stack()))
			a, err = nil, hub.Errorf(hub.CodeInternal, "%s broke down: %v", t.name, p).
				WithFix("call it in another way, or go on without it")
		}
	}()
	return t.run(ctx, c, args)
}

// success is an answer as the protocol has it: one line to read, and the data.
func success(a *answer) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: a.line}}, StructuredContent: a.data}
}

// refusal is an error as the protocol has it: code, sentence, way out.
func refusal(err error) *sdk.CallToolResult {
	var h *hub.Error
	if !errors.As(err, &h) {
		h = hub.NewError(hub.CodeInternal, err.Error())
	}
	text := fmt.Sprintf("%s: %s", h.Code, h.Message)
	if h.Fix != "" {
		text += "\nfix: " + h.Fix
	}
	return &sdk.CallToolResult{
		IsError: true,
		Content: []sdk.Content{&sdk.TextContent{Text: text}},
		StructuredContent: struct {
			Code   hub.Code       `json:"code"`
			Error  string         `json:"error"`
			Fix    string         `json:"fix,omitempty"`
			Detail map[string]any `json:"detail,omitempty"`
		}{h.Code, h.Message, h.Fix, h.Detail},
	}
}
