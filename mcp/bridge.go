package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
	"hubcli/mcp/session"
	"hubcli/mcp/wire"
)

// Config is what a bridge needs from its environment. In, Out, Getenv and Now
// are required.
type Config struct {
	Version string

	In  io.Reader // the client's messages, one a line
	Out io.Writer // messages to the client, and nothing else
	Log io.Writer // remarks for people; nil drops them

	session.Config

	// Surface is what the command line asks for; empty leaves it to the hub.
	Surface hub.Surface
}

// closing bounds the time that calls under way have to end after the client has gone.
const closing = 400 * time.Millisecond

// bridge is one session of a harness.
type bridge struct {
	Config
	log    *slog.Logger
	link   *session.Link
	server *sdk.Server

	request context.Context // of a client that starts no process; nil: the bridge is a process
	seq     atomic.Uint64   // of the calls of that request
	turn    chan struct{}   // holds a token while one of them asks the hub; nil: all may at once
}

// Run serves the client until In ends or ctx does, whichever is first; neither is
// an error. The agent's session with the hub ends with it.
func Run(ctx context.Context, cfg Config) error { return newBridge(cfg).serve(ctx) }

func newBridge(cfg Config) *bridge {
	if cfg.Log == nil {
		cfg.Log = io.Discard
	}
	b := &bridge{
		Config: cfg, log: slog.New(slog.NewTextHandler(cfg.Log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	b.link = session.New(cfg.Config, b.log)
	b.server = newServer(b.Version, b.log, func(context.Context) *bridge { return b })
	return b
}

func (b *bridge) serve(ctx context.Context) error {
	in, lines := wire.Open(b.In, b.Out, b.link.Feeds)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// An end of any kind is the end of the client's messages: that breaks off the
	// calls under way.
	defer context.AfterFunc(ctx, func() { _ = in.Close() })()
	b.link.Notify, lines.Heard = lines.Notify, b.link.Heard
	b.link.Open(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- b.server.Run(context.WithoutCancel(ctx), lines)
		cancel()
	}()
	b.watchParent(ctx, cancel)
	<-ctx.Done()
	t := time.NewTimer(closing)
	defer t.Stop()
	var err error
	select {
	case err = <-ended:
	case <-t.C:
	}
	b.link.Close()
	if errors.Is(err, io.ErrClosedPipe) || errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// called runs a tool for the SDK.
func (b *bridge) called(ctx context.Context, t tool, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if b.request == nil && len(req.Params.Arguments) > wire.BigMessage { // a hub gives memory back by itself
		defer debug.FreeOSMemory()
	}
	ctx, stop := b.bounded(ctx)
	defer stop()
	if !b.takeTurn(ctx) {
		return ended(ctx)
	}
	defer b.endTurn()
	b.link.Called(req.Params.Meta)
	c := b.newCall(req)
	c.by = b.link.CalledBy(req.Params.Meta)
	a, err := b.run(ctx, c, t, req.Params.Arguments)
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if err == nil && a.ask != nil {
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{askedAs: elicitation(a.ask)}, RequestState: string(a.ask.AskID)}, nil
	}
	news := b.link.TakeNews()
	if err != nil {
		return c.inForm(refusal(headed(err, news))), nil
	}
	a.line = session.Sentence(news, a.line, c.aside(a))
	res, err := success(a, c.verbose)
	return c.inForm(res), err
}

// ended is the answer of a call that has been ended. A hub that stops says so to a client that is
// still there.
func ended(ctx context.Context) (*sdk.CallToolResult, error) {
	var e *hub.Error
	if errors.As(context.Cause(ctx), &e) {
		return refusal(e), nil
	}
	return nil, context.Cause(ctx)
}

// takeTurn waits until no other call of the same request asks the hub. It reports false if the call
// has been ended first.
func (b *bridge) takeTurn(ctx context.Context) bool {
	if b.turn == nil {
		return ctx.Err() == nil
	}
	select {
	case b.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (b *bridge) endTurn() {
	if b.turn != nil {
		<-b.turn
	}
}

// bounded ends a call with the request that brought it, if that has an end of its own.
func (b *bridge) bounded(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := func() bool { return true }
	if b.request != nil {
		stop = context.AfterFunc(b.request, func() { cancel(context.Cause(b.request)) })
	}
	return ctx, func() { stop(); cancel(nil) }
}

// inForm leaves the structured content out of an answer whose text the model gets
// too. The text of a lean answer says all of it, that of a verbose one does not.
func (c *call) inForm(res *sdk.CallToolResult) *sdk.CallToolResult {
	if res != nil && !c.verbose && c.harness().Facts().ShowsBothForms {
		res.StructuredContent = nil
	}
	return res
}

// headed puts news for the agent before the fix of an error.
func headed(err error, news string) error {
	if news == "" {
		return err
	}
	e := *asError(err)
	return e.WithFix(session.Sentence(news, wayOut(&e)))
}

// run runs a tool in the live session, and once more if that session is gone.
func (b *bridge) run(ctx context.Context, c *call, t tool, args json.RawMessage) (a *answer, err error) {
	c.tool = t.name
	if t.name == "hub_join" && c.by.SubAgent != "" {
		return nil, hub.Errorf(hub.CodeInvalid, "a sub-agent stays what it is: hub_join is for its main agent").
			WithFix("go on as you are; if your main agent is to join a room, tell it so with your answer")
	}
	for again := false; ; again = true {
		before := c.at
		if !t.alone {
			if c.at, err = b.acting(ctx, c); err != nil {
				return nil, err
			}
		}
		if again && !t.reads && before.Agent != c.at.Agent {
			return nil, hub.Errorf(hub.CodeSessionReplaced, "this bridge has become %s while the call was under way as %s", c.at.Agent, before.Agent).
				WithFix("call again if you still want this, as " + string(c.at.Agent))
		}
		if again && !t.reads && before.Instance != c.at.Instance {
			return nil, hub.NewError(hub.CodeStoreChanged, "the hub has another store than when the call began, and nothing was done in it").
				WithFix("look around with hub_whoami, and call again if you still want this")
		}
		c.writes, c.again = 0, again // the same writes have the same keys
		a, err = b.attempt(ctx, c, t, args)
		if err == nil || again || t.alone || ctx.Err() != nil {
			return a, err
		}
		var worth bool
		if worth, err = b.link.Lost(c.at, err); !worth {
			return nil, err
		}
	}
}

// acting returns the session in which a call acts: that of the bridge's agent, or of its sub-agent
// that calls.
func (b *bridge) acting(ctx context.Context, c *call) (*session.Session, error) {
	main, err := b.link.Session(ctx)
	if err != nil || c.by.SubAgent == "" {
		return main, err
	}
	return b.link.SubAgent(ctx, main, c.by.SubAgent)
}

// aside says whose messages an answer has, where it may be a sub-agent that gets it and nobody has
// said so. What a sub-agent must not finish stands in the descriptions of those tools.
func (c *call) aside(a *answer) string {
	if c.at == nil || c.by.Known || !c.harness().Facts().SubAgents || c.tool != "hub_start" && c.tool != "hub_poll_messages" || a.text == "" {
		return ""
	}
	return fmt.Sprintf("For %s; a sub-agent hands it on.", c.at.Agent)
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
