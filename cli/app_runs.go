package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/hub"
)

func newAppRuns(env *Env) *cobra.Command {
	var o struct {
		listing
		roomRef
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
		Args: func(cmd *cobra.Command, args []string) error { return unknownCommand(cmd, args) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := hub.RunsQuery{Limit: hub.MaxPageRows}
			q.Status, q.Active = statusQuery[hub.RunStatus](o.status)
			if err := o.checkRoom(cmd); err != nil {
				return err
			}
			return o.run(cmd, env, func(ctx context.Context, s *spectator) (got found, err error) {
				if q.RoomID, err = o.onlyRoom(ctx, s.Client); err != nil {
					return found{}, err
				}
				return findRuns(ctx, s, q, o.archived || q.RoomID != "")
			})
		},
	}
	f := cmd.Flags()
	o.addRoom(f, roomOnlyUsage)
	f.Var(choiceValue{&o.status, words}, "status", "`status` of the runs: "+strings.Join(words, ", "))
	f.BoolVar(&o.archived, "archived", false, "runs of archived rooms too")
	o.listing.add(env, f)
	cmd.AddCommand(newRunsOpen(env))
	return cmd
}

func findRuns(ctx context.Context, s *spectator, q hub.RunsQuery, archived bool) (found, error) {
	all := hub.Walk(ctx, s.Runs, q)
	if !archived {
		all = outsideArchive(ctx, s, all, func(r *hub.Run) *hub.RoomID { return r.RoomID })
	}
	runs, err := firstOf(0, all)
	if err != nil {
		return found{}, err
	}
	rooms, err := s.roomNames(ctx)
	if err != nil {
		return found{}, err
	}
	none := "there is no such run"
	if q.RoomID == "" && q.Status == "" {
		if none = "there is no run"; q.Active {
			none = "no run is under way"
		}
	}
	t := newTable(none, "RUN", "STATUS", ">AGE", ">ENDED", "ROOM(8)", "FROM(8)", "TASKS(8)", "TITLE(12)")
	now := s.now()
	for i := range runs {
		r := &runs[i]
		ended := ""
		if r.EndedAt != nil {
			ended = age(now, *r.EndedAt)
		}
		t.add(r.RunID, runStatus(r.Status), age(now, r.StartedAt), ended, rooms.of(r.RoomID), r.CreatedBy,
			fmt.Sprintf("%d/%d%s", r.Counts.Done+r.Counts.Failed+r.Counts.Cancelled, r.Counts.Total, failures(r.Counts)), r.Title)
	}
	return found{rows: runs, text: t}, nil
}

func runStatus(s hub.RunStatus) cell {
	return cell{string(s), map[hub.RunStatus]string{hub.RunRunning: sgrGreen, hub.RunFailed: sgrRed, hub.RunCancelled: sgrDim, hub.RunComplete: sgrDim}[s]}
}
