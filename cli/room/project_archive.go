package room

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/overview"
)

func newProjectArchive(env *term.Env) *cobra.Command {
	return list.ArchiveCommand(env, &cobra.Command{
		Use:   "archive <project>",
		Short: "Take a project with its rooms out of the lists, as the operator",
		Long: `Take a project, named by its id, slug or name, and its rooms out of the lists: of
projects, rooms, tasks and runs, of "hubcli status", and of polls that name no channel.
Nothing is deleted: every reference goes on to lead to it, and what was said there can
be read and searched. Posts to its rooms, new tasks and new rooms are refused.`,
		Example: `  hubcli project archive web-shop
  hubcli project list --archived`,
		Args: opt.Arity("project"),
	}, archivesProject(true))
}

func newProjectUnarchive(env *term.Env) *cobra.Command {
	return list.ArchiveCommand(env, &cobra.Command{
		Use:   "unarchive <project>",
		Short: "Take an archived project back into the lists, as the operator",
		Long: `Take an archived project back into the lists, with the rooms that went with it. A room
that was archived by itself stays archived.`,
		Example: `  hubcli project unarchive web-shop`,
		Args:    opt.Arity("project"),
	}, archivesProject(false))
}

func archivesProject(archived bool) list.Archiving {
	return func(ctx context.Context, c *client.Client, name string) (any, string, error) {
		if strings.TrimSpace(name) == "" {
			return nil, "", term.Usage("name one; see: hubcli project list --archived", "the project cannot be empty")
		}
		project, err := c.Project(ctx, name)
		if err != nil {
			return nil, "", err
		}
		out, err := c.ArchiveProject(ctx, string(project.ProjectID), hub.ArchiveInput{Archived: archived})
		if err != nil {
			return nil, "", err
		}
		went := 0
		for r, err := range hub.Walk(ctx, c.Rooms, hub.RoomsQuery{Project: string(project.ProjectID), Archived: true, Limit: hub.MaxPageRows}) {
			if err != nil {
				return nil, "", err
			}
			if r.Archived == archived {
				went++
			}
		}
		text := list.ArchivedText(fmt.Sprintf("project %s %s", out.Row.ProjectID, peertext.TerminalLine(out.Row.Slug)), project.Archived == archived, archived)
		says := "; in the lists again: "
		if archived {
			says = "; out of the lists: "
		}
		return out.Row, text + says + overview.Count(went, "room") + "\n", nil
	}
}
