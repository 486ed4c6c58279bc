//go:build !carries && !hub_omit_capsule

package capsule

import (
	"context"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// NewProjectExport makes the command export.
func NewProjectExport(env *term.Env) *cobra.Command {
	o := &capsuleExport{bundle: true}
	cmd := &cobra.Command{
		Use:   "export <project>",
		Short: "Write a project to a folder that people read",
		Long: `Write a project to a folder, as it is at this moment: a page of Markdown for each room,
a file for each decision, the artifacts as files, memory and tasks, a page that replays
each room in a browser, and in data/ the same for programs. No hub takes such a folder
in; for that, see capsule export.

The hub plans the export first: it says what the folder holds, what is replaced and what
is left out, and asks. The folder appears when all of it is written. A folder that is
there is never written into, unless it is empty.

The scope complete holds the messages of all rooms; knowledge holds everything but
messages; selected_rooms is complete for the rooms of --rooms. With the privacy
share_safe, secrets and the names of this machine and of its people are replaced, and
direct messages and binary artifacts are left out. full_history replaces nothing and
holds direct messages.

The command reads the operator token in the store of the hub, so only the user who
started the hub can use it.`,
		Example: `  hubcli project export web-shop
  hubcli project export web-shop --out ~/web-shop --scope knowledge --yes`,
		Args: opt.Arity("project"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			return runProjectExport(cmd.Context(), env, o, args[0])
		},
	}
	cmd.Flags().StringVar(&o.out, "out", "", "`folder` to write, which must not exist or be empty (default ./<slug>-export)")
	o.add(env, cmd, hub.CapsuleComplete)
	return cmd
}

func runProjectExport(ctx context.Context, env *term.Env, o *capsuleExport, project string) error {
	const unnamed = "project-export" // until the hub has said the slug
	target := o.out
	if target == "" {
		target = unnamed
	}
	in, err := o.inputTo(project, target)
	if err != nil {
		return err
	}
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if o.out == "" {
		row, err := c.Project(ctx, project)
		if err != nil {
			return err
		}
		if err := hub.CheckSlug("slug", row.Slug); err != nil {
			return err
		}
		if in, err = o.inputTo(project, row.Slug+"-export"); err != nil {
			return err
		}
	}
	return runExport(ctx, env, c, o, in)
}
