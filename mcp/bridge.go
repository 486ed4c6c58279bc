package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/identity"
	"hubcli/internal/process"
	"hubcli/mcp/wire"
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
	// ResumeKey is the slot that the command line names; may be empty. CheckSlot
	// tells beforehand whether it is one.
	ResumeKey string
	// Surface is what the command line asks for; empty leaves it to the hub.
	Surface hub.Surface
	// Ensure brings a hub up at BaseURL when the bridge begins, Restart when the hub
	// that was there is gone; nil: whoever runs hubs does.
	Ensure, Restart func(context.Context) error

	// DataRoot is the folder of what belongs to the user; empty keeps nothing, and
	// then there is no slot.
	DataRoot string
	// Process returns a process that runs; nil knows none.
	Process func(pid int) (process.Process, bool)
	// Parent returns the process that has started this one; nil knows none.
	Parent func() int
}

// closing bounds each of the two steps after the client has gone: what was under
// way ends, and the session does.
const closing = 400 * time.Millisecond

// bridge is one session of a harness.
type bridge struct {
	Config
	log    *slog.Logger
	link   *link
	server *sdk.Server
	beat   time.Duration // see the constant
	grace  time.Duration // restartGrace

	notes  identity.Notes
	self   process.Process // zero: unknown
	parent process.Process // the harness, as a rule; zero: unknown
	feeds  *wire.Feeds     // how far the agent has read
	homes  homes           // the rooms in which it works

	mu     sync.Mutex
	client string        // the name by which the client has introduced itself
	met    chan struct{} // closed when it has
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
		beat: beat, grace: restartGrace, notes: identity.NotesOf(cfg.DataRoot, cfg.Process), met: make(chan struct{}),
	}
	b.notes.Tell = func(err error) { b.log.Warn("what hooks have left is not believed", "error", err) }
	if cfg.Process != nil && cfg.Parent != nil {
		b.self, _ = cfg.Process(os.Getpid())
		b.parent, _ = cfg.Process(cfg.Parent())
	}
	b.feeds = wire.NewFeeds()
	b.link = newLink(b)
	b.server = newServer(b)
	return b
}

func (b *bridge) serve(ctx context.Context) error {
	in, lines := wire.Open(b.In, b.Out, b.feeds)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// An end of any kind is the end of the client's messages: that breaks off the
	// calls under way.
	defer context.AfterFunc(ctx, func() { _ = in.Close() })()
	b.link.open(ctx)
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
	b.link.close()
	b.notes.Take(b.parent, b.self)
	if errors.Is(err, io.ErrClosedPipe) || errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// harness is what the agent runs in: what the command line names; else what the
// client calls itself; else what the environment shows, which counts last because
// it is inherited by a harness that runs inside another.
func (b *bridge) harness() hub.Harness {
	if h, ok := hub.ParseHarness(b.Harness); ok {
		return h
	}
	b.mu.Lock()
	name := b.client
	b.mu.Unlock()
	if h := hub.HarnessOfClient(name); h != hub.HarnessGeneric {
		return h
	}
	return hook.Recognize("", hook.Payload{}, b.Getenv)
}

// session is the id of the harness session, where the environment of an MCP server
// tells it for certain; else empty.
func (b *bridge) session() string {
	if variable := b.harness().Facts().SessionVariable; variable != "" {
		return b.Getenv(variable)
	}
	return ""
}

// named is the agent that the environment names; else empty.
func (b *bridge) named() hub.AgentID {
	id := hub.AgentID(b.Getenv(hook.EnvAgent))
	if id == "" || id.Watcher() || hub.CheckSender(hook.EnvAgent, id) != nil {
		return ""
	}
	return id
}

// chosen reports whether somebody has chosen this agent for the bridge: the command
// line or the environment names it.
func (b *bridge) chosen(agent hub.AgentID) bool {
	return agent != "" && (agent == b.Agent || b.Agent == "" && agent == b.named())
}

// process names the process of the harness for as long as it runs.
func (b *bridge) process() string {
	if b.parent.PID == 0 {
		return fmt.Sprintf("bridge %d %p", os.Getpid(), b)
	}
	return fmt.Sprintf("process %d %s", b.parent.PID, b.parent.Began)
}

// meet notes how the client has introduced itself; what it says last counts.
func (b *bridge) meet(info *sdk.Implementation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if info != nil {
		b.client = info.Name
	}
	select {
	case <-b.met:
	default:
		close(b.met)
	}
}

// announce tells the hooks of the harness whom the tools act as.
func (b *bridge) announce(s *seat) {
	url := b.link.base.BaseURL()
	if b.self.PID != 0 && b.parent.PID > 1 {
		note := identity.Note{AgentID: s.agent, BaseURL: url, InstanceID: s.instance, Harness: b.harness(), Bridge: b.self}
		if id := b.session(); id != "" {
			note.Session = identity.Key(id)
		}
		if err := b.notes.Leave(b.parent, note); err != nil {
			b.log.Warn("hooks are not told who the agent is", "error", err)
		}
		b.notes.Sweep(b.Now())
	}
	id := b.session()
	if id == "" {
		return
	}
	now := identity.Binding{AgentID: s.agent, BaseURL: url, InstanceID: s.instance}
	if known, ok := identity.SessionsOf(b.DataRoot).Load(id); ok && known.AgentID == now.AgentID && known.InstanceID == now.InstanceID {
		return
	}
	if err := identity.SessionsOf(b.DataRoot).Replace(id, now); err != nil {
		b.log.Warn("hooks are not told who the agent is", "error", err)
	}
}

// handler runs a tool for the SDK.
func (b *bridge) handler(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if len(req.Params.Arguments) > wire.BigMessage {
			defer debug.FreeOSMemory()
		}
		a, err := b.run(ctx, b.newCall(req), t, req.Params.Arguments)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		news := b.link.told()
		if err != nil {
			return refusal(headed(err, news)), nil
		}
		a.line = sentence(news, a.line)
		return success(a)
	}
}

// headed lets the way out of an error begin with what the agent should know.
func headed(err error, news string) error {
	if news == "" {
		return err
	}
	e := *asError(err)
	return e.WithFix(sentence(news, wayOut(&e)))
}

// run runs a tool in the live session, once more if that turns out to be gone.
func (b *bridge) run(ctx context.Context, c *call, t tool, args json.RawMessage) (a *answer, err error) {
	for again := false; ; again = true {
		before := c.at
		if !t.alone {
			if c.at, err = b.link.seat(ctx); err != nil {
				return nil, err
			}
		}
		if again && !t.reads && before.agent != c.at.agent {
			return nil, hub.Errorf(hub.CodeSessionReplaced, "this bridge has become %s while the call was under way as %s", c.at.agent, before.agent).
				WithFix("call again if it is still meant, as " + string(c.at.agent))
		}
		if again && !t.reads && before.instance != c.at.instance {
			return nil, hub.NewError(hub.CodeStoreChanged, "the hub has another store than when the call began, and nothing was done in it").
				WithFix("look around with hub_whoami, and call again if it is still meant")
		}
		c.writes = 0 // the same writes have the same keys
		a, err = b.attempt(ctx, c, t, args)
		if err == nil || again || t.alone || ctx.Err() != nil {
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
