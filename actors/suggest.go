package actors

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// suggestAfter is how long a task is free before an idle agent is told of it: whoever opened it may
// be about to give it to an agent.
const suggestAfter = 5 * time.Second

// suggestAgain is how long an agent that leaves a free task for others is told of no other one.
const suggestAgain = 5 * time.Minute

// suggestTasks tells idle agents of tasks that nobody has: each task once, to one agent of its room,
// and each agent of one task at a time. What fails is tried again with the next tick.
func (h *Hub) suggestTasks(now hub.Time) {
	for _, room := range h.view.Tasks.FreeRooms() {
		if h.view.Places.Closed(room.Channel()) {
			continue
		}
		if err := h.suggestIn(room, now); err != nil && !h.engine.Stopping.Load() {
			h.log.LogAttrs(context.Background(), slog.LevelWarn, "free tasks not suggested", slog.String("room", string(room)), slog.Any("error", err))
		}
	}
}

// suggestIn is suggestTasks for one room. The agent that has been idle longest is told of the oldest
// task that another agent opened.
func (h *Hub) suggestIn(room hub.RoomID, now hub.Time) error {
	idle, err := h.idleIn(room, now)
	if err != nil {
		return err
	}
	for _, agent := range idle {
		id, found := h.view.Tasks.OldestFree(room, func(t *hub.Task) bool {
			return t.Ready && t.CreatedBy != agent && now-t.UpdatedAt >= hub.Time(suggestAfter.Milliseconds()) && h.view.Muted(t.CreatedBy, room, now) == nil
		})
		if !found {
			continue
		}
		if err := h.suggest(core.SuggestCommand{Task: id, To: agent}); err != nil {
			return err
		}
	}
	return nil
}

// idleIn returns the agents that read in a room, are idle, have no task, and would be woken by a
// notice: those that have been idle longest first.
func (h *Hub) idleIn(room hub.RoomID, now hub.Time) ([]hub.AgentID, error) {
	seats, err := h.view.SeatsIn(room)
	if err != nil {
		return nil, err
	}
	since := map[hub.AgentID]hub.Time{}
	for agent := range seats {
		from, idle := h.idleSince(agent, now)
		if !idle {
			continue
		}
		reads, err := h.view.RoomWithin(agent)
		if err != nil {
			return nil, err
		}
		paused, err := h.view.Paused(agent, room)
		if err != nil {
			return nil, err
		}
		if reads == room && paused == nil {
			since[agent] = from
		}
	}
	agents := make([]hub.AgentID, 0, len(since))
	for agent := range since {
		agents = append(agents, agent)
	}
	slices.SortFunc(agents, func(a, b hub.AgentID) int { return cmp.Or(cmp.Compare(since[a], since[b]), cmp.Compare(a, b)) })
	return agents, nil
}

// idleSince says since when an agent has been idle: it is there, something would wake it, and it
// neither has a task nor is offered one or was just told of one.
func (h *Hub) idleSince(agent hub.AgentID, now hub.Time) (since hub.Time, idle bool) {
	doing := h.view.Directory.Doing(agent)
	if doing.Session == nil || doing.Listener() != hub.ListenerArmed || h.view.Tasks.Engaged(agent, now-hub.Time(suggestAgain.Milliseconds())) {
		return 0, false
	}
	switch activity, since := doing.Activity(nil, now); activity {
	case hub.ActivityIdle, hub.ActivityWaiting:
		return since, true
	case hub.ActivityWorking, hub.ActivityBlocked, hub.ActivityAtPrompt, hub.ActivityNoTerminal, hub.ActivityStuck:
	}
	return 0, false
}

// suggest asks the owner of the tasks to tell an agent of one.
func (h *Hub) suggest(c core.SuggestCommand) error {
	_, _, err := engine.Submit(context.Background(), h.engine, engine.Command[*core.Tasks, struct{}, struct{}]{
		Owner: core.TasksOwner(),
		Decide: func(t *core.Tasks, now core.Now) (core.Decision[struct{}], error) {
			if _, idle := h.idleSince(c.To, h.engine.Clock.Now().Wall); !idle {
				return nothing(), nil // it has begun something meanwhile
			}
			return t.Suggest(c, now), nil
		},
		Answer: func(struct{}, *core.Record) struct{} { return struct{}{} },
	})
	return err
}
