package cli

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
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
	baseURL
	storage
	agent         string
	harness       string
	noEnsure      bool
	ensureTimeout time.Duration
	resumeKey     string
	progressive   bool
	full          bool
}

func newMCP(env *Env) *cobra.Command {
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
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runMCP(cmd.Context(), env, cmd, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.agent, "agent", "mcp-client", "agent `id` to register as, if not the one in "+hook.EnvAgent)
	o.baseURL.add(env, f)
	f.BoolVar(&o.noEnsure, "no-ensure", false, "start no hub; one runs already, or will run")
	o.storage.add(f)
	f.Var(waitValue(&o.ensureTimeout, inSeconds), "ensure-timeout", "`time` to wait for a hub that the bridge starts, such as 90, 90s or 5m")
	f.StringVar(&o.resumeKey, "resume-key", "", "`slot` that remembers the bridge's agent after hub_join")
	f.BoolVar(&o.progressive, "progressive-tools", false, "show only the tools of every turn, and tools that find and call the others")
	f.BoolVar(&o.full, "full-tools", false, "show all tools, whatever the hub's setting for the program is")
	f.StringVar(&o.harness, "harness", "", "`name` of the calling program; by default its own introduction tells")
	_ = f.MarkHidden("harness") // it exists
	return cmd
}

func runMCP(ctx context.Context, env *Env, cmd *cobra.Command, o *mcpOptions) error {
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
		return asUsage(err)
	}
	return asUsage(hub.CheckWatching(field, id))
}

func (o *mcpOptions) config(env *Env, cmd *cobra.Command) (mcp.Config, error) {
	c := mcp.Config{
		Version: env.Version, In: env.Stdin, Out: env.Stdout, Log: env.Stderr,
		Config: session.Config{
			Getenv: env.Getenv, Now: env.Now, BaseURL: o.url, Harness: o.harness, ResumeKey: o.resumeKey,
			Process: process.Look, Parent: os.Getppid, Wake: wake.Codex(os.Getppid()), Input: wake.Qwen(os.Getppid()), Channels: wake.Channel(os.Getppid(), "hub"),
		},
	}
	if dir, err := os.Getwd(); err == nil && env.Getenv(hub.EnvWithoutTerminal) != "1" {
		c.Followed = wake.CodexFollowed(os.Getppid(), dir)
	}
	if err := o.baseURL.check(); err != nil {
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
			return c, asUsage(err)
		}
	}
	switch {
	case o.progressive && o.full:
		return c, usage("give one of them", "--progressive-tools and --full-tools cannot both be meant")
	case o.progressive:
		c.Surface = hub.SurfaceProgressive
	case o.full:
		c.Surface = hub.SurfaceFull
	}
	root, err := env.dataRoot()
	if err != nil && o.resumeKey != "" {
		return c, err
	}
	c.DataRoot = root // the bridge works without one
	if o.baseURL.unnamed() && root != "" {
		c.Where = func() string { return hubfile.BaseURL(root) }
	}
	if _, ok := startable(o.url); ok && !o.noEnsure {
		if err := o.storage.resolve(env, cmd); err != nil {
			if o.storage.given {
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
			if addr := o.where(&c); env.machine().Stopped(addr.baseURL()) {
				return &hub.Error{
					Code: hub.CodeUnreachable, Message: "the hub at " + addr.baseURL() + " was stopped by a user",
					Fix: "if it is needed, start one with: " + ensureCommand(root, addr),
				}
			}
			return asHubError(o.ensure(ctx, env, cmd, &c))
		}
	}
	return c, nil
}

// where is the address at which the bridge starts a hub.
func (o *mcpOptions) where(c *mcp.Config) address {
	url := o.url
	if c.Where != nil {
		url = c.Where()
	}
	a, _ := startable(url) // config has looked
	return a
}

// ensureCommand returns the command line that starts a hub at the address.
func ensureCommand(root string, a address) string {
	if a.port == hubfile.Port(root) {
		return "hubcli ensure"
	}
	return "hubcli ensure --port " + strconv.Itoa(a.port)
}

// asHubError turns a failure into an error that a tool can answer.
func asHubError(err error) error {
	var f *Failure
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
func (o *mcpOptions) ensure(ctx context.Context, env *Env, cmd *cobra.Command, c *mcp.Config) error {
	start := startOptions{
		addressFlags: addressFlags{address: o.where(c), named: env.Getenv(hook.EnvBaseURL), flags: cmd.Flags(), unnamed: c.Where != nil},
		storage:      o.storage, limits: limits{hub.DefaultLimits()}, timeout: o.ensureTimeout,
	}
	_, err := start.start(ctx, env, cmd)
	return err
}
