package actors

import (
	"context"
	"errors"
	"path/filepath"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// maxBindTries bounds the attempts to bind a folder while others bind it in
// other spellings.
const maxBindTries = 64

// BindRoom binds a folder to a room; see hub.Bindings.
func (h *Hub) BindRoom(ctx context.Context, room hub.RoomID, in hub.BindingInput) (hub.Outcome[hub.Room], error) {
	if err := checkBinder(ctx); err != nil {
		return hub.Outcome[hub.Room]{}, err
	}
	if in.Auto && !h.options.AutoRooms {
		return hub.Outcome[hub.Room]{}, hub.NewError(hub.CodeOperatorRequired, "the operator lets no program make rooms by itself").
			WithFix("ask your user for a room: hubcli init in the repository makes one")
	}
	act := gate.Act{Op: "bindRoom", Agent: in.AgentID, Room: room}
	c := core.BindCommand{Room: room, Path: filepath.Clean(in.Path), By: in.AgentID, Auto: in.Auto, Seen: map[string]bool{}}
	prepare := func() (engine.Command[*core.Projects, core.BindAnswer, core.BindAnswer], error) {
		return engine.Command[*core.Projects, core.BindAnswer, core.BindAnswer]{
			Owner: core.ProjectsOwner(), Size: len(in.Path), Answer: asDecided[core.BindAnswer],
			Decide: func(p *core.Projects, _ core.Now) (core.Decision[core.BindAnswer], error) { return p.Bind(c) },
		}, h.lookAt(ctx, &c, in.Path)
	}
	// Usually no binding differs only in spelling. Each further round has
	// looked at the bindings that the previous round met.
	for range maxBindTries {
		row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[core.BindAnswer](engine.EffectBinding), prepare)
		var met *core.BindingsUnseen
		if !errors.As(err, &met) {
			return hub.Outcome[hub.Room]{Row: row.Room, Created: row.Bound, Replayed: replayed}, err
		}
		for _, plain := range met.Plain {
			if c.Seen[plain], err = h.options.Folders.Same(ctx, plain, c.Level.Plain); err != nil {
				return hub.Outcome[hub.Room]{}, err
			}
		}
	}
	return hub.Outcome[hub.Room]{}, engine.ErrOverloaded()
}

// lookAt finds the room and the folder of a binding, once.
func (h *Hub) lookAt(ctx context.Context, c *core.BindCommand, path string) error {
	if c.Level.Plain != "" {
		return nil
	}
	if _, err := h.view.Room(c.Room); err != nil {
		return err
	}
	chain, err := h.options.Folders.Chain(ctx, path, true)
	if err == nil {
		c.Level = chain[0]
	}
	return err
}

// UnbindRoom takes a binding back; see hub.Bindings. If the folder no longer
// exists, the binding is found by the path with which it was bound.
func (h *Hub) UnbindRoom(ctx context.Context, room hub.RoomID, in hub.BindingInput) (hub.Outcome[hub.Room], error) {
	if err := checkBinder(ctx); err != nil {
		return hub.Outcome[hub.Room]{}, err
	}
	act := gate.Act{Op: "unbindRoom", Agent: in.AgentID, Room: room}
	row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[hub.Room](engine.EffectRoom), func() (engine.Command[*core.Projects, hub.Room, hub.Room], error) {
		c := core.UnbindCommand{Room: room, Path: filepath.Clean(in.Path), By: in.AgentID}
		var err error
		if _, err = h.view.Room(room); err == nil {
			c.Plain, err = h.plainOf(ctx, in.Path)
		}
		return engine.Command[*core.Projects, hub.Room, hub.Room]{
			Owner: core.ProjectsOwner(), Size: len(in.Path), Answer: asDecided[hub.Room],
			Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Room], error) { return p.Unbind(c) },
		}, err
	})
	return hub.Outcome[hub.Room]{Row: row, Replayed: replayed}, err
}

// plainOf returns the plain paths by which a folder may be bound; none if it no longer exists.
func (h *Hub) plainOf(ctx context.Context, path string) ([]string, error) {
	chain, err := h.options.Folders.Chain(ctx, path, true)
	if err != nil {
		if !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
			err = nil
		}
		return nil, err
	}
	others, err := h.spellings(ctx, chain[0])
	return append([]string{chain[0].Plain}, others...), err
}

// checkBinder refuses callers before anything is looked at. A sandbox must not
// decide which folder leads to which room: it could send agents outside it to a
// room of its choice.
func checkBinder(ctx context.Context) error {
	if hub.CallerOf(ctx).Relay != "" {
		return hub.NewError(hub.CodeForbiddenRelay, "a call through a spool cannot bind or unbind folders").
			WithFix("bind the folder on the hub's machine: hubcli room bind <room> <path>")
	}
	return localPaths(ctx)
}

// localPaths refuses a caller on another machine, whose paths are not the hub's.
func localPaths(ctx context.Context) error {
	if !hub.CallerOf(ctx).Remote {
		return nil
	}
	return hub.Invalid("path", "paths are those of the hub's machine, and the call comes from another").
		WithFix("make the call on the hub's machine, or name the room by its id")
}

// spellings returns the plain paths of bindings that name the folder of a level
// in another spelling, as some file systems allow.
func (h *Hub) spellings(ctx context.Context, l core.Level) ([]string, error) {
	l.Common = ""
	var same []string
	for _, c := range h.candidates([]core.Level{l}) {
		ok, err := h.holds(ctx, &c)
		if err != nil {
			return nil, err
		}
		if ok {
			same = append(same, c.Folder.Plain)
		}
	}
	return same, nil
}

func (h *Hub) candidates(levels []core.Level) []core.Candidate {
	return view.Look(h.view.Places, func(a *core.ProjectIndex) []core.Candidate { return a.Candidates(levels) })
}

// holds asks the file system whether a candidate is the same folder.
func (h *Hub) holds(ctx context.Context, c *core.Candidate) (bool, error) {
	for _, pair := range c.Same {
		if same, err := h.options.Folders.Same(ctx, pair[0], pair[1]); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// Resolve returns the room of the nearest bound folder; see hub.Bindings.
func (h *Hub) Resolve(ctx context.Context, path string) (hub.Resolved, error) {
	if err := localPaths(ctx); err != nil {
		return hub.Resolved{}, err
	}
	levels, err := h.options.Folders.Chain(ctx, path, false)
	if err != nil {
		return hub.Resolved{}, err
	}
	for _, c := range h.candidates(levels) {
		switch ok, err := h.holds(ctx, &c); {
		case err != nil:
			return hub.Resolved{}, err
		case !ok:
			continue
		}
		room, err := h.view.Room(c.Room)
		if err != nil {
			return hub.Resolved{}, err
		}
		project, _ := h.view.Project(room.ProjectID)
		return hub.Resolved{Bound: true, RoomID: &room.RoomID, Room: &room, Project: &project, BoundPath: &c.Folder.Path}, nil
	}
	return hub.Resolved{}, nil
}
