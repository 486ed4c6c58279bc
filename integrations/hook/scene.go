package hook

import (
	"context"

	"hubcli/hub"
)

// scene asks the hub for the parts of a text and leaves out parts that it
// cannot get.
func (r *run) scene(ctx context.Context, id hub.AgentID, at hub.Resolved) *scene {
	s := r.sceneOf(id, at.Room, nil)
	s.Project, s.Begins, s.Woken = at.Project, true, r.woken()
	s.Resumed = r.event == SessionStart && r.payload.Source == fromBefore
	if status, err := r.hub.RoomStatus(ctx, hub.StatusQuery{RoomID: at.Room.RoomID, Viewer: id}); err == nil {
		s.Status = &status
	}
	if a, err := r.attention(ctx, id, at.Room); err == nil {
		s.Attention = &a
	}
	s.Bridged = r.hasBridge(ctx, id)
	return s
}

// sceneOf returns the scene of an agent without what only the beginning of a session shows. room and a
// may be nil.
func (r *run) sceneOf(id hub.AgentID, room *hub.Room, a *hub.Attention) *scene {
	return &scene{
		Agent: id, Harness: r.harness, BaseURL: r.urlShown(), Program: r.Program, Room: room, Attention: a,
		Ranks: r.form().of(r.event).Ranks, Now: hub.TimeOf(r.Now()), Again: r.again,
	}
}

// hasBridge reports whether a bridge registered the agent's session: the bridge
// in this harness, or another one according to the hub.
func (r *run) hasBridge(ctx context.Context, id hub.AgentID) bool {
	if r.bridged || r.Tools {
		return true
	}
	live, err := hub.LiveAs(ctx, r.hub.Agents, id)
	return err == nil && live != nil && live.Bridged()
}

// urlShown returns the address for command lines, or "" for the default.
func (r *run) urlShown() string {
	if r.baseURL == r.DefaultBaseURL {
		return ""
	}
	return r.baseURL
}
