package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"hubcli/hub"
)

// anyRoom is the room_id that stands for all of them.
const anyRoom = "*"

// taskTools list and change tasks.
func taskTools() []tool {
	return []tool{
		define(tool{
			name: "hub_list_tasks", title: "List tasks", preload: true, reads: true, idempotent: true,
			description: "List open tasks: yours first, then those that are ready to take.",
		}, listTasks),
		define(tool{
			name: "hub_update_task", title: "Change a task", idempotent: true,
			description: "Change or hand over a task. To take it: status working; you become the assignee if it has none. To hand it over: offer_to; the other agent answers with offer. A sub-agent changes its own tasks only.",
		}, updateTask),
		define(tool{
			name: "hub_complete_task", title: "Complete a task", idempotent: true,
			description: "Mark a task done and release your claims and locks for it. The agent that asked gets the note. A sub-agent ends its own tasks only.",
		}, completeTask),
		define(tool{
			name: "hub_task_leases", title: "List what is held for a task", apart: true, reads: true, idempotent: true,
			description: "List the claims and locks that are held for a task. They pass to its next assignee.",
		}, taskLeases),
	}
}

// shownTask is a task as lists show it; its message has the whole text.
type shownTask struct {
	TaskID       hub.TaskID     `json:"task_id"`
	Title        string         `json:"title"`
	Status       hub.TaskStatus `json:"status"`
	Ready        bool           `json:"ready,omitempty"`
	Assignee     hub.AgentID    `json:"assignee,omitempty"`
	OfferedTo    hub.AgentID    `json:"offered_to,omitempty"`
	Left         bool           `json:"assignee_gone,omitempty"` // it may be taken over
	BlockedBy    []hub.TaskID   `json:"blocked_by,omitempty"`
	ParentTaskID hub.TaskID     `json:"parent_task_id,omitempty"`
	RunID        hub.RunID      `json:"run_id,omitempty" lean:"-"`
	RoomID       hub.RoomID     `json:"room_id,omitempty" lean:"-"`
	ThreadID     hub.ThreadID   `json:"thread_id,omitempty"`
	CreatedBy    hub.AgentID    `json:"created_by" lean:"-"`
	UpdatedAt    hub.Time       `json:"updated_at" lean:"-"`
	Version      int64          `json:"version" lean:"-"`
	ResultID     hub.MessageID  `json:"result_message_id,omitempty"`
}

func showTask(t *hub.Task) shownTask {
	s := shownTask{
		TaskID: t.TaskID, Title: brief(t.Title, 200), Status: t.Status, Ready: t.Ready, Assignee: hub.Value(t.Assignee),
		OfferedTo: hub.Value(t.OfferedTo), Left: t.AssigneeGoneSince != nil, BlockedBy: t.BlockedBy[:min(len(t.BlockedBy), 20)], ParentTaskID: hub.Value(t.ParentTaskID),
		RunID: hub.Value(t.RunID), RoomID: hub.Value(t.RoomID), ThreadID: hub.Value(t.ThreadID), CreatedBy: t.CreatedBy,
		UpdatedAt: t.UpdatedAt, Version: t.Version, ResultID: hub.Value(t.ResultMessageID),
	}
	switch {
	case t.Ready:
		s.BlockedBy = nil // all of them have ended
	case len(t.OpenBlockers) > 0:
		s.BlockedBy = t.OpenBlockers[:min(len(t.OpenBlockers), 20)]
	}
	return s
}

type listTasksIn struct {
	Status       string       `json:"status,omitempty" jsonschema:"default active, not ended" enum:"active,open,working,input_required,done,failed,cancelled" words:"in_progress=working,blocked=input_required,completed=done,pending=open,todo=open,canceled=cancelled"`
	Mine         bool         `json:"mine,omitempty" jsonschema:"yours, offered to you or given by you"`
	Ready        bool         `json:"ready,omitempty" jsonschema:"that wait for nothing"`
	RoomID       string       `json:"room_id,omitempty" jsonschema:"default: your room; * for all"`
	RunID        hub.RunID    `json:"run_id,omitempty" jsonschema:"of this run"`
	ThreadID     hub.ThreadID `json:"thread_id,omitempty" jsonschema:"of this thread"`
	ParentTaskID hub.TaskID   `json:"parent_task_id,omitempty" jsonschema:"parts of it"`
	Cursor       hub.Cursor   `json:"cursor,omitempty" jsonschema:"from the last answer"`
	Limit        int          `json:"limit,omitempty" jsonschema:"default 20" range:"1,100"`
}

func listTasks(ctx context.Context, c *call, in listTasksIn) (*answer, error) {
	q := hub.TasksQuery{Viewer: c.agent(), RunID: in.RunID, ThreadID: in.ThreadID, ParentID: in.ParentTaskID, Cursor: in.Cursor}
	if in.Status == "" || in.Status == "active" {
		q.Active = true
	} else {
		q.Status = hub.TaskStatus(in.Status)
	}
	if in.Ready {
		q.Ready = &in.Ready
	}
	if in.Mine {
		q.Concerns = c.agent()
	}
	if err := c.taskScope(ctx, &q, in); err != nil {
		return nil, err
	}
	list := func(limit int) ([]hub.Task, hub.Cursor, error) {
		q.Limit = limit
		return c.hub().Tasks(ctx, q)
	}
	return pages(c, in.Limit, list, func(rows []hub.Task, next hub.Cursor, room int) (*answer, int) {
		all := make([]shownTask, len(rows))
		for i := range rows {
			all[i] = showTask(&rows[i])
		}
		l := listing[shownTask]{RoomID: q.RoomID, Truncated: next != "", Cursor: next}
		l.Items, _ = take(all, len(all), room-200)
		slices.SortStableFunc(l.Items, func(a, b shownTask) int { return c.urgency(&a) - c.urgency(&b) })
		line := fmt.Sprintf("%s. Read one with hub_get_message, take one with hub_take.", counted(len(l.Items), "task"))
		if next != "" {
			line = fmt.Sprintf("%s. More: hub_list_tasks with cursor %s.", counted(len(l.Items), "task"), next)
		}
		return &answer{data: l, line: inRoom(line, q.RoomID), untrusted: []string{"items[].title", "items[].thread_id"}}, len(l.Items)
	})
}

// urgency orders tasks for the agent: first its own and those offered to it,
// then those that it could take, then the others, and at last what has ended.
func (c *call) urgency(t *shownTask) int {
	switch {
	case t.Status.Terminal():
		return 3
	case t.Assignee == c.agent() || t.OfferedTo == c.agent():
		return 0
	case t.Ready && t.Assignee == "":
		return 1
	}
	return 2
}

// inRoom says which room an answer is about.
func inRoom(line string, room hub.RoomID) string {
	if room == "" {
		return line
	}
	return "Room " + word(string(room)) + ": " + line
}

// taskScope lists the tasks of the agent's room unless the call says otherwise:
// the tasks of a run, of a parent or of the agent itself may be in any room.
func (c *call) taskScope(ctx context.Context, q *hub.TasksQuery, in listTasksIn) (err error) {
	switch {
	case in.RoomID == anyRoom:
	case in.RoomID != "":
		q.RoomID, err = c.room(ctx, in.RoomID)
	case in.RunID == "" && in.ThreadID == "" && in.ParentTaskID == 0 && !in.Mine:
		q.RoomID, err = c.home(ctx)
	}
	return err
}

type updateTaskIn struct {
	TaskID          hub.TaskID    `json:"task_id" jsonschema:"id"`
	Status          string        `json:"status,omitempty" jsonschema:"how it goes" enum:"open,working,input_required,done,failed,cancelled" words:"in_progress=working,started=working,blocked=input_required,completed=done,complete=done,finished=done,pending=open,todo=open,canceled=cancelled"`
	Assignee        *hub.AgentID  `json:"assignee,omitempty" jsonschema:"agent that does it; empty: none"`
	BlockedBy       *[]hub.TaskID `json:"blocked_by,omitempty" jsonschema:"tasks that must end first"`
	OfferTo         hub.AgentID   `json:"offer_to,omitempty" jsonschema:"agent to hand it to"`
	Offer           string        `json:"offer,omitempty" jsonschema:"answer to an offer" enum:"accept,decline"`
	Note            string        `json:"note,omitempty" jsonschema:"to its new agent" most:"TaskUpdateInput.note"`
	Force           bool          `json:"force,omitempty" jsonschema:"although it waits for others"`
	Release         bool          `json:"release,omitempty" jsonschema:"your claims and locks for it, too"`
	New             bool          `json:"new,omitempty" jsonschema:"the agent is still to come"`
	ExpectedVersion int64         `json:"expected_version,omitempty" jsonschema:"refuse if it has changed"`
	IdempotencyKey  string        `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func updateTask(ctx context.Context, c *call, in updateTaskIn) (*answer, error) {
	changes := in.Status != "" || in.Assignee != nil || in.BlockedBy != nil || in.ExpectedVersion != 0
	ways := 0
	for _, way := range []bool{changes, in.OfferTo != "", in.Offer != ""} {
		if way {
			ways++
		}
	}
	if ways != 1 {
		return nil, hub.Invalid("status", "a call either changes the task, offers it or answers an offer").
			WithFix("give status, assignee or blocked_by; or offer_to; or offer")
	}
	if in.Note != "" && changes && hub.Value(in.Assignee) == "" {
		return nil, hub.Invalid("note", "a note goes to the agent that gets the task").
			WithFix("send assignee with it; to end the task with these words: hub_done; to tell an agent something: hub_dm")
	}
	row, err := c.changeTask(c.key(ctx, in.IdempotencyKey), in)
	if err != nil {
		return nil, err
	}
	t := showTask(&row)
	line := fmt.Sprintf("Task #%d is %s%s.", t.TaskID, t.Status, assigned(&t))
	if in.Release {
		if _, err := c.releaseAll(ctx, in.TaskID); err != nil {
			return nil, err
		}
	}
	switch {
	case in.OfferTo != "":
		line = fmt.Sprintf("Task #%d is offered to %s. Until %[2]s accepts, it stays %s.", t.TaskID, t.OfferedTo, cmp.Or(strings.TrimPrefix(assigned(&t), ", "), "unassigned"))
	case t.Status.Terminal():
	case t.Assignee == c.agent():
		line += " When done: hub_done."
	}
	if waiting := row.Blocks[:min(len(row.Blocks), 20)]; len(waiting) > 0 {
		line += " Tasks that wait for it:" + taskNumbers(waiting) + "."
	}
	return &answer{data: t, prose: true, line: line, untrusted: []string{"title", "thread_id"}}, nil
}

// assigned continues a sentence with what a task waits for and which agent has
// it.
func assigned(t *shownTask) string {
	s := ""
	if len(t.BlockedBy) > 0 && !t.Ready && !t.Status.Terminal() {
		s = " and waits for" + taskNumbers(t.BlockedBy)
	}
	if t.Assignee == "" {
		if t.Status.Terminal() {
			return s
		}
		return s + ", unassigned"
	}
	return s + ", assigned to " + string(t.Assignee)
}

// taskNumbers lists tasks, with a space before each.
func taskNumbers(ids []hub.TaskID) string {
	s := ""
	for i, id := range ids {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf(" #%d", id)
	}
	return s
}

func who(agent hub.AgentID) string {
	if agent == "" {
		return "nobody"
	}
	return string(agent)
}

// changeTask makes the one change that a call asks for.
func (c *call) changeTask(ctx context.Context, in updateTaskIn) (hub.Task, error) {
	var out hub.Outcome[hub.Task]
	var err error
	switch {
	case in.OfferTo != "":
		out, err = c.hub().HandoffTask(ctx, in.TaskID, hub.HandoffInput{AgentID: c.agent(), ToAgent: in.OfferTo, Note: in.Note, UnlessNear: !in.New})
	case in.Offer == "accept":
		out, err = c.hub().AcceptTask(ctx, in.TaskID, hub.OfferInput{AgentID: c.agent(), Note: in.Note})
	case in.Offer == "decline":
		out, err = c.hub().DeclineTask(ctx, in.TaskID, hub.OfferInput{AgentID: c.agent(), Note: in.Note})
	default:
		update := hub.TaskUpdateInput{
			AgentID: c.agent(), Assignee: in.Assignee, BlockedBy: in.BlockedBy, ExpectedVersion: in.ExpectedVersion, Force: in.Force, Note: in.Note,
			UnlessNear: in.Assignee != nil && !in.New,
		}
		if status := hub.TaskStatus(in.Status); slices.Contains(hub.TaskStatuses(), status) {
			update.Status = &status
		}
		out, err = c.hub().UpdateTask(ctx, in.TaskID, update)
	}
	return out.Row, err
}

type completeIn struct {
	TaskID         hub.TaskID `json:"task_id" jsonschema:"id"`
	Note           string     `json:"note,omitempty" jsonschema:"what came of it" most:"TaskUpdateInput.note"`
	IdempotencyKey string     `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func completeTask(ctx context.Context, c *call, in completeIn) (*answer, error) {
	out, err := c.hub().CompleteTask(c.key(ctx, in.IdempotencyKey), in.TaskID, hub.CompleteInput{AgentID: c.agent(), Note: in.Note, Release: true})
	if err != nil {
		return nil, err
	}
	t := showTask(&out.Row)
	return &answer{
		data: t, prose: true, untrusted: []string{"title", "thread_id"},
		line: fmt.Sprintf("Task #%d is done. Your claims and locks for it are released.", t.TaskID),
	}, nil
}

type taskLeasesIn struct {
	TaskID hub.TaskID `json:"task_id" jsonschema:"id of the message that opened it"`
}

// heldForTask is the answer to hub_task_leases.
type heldForTask struct {
	Claims []shownLease `json:"claims"`
	Locks  []shownLease `json:"locks"`
}

func taskLeases(ctx context.Context, c *call, in taskLeasesIn) (*answer, error) {
	held, err := c.hub().TaskLeases(ctx, in.TaskID, c.agent())
	if err != nil {
		return nil, err
	}
	shown := heldForTask{Claims: []shownLease{}, Locks: []shownLease{}}
	for i := range held.Claims {
		shown.Claims = append(shown.Claims, showClaim(&held.Claims[i]))
	}
	for i := range held.Locks {
		shown.Locks = append(shown.Locks, showLock(&held.Locks[i]))
	}
	line := fmt.Sprintf("%s and %s are held for task %d; the first of each are listed.", counted(held.ClaimCount, "claim"), counted(held.LockCount, "lock"), in.TaskID)
	shown.Claims, _ = take(shown.Claims, 0, maxAnswer/4)
	shown.Locks, _ = take(shown.Locks, 0, maxAnswer/4)
	return &answer{data: shown, line: line, untrusted: []string{"claims[].key", "claims[].thread_id", "locks[].key"}}, nil
}
