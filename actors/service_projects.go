package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// CreateProject makes a project; see hub.Projects.
func (h *Hub) CreateProject(ctx context.Context, in hub.ProjectInput) (hub.Outcome[hub.Project], error) {
	by := h.standing(ctx, in.CreatedBy)
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Project, hub.Project]{
		Owner: core.ProjectsOwner(), Agent: in.CreatedBy,
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Project], error) { return p.Create(in, by) },
		Answer: func(row hub.Project, _ *core.Record) hub.Project { return row },
		Codec:  engine.JSONCodec[hub.Project](engine.EffectProject),
	})
	return hub.Outcome[hub.Project]{Row: row, Created: true, Replayed: replayed}, err
}

// CreateRoom makes a room; see hub.Projects.
func (h *Hub) CreateRoom(ctx context.Context, in hub.RoomInput) (hub.Outcome[hub.Room], error) {
	by := h.standing(ctx, in.CreatedBy)
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Room, hub.Room]{
		Owner: core.ProjectsOwner(), Agent: in.CreatedBy, Size: len(in.Topic) + len(in.ForceReason),
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Room], error) { return p.CreateRoom(in, by) },
		Answer: func(row hub.Room, _ *core.Record) hub.Room { return row },
		Codec:  engine.JSONCodec[hub.Room](engine.EffectRoom),
	})
	return hub.Outcome[hub.Room]{Row: row, Created: true, Replayed: replayed}, err
}

// SetGuard changes when agents of a room are stopped; see hub.Projects.
func (h *Hub) SetGuard(ctx context.Context, room hub.RoomID, in hub.GuardInput) (hub.Outcome[hub.Room], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Room, hub.Room]{
		Owner: core.ProjectsOwner(), Agent: hub.AgentOperator,
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Room], error) { return p.SetGuard(room, in) },
		Answer: func(row hub.Room, _ *core.Record) hub.Room { return row },
		Codec:  engine.JSONCodec[hub.Room](engine.EffectRoom),
	})
	return hub.Outcome[hub.Room]{Row: row, Replayed: replayed}, err
}

// SetLocks changes what a room wants of locks; see hub.Projects.
func (h *Hub) SetLocks(ctx context.Context, room hub.RoomID, in hub.LockPolicyInput) (hub.Outcome[hub.Room], error) {
	caller := hub.CallerOf(ctx)
	by := core.RoomKeeper{Operator: caller.Operator, Agent: caller.Agent}
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Room, hub.Room]{
		Owner: core.ProjectsOwner(), Agent: in.AgentID,
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Room], error) { return p.SetLocks(room, in, by) },
		Answer: func(row hub.Room, _ *core.Record) hub.Room { return row },
		Codec:  engine.JSONCodec[hub.Room](engine.EffectRoom),
	})
	return hub.Outcome[hub.Room]{Row: row, Replayed: replayed}, err
}

// RenameProject changes a project's name; see hub.Projects.
func (h *Hub) RenameProject(ctx context.Context, ref string, in hub.RenamedInput) (hub.Outcome[hub.Project], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Project, hub.Project]{
		Owner: core.ProjectsOwner(), Agent: hub.AgentOperator,
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Project], error) { return p.Rename(ref, in.Name) },
		Answer: func(row hub.Project, _ *core.Record) hub.Project { return row },
		Codec:  engine.JSONCodec[hub.Project](engine.EffectProject),
	})
	return hub.Outcome[hub.Project]{Row: row, Replayed: replayed}, err
}

// ArchiveProject archives a project with its rooms; see hub.Projects.
func (h *Hub) ArchiveProject(ctx context.Context, ref string, in hub.ArchiveInput) (hub.Outcome[hub.Project], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Project, hub.Project]{
		Owner: core.ProjectsOwner(), Agent: hub.AgentOperator,
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Project], error) {
			return p.Archive(ref, in.Archived)
		},
		Answer: func(row hub.Project, _ *core.Record) hub.Project { return row },
		Codec:  engine.JSONCodec[hub.Project](engine.EffectProject),
	})
	return hub.Outcome[hub.Project]{Row: row, Replayed: replayed}, err
}

// RenameRoom changes a room's name; see hub.Projects.
func (h *Hub) RenameRoom(ctx context.Context, room hub.RoomID, in hub.RenamedInput) (hub.Outcome[hub.Room], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Room, hub.Room]{
		Owner: core.ProjectsOwner(), Agent: hub.AgentOperator,
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Room], error) {
			return p.RenameRoom(room, in.Name)
		},
		Answer: func(row hub.Room, _ *core.Record) hub.Room { return row },
		Codec:  engine.JSONCodec[hub.Room](engine.EffectRoom),
	})
	return hub.Outcome[hub.Room]{Row: row, Replayed: replayed}, err
}

// ArchiveRoom archives a room; see hub.Projects.
func (h *Hub) ArchiveRoom(ctx context.Context, room hub.RoomID, in hub.ArchiveInput) (hub.Outcome[hub.Room], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Room, hub.Room]{
		Owner: core.ProjectsOwner(), Agent: hub.AgentOperator,
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Room], error) {
			return p.ArchiveRoom(room, in.Archived)
		},
		Answer: func(row hub.Room, _ *core.Record) hub.Room { return row },
		Codec:  engine.JSONCodec[hub.Room](engine.EffectRoom),
	})
	return hub.Outcome[hub.Room]{Row: row, Replayed: replayed}, err
}

// opened makes the owner refuse a command that would keep something new in a room that is
// archived. It looks when the command is decided, as unpaused does. So nothing comes into a room
// between the moment in which its archive is visible and its deletion.
func opened[S core.Machine, D, T any](v *view.View, room hub.RoomID, c engine.Command[S, D, T]) engine.Command[S, D, T] {
	decide := c.Decide
	c.Decide = func(s S, now core.Now) (core.Decision[D], error) {
		if err := v.RefuseClosed(room); err != nil {
			return core.Decision[D]{}, err
		}
		return decide(s, now)
	}
	return c
}
