package actors

import (
	"context"
	"errors"
	"path/filepath"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// maxBindTries bounds the attempts to bind a folder while others bind it in
// other spellings.
const maxBindTries = 64

// BindRoom binds a folder to a room; see hub.Bindings.
func (h *Hub) BindRoom(ctx context.Context, room hub.RoomID, in hub.BindingInput) (hub.Outcome[hub.Room], error) {
	if err := h.checkBinding(ctx, room); err != nil {
		return hub.Outcome[hub.Room]{}, err
	}
	chain, err := h.options.Folders.Chain(ctx, in.Path, true)
	if err != nil {
		return hub.Outcome[hub.Room]{}, err
	}
	c := core.BindCommand{
		Room: room, Path: filepath.Clean(in.Path), Level: chain[0], By: in.AgentID, Seen: map[string]bool{},
	}
	// Usually no binding differs only in spelling. Each further round has
	// looked at the bindings that the previous round met.
	for range maxBindTries {
		row, replayed, err := engine.Submit(ctx, h.engine, opened(h.view, room, engine.Command[*core.Projects, core.BindAnswer, core.BindAnswer]{
			Owner: core.ProjectsOwner(), Agent: in.AgentID, Size: len(in.Path),
			Decide: func(p *core.Projects, _ core.Now) (core.Decision[core.BindAnswer], error) { return p.Bind(c) },
			Answer: func(a core.BindAnswer, _ *core.Record) core.BindAnswer { return a },
			Codec:  engine.JSONCodec[core.BindAnswer](engine.EffectBinding),
		}))
		var met *core.BindingsUnseen
		if !errors.As(err, &met) {
			return hub.Outcome[hub.Room]{Row: row.Room, Created: row.Bound, Replayed: replayed}, err
		}
		for _, plain := range met.Plain {
			if c.Seen[plain], err = h.options.Folders.Same(ctx, plain, chain[0].Plain); err != nil {
				return hub.Outcome[hub.Room]{}, err
			}
		}
	}
	return hub.Outcome[hub.Room]{}, engine.ErrOverloaded()
}

// UnbindRoom takes a binding back; see hub.Bindings. If the folder no longer
// exists, the binding is found by the path with which it was bound.
func (h *Hub) UnbindRoom(ctx context.Context, room hub.RoomID, in hub.BindingInput) (hub.Outcome[hub.Room], error) {
	if err := h.checkBinding(ctx, room); err != nil {
		return hub.Outcome[hub.Room]{}, err
	}
	c := core.UnbindCommand{Room: room, Path: filepath.Clean(in.Path), By: in.AgentID}
	chain, err := h.options.Folders.Chain(ctx, in.Path, true)
	switch {
	case err == nil:
		if c.Plain, err = h.spellings(ctx, chain[0]); err != nil {
			return hub.Outcome[hub.Room]{}, err
		}
		c.Plain = append([]string{chain[0].Plain}, c.Plain...)
	case errors.Is(err, &hub.Error{Code: hub.CodeInvalid}):
		return hub.Outcome[hub.Room]{}, err
	}
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Room, hub.Room]{
		Owner: core.ProjectsOwner(), Agent: in.AgentID, Size: len(in.Path),
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Room], error) { return p.Unbind(c) },
		Answer: func(row hub.Room, _ *core.Record) hub.Room { return row },
		Codec:  engine.JSONCodec[hub.Room](engine.EffectRoom),
	})
	return hub.Outcome[hub.Room]{Row: row, Replayed: replayed}, err
}

// checkBinding refuses calls before any path is looked at. A sandbox must not
// decide which folder leads to which room: it could send agents outside it to a
// room of its choice.
func (h *Hub) checkBinding(ctx context.Context, room hub.RoomID) error {
	if hub.CallerOf(ctx).Relay != "" {
		return hub.NewError(hub.CodeForbiddenRelay, "a call through a spool cannot bind or unbind folders").
			WithFix("bind the folder on the hub's machine: hubcli room bind <room> <path>")
	}
	if err := localPaths(ctx); err != nil {
		return err
	}
	_, err := h.view.Room(room)
	return err
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
