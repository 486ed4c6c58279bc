package actors

import (
	"context"
	"log/slog"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// noteLeft tells of the tasks whose assignees have been gone for hub.TaskLeftAfter, and notes
// which assignees are back. What fails is tried again with the next tick.
func (h *Hub) noteLeft(now hub.Time) {
	for agent, tasks := range h.view.Tasks.Assigned() {
		since, err := h.goneSince(agent)
		if err == nil && since != 0 && now-since < hub.Time(hub.TaskLeftAfter.Milliseconds()) {
			continue // it may come back
		}
		c := core.LeaveCommand{Agent: agent, Since: max(since, 0)}
		rooms := map[hub.RoomID]map[hub.AgentID]bool{}
		for i := range tasks {
			t := &tasks[i].Task
			if since < 0 || since == 0 && t.AssigneeGoneSince == nil || since > 0 && !core.Leaves(t, since) {
				continue
			}
			c.Tasks = append(c.Tasks, t.TaskID)
			if room := h.readsIn(t.CreatedBy); since > 0 && err == nil {
				if rooms[room] == nil {
					rooms[room] = map[hub.AgentID]bool{}
				}
				rooms[room][t.CreatedBy] = true
			}
		}
		if len(c.Tasks) == 0 {
			continue
		}
		c.Reads = func(room hub.RoomID, creator hub.AgentID) bool { return rooms[room][creator] }
		if err == nil {
			err = h.leave(c)
		}
		if err != nil && !h.engine.Stopping.Load() {
			h.log.LogAttrs(context.Background(), slog.LevelWarn, "tasks of an agent that is gone not told", slog.String("agent", string(agent)), slog.Any("error", err))
		}
	}
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
	if doing := h.view.Directory.Doing(next); doing.Session != nil || doing.Parked || doing.Watched {
		return 0, nil
	}
	row, err := h.view.AgentRow(next)
	switch {
	case err != nil:
		return 0, err
	case row == nil || row.EndedAt == 0:
		return -1, nil
	}
	return row.EndedAt, nil
}

// readsIn returns the room whose messages an agent reads; empty: none.
func (h *Hub) readsIn(agent hub.AgentID) hub.RoomID {
	room, err := h.view.RoomWithin(agent)
	if err != nil {
		return ""
	}
	return room
}
