package homeroom

import (
	"context"
	"errors"
	"slices"

	"hubcli/hub"
)

// Made says what a call of Make has made.
type Made struct {
	Project, Room, Binding bool
}

// maxTries bounds how often Make begins again because another caller was first.
const maxTries = 32

// Make makes what Look says, and returns the plan as it is then: the folder is bound. Errors:
// *Refusal, *hub.Error.
func Make(ctx context.Context, s Service, f Folder, w Wish) (Plan, Made, error) {
	var made Made
	var p Plan
	var err error
	for range maxTries {
		if p, err = Look(ctx, s, f, w); err != nil || p.Bound {
			return p, made, err
		}
		again := false
		if again, err = p.step(ctx, s, w, &made); !again {
			return p, made, err
		}
	}
	return p, made, err
}

// step makes what is missing. It reports true if another caller has made something meanwhile, so
// that a plan is needed anew.
func (p *Plan) step(ctx context.Context, s Service, w Wish, made *Made) (again bool, err error) {
	if p.Project == nil {
		out, err := s.CreateProject(ctx, hub.ProjectInput{Name: p.projectName, CreatedBy: w.By})
		if err != nil {
			return errors.Is(err, &hub.Error{Code: hub.CodeProjectExists}), err
		}
		p.Project, made.Project = &out.Row, true
	}
	if p.Room == nil {
		out, err := s.CreateRoom(ctx, hub.RoomInput{Project: string(p.Project.ProjectID), Name: p.roomName, CreatedBy: w.By})
		if err != nil {
			return p.isThere(ctx, s, err), err
		}
		p.Room, made.Room = &out.Row, true
	}
	out, err := s.BindRoom(ctx, p.Room.RoomID, hub.BindingInput{Path: p.Folder.Top, AgentID: w.By, Auto: w.Auto})
	if err != nil {
		return errors.Is(err, &hub.Error{Code: hub.CodeAlreadyBound}), err
	}
	// Another repository of the name may have bound the room since it was found. The hub has decided
	// one after the other, so only the second sees both folders here, and goes on to the next name.
	if own, other := p.Folder.among([]hub.Room{withoutFolder(out.Row, p.Folder.Top)}); p.own && own == nil && other != "" {
		_, err := s.UnbindRoom(ctx, out.Row.RoomID, hub.BindingInput{Path: p.Folder.Top, AgentID: w.By})
		return err == nil, err
	}
	p.Room, p.Bound, p.At, made.Binding = &out.Row, true, p.Folder.Top, out.Created
	return false, nil
}

// isThere reports whether a room was refused because another caller has made it just now.
func (p *Plan) isThere(ctx context.Context, s Service, refused error) bool {
	if !errors.Is(refused, &hub.Error{Code: hub.CodeSimilarRoomExists}) {
		return false
	}
	rooms, err := roomsOf(ctx, s, p.Project)
	return err == nil && roomCalled(rooms, p.roomName) != nil
}

// withoutFolder is a room without one of its bindings.
func withoutFolder(r hub.Room, path string) hub.Room {
	r.Bindings = slices.DeleteFunc(slices.Clone(r.Bindings), func(p string) bool { return p == path })
	return r
}
