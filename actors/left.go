package actors

import (
	"context"
	"log/slog"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// mostLeft bounds the tasks of one record, whose notice names them.
const mostLeft = 100

// noteLeft tells of the tasks whose assignees have been gone for hub.TaskLeftAfter, and notes
// which assignees are back. The time while the hub was down does not count. What fails is tried
// again with the next tick.
func (h *Hub) noteLeft(now hub.Time) {
	after := hub.Time(hub.TaskLeftAfter.Milliseconds())
	for agent, tasks := range h.view.Tasks.Assigned() {
		since, err := h.goneSince(agent)
		if err == nil {
			err = h.noteLeftOf(agent, tasks, since, now-max(since, h.started) >= after)
		}
		if err != nil && !h.engine.Stopping.Load() {
			h.log.LogAttrs(context.Background(), slog.LevelWarn, "tasks of an agent that is gone not told", slog.String("agent", string(agent)), slog.Any("error", err))
		}
	}
}

// noteLeftOf is noteLeft for one assignee, whose last session ended at since; due: long enough ago.
func (h *Hub) noteLeftOf(agent hub.AgentID, tasks []core.StoredTask, since hub.Time, due bool) error {
	if since < 0 {
		return nil // it was never there
	}
	rooms := map[hub.AgentID]hub.RoomID{}
	c := core.LeaveCommand{Agent: agent, Since: since, Due: due, Reads: func(room hub.RoomID, creator hub.AgentID) bool { return rooms[creator] == room }}
	for i := range tasks {
		t := &tasks[i].Task
		if core.Returned(t, since) || since > 0 && due && core.Leaves(t, since) {
			c.Tasks = append(c.Tasks, t.TaskID)
			if _, known := rooms[t.CreatedBy]; !known {
				rooms[t.CreatedBy] = h.readsIn(t.CreatedBy)
			}
		}
	}
	for some := range slices.Chunk(c.Tasks, mostLeft) {
		c.Tasks = some
		if err := h.leave(c); err != nil {
			return err
		}
	}
	return nil
}

// leave asks the owner of the tasks to note what has become of an assignee.
func (h *Hub) leave(c core.LeaveCommand) error {
	_, _, err := engine.Submit(context.Background(), h.engine, engine.Command[*core.Tasks, struct{}, struct{}]{
		Owner: core.TasksOwner(),
		Decide: func(t *core.Tasks, now core.Now) (core.Decision[struct{}], error) {
			if since, err := h.goneSince(c.Agent); err != nil || since != c.Since {
				return nothing(), err // it came or went meanwhile
			}
			return t.Leave(c, now), nil
		},
		Answer: func(struct{}, *core.Record) struct{} { return struct{}{} },
	})
	return err
}

// goneSince returns when the last session of an agent ended; 0: it is there, or a watch of it
// waits; less than 0: it never registered. An agent that goes on under another id is there if
// that one is.
func (h *Hub) goneSince(agent hub.AgentID) (hub.Time, error) {
	next, err := h.view.Successor(agent)
	if err != nil {
		return 0, err
	}
	doing := h.view.Directory.Doing(next)
	if doing.Session != nil || doing.Parked || doing.Watched && !doing.Streams {
		return 0, nil
	}
	row, err := h.view.AgentRow(next)
	switch {
	case err == nil && doing.Watched && !outlived(doing, row):
		return 0, nil
	case err != nil:
		return 0, err
	case row == nil || row.EndedAt == 0:
		return -1, nil
	}
	return row.EndedAt, nil
}

// outlived reports whether an agent has ended its session and left nothing but streams. A stream
// runs beside the agent, and may go on when the program that reads it was killed: it is no sign of
// life then. An agent that never had a session may live by a stream alone.
func outlived(d view.Doing, row *core.AgentRow) bool {
	return d.Session == nil && d.Streams && row != nil && !row.Session.Active && row.EndReason == core.EndedClosed
}

// readsIn returns the room whose messages an agent reads; empty: none.
func (h *Hub) readsIn(agent hub.AgentID) hub.RoomID {
	room, err := h.view.RoomWithin(agent)
	if err != nil {
		return ""
	}
	return room
}
