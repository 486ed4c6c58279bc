package room

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// NewProject makes the command project.
func NewProject(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "project",
		Short: "Manage projects",
		Long: `Make projects and look at them. A project holds the rooms in which a team works;
a command names it by its id, its slug or its name.`,
		Example: `  hubcli project create --name "Web shop"
  hubcli project list
  hubcli project show web-shop`,
	}
	return opt.Group(cmd, newProjectCreate(env), newProjectList(env), newProjectShow(env), newProjectRename(env), newProjectExport(env), newProjectArchive(env), newProjectUnarchive(env))
}

func newProjectCreate(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		in   hub.ProjectInput
		json bool
	}
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a project",
		Long: `Make a project. Its slug, a short form of the name for commands and addresses, is
made of the name if --slug is left out.

A project of the same slug or name is refused, and the refusal names it.`,
		Example: `  hubcli project create --name "Web shop"
  hubcli project create --name "Web shop, second try" --slug shop2 --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.in.Name = strings.TrimSpace(o.in.Name); o.in.Name == "" {
				return term.Usage("name the project, for example --name \"Web shop\"", "--name is missing")
			}
			if cmd.Flags().Changed("slug") {
				if err := hub.CheckSlug("--slug", o.in.Slug); err != nil {
					return opt.AsUsage(err)
				}
			}
			return runProjectCreate(cmd.Context(), env, &o.BaseURL, o.in, o.json)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.in.Name, "name", "", "`name` of the project (required)")
	f.StringVar(&o.in.Slug, "slug", "", "short `form` of the name: lower case letters, digits and hyphens")
	f.BoolVar(&o.json, "json", false, "print the project as JSON")
	o.BaseURL.Add(env, f)
	return cmd
}

func runProjectCreate(ctx context.Context, env *term.Env, base *opt.BaseURL, in hub.ProjectInput, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := c.CreateProject(ctx, in)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	_, err = fmt.Fprintf(env.Stdout, "created project %s %s\n", out.Row.ProjectID, peertext.TerminalLine(out.Row.Slug))
	return err
}

func newProjectList(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		archived bool
		json     bool
	}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List projects",
		Long: `List projects by slug, one a line: id, slug and name. Those that are archived are
listed only with --archived, and say so.`,
		Example: `  hubcli project list
  hubcli project list --archived
  hubcli project list --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runProjectList(cmd.Context(), env, &o.BaseURL, o.archived, o.json)
		},
	}
	cmd.Flags().BoolVar(&o.archived, "archived", false, "archived projects too")
	cmd.Flags().BoolVar(&o.json, "json", false, list.JSONRows)
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

func runProjectList(ctx context.Context, env *term.Env, base *opt.BaseURL, archived, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	rows := hub.Walk(ctx, c.Projects, hub.ProjectsQuery{Archived: archived})
	return list.PrintList(env, asJSON, "no projects; make one with: hubcli project create --name <name>", rows, func(p hub.Project) string {
		line := fmt.Sprintf("%s  %s  %s", p.ProjectID, p.Slug, p.Name)
		if p.Archived {
			line += "  archived"
		}
		return line
	})
}

func newProjectShow(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		json bool
	}
	cmd := &cobra.Command{
		Use:   "show <project>",
		Short: "Show a project and its rooms",
		Long: `Show a project, named by its id, slug or name, and its rooms. A room that is archived
says so.

With --json the project alone is printed.`,
		Example: `  hubcli project show web-shop
  hubcli project show "Web shop" --json`,
		Args: opt.Arity("project"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runProjectShow(cmd.Context(), env, &o.BaseURL, args[0], o.json)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the project as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

func runProjectShow(ctx context.Context, env *term.Env, base *opt.BaseURL, ref string, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	p, err := c.Project(ctx, ref)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, p)
	}
	rows := [][2]string{{"project", string(p.ProjectID)}, {"slug", p.Slug}, {"name", p.Name}, {"created", p.CreatedAt.String()}}
	if p.Archived {
		rows = append(rows, [2]string{"archived", "out of lists, with its rooms"})
	}
	if err := term.PrintRows(env.Stdout, rows); err != nil {
		return err
	}
	for r, err := range hub.Walk(ctx, c.Rooms, hub.RoomsQuery{Project: string(p.ProjectID), Archived: true}) {
		if err != nil {
			return err
		}
		if err := term.PrintRows(env.Stdout, [][2]string{{"room", roomLine(r)}}); err != nil {
			return err
		}
	}
	return nil
}
