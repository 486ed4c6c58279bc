package person

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// NewRuns makes the command runs.
func NewRuns(env *term.Env) *cobra.Command {
	var o struct {
		list.Listing
		list.RoomRef
		status   string
		archived bool
	}
	o.status = activeStatus
	words := statusWords(hub.RunStatuses())
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs of all rooms",
		Long: `List runs, the newest first: those that are not over, or those of --status. TASKS
counts the tasks that have ended, and all of them. AGE is the time since the run
began, ENDED the time since its last task ended. Runs of archived rooms are listed with
--archived or --room only.`,
		Example: `  hubcli app runs
  hubcli app runs --status any --room web-shop/checkout
  hubcli app runs --watch`,
		Args: func(cmd *cobra.Command, args []string) error { return opt.UnknownCommand(cmd, args) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := hub.RunsQuery{Limit: hub.MaxPageRows}
			q.Status, q.Active = statusQuery[hub.RunStatus](o.status)
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (got list.Found, err error) {
				if q.RoomID, err = o.OnlyRoom(ctx, s.Client); err != nil {
					return list.Found{}, err
				}
				return findRuns(ctx, s, q, o.archived || q.RoomID != "")
			})
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomOnlyUsage)
	f.Var(term.ChoiceValue{To: &o.status, Choices: words}, "status", "`status` of the runs: "+strings.Join(words, ", "))
	f.BoolVar(&o.archived, "archived", false, "runs of archived rooms too")
	o.AddIDs(env, f, "run_id")
	cmd.AddCommand(newRunsOpen(env))
	return cmd
}

func findRuns(ctx context.Context, s *list.Spectator, q hub.RunsQuery, archived bool) (list.Found, error) {
	all := hub.Walk(ctx, s.Runs, q)
	if !archived {
		all = list.OutsideArchive(ctx, s, all, func(r *hub.Run) *hub.RoomID { return r.RoomID })
	}
	runs, err := list.FirstOf(0, all)
	if err != nil {
		return list.Found{}, err
	}
	rooms, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	none := "there is no such run"
	if q.RoomID == "" && q.Status == "" {
		if none = "there is no run"; q.Active {
			none = "no run is under way"
		}
	}
	t := term.NewTable(none, "RUN", "STATUS", ">AGE", ">ENDED", "ROOM(8)", "FROM(8)", "TASKS(8)", "TITLE(12)")
	now := s.Now()
	for i := range runs {
		r := &runs[i]
		ended := ""
		if r.EndedAt != nil {
			ended = term.Age(now, *r.EndedAt)
		}
		t.Add(r.RunID, runStatus(r.Status), term.Age(now, r.StartedAt), ended, rooms.Of(r.RoomID), r.CreatedBy,
			fmt.Sprintf("%d/%d%s", r.Counts.Done+r.Counts.Failed+r.Counts.Cancelled, r.Counts.Total, term.Failures(r.Counts)), r.Title)
	}
	return list.Found{Rows: runs, Text: t}, nil
}

func runStatus(s hub.RunStatus) term.Cell {
	return term.Cell{Text: string(s), Color: map[hub.RunStatus]string{hub.RunRunning: term.SGRGreen, hub.RunFailed: term.SGRRed, hub.RunCancelled: term.SGRDim, hub.RunComplete: term.SGRDim}[s]}
}
