package adapter

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

func newAdapterInstall(env *term.Env) *cobra.Command {
	o := &AdapterChange{}
	var found bool
	cmd := o.PermissionFlag(newAdapterChange(env, o, hub.AdapterInstall, &cobra.Command{
		Use:   "install <harness>",
		Short: "Set the hub up in a harness",
		Long: `Write the adapter into the files of a harness, after showing exactly what will be
written and asking. Entries that are right already stay as they are; a second
install changes nothing.

Where the harness has an allow list, the install offers to put the hub's own tools
and "hubcli watch" on it, and nothing else. The diff shows it. With --no-permissions
it is left out, or taken out if it is there, and the harness goes on asking.

With --plugin, Claude Code gets a folder that it loads by itself: it shows an idle
session each message that needs its agent, and has a short skill about the tools.

Gemini CLI and opencode get files of the hub's own, which they load by themselves, and
keep their settings files. The hub is set up in these where something would be lost
otherwise, which the plan says, or with --plugin=false.

With --detected and without a harness, this is done for every harness that is on
this machine, after one question that shows the plan of each. Harnesses that are
left as they are, are named, and the exit code is 1.

The install stops at an entry of the hub that somebody has changed, and at an entry
of the same name that is not the hub's. See "adapter status". Use "adapter repair"
in the first case; rename or remove the entry in the second.`,
		Example: `  hubcli adapter install claude-code
  hubcli adapter install --detected
  hubcli adapter install codex --scope project --path ./shop
  hubcli adapter install cursor --yes --no-permissions`,
	}))
	cmd.Flags().BoolVar(&found, "detected", false, "install in every harness that is on this machine, for the user")
	o.manyInstead(cmd, manyFlag{&found, "--detected", "is for the user, not for a project"}, func(ctx context.Context) error { return installDetected(ctx, env, o) })
	return cmd
}

// installDetected installs the adapter of every harness on this machine.
func installDetected(ctx context.Context, env *term.Env, o *AdapterChange) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	rows, err := c.Adapters(ctx, hub.AdapterQuery{SearchPath: opt.OwnPath(env)})
	if err != nil {
		return err
	}
	in := hub.AdapterInput{Scope: hub.AdapterGlobal, NoPermissions: o.NoPermissions, Plugin: o.PluginInput()}
	all := detected(rows, in)
	if len(all) == 0 {
		return &term.Failure{
			Exit: term.ExitRefused, Sentence: "no harness was found on this machine",
			Fix: "name one: hubcli adapter install claude-code; see: hubcli adapter list",
		}
	}
	refused, err := ChangeMany(ctx, env, c, o, hub.AdapterInstall, all)
	if err != nil {
		return err
	}
	if refused == 0 && !o.JSON {
		if _, err := fmt.Fprintf(env.Stdout, "done in all %d harnesses that were found\n", len(all)); err != nil {
			return err
		}
	}
	return LeftAsTheyAre(refused, len(all))
}
