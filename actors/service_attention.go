package actors

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Limits of an answer about attention.
const (
	attentionRows = 20 // directed messages, tasks, claims, rooms
	proposedTasks = 20 // ids in one proposed condition
)

// Attention tells an agent what it has not seen; see hub.Attentions.
func (h *Hub) Attention(ctx context.Context, q hub.AttentionQuery) (hub.Attention, error) {
	out := hub.Attention{AgentID: q.Agent}
	if q.Room != "" {
		room, err := h.view.Room(q.Room)
		if err != nil {
			return out, err
		}
		out.RoomID = &room.RoomID
	}
	u := h.view.UnreadOf(q.Agent)
	out.SeenID, out.ToldID, out.HeadID = h.view.SeenUpTo(q.Agent, q.Room), u.Seen.Told, u.Head
	out.SureID = u.Seen.ToldAfter
	out.GivenID = h.view.Directory.Given(q.Agent, h.engine.Clock.Now().Wall)
	var err error
	if out.ReadFrom, err = h.view.ReadsFrom(&u, q.Room); err != nil {
		return out, err
	}
	if out.Unread, err = h.view.CountUnread(&u, q.Room); err != nil {
		return out, err
	}
	if out.Directed, err = h.directed(ctx, &u, q.Room); err != nil {
		return out, err
	}
	h.view.RationRows(ctx, q.Agent, out.Directed, h.engine.Clock.Now().Wall)
	tasks := h.view.Tasks.Concerning(q.Agent)
	for i := range tasks {
		tasks[i].Task = h.view.TaskRow(&tasks[i], view.Viewer{Agent: q.Agent})
	}
	out.Tasks = h.view.TaskRows(tasks, attentionRows, view.Viewer{Agent: q.Agent})
	out.Claims = h.claimsOf(q.Agent)
	rooms, err := h.view.RoomsOf(q.Agent)
	if err != nil {
		return out, err
	}
	out.Rooms = append([]hub.RoomID{}, rooms[:min(len(rooms), attentionRows)]...)
	_, _, out.Watching = h.watches.Of(q.Agent)
	d := h.view.Directory.Doing(q.Agent)
	out.Turn, out.TurnSince = d.Turn(h.engine.Clock.Now().Wall)
	if out.Paused, err = h.view.Paused(q.Agent, q.Room); err != nil {
		return out, err
	}
	out.Proposals = proposals(q.Agent, tasks, h.view.Tasks.Live)
	return out, nil
}

// directed returns the unread messages that ask something of their reader:
// those to it alone, those that name it, and the operator's words to all. Messages
// by which the system only informs are left out. If there are more than are shown,
// those that the agent has not been told of come first, of the operator's words
// the newest. So an agent that never polls still learns of the next one.
func (h *Hub) directed(ctx context.Context, u *view.UnreadIn, room hub.RoomID) ([]hub.UnreadRow, error) {
	order := func(m *core.StoredMessage) bool {
		return view.IsOrder(m, u.Agent) && h.view.AsksOf(m, u.Agent, room)
	}
	own := func(m *core.StoredMessage) bool {
		return !view.IsOrder(m, u.Agent) && h.view.AsksOf(m, u.Agent, room)
	}
	// Each of these looks at a bounded number of messages. Messages that were
	// told, or that ask nothing, must not use up the bound of the others.
	untold, told := *u, *u
	untold.After, told.Head = u.Seen.Told, min(u.Head, u.Seen.Told)
	orders, err := h.view.LastUnread(&untold, room, attentionRows, order)
	if err != nil {
		return nil, err
	}
	found, err := h.view.ListUnread(&untold, room, attentionRows, own)
	if err == nil && len(found) == 0 {
		found, err = h.view.LastUnread(&untold, room, attentionRows, own)
	}
	found = view.Foremost(append(found, orders...), u.Agent, attentionRows)
	if left := attentionRows - len(found); err == nil && left > 0 {
		var before, orders []*core.StoredMessage
		if before, err = h.view.ListUnread(&told, room, left, own); err == nil {
			orders, err = h.view.LastUnread(&told, room, left, order)
		}
		found = append(view.Foremost(append(before, orders...), u.Agent, left), found...)
	}
	if err != nil {
		return nil, err
	}
	rows := make([]hub.UnreadRow, 0, len(found))
	for _, m := range h.view.HandOut(ctx, found) {
		row, err := h.view.UnreadRow(m, u.Agent)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// claimsOf returns the keys of the claims that an agent holds, the first by key.
func (h *Hub) claimsOf(agent hub.AgentID) []hub.ClaimKey {
	held := h.view.Leases.KeysOf(agent, core.SpaceClaim)
	keys := make([]hub.ClaimKey, 0, min(len(held), attentionRows))
	for _, key := range held[:cap(keys)] {
		keys = append(keys, hub.ClaimKey(key))
	}
	return keys
}

// proposals returns conditions for which an agent with these tasks, newest
// first, could wait. live says whether a task has not ended.
func proposals(agent hub.AgentID, tasks []core.StoredTask, live func(hub.TaskID) bool) []hub.WatchAdvice {
	out := []hub.WatchAdvice{}
	var others, before []hub.TaskID
	var asked []hub.AgentID
	for i := range tasks {
		t := &tasks[i].Task
		switch mine := t.Assignee != nil && *t.Assignee == agent; {
		case mine && t.Status == hub.TaskInputRequired && t.CreatedBy != agent && !slices.Contains(asked, t.CreatedBy):
			asked = append(asked, t.CreatedBy)
		case mine && !t.Ready:
			open := slices.DeleteFunc(slices.Clone(t.BlockedBy), func(id hub.TaskID) bool { return !live(id) })
			if before = append(before, open...); len(open) == 0 && t.CreatedBy != agent && !slices.Contains(asked, t.CreatedBy) {
				asked = append(asked, t.CreatedBy) // its creator decides whether it goes on
			}
		case !mine && t.CreatedBy == agent && t.Assignee != nil && t.AssigneeGoneSince == nil: // nobody works on one that was left
			others = append(others, t.TaskID)
		}
	}
	if len(others) > 0 {
		out = append(out, hub.WatchAdvice{Condition: untilTasks(others), Why: "others work on what you have posted"})
	}
	if len(before) > 0 {
		out = append(out, hub.WatchAdvice{Condition: untilTasks(before), Why: "tasks of yours wait for these"})
	}
	for _, from := range asked[:min(len(asked), 3)] {
		out = append(out, hub.WatchAdvice{
			Condition: string(hub.UntilMessageFrom) + ":" + string(from),
			Why:       fmt.Sprintf("a task of yours needs a word of %s, which posted it", from),
		})
	}
	return out
}

// untilTasks returns the condition that these tasks have ended.
func untilTasks(ids []hub.TaskID) string {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	text := make([]string, 0, proposedTasks)
	for _, id := range ids[:min(len(ids), proposedTasks)] {
		text = append(text, fmt.Sprint(id))
	}
	return string(hub.UntilTasksComplete) + ":" + strings.Join(text, ",")
}

// Tell moves the mark of the messages that an agent was told of; see
// hub.Attentions. A repetition with the same idempotency key answers the same.
func (h *Hub) Tell(ctx context.Context, in hub.ToldInput) (hub.Told, error) {
	key := ""
	if k := hub.CallerOf(ctx).Idempotency; k != nil {
		key = k.Key
	}
	switch in.State { //nolint:exhaustive // the other state is below
	case hub.ToldProved: // a crash that takes it back shows some messages once more
		return h.view.Seen.Prove(in.AgentID, in.ToldID), nil
	case hub.ToldLost:
		told := h.view.Seen.Untell(in.AgentID, in.ToldID)
		if told.Moved {
			h.view.Seen.Store(h.engine.Failed)
			h.view.Directory.Changed(in.AgentID)
		}
		return told, nil
	}
	told := h.view.Seen.Tell(in.AgentID, min(in.ToldID, h.view.Ring.Visible()), key)
	if told.Moved {
		// An agent that is told once more after a crash may answer twice. On a full
		// disk it is told all the same.
		h.view.Seen.Store(h.engine.Failed)
		h.view.NoteOffer(in.AgentID, told.AfterID, told.ToldID, hub.OfferedByHook, h.engine.Clock.Now().Wall)
		h.noteHook(ctx, told)
	}
	return told, nil
}

// noteHook counts the messages that a hook has told an agent of. That they cannot be read
// spoils only the count.
func (h *Hub) noteHook(ctx context.Context, told hub.Told) {
	u := h.view.UnreadOf(told.AgentID)
	u.After, u.Head = told.AfterID, told.ToldID
	found, err := h.view.ListUnread(&u, "", attentionRows, func(m *core.StoredMessage) bool { return h.view.AsksOf(m, u.Agent, "") })
	if err != nil {
		return
	}
	rows := make([]hub.UnreadRow, 0, len(found))
	for _, m := range found {
		if row, err := h.view.UnreadRow(m, u.Agent); err == nil {
			rows = append(rows, row)
		}
	}
	h.view.RationRows(ctx, told.AgentID, rows, h.engine.Clock.Now().Wall)
	h.view.NoteShown(ctx, told.AgentID, hub.GivenByHook, rows, h.engine.Clock.Now().Wall)
}

// AttentionLedger says what took the attention of agents; see hub.Ledgers.
func (h *Hub) AttentionLedger(context.Context) (out hub.Ledger, err error) {
	out = h.view.Ledger()
	out.Spent, err = h.view.Spent(out.Rows, h.engine.Clock.Now().Wall)
	return out, err
}

// NoteTurn notes how far an agent is with its turn; see hub.Attentions.
func (h *Hub) NoteTurn(_ context.Context, in hub.TurnInput) (hub.TurnNoted, error) {
	noted := h.view.Directory.NoteTurn(in.AgentID, in.Turn, in.Tool, h.engine.Clock.Now().Wall)
	if in.Turn == hub.TurnStuck && (noted || h.justEnded(in.AgentID)) {
		h.tellStuck(in.AgentID, in.Error)
	}
	return hub.TurnNoted{AgentID: in.AgentID, Noted: noted}, nil
}
