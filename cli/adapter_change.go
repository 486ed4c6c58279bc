package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// adapterChange are the flags of the commands that change an adapter or show how
// it would change.
type adapterChange struct {
	baseURL
	adapterPlace
	yes  bool
	json bool
}

// adapterCommand completes such a command with its flags.
func adapterCommand(env *Env, o *adapterChange, cmd *cobra.Command, run func(context.Context, hub.Harness, hub.AdapterInput) error) *cobra.Command {
	cmd.Args = arity("harness")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		harness, err := harnessOf(args[0])
		if err != nil {
			return err
		}
		in, err := o.input()
		if err != nil {
			return err
		}
		return run(cmd.Context(), harness, in)
	}
	f := cmd.Flags()
	o.adapterPlace.add(f)
	o.baseURL.add(env, f)
	f.BoolVar(&o.json, "json", false, "print the answer as JSON")
	return cmd
}

func newAdapterPreview(env *Env) *cobra.Command {
	o := &adapterChange{}
	cmd := &cobra.Command{
		Use:   "preview <harness>",
		Short: "Show what install would write",
		Long: `Show, as a diff, exactly what "adapter install" would write into the files of a
harness, and what is left for you to do then. Nothing is changed. Values in the
files that look like secrets are masked.`,
		Example: `  hubcli adapter preview claude-code
  hubcli adapter preview codex --scope project --path ./shop`,
	}
	return adapterCommand(env, o, cmd, func(ctx context.Context, h hub.Harness, in hub.AdapterInput) error {
		return runAdapterPreview(ctx, env, o, hub.AdapterInstall, h, in)
	})
}

func newAdapterPreviewUninstall(env *Env) *cobra.Command {
	o := &adapterChange{}
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

func newAdapterInstall(env *Env) *cobra.Command {
	return newAdapterChange(env, &adapterChange{}, hub.AdapterInstall, &cobra.Command{
		Use:   "install <harness>",
		Short: "Set the hub up in a harness",
		Long: `Write the adapter into the files of a harness, after showing exactly what will be
written and asking. Entries that are right already stay as they are; a second
install changes nothing.

The install stops at an entry of the hub that somebody has changed, and at an entry
of the same name that is not the hub's. See "adapter status". Use "adapter repair"
in the first case; rename or remove the entry in the second.`,
		Example: `  hubcli adapter install claude-code
  hubcli adapter install codex --scope project --path ./shop
  hubcli adapter install cursor --yes`,
	})
}

func newAdapterRepair(env *Env) *cobra.Command {
	return newAdapterChange(env, &adapterChange{}, hub.AdapterRepair, &cobra.Command{
		Use:   "repair <harness>",
		Short: "Re-apply an install over an existing region",
		Long: `Write the adapter anew, after showing the difference and asking: parts that are
missing, that somebody has changed, or that name an executable or address that
has moved.`,
		Example: `  hubcli adapter repair claude-code
  hubcli adapter repair codex --scope project --path ./shop`,
	})
}

func newAdapterChange(env *Env, o *adapterChange, action hub.AdapterAction, cmd *cobra.Command) *cobra.Command {
	adapterCommand(env, o, cmd, func(ctx context.Context, h hub.Harness, in hub.AdapterInput) error {
		return runAdapterChange(ctx, env, o, action, h, in)
	})
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask; required when stdin is not a terminal")
	return cmd
}

func runAdapterPreview(ctx context.Context, env *Env, o *adapterChange, action hub.AdapterAction, h hub.Harness, in hub.AdapterInput) error {
	c, err := o.client()
	if err != nil {
		return err
	}
	defer c.Close()
	plan, err := c.PreviewAdapter(ctx, h, action, in)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(env.Stdout, plan)
	}
	return printPlan(env.Stdout, plan)
}

func printPlan(w io.Writer, plan hub.AdapterPlan) error {
	if plan.Prompt == "" {
		_, err := fmt.Fprintf(w, "%s: there is nothing to %s\n", plan.Harness, plan.Action)
		return err
	}
	for _, f := range plan.Files {
		fmt.Fprintf(w, "%-7s %s\n", f.Change, peertext.TerminalLine(f.File))
	}
	fmt.Fprint(w, "\n"+peertext.Terminal(plan.Diff))
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

// runAdapterChange asks the hub for the change, shows its question, and sends
// the confirmation. The hub then makes exactly the shown change, or none.
func runAdapterChange(ctx context.Context, env *Env, o *adapterChange, action hub.AdapterAction, h hub.Harness, in hub.AdapterInput) error {
	c, err := o.client()
	if err != nil {
		return err
	}
	defer c.Close()
	done, err := c.ChangeAdapter(ctx, h, action, in)
	var asked *hub.Error
	if errors.As(err, &asked) && asked.Code == hub.CodeConfirmRequired {
		prompt, _ := asked.Detail["prompt"].(string)
		in.Confirm, _ = asked.Detail["digest"].(string)
		if !o.yes {
			if err := confirm(ctx, env, peertext.Terminal(prompt)+"\nType yes to go on: ", "nothing was changed"); err != nil {
				return err
			}
		}
		done, err = c.ChangeAdapter(ctx, h, action, in)
	}
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(env.Stdout, done)
	}
	return printChanged(env.Stdout, h, action, done)
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
