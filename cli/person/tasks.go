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

// activeStatus is the word for all tasks or runs that have not ended.
const (
	activeStatus = "active"
	anyStatus    = "any"
)

// statusWords are the values of --status.
func statusWords[S ~string](statuses []S) []string {
	words := []string{activeStatus, anyStatus}
	for _, s := range statuses {
		words = append(words, string(s))
	}
	return words
}

// statusQuery turns a word into what a query selects.
func statusQuery[S ~string](word string) (status S, active bool) {
	switch word {
	case activeStatus:
		return "", true
	case anyStatus:
		return "", false
	}
	return S(word), false
}

// NewTasks makes the command tasks.
func NewTasks(env *term.Env) *cobra.Command {
	var o struct {
		list.Listing
		list.RoomRef
		status, assignee string
		ready, archived  bool
	}
	o.status = activeStatus
	words := statusWords(hub.TaskStatuses())
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "List the tasks of all rooms",
		Long: `List tasks, the newest first: those that have not ended, or those of --status. Tasks
that direct messages opened are listed for the operator: the command reads the
operator's secret in the store of the hub, so only the user who started the hub sees
them. With HUB_AGENT it lists what this agent may see.

Tasks of archived rooms are listed with --archived, --room or --assignee only.

A task is ready if it has not ended and waits for no other task. BLOCKED BY names
the tasks that it was made to wait for.`,
		Example: `  hubcli app tasks
  hubcli app tasks --room . --status working
  hubcli app tasks --assignee dev-a --status any --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := hub.TasksQuery{Assignee: hub.AgentID(o.assignee), Limit: hub.MaxPageRows}
			q.Status, q.Active = statusQuery[hub.TaskStatus](o.status)
			if cmd.Flags().Changed("ready") {
				q.Ready = &o.ready
			}
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			if err := checkNamed(cmd, "assignee", q.Assignee); err != nil {
				return err
			}
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (got list.Found, err error) {
				if q.RoomID, err = o.OnlyRoom(ctx, s.Client); err != nil {
					return list.Found{}, err
				}
				got, err = findTasks(ctx, s, q, o.archived || q.RoomID != "" || q.Assignee != "")
				return s.OrUnknown(ctx, got, err, q.Assignee)
			})
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomOnlyUsage)
	f.Var(term.ChoiceValue{To: &o.status, Choices: words}, "status", "`status` of the tasks: "+strings.Join(words, ", "))
	f.StringVar(&o.assignee, "assignee", "", "only tasks of this `agent`")
	f.BoolVar(&o.ready, "ready", false, "only tasks that wait for no other task; with =false only those that do")
	f.BoolVar(&o.archived, "archived", false, "tasks of archived rooms too")
	o.AddIDs(env, f, "task_id")
	return cmd
}

// checkNamed refuses the value of a flag that is no agent id.
func checkNamed(cmd *cobra.Command, flag string, id hub.AgentID) error {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return opt.AsUsage(hub.CheckAgentID("--"+flag, id))
}

func findTasks(ctx context.Context, s *list.Spectator, q hub.TasksQuery, archived bool) (list.Found, error) {
	all := hub.Walk(ctx, s.Tasks, q)
	if !archived {
		all = list.OutsideArchive(ctx, s, all, func(t *hub.Task) *hub.RoomID { return t.RoomID })
	}
	tasks, err := list.FirstOf(0, all)
	if err != nil {
		return list.Found{}, err
	}
	rooms, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	none := "there is no such task"
	if q.RoomID == "" && q.Assignee == "" && q.Status == "" && q.Ready == nil {
		if none = "there is no task"; q.Active {
			none = "no task is open"
		}
	}
	t := term.NewTable(none, ">TASK", "STATUS", "READY?", ">AGE", "ROOM(8)", "FROM(8)?", "ASSIGNEE(8)", "BLOCKED BY(10)?", "TITLE(12)")
	now := s.Now()
	for i := range tasks {
		k := &tasks[i]
		assignee := term.Optional(k.Assignee)
		if k.OfferedTo != nil {
			assignee = strings.TrimSpace(assignee + " (offered to " + string(*k.OfferedTo) + ")")
		}
		t.Add(k.TaskID, taskStatus(k.Status), readiness(k), term.Age(now, k.CreatedAt), rooms.Of(k.RoomID), k.CreatedBy, assignee, numbered(k.BlockedBy), k.Title)
	}
	return list.Found{Rows: tasks, Text: t}, nil
}

func taskStatus(s hub.TaskStatus) term.Cell {
	return term.Cell{Text: string(s), Color: map[hub.TaskStatus]string{
		hub.TaskWorking: term.SGRGreen, hub.TaskInputRequired: term.SGRYellow, hub.TaskFailed: term.SGRRed, hub.TaskDone: term.SGRDim, hub.TaskCancelled: term.SGRDim,
	}[s]}
}

func readiness(t *hub.Task) string {
	switch {
	case t.Ready:
		return "yes"
	case t.Status.Terminal():
		return ""
	}
	return "no"
}

// numbered lists tasks.
func numbered(ids []hub.TaskID) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = fmt.Sprintf("#%d", id)
	}
	return strings.Join(parts, " ")
}
