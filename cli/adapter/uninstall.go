package adapter

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hubcli/cli/term"
	"hubcli/hub"
)

func newAdapterUninstall(env *term.Env) *cobra.Command {
	o := &AdapterChange{}
	var all bool
	cmd := newAdapterChange(env, o, hub.AdapterUninstall, &cobra.Command{
		Use:   "uninstall <harness>",
		Short: "Take the hub out of a harness again",
		Long: `Remove the hub's entries from the files of a harness, after showing them and
asking. A file that nobody else has changed gets its old content back, byte for
byte; in other files only the hub's entries are removed.

With --all and without a harness, this is done for every harness in which the hub
is installed, for the user and in projects, after one question. The hub's own data
stays: "hubcli reset" deletes the store.`,
		Example: `  hubcli adapter uninstall claude-code
  hubcli adapter uninstall codex --scope project --path ./shop --yes
  hubcli adapter uninstall --all`,
	})
	cmd.Flags().BoolVar(&all, "all", false, "uninstall from every harness, for the user and in projects")
	o.manyInstead(cmd, manyFlag{&all, "--all", "is for every place"}, func(ctx context.Context) error { return uninstallAll(ctx, env, o) })
	return cmd
}

// uninstallAll uninstalls every adapter. If the hub refuses one, for example
// because of an unreadable file, the others are still uninstalled.
func uninstallAll(ctx context.Context, env *term.Env, o *AdapterChange) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	rows, err := c.Adapters(ctx, hub.AdapterQuery{})
	if err != nil {
		return err
	}
	var all []AdapterTarget
	for _, row := range rows {
		for _, place := range row.Places {
			if hasAdapter(place) {
				all = append(all, AdapterTarget{row.Harness, hub.AdapterInput{Scope: place.Scope, Path: place.Path}})
			}
		}
	}
	if len(all) == 0 && !o.JSON {
		_, err = fmt.Fprintln(env.Stdout, "no adapter is installed")
		return err
	}
	refused, err := ChangeMany(ctx, env, c, o, hub.AdapterUninstall, all)
	if err != nil {
		return err
	}
	return LeftAsTheyAre(refused, len(all))
}

// hasAdapter reports whether the hub has written entries into a place, or may
// have, if a file cannot be read.
func hasAdapter(place hub.AdapterPlace) bool {
	return place.Gone || slices.ContainsFunc(place.Parts, func(p hub.AdapterPart) bool {
		return p.State == hub.AdapterInstalled || p.State == hub.AdapterDrifted || p.State == hub.AdapterUnreadable
	})
}
