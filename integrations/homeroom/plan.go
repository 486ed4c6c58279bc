package homeroom

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"hubcli/hub"
	"hubcli/internal/gitdir"
)

// Service is what the package asks of a hub.
type Service interface {
	hub.Projects
	hub.Bindings
}

// Wish is what the caller wants beside the folder.
type Wish struct {
	Project string // id, slug or name; empty: that of the folder's name
	Room    string // id, slug, name or project/slug; empty: that of the folder's name
	By      hub.AgentID
	Auto    bool // a bridge does it for its agent; see hub.BindingInput
}

// Plan is the room of a folder, and what is to be made of it.
type Plan struct {
	Folder  Folder
	Project *hub.Project // nil: to be made
	Room    *hub.Room    // nil: to be made
	Bound   bool         // the folder leads to the room already
	At      string       // the folder through which it does, as it was bound
	Note    string       // why the name is not the folder's; may be empty

	projectName, roomName string
	own                   bool // the room was found by the folder's name, not named by the caller
}

// ProjectName is the name or slug of the project.
func (p *Plan) ProjectName() string {
	if p.Project != nil {
		return p.Project.Slug
	}
	return p.projectName
}

// RoomName is the name or slug of the room.
func (p *Plan) RoomName() string {
	if p.Room != nil {
		return p.Room.Slug
	}
	return p.roomName
}

// mostNames is how many names are tried for a folder whose name is taken.
const mostNames = 99

// Look says what Make would do. Errors: *Refusal, *hub.Error.
func Look(ctx context.Context, s Service, f Folder, w Wish) (Plan, error) {
	p := Plan{Folder: f}
	got, err := s.Resolve(ctx, f.Top)
	if err != nil {
		return p, err
	}
	bound := got.Bound && got.Room != nil && got.Project != nil && got.BoundPath != nil
	if bound && w.Project == "" && w.Room == "" {
		p.Bound, p.Project, p.Room, p.At = true, got.Project, got.Room, *got.BoundPath
		return p, p.refuseArchived()
	}
	if w.Project == "" && w.Room == "" {
		return p, p.byName(ctx, s)
	}
	if err := p.named(ctx, s, w); err != nil {
		return p, err
	}
	switch {
	case !bound:
	case p.Room != nil && p.Room.RoomID == got.Room.RoomID:
		p.Bound, p.At = true, *got.BoundPath
	case f.is(*got.BoundPath):
		return p, &Refusal{
			Why: fmt.Sprintf("%s is bound to room %s/%s already", f.Top, got.Project.Slug, got.Room.Slug),
			Fix: "leave --room and --project out to work there; or unbind it first: hubcli room unbind " + *got.BoundPath,
		}
	}
	return p, p.refuseArchived()
}

// named finds or names what the caller has named.
func (p *Plan) named(ctx context.Context, s Service, w Wish) error {
	p.projectName, p.roomName = w.Project, w.Room
	if of, room, ok := strings.Cut(w.Room, "/"); ok && w.Project == "" {
		p.projectName, p.roomName = of, room
	}
	if hub.IsRoomID(p.roomName) || p.roomName != "" && p.projectName == "" {
		room, err := hub.FindRoom(ctx, s, hub.RoomRef{Project: p.projectName, Room: p.roomName})
		if err == nil {
			p.Room = &room
			return p.projectOf(ctx, s, string(room.ProjectID))
		}
		if !errors.Is(err, &hub.Error{Code: hub.CodeRoomNotFound}) || hub.IsRoomID(p.roomName) {
			return err
		}
	}
	if p.projectName == "" { // a new room of the project of the folder's name
		room := p.roomName
		if err := p.byName(ctx, s); err != nil {
			return err
		}
		p.Room, p.roomName, p.own = nil, room, false
	} else if err := p.projectOf(ctx, s, p.projectName); err != nil {
		return err
	}
	if p.roomName == "" {
		p.roomName = p.Folder.Name
	}
	if p.Project == nil || p.Room != nil {
		return nil
	}
	rooms, err := roomsOf(ctx, s, p.Project)
	if err == nil {
		p.Room = roomCalled(rooms, p.roomName)
	}
	return err
}

// projectOf looks a project up; it is nil where there is none. A name that is the slug of a project
// but for its capitals cannot be given to another.
func (p *Plan) projectOf(ctx context.Context, s Service, ref string) error {
	project, err := s.Project(ctx, ref)
	if lower := strings.ToLower(ref); lower != ref && errors.Is(err, &hub.Error{Code: hub.CodeProjectNotFound}) {
		project, err = s.Project(ctx, lower)
	}
	if errors.Is(err, &hub.Error{Code: hub.CodeProjectNotFound}) {
		return nil
	}
	if err == nil {
		p.Project = &project
	}
	return err
}

// byName finds the project and the room of the folder's name, or the first of name-2, name-3, …
// that is not another repository's.
func (p *Plan) byName(ctx context.Context, s Service) error {
	p.own = true
	for n := 1; n <= mostNames; n++ {
		name := p.Folder.Name
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		p.Project, p.Room, p.projectName, p.roomName = nil, nil, name, name
		if err := p.projectOf(ctx, s, name); err != nil || p.Project == nil {
			return err
		}
		rooms, err := roomsOf(ctx, s, p.Project)
		if err != nil {
			return err
		}
		own, other := p.Folder.among(rooms)
		if own == nil && other != "" {
			p.Note = fmt.Sprintf("the name %s is that of %s", p.Folder.Name, other)
			continue
		}
		if p.Room = own; own == nil {
			p.Room = roomCalled(rooms, name)
		}
		return p.refuseArchived()
	}
	return &Refusal{Why: "every name like " + p.Folder.Name + " is that of another repository", Fix: "choose one: hubcli init --project NAME"}
}

// roomsOf are all rooms of a project, with those that are archived.
func roomsOf(ctx context.Context, s Service, p *hub.Project) ([]hub.Room, error) {
	return hub.All(ctx, s.Rooms, hub.RoomsQuery{Project: string(p.ProjectID), Archived: true, Limit: hub.MaxPageRows})
}

// roomCalled returns the room of a slug or name, or nil.
func roomCalled(rooms []hub.Room, name string) *hub.Room {
	for i := range rooms {
		if rooms[i].Slug == name || strings.EqualFold(rooms[i].Name, strings.TrimSpace(name)) {
			return &rooms[i]
		}
	}
	return nil
}

// refuseArchived refuses a room or a project that the operator has put away.
func (p *Plan) refuseArchived() error {
	switch {
	case p.Project != nil && p.Project.Archived:
		return &Refusal{
			Why: "project " + p.Project.Slug + " is archived",
			Fix: "take it back as the operator: hubcli project unarchive " + p.Project.Slug + "; or choose another: hubcli init --project NAME",
		}
	case p.Room != nil && p.Room.Archived:
		return &Refusal{
			Why: "room " + p.Room.Slug + " of this folder is archived",
			Fix: "take it back as the operator: hubcli room unarchive " + string(p.Room.RoomID) + "; or choose another: hubcli init --room NAME",
		}
	}
	return nil
}

// among returns the room that another clone of the folder's repository is bound to, and a folder of
// another repository that is bound to one of the rooms; each may be missing. Folders that are gone
// do not count.
func (f *Folder) among(rooms []hub.Room) (own *hub.Room, other string) {
	for i := range rooms {
		for _, path := range rooms[i].Bindings {
			switch dir, err := realFolder(path); {
			case err != nil:
			case f.is(dir):
				own = &rooms[i]
			case !f.holds(dir):
				other = path
			}
		}
	}
	return own, other
}

// is reports whether a path is the folder, or the top of a work tree or a clone of its repository.
func (f *Folder) is(path string) bool {
	dir, err := realFolder(path)
	if err != nil {
		return false
	}
	if dir == f.Top {
		return true
	}
	common, ok := gitdir.WorkTree(dir)
	return ok && f.sharesWith(common)
}

// holds reports whether a folder lies in a work tree or a clone of the folder's repository, or below it.
func (f *Folder) holds(dir string) bool {
	if below(dir, f.Top) {
		return true
	}
	for {
		if common, ok := gitdir.WorkTree(dir); ok {
			return f.sharesWith(common)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// sharesWith reports whether a repository is the folder's, or has the same remote.
func (f *Folder) sharesWith(common string) bool {
	return f.Common != "" && (common == f.Common || f.remote != "" && gitdir.Remote(common) == f.remote)
}
