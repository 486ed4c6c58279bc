package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/adapter"
	"hubcli/cli/agent"
	"hubcli/cli/machine"
	"hubcli/cli/opt"
	"hubcli/cli/room"
	"hubcli/cli/setup"
	"hubcli/cli/term"
)

// subcommand makes a command below the root.
type subcommand struct {
	name string
	make func(*term.Env) *cobra.Command
}

// subcommands are the subcommands in the order of the help.
func subcommands() []subcommand {
	return append([]subcommand{
		{"init", setup.NewInit},
		{"ensure", machine.NewEnsure},
		{"stop", machine.NewStop},
		{"reset", machine.NewReset},
		{"post", agent.NewPost},
		{"poll", agent.NewPoll},
		{"whoami", agent.NewWhoami},
		{"resolve", room.NewResolve},
		{"hook", agent.NewHook},
		{"watch", agent.NewWatch},
		{"run", agent.NewRun},
		{"relay", newRelay},
		{"mcp", agent.NewMCP},
		{"smoke-agent", newSmokeAgent},
		{"data-root", machine.NewDataRoot},
		{"app", newApp},
		{"project", room.NewProject},
		{"capsule", newCapsule},
		{"room", room.New},
		{"decision", room.NewDecision},
		{"artifact", room.NewArtifact},
		{"invite", room.NewInvite},
		{"join", room.NewJoin},
		{"adapter", adapter.New},
		{"browser", newBrowser},
		{"license", newLicense},
		{"providers", newProviders},
		{"connection", newConnection},
	}, shortNames()...)
}

// newRoot returns the command that args begin with, below the root. If they name none, or
// begin with a flag, all commands are there. The rest of the tree takes a hook longer than
// its own work.
func newRoot(env *term.Env, args ...string) *cobra.Command {
	cobra.MousetrapHelpText = "" // on Windows a double click may run the daemon too

	var o machine.DaemonOptions
	var version bool
	root := &cobra.Command{
		Use:   "hubcli",
		Short: "Run the hub through which local agents coordinate",
		Long: `A hub on this machine through which AI coding agents work as a team: they
register, exchange messages, take leases on work and files, and track tasks.

Begin in a repository with "hubcli init", which starts one hub per machine in the
background, and see everything with "hubcli status". Without a subcommand hubcli
is a hub itself, in the foreground, with its store in the current folder.

Flags of a subcommand go after its name: hubcli ensure --port 7001. Where they are
not given, HUB_BASE_URL in the environment names the hub and HUB_AGENT the agent.
Without both, your hub is at the port that the data root remembers, or at 6969.`,
		Example: `  hubcli init                   make a room for this repository, set the harnesses up
  hubcli run claude --as lead   start Claude Code with a name
  hubcli status                 see the whole hub on one page
  hubcli post --agent lead "the build is green"
  hubcli poll --agent dev-a     wait for messages
  hubcli --storage ./hub.sqlite3 --port 7001   run one in the foreground`,
		Args: func(cmd *cobra.Command, args []string) error {
			if version {
				return nil
			}
			return opt.UnknownCommand(cmd, args)
		},
		TraverseChildren: true,
		SilenceErrors:    true,
		SilenceUsage:     true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return machine.PrintVersion(env)
			}
			if env.StderrTerminal != nil && env.StderrTerminal() {
				env.Note("this runs a hub here until Ctrl-C; to look around: hubcli --help, hubcli init, hubcli status")
			}
			return machine.RunDaemon(cmd.Context(), env, cmd, &o)
		},
	}
	o.Add(env, root.Flags())
	// Not cobra's Version: it would add a shorthand, and it needs a template.
	root.Flags().BoolVar(&version, "version", false, "print the version and exit")
	root.InitDefaultHelpFlag()
	root.SetFlagErrorFunc(opt.FlagFailure)
	root.SetUsageFunc(printUsage)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { noteRootFlags(env, root, cmd) }
	all := subcommands()
	alone := len(args) > 0 && slices.ContainsFunc(all, func(m subcommand) bool { return m.name == args[0] })
	for _, m := range all {
		if !alone || m.name == args[0] {
			root.AddCommand(m.make(env))
		}
	}
	opt.RefuseAgents(env, root)
	suggestNear(root)
	root.CompletionOptions.DisableDefaultCmd = alone
	if !alone { // a shell asks with a command of its own
		root.ValidArgsFunction = shortNamesBegun
		completeValues(env, root)
	}
	return root
}

// noteRootFlags prints that flags before a subcommand configure only the bare
// daemon, because a user could mean them for the subcommand.
func noteRootFlags(env *term.Env, root, cmd *cobra.Command) {
	if cmd == root {
		return
	}
	root.Flags().Visit(func(f *pflag.Flag) {
		if cmd.Flags().Lookup(f.Name) != nil {
			env.Note("--%s before %q has no effect; flags of a subcommand go after its name", f.Name, cmd.Name())
		} else {
			env.Note("--%s before %q has no effect; it configures a hub in the foreground", f.Name, cmd.Name())
		}
	})
}

// suggestNear sets the largest distance of a suggested command; cobra does not
// pass it down to subcommands.
func suggestNear(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	for _, c := range cmd.Commands() {
		suggestNear(c)
	}
}

// Run runs the command that args name (without the program's own name) and
// returns the exit code. Canceling ctx with ErrInterrupted ends a command early
// and a daemon cleanly.
func Run(ctx context.Context, env *term.Env, args []string) int {
	own := *env
	out := &term.Output{Writer: env.Stdout}
	own.Stdout = out
	own.Port, own.PortUnusable = env.OwnPort()
	root := newRoot(&own, args...)
	root.SetArgs(args)
	root.SetIn(own.Stdin)
	root.SetOut(own.Stdout)
	root.SetErr(own.Stderr)
	ownBashCompletion(root) // cobra keeps the output that is set now

	cmd, err := root.ExecuteContextC(ctx)
	err = inTypedWords(cmd, opt.OutsideSandbox(&own, settle(ctx, cmd, err)))
	if lost := out.Failure(); lost != nil && (err == nil || errors.Is(err, lost)) {
		err = &term.Failure{
			Exit: term.ExitRefused, Err: lost,
			Sentence: "the answer could not be written to stdout: " + lost.Error(),
			Fix:      "what you asked for may be done: look before you repeat it",
		}
	}
	if err != nil {
		term.Report(own.Stderr, err)
	}
	return term.ExitOf(err)
}

// settle says what an error of the command tree means.
func settle(ctx context.Context, cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	if isFlagError(err) {
		return opt.FlagFailure(cmd, err)
	}
	return err
}

// isFlagError: cobra returns some of pflag's errors without asking the
// command's own handler, such as those of flags before a subcommand.
func isFlagError(err error) bool {
	var missing *pflag.NotExistError
	var valueless *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	return errors.As(err, &missing) || errors.As(err, &valueless) || errors.As(err, &invalid) || errors.As(err, &syntax)
}

// Tree returns the commands of the program in a version. Man pages and
// completion scripts are generated from it. Its help is the same on every
// machine. The commands must not be run.
func Tree(version string) *cobra.Command {
	return newRoot(&term.Env{Version: version, Getenv: func(string) string { return "" }})
}
