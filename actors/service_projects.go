package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/hub"
)

// asDecided answers a command with what its owner has decided.
func asDecided[T any](row T, _ *core.Record) T { return row }

// changeProjects has the owner of projects decide about one of them, or about one of its rooms.
func changeProjects[T any](ctx context.Context, h *Hub, act gate.Act, size int, kind uint8,
	decide func(*core.Projects) (core.Decision[T], error),
) (hub.Outcome[T], error) {
	row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[T](kind), func() (engine.Command[*core.Projects, T, T], error) {
		return engine.Command[*core.Projects, T, T]{
			Owner: core.ProjectsOwner(), Size: size, Answer: asDecided[T],
			Decide: func(p *core.Projects, _ core.Now) (core.Decision[T], error) { return decide(p) },
		}, nil
	})
	return hub.Outcome[T]{Row: row, Replayed: replayed}, err
}

// ruling is an act of the operator.
func ruling(op string) gate.Act { return gate.Act{Op: op, Agent: hub.AgentOperator} }

// CreateProject makes a project; see hub.Projects.
func (h *Hub) CreateProject(ctx context.Context, in hub.ProjectInput) (hub.Outcome[hub.Project], error) {
	by := h.standing(ctx, in.CreatedBy)
	out, err := changeProjects(ctx, h, gate.Act{Op: "createProject", Agent: in.CreatedBy}, 0, engine.EffectProject,
		func(p *core.Projects) (core.Decision[hub.Project], error) { return p.Create(in, by) })
	out.Created = true
	return out, err
}

// CreateRoom makes a room; see hub.Projects.
func (h *Hub) CreateRoom(ctx context.Context, in hub.RoomInput) (hub.Outcome[hub.Room], error) {
	by := h.standing(ctx, in.CreatedBy)
	out, err := changeProjects(ctx, h, gate.Act{Op: "createRoom", Agent: in.CreatedBy}, len(in.Topic)+len(in.ForceReason), engine.EffectRoom,
		func(p *core.Projects) (core.Decision[hub.Room], error) { return p.CreateRoom(in, by) })
	out.Created = true
	return out, err
}

// SetGuard changes when agents of a room are stopped; see hub.Projects.
func (h *Hub) SetGuard(ctx context.Context, room hub.RoomID, in hub.GuardInput) (hub.Outcome[hub.Room], error) {
	return changeProjects(ctx, h, ruling("setRoomGuard"), 0, engine.EffectRoom,
		func(p *core.Projects) (core.Decision[hub.Room], error) { return p.SetGuard(room, in) })
}

// SetLocks changes what a room wants of locks; see hub.Projects.
func (h *Hub) SetLocks(ctx context.Context, room hub.RoomID, in hub.LockPolicyInput) (hub.Outcome[hub.Room], error) {
	caller := hub.CallerOf(ctx)
	by := core.RoomKeeper{Operator: caller.Operator, Agent: caller.Agent}
	return changeProjects(ctx, h, gate.Act{Op: "setRoomLocks", Agent: in.AgentID, Room: room}, 0, engine.EffectRoom,
		func(p *core.Projects) (core.Decision[hub.Room], error) { return p.SetLocks(room, in, by) })
}

// RenameProject changes a project's name; see hub.Projects.
func (h *Hub) RenameProject(ctx context.Context, ref string, in hub.RenamedInput) (hub.Outcome[hub.Project], error) {
	return changeProjects(ctx, h, ruling("renameProject"), 0, engine.EffectProject,
		func(p *core.Projects) (core.Decision[hub.Project], error) { return p.Rename(ref, in.Name) })
}

// ArchiveProject archives a project with its rooms; see hub.Projects.
func (h *Hub) ArchiveProject(ctx context.Context, ref string, in hub.ArchiveInput) (hub.Outcome[hub.Project], error) {
	return changeProjects(ctx, h, ruling("archiveProject"), 0, engine.EffectProject,
		func(p *core.Projects) (core.Decision[hub.Project], error) { return p.Archive(ref, in.Archived) })
}

// RenameRoom changes a room's name; see hub.Projects.
func (h *Hub) RenameRoom(ctx context.Context, room hub.RoomID, in hub.RenamedInput) (hub.Outcome[hub.Room], error) {
	return changeProjects(ctx, h, ruling("renameRoom"), 0, engine.EffectRoom,
		func(p *core.Projects) (core.Decision[hub.Room], error) { return p.RenameRoom(room, in.Name) })
}

// ArchiveRoom archives a room; see hub.Projects.
func (h *Hub) ArchiveRoom(ctx context.Context, room hub.RoomID, in hub.ArchiveInput) (hub.Outcome[hub.Room], error) {
	return changeProjects(ctx, h, ruling("archiveRoom"), 0, engine.EffectRoom,
		func(p *core.Projects) (core.Decision[hub.Room], error) { return p.ArchiveRoom(room, in.Archived) })
}
