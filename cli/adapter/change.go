package adapter

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// AdapterChange are the flags of the commands that change an adapter or show how
// it would change.
type AdapterChange struct {
	opt.BaseURL
	adapterPlace
	Yes           bool
	JSON          bool
	NoPermissions bool
	plugin        bool
	asked         func() bool // whether --plugin was given; nil: there is no such flag
}

// PermissionFlag adds the flags by which the user refuses the permissions and
// asks for the plugin.
func (o *AdapterChange) PermissionFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&o.NoPermissions, "no-permissions", false, "write no allow list: the harness goes on asking before it calls a tool of the hub")
	cmd.Flags().BoolVar(&o.plugin, "plugin", false, "also write the plugin for Claude Code, which wakes an idle session; --plugin=false takes it out, and sets Gemini CLI and opencode up in their own settings files")
	o.asked = func() bool { return cmd.Flags().Changed("plugin") }
	return cmd
}

// PluginInput is what the user wants of the plugin; nil: it stays as it is.
func (o *AdapterChange) PluginInput() *bool {
	if o.asked == nil || !o.asked() {
		return nil
	}
	return &o.plugin
}

// adapterCommand completes such a command with its flags.
func adapterCommand(env *term.Env, o *AdapterChange, cmd *cobra.Command, run func(context.Context, hub.Harness, hub.AdapterInput) error) *cobra.Command {
	cmd.Args = opt.Arity("harness")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		harness, err := harnessOf(args[0])
		if err != nil {
			return err
		}
		in, err := o.input(harness)
		if err != nil {
			return err
		}
		in.NoPermissions, in.Plugin = o.NoPermissions, o.PluginInput()
		return run(cmd.Context(), harness, in)
	}
	f := cmd.Flags()
	o.adapterPlace.add(f)
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.JSON, "json", false, "print the answer as JSON")
	return cmd
}

func newAdapterPreview(env *term.Env) *cobra.Command {
	o := &AdapterChange{}
	cmd := &cobra.Command{
		Use:   "preview <harness>",
		Short: "Show what install would write",
		Long: `Show, as a diff, exactly what "adapter install" would write into the files of a
harness, and what is left for you to do then. Nothing is changed. Values in the
files that look like secrets are masked.`,
		Example: `  hubcli adapter preview claude-code
  hubcli adapter preview codex --scope project --path ./shop`,
	}
	adapterCommand(env, o, cmd, func(ctx context.Context, h hub.Harness, in hub.AdapterInput) error {
		return runAdapterPreview(ctx, env, o, hub.AdapterInstall, h, in)
	})
	return o.PermissionFlag(cmd)
}

func newAdapterPreviewUninstall(env *term.Env) *cobra.Command {
	o := &AdapterChange{}
	cmd := &cobra.Command{
		Use:   "preview-uninstall <harness>",
		Short: "Show what uninstall would take out",
		Long: `Show, as a diff, exactly what "adapter uninstall" would take out of the files of
a harness. Nothing is changed.`,
		Example: `  hubcli adapter preview-uninstall claude-code`,
	}
	return adapterCommand(env, o, cmd, func(ctx context.Context, h hub.Harness, in hub.AdapterInput) error {
		return runAdapterPreview(ctx, env, o, hub.AdapterUninstall, h, in)
	})
}

func newAdapterRepair(env *term.Env) *cobra.Command {
	o := &AdapterChange{}
	return o.PermissionFlag(newAdapterChange(env, o, hub.AdapterRepair, &cobra.Command{
		Use:   "repair <harness>",
		Short: "Re-apply an install over an existing region",
		Long: `Write the adapter anew, after showing the difference and asking: parts that are
missing, that somebody has changed, or that name an executable or address that
has moved. It gives no permissions that are not there: an install offers them.`,
		Example: `  hubcli adapter repair claude-code
  hubcli adapter repair codex --scope project --path ./shop`,
	}))
}

func newAdapterChange(env *term.Env, o *AdapterChange, action hub.AdapterAction, cmd *cobra.Command) *cobra.Command {
	adapterCommand(env, o, cmd, func(ctx context.Context, h hub.Harness, in hub.AdapterInput) error {
		return runAdapterChange(ctx, env, o, action, h, in)
	})
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not ask; required when stdin is not a terminal")
	return cmd
}

func runAdapterPreview(ctx context.Context, env *term.Env, o *AdapterChange, action hub.AdapterAction, h hub.Harness, in hub.AdapterInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	plan, err := c.PreviewAdapter(ctx, h, action, in)
	if err != nil {
		return err
	}
	if o.JSON {
		return term.PrintJSON(env.Stdout, plan)
	}
	return PrintPlan(env, plan)
}

// PrintPlan prints what a plan would change, as a diff for each file.
func PrintPlan(env *term.Env, plan hub.AdapterPlan) error {
	w := env.Stdout
	if plan.Prompt == "" {
		_, err := fmt.Fprintf(w, "%s: there is nothing to %s\n", plan.Harness, plan.Action)
		return err
	}
	for _, f := range plan.Files {
		fmt.Fprintf(w, "%-7s %s\n", f.Change, peertext.TerminalLine(f.File))
	}
	diff := peertext.Terminal(plan.Diff)
	if env.Colors(env.StdoutTerminal) {
		diff = term.Paint(diff)
	}
	fmt.Fprint(w, "\n"+diff)
	for _, line := range plan.Warnings {
		fmt.Fprintln(w, "note: "+peertext.TerminalLine(line))
	}
	return printFollowUps(w, plan.FollowUps)
}

func printFollowUps(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, "then: "+peertext.TerminalLine(line)); err != nil {
			return err
		}
	}
	return nil
}

// runAdapterChange changes one adapter after a question.
func runAdapterChange(ctx context.Context, env *term.Env, o *AdapterChange, action hub.AdapterAction, h hub.Harness, in hub.AdapterInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	done, err := askedChange(ctx, env, c, o, action, AdapterTarget{h, in})
	if err != nil {
		return err
	}
	return printOne(env, o, h, action, done)
}

func printChanged(w io.Writer, h hub.Harness, action hub.AdapterAction, done hub.AdapterResult) error {
	if !done.Changed {
		_, err := fmt.Fprintf(w, "%s: there is nothing to %s\n", h, action)
		return err
	}
	verb := map[hub.AdapterAction]string{
		hub.AdapterInstall: "installed", hub.AdapterUninstall: "uninstalled", hub.AdapterRepair: "repaired",
	}[action]
	fmt.Fprintf(w, "%s: %s\n", h, verb)
	for _, f := range done.Files {
		fmt.Fprintf(w, "  %-7s %s\n", f.Change, peertext.TerminalLine(f.File))
	}
	for _, b := range done.Backups {
		fmt.Fprintf(w, "  backup  %s\n", peertext.TerminalLine(b))
	}
	if err := printFollowUps(w, done.FollowUps); err != nil {
		return err
	}
	if action == hub.AdapterUninstall {
		return nil
	}
	_, err := fmt.Fprintf(w, "try it: hubcli adapter verify %s\n", h)
	return err
}
