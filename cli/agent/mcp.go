package agent

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
	"hubcli/cli/machine"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/integrations/wake"
	"hubcli/internal/hubfile"
	"hubcli/internal/process"
	"hubcli/mcp"
	"hubcli/mcp/session"
)

// bridgeMemory is the soft limit of a bridge's memory in bytes, because each
// agent has a bridge. Usual work needs a fraction; only frames of many MiB come
// near the limit.
const bridgeMemory = 64 << 20

type mcpOptions struct {
	opt.BaseURL
	opt.Storage
	agent         string
	harness       string
	noEnsure      bool
	ensureTimeout time.Duration
	resumeKey     string
	progressive   bool
	full          bool
}

// NewMCP makes the command mcp.
func NewMCP(env *term.Env) *cobra.Command {
	o := mcpOptions{ensureTimeout: 30 * time.Second}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Run the service as an MCP server over stdio",
		Long: `Serve the tools of the hub to the program in which an agent runs, over stdin and
stdout. It is meant for the program's settings, which an adapter writes, not for
typing.

A hub is started if none runs at the address, unless the address is another
machine's. The agent's session ends when stdin does.`,
		Example: `  {"mcpServers": {"hub": {"command": "hubcli", "args": ["mcp"]}}}

  hubcli mcp --agent reviewer --progressive-tools`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runMCP(cmd.Context(), env, cmd, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.agent, "agent", "mcp-client", "agent `id` to register as, if not the one in "+hook.EnvAgent)
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.noEnsure, "no-ensure", false, "start no hub; one runs already, or will run")
	o.Storage.Add(f)
	f.Var(term.WaitValue(&o.ensureTimeout, term.InSeconds), "ensure-timeout", "`time` to wait for a hub that the bridge starts, such as 90, 90s or 5m")
	f.StringVar(&o.resumeKey, "resume-key", "", "`slot` that remembers the bridge's agent after hub_join")
	f.BoolVar(&o.progressive, "progressive-tools", false, "show only the tools of every turn, and tools that find and call the others")
	f.BoolVar(&o.full, "full-tools", false, "show all tools, whatever the hub's setting for the program is")
	f.StringVar(&o.harness, "harness", "", "`name` of the calling program; by default its own introduction tells")
	_ = f.MarkHidden("harness") // it exists
	return cmd
}

func runMCP(ctx context.Context, env *term.Env, cmd *cobra.Command, o *mcpOptions) error {
	c, err := o.config(env, cmd)
	if err != nil {
		return err
	}
	// Stdout carries the protocol, so the output of libraries goes to stderr.
	os.Stdout = os.Stderr
	debug.SetMemoryLimit(bridgeMemory)
	daemon.IgnoreClosedOutput() // after the client has gone a write fails, and the process goes on
	// The system tells the programs of a terminal by this signal that the terminal, or the harness that began
	// it, has gone: the session ends like one whose client has gone.
	ctx, stop := daemon.EndWithTerminal(ctx)
	defer stop()
	return mcp.Run(ctx, c)
}

// checkBridged refuses an id that no bridge can have; field names its source.
func checkBridged(field string, id hub.AgentID) error {
	if err := hub.CheckSender(field, id); err != nil {
		return opt.AsUsage(err)
	}
	return opt.AsUsage(hub.CheckWatching(field, id))
}

func (o *mcpOptions) config(env *term.Env, cmd *cobra.Command) (mcp.Config, error) {
	c := mcp.Config{
		Version: env.Version, In: env.Stdin, Out: env.Stdout, Log: env.Stderr,
		Config: session.Config{
			Getenv: env.Getenv, Now: env.Now, BaseURL: o.URL, Harness: o.harness, ResumeKey: o.resumeKey,
			Process: process.Look, Parent: os.Getppid, Wake: wake.Codex(os.Getppid()), Input: wake.Qwen(os.Getppid()), Channels: wake.Channel(os.Getppid(), "hub"),
		},
	}
	if dir, err := os.Getwd(); err == nil && env.Getenv(hub.EnvWithoutTerminal) != "1" {
		c.Followed = wake.CodexFollowed(os.Getppid(), dir)
	}
	if err := o.BaseURL.Check(); err != nil {
		return c, err
	}
	if cmd.Flags().Changed("agent") { // the bridge itself reads HUB_AGENT, with a lower rank
		c.Agent = hub.AgentID(o.agent)
		if err := checkBridged("--agent", c.Agent); err != nil {
			return c, err
		}
	} else if named := env.Getenv(hook.EnvAgent); named != "" {
		if err := checkBridged(hook.EnvAgent, hub.AgentID(named)); err != nil {
			return c, err
		}
	}
	if cmd.Flags().Changed("resume-key") {
		if err := session.CheckSlot(o.resumeKey); err != nil {
			return c, opt.AsUsage(err)
		}
	}
	switch {
	case o.progressive && o.full:
		return c, term.Usage("give one of them", "--progressive-tools and --full-tools cannot both be meant")
	case o.progressive:
		c.Surface = hub.SurfaceProgressive
	case o.full:
		c.Surface = hub.SurfaceFull
	}
	root, err := env.DataRoot()
	if err != nil && o.resumeKey != "" {
		return c, err
	}
	c.DataRoot = root // the bridge works without one
	if o.BaseURL.Unnamed() && root != "" {
		c.Where = func() string { return hubfile.BaseURL(root) }
	}
	if _, ok := opt.Startable(o.URL); ok && !o.noEnsure {
		if err := o.Storage.Resolve(env, cmd); err != nil {
			if o.Storage.Given {
				return c, err
			}
			// The client would show a connection that was closed, and no reason. So the bridge
			// serves, and its tools say what is missing where no hub runs.
			c.Ensure = func(context.Context) error { return asHubError(err) }
			c.Restart = c.Ensure
			return c, nil
		}
		c.Ensure = func(ctx context.Context) error { return asHubError(o.ensure(ctx, env, cmd, &c)) }
		c.Restart = func(ctx context.Context) error {
			if addr := o.where(&c); env.Machine().Stopped(addr.BaseURL()) {
				return &hub.Error{
					Code: hub.CodeUnreachable, Message: "the hub at " + addr.BaseURL() + " was stopped by a user",
					Fix: "if it is needed, start one with: " + ensureCommand(root, addr),
				}
			}
			return asHubError(o.ensure(ctx, env, cmd, &c))
		}
	}
	return c, nil
}

// where is the address at which the bridge starts a hub.
func (o *mcpOptions) where(c *mcp.Config) opt.Address {
	url := o.URL
	if c.Where != nil {
		url = c.Where()
	}
	a, _ := opt.Startable(url) // config has looked
	return a
}

// ensureCommand returns the command line that starts a hub at the address.
func ensureCommand(root string, a opt.Address) string {
	if a.Port == hubfile.Port(root) {
		return "hubcli ensure"
	}
	return "hubcli ensure --port " + strconv.Itoa(a.Port)
}

// asHubError turns a failure into an error that a tool can answer.
func asHubError(err error) error {
	var f *term.Failure
	var h *hub.Error
	if errors.As(err, &f) && errors.As(f.Err, &h) {
		return h
	}
	if errors.As(err, &f) {
		return &hub.Error{Code: hub.CodeUnreachable, Message: f.Sentence, Fix: f.Fix}
	}
	return err
}

// ensure starts a hub as the command ensure does.
func (o *mcpOptions) ensure(ctx context.Context, env *term.Env, cmd *cobra.Command, c *mcp.Config) error {
	start := machine.StartOptions{
		AddressFlags: opt.AddressFlags{Address: o.where(c), Named: env.Getenv(hook.EnvBaseURL), Flags: cmd.Flags(), Unnamed: c.Where != nil},
		Storage:      o.Storage, LimitFlags: opt.LimitFlags{Limits: hub.DefaultLimits()}, Timeout: o.ensureTimeout,
	}
	_, err := start.Start(ctx, env, cmd)
	return err
}
