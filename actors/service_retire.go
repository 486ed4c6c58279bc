package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// maxRetireTold bounds the messages of one retirement, because they are one record.
const maxRetireTold = 100

// IdleAgents lists the agents that have done nothing for a time; see hub.Retirements.
func (h *Hub) IdleAgents(_ context.Context, q hub.IdleAgentsQuery) (hub.IdleAgents, error) {
	seats, err := h.seatsByAgent()
	if err != nil {
		return hub.IdleAgents{}, err
	}
	shown, err := h.shownAgents(seats)
	if err != nil {
		return hub.IdleAgents{}, err
	}
	out := hub.IdleAgents{Agents: []hub.IdleAgent{}}
	limit := h.engine.Clock.Now().Wall - hub.Time(q.IdleSec)*1000
	for agent := range shown {
		seen, here, err := h.lastAct(agent)
		if err != nil {
			return hub.IdleAgents{}, err
		}
		if here || cmp.Or(seen, h.started) > limit || agent.Reserved() || agent.Watcher() {
			continue
		}
		out.Agents = append(out.Agents, hub.IdleAgent{AgentID: agent, LastSeen: core.Optional(seen), Belongings: h.belongings(agent, seats[agent])})
	}
	slices.SortFunc(out.Agents, func(a, b hub.IdleAgent) int {
		return cmp.Or(cmp.Compare(value(a.LastSeen), value(b.LastSeen)), cmp.Compare(a.AgentID, b.AgentID))
	})
	out.Count = len(out.Agents)
	out.Agents = out.Agents[:min(out.Count, hub.MaxIdleAgents)]
	return out, nil
}

func value(t *hub.Time) hub.Time {
	if t == nil {
		return 0
	}
	return *t
}

// shownAgents are the agents that some list shows, because they have a session, a seat, a lease, a
// task, an offer, or unread messages.
func (h *Hub) shownAgents(seats map[hub.AgentID][]hub.RoomID) (map[hub.AgentID]bool, error) {
	shown := map[hub.AgentID]bool{}
	for _, s := range h.view.Directory.Agents("") {
		shown[s.AgentID] = true
	}
	for agent := range seats {
		shown[agent] = true
	}
	for _, t := range h.view.Tasks.List(func(*core.StoredTask) bool { return true }) {
		for _, agent := range []*hub.AgentID{t.Task.Assignee, t.Task.OfferedTo} {
			if agent != nil {
				shown[*agent] = true
			}
		}
	}
	for _, space := range []core.LeaseSpace{core.SpaceClaim, core.SpaceLock} {
		leases, err := h.view.Leases.List(space, func(*core.Lease) bool { return true })
		if err != nil {
			return nil, err
		}
		for i := range leases {
			shown[leases[i].Agent] = true
		}
	}
	for _, a := range h.asleep.Agents() {
		shown[a.AgentID] = true
	}
	return shown, nil
}

// seatsByAgent returns the rooms in which each agent has a seat. Those of agents that have not joined
// stand in no list of the agent, so it looks at all rooms.
func (h *Hub) seatsByAgent() (map[hub.AgentID][]hub.RoomID, error) {
	rooms := map[hub.AgentID][]hub.RoomID{}
	for _, room := range view.Look(h.view.Places, func(a *core.ProjectIndex) []hub.Room { return a.Rooms("") }) {
		seats, err := h.view.SeatsOf(room.RoomID)
		if err != nil {
			return nil, err
		}
		for i := range seats {
			rooms[seats[i].AgentID] = append(rooms[seats[i].AgentID], room.RoomID)
		}
	}
	return rooms, nil
}

// lastAct returns when an agent was heard of last, 0 if that is unknown, and whether it is there.
func (h *Hub) lastAct(agent hub.AgentID) (seen hub.Time, here bool, err error) {
	d := h.view.Directory.Doing(agent)
	seen = h.idle.last(agent)
	if d.Session != nil {
		seen = max(seen, d.Session.LastSeen)
	}
	now := h.engine.Clock.Now().Wall
	here = d.Parked || d.Watched || d.Presence(now) == hub.PresenceLive || seen != 0 && now-seen < hub.Time(hub.SeatAwayAfter.Milliseconds())
	row, err := h.view.AgentRow(agent)
	if err == nil && row != nil && !row.Session.Active {
		seen = max(seen, lastHeard(row))
	}
	return seen, here, err
}

// belongings returns what an agent has that has seats in these rooms.
func (h *Hub) belongings(agent hub.AgentID, rooms []hub.RoomID) hub.Belongings {
	b := hub.Belongings{Rooms: append([]hub.RoomID{}, rooms...), Tasks: []hub.TaskID{}, Offers: []hub.TaskID{}, Claims: []hub.ClaimKey{}, Locks: []string{}}
	for _, t := range h.view.Tasks.Concerning(agent) {
		if t.Task.Assignee != nil && *t.Task.Assignee == agent {
			b.Tasks = append(b.Tasks, t.Task.TaskID)
		}
		if t.Task.OfferedTo != nil && *t.Task.OfferedTo == agent {
			b.Offers = append(b.Offers, t.Task.TaskID)
		}
	}
	for _, key := range h.view.Leases.KeysOf(agent, core.SpaceClaim) {
		b.Claims = append(b.Claims, hub.ClaimKey(key))
	}
	b.Locks = append(b.Locks, h.view.Leases.KeysOf(agent, core.SpaceLock)...)
	return b
}

// Retire takes an agent for gone; see hub.Retirements.
func (h *Hub) Retire(ctx context.Context, agent hub.AgentID, in hub.RetireInput) (hub.Outcome[hub.RetiredAgent], error) {
	var has hub.Belongings
	var reason string
	act := ruling("retireAgent")
	out, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[hub.RetiredAgent](engine.EffectRetired), func() (engine.Command[*core.Agent, hub.Time, hub.RetiredAgent], error) {
		var seen hub.Time
		var err error
		if has, seen, err = h.retirable(agent); err == nil {
			reason = cmp.Or(in.Reason, h.silence(seen))
		}
		tell := h.tellOfRetirement(agent, &has, reason)
		return engine.Command[*core.Agent, hub.Time, hub.RetiredAgent]{
			Owner: core.AgentOwner(agent), Size: len(reason) * (len(tell) + 1),
			Decide: func(a *core.Agent, now core.Now) (core.Decision[hub.Time], error) {
				seen, here, err := h.lastAct(agent)
				if err == nil && here {
					err = hub.Errorf(hub.CodeNotGone, "agent %s is there: it called at %s, or a call of it waits", agent, seen)
				}
				if err != nil {
					return core.Decision[hub.Time]{}, err
				}
				return a.Retire(tell, now), nil
			},
			Answer: func(at hub.Time, _ *core.Record) hub.RetiredAgent {
				return hub.RetiredAgent{AgentID: agent, RetiredAt: at, Belongings: has}
			},
		}, err
	})
	switch {
	case err != nil:
		return hub.Outcome[hub.RetiredAgent]{}, err
	case replayed && h.view.Retired.Since(agent) != out.RetiredAt:
		return hub.Outcome[hub.RetiredAgent]{Row: out, Replayed: true}, nil // it is back: what it has is its own again
	case replayed: // the first call may have ended before all was taken
		has, reason = out.Belongings, cmp.Or(in.Reason, "the operator took it for gone")
	}
	h.idle.forget(agent)
	return hub.Outcome[hub.RetiredAgent]{Row: out, Replayed: replayed}, h.strip(ctx, agent, &has, reason)
}

// retirable returns what an agent has, and when it was heard of last. Errors: session_not_found.
func (h *Hub) retirable(agent hub.AgentID) (has hub.Belongings, seen hub.Time, err error) {
	seats, err := h.seatsByAgent()
	if err != nil {
		return has, 0, err
	}
	has = h.belongings(agent, seats[agent])
	row, err := h.view.AgentRow(agent)
	if err != nil {
		return has, 0, err
	}
	if row == nil && len(has.Rooms) == 0 && !h.view.Known(agent) {
		return has, 0, hub.Errorf(hub.CodeSessionNotFound, "nobody has heard of an agent %s", agent)
	}
	seen, _, err = h.lastAct(agent)
	return has, seen, err
}

// silence says for how long nobody has heard of an agent, in the largest unit that fits.
func (h *Hub) silence(seen hub.Time) string {
	if seen == 0 {
		return "it has not been heard of since the hub was started"
	}
	n, unit := int((h.engine.Clock.Now().Wall-seen)/1000), "second"
	for _, next := range []struct {
		size int
		unit string
	}{{60, "minute"}, {60, "hour"}, {24, "day"}} {
		if n < 2*next.size {
			break
		}
		n, unit = n/next.size, next.unit
	}
	return fmt.Sprintf("it has not been heard of for %d %ss", n, unit)
}

// tellOfRetirement returns a message for each agent that gave the retired one a task which it still
// has, or made it an offer.
func (h *Hub) tellOfRetirement(agent hub.AgentID, has *hub.Belongings, reason string) []core.MessageDraft {
	tasks := map[hub.AgentID][]string{}
	for _, id := range slices.Concat(has.Tasks, has.Offers) {
		t, live := h.view.Tasks.Get(id)
		if by := t.Task.CreatedBy; live && by != agent && !by.Reserved() && by != "" {
			name := fmt.Sprintf("%d", id)
			if !slices.Contains(tasks[by], name) {
				tasks[by] = append(tasks[by], name)
			}
		}
	}
	var all []core.MessageDraft
	for by, ids := range tasks {
		what := "task " + ids[0] + " back: nobody has it now"
		if len(ids) > 1 {
			what = "tasks " + strings.Join(ids, ", ") + " back: nobody has them now"
		}
		all = append(all, core.MessageDraft{
			From: hub.AgentOperator, To: by, Channel: hub.DirectChannel, Kind: hub.KindNotice,
			Body:      fmt.Sprintf("I have retired %s: %s. It gives %s.", agent, reason, what),
			Authority: hub.AuthorityOperator, Assurance: hub.AssuranceOperator,
		})
	}
	slices.SortFunc(all, func(a, b core.MessageDraft) int { return cmp.Compare(a.To, b.To) })
	return all[:min(len(all), maxRetireTold)]
}

// strip takes from a retired agent what it has. What is no longer its own is left alone, so it may be
// repeated.
func (h *Hub) strip(ctx context.Context, agent hub.AgentID, has *hub.Belongings, reason string) error {
	ctx = hub.WithCaller(context.WithoutCancel(ctx), &hub.Caller{Operator: true}) // each of these is a record of its own
	nobody, why := hub.AgentID(""), "the agent is retired: "+reason
	var failed []error
	note := func(err error) {
		var e *hub.Error
		if errors.As(err, &e) && slices.Contains([]hub.Code{hub.CodeNotHolder, hub.CodeTaskClosed, hub.CodeTaskNotFound, hub.CodeNotOffered}, e.Code) {
			return // it ended meanwhile
		}
		failed = append(failed, err)
	}
	for _, key := range has.Claims {
		note(h.BreakOf(ctx, agent, core.LeaseKey{Space: core.SpaceClaim, Key: string(key)}, why))
	}
	for _, path := range has.Locks {
		note(h.BreakOf(ctx, agent, core.LeaseKey{Space: core.SpaceLock, Key: path}, why))
	}
	for _, id := range has.Tasks {
		if t, live := h.view.Tasks.Get(id); live && t.Task.Assignee != nil && *t.Task.Assignee == agent {
			_, err := h.UpdateTask(ctx, id, hub.TaskUpdateInput{AgentID: hub.AgentOperator, Assignee: &nobody})
			note(err)
		}
	}
	for _, id := range has.Offers {
		if t, live := h.view.Tasks.Get(id); live && t.Task.OfferedTo != nil && *t.Task.OfferedTo == agent {
			_, err := h.DeclineTask(ctx, id, hub.OfferInput{AgentID: hub.AgentOperator})
			note(err)
		}
	}
	for _, room := range has.Rooms {
		note(h.freeOf(ctx, "retireAgent", room, agent, ""))
	}
	return errors.Join(failed...)
}

// finishRetirements takes from retired agents what they had when an earlier process ended in
// between. What they were given since then stays.
func (h *Hub) finishRetirements() {
	retired := h.view.Retired.All()
	if len(retired) == 0 {
		return
	}
	seats, err := h.seatsByAgent()
	for agent, since := range retired {
		has := h.belongings(agent, seats[agent])
		later := func(id hub.TaskID) bool {
			t, live := h.view.Tasks.Get(id)
			return !live || t.Task.UpdatedAt > since
		}
		has.Tasks, has.Offers = slices.DeleteFunc(has.Tasks, later), slices.DeleteFunc(has.Offers, later)
		passed := map[core.LeaseKey]bool{}
		err = errors.Join(err, h.view.Leases.Of(agent, 0, func(l *core.Lease) { passed[core.LeaseKey{Space: l.Space, Key: l.Key}] = l.Since > since }))
		has.Claims = slices.DeleteFunc(has.Claims, func(k hub.ClaimKey) bool { return passed[core.LeaseKey{Space: core.SpaceClaim, Key: string(k)}] })
		has.Locks = slices.DeleteFunc(has.Locks, func(path string) bool { return passed[core.LeaseKey{Space: core.SpaceLock, Key: path}] })
		err = errors.Join(err, h.strip(context.Background(), agent, &has, "the operator took it for gone"))
		if h.engine.Stopping.Load() {
			return // the next start goes on
		}
	}
	if err != nil {
		h.log.LogAttrs(context.Background(), slog.LevelWarn, "a retired agent still has something", slog.Any("error", err))
	}
}
