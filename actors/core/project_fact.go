package core

import (
	"encoding/json"
	"fmt"
	"slices"

	"hubcli/hub"
)

// The facts of projects: 500 to 599, and 880.
const (
	factProjectCreated FactType = 500
	factRoomCreated    FactType = 501
	factRoomBound      FactType = 502
	factRoomUnbound    FactType = 503
	factLocksSet       FactType = 504
	factGuardSet       FactType = 880
	factHostAllowed    FactType = 881
)

// ProjectCreated says that a project exists from now on.
type ProjectCreated struct {
	Slug      string      `json:"slug"`
	Name      string      `json:"name"`
	CreatedBy hub.AgentID `json:"created_by,omitempty"`
}

// RoomCreated says that a room and its channel exist from now on.
type RoomCreated struct {
	Project     hub.ProjectID `json:"project"`
	Slug        string        `json:"slug"`
	Name        string        `json:"name"`
	Topic       string        `json:"topic,omitempty"`
	CreatedBy   hub.AgentID   `json:"created_by,omitempty"`
	ForceReason string        `json:"force_reason,omitempty"`
}

// RoomBound says that a folder is bound to a room. It holds every form by which
// the folder is found, so that a replay asks no file system.
type RoomBound struct {
	Room   hub.RoomID  `json:"room"`
	Path   string      `json:"path"` // as it was given
	Plain  string      `json:"plain"`
	Common string      `json:"common,omitempty"`
	Rel    string      `json:"rel,omitempty"`
	By     hub.AgentID `json:"by,omitempty"`
}

// RoomUnbound says that the folders with these plain paths are no longer bound
// to a room.
type RoomUnbound struct {
	Room  hub.RoomID  `json:"room"`
	Plain []string    `json:"plain"`
	By    hub.AgentID `json:"by,omitempty"`
}

// LocksSet says what a room wants of locks from now on.
type LocksSet struct {
	Room  hub.RoomID     `json:"room"`
	Locks hub.LockPolicy `json:"locks"`
	By    hub.AgentID    `json:"by,omitempty"`
}

// GuardSet says after how many posts in turn the agents of a room are stopped from now on.
type GuardSet struct {
	Room hub.RoomID `json:"room"`
	Hops *int       `json:"hops"` // null: the default; 0: never
}

// FactType implements Fact.
func (*GuardSet) FactType() FactType { return factGuardSet }

// FactType implements Fact.
func (*LocksSet) FactType() FactType { return factLocksSet }

// FactType implements Fact.
func (*ProjectCreated) FactType() FactType { return factProjectCreated }

// FactType implements Fact.
func (*RoomCreated) FactType() FactType { return factRoomCreated }

// FactType implements Fact.
func (*RoomBound) FactType() FactType { return factRoomBound }

// FactType implements Fact.
func (*RoomUnbound) FactType() FactType { return factRoomUnbound }

func projectFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factProjectCreated: func() Fact { return &ProjectCreated{} },
		factRoomCreated:    func() Fact { return &RoomCreated{} },
		factRoomBound:      func() Fact { return &RoomBound{} },
		factRoomUnbound:    func() Fact { return &RoomUnbound{} },
		factLocksSet:       func() Fact { return &LocksSet{} },
		factGuardSet:       func() Fact { return &GuardSet{} },
		factHostAllowed:    func() Fact { return &HostAllowed{} },
	}
}

// project returns the project that the fact creates at a position.
func (f *ProjectCreated) project(at Position) hub.Project {
	return hub.Project{
		ProjectID: hub.ProjectID(IDAt(PrefixProject, at.Seq)), Slug: f.Slug, Name: f.Name, CreatedAt: at.Now.Wall, MadeBy: f.CreatedBy,
	}
}

// room returns the room that the fact creates at a position.
func (f *RoomCreated) room(at Position) StoredRoom {
	id := hub.RoomID(IDAt(PrefixRoom, at.Seq))
	return StoredRoom{Room: hub.Room{
		RoomID: id, ProjectID: f.Project, Slug: f.Slug, Name: f.Name, Topic: f.Topic, Channel: id.Channel(),
		Bindings: []string{}, CreatedBy: f.CreatedBy, CreatedAt: at.Now.Wall, ForceReason: f.ForceReason,
		Locks: hub.LocksWarn,
	}, Folders: []Folder{}}
}

// Apply changes the state by one fact of this owner and writes the row of the
// project or room that it changes.
func (p *Projects) Apply(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *ProjectCreated:
		row := f.project(at)
		p.index.PutProject(row)
		rows.Put(TableProject, []byte(row.ProjectID), mustJSON(row))
	case *RoomCreated:
		p.putRoom(f.room(at), rows)
	case *RoomBound:
		p.putRoom(f.bind(*p.index.rooms[f.Room], at), rows)
	case *RoomUnbound:
		p.putRoom(f.unbind(*p.index.rooms[f.Room]), rows)
	case *LocksSet:
		p.putRoom(f.set(*p.index.rooms[f.Room]), rows)
	case *RoomArchived:
		p.putRoom(f.set(*p.index.rooms[f.Room]), rows)
	case *ProjectArchived:
		p.archiveProject(f, rows)
	case *RoomDeleted:
		p.deleteRoom(f, rows)
	case *ProjectDeleted:
		p.deleteProject(f, rows)
	case *ProjectRenamed:
		p.renameProject(f, rows)
	case *RoomRenamed:
		p.renameRoom(f, rows)
	case *ProjectImported:
		p.importProject(f, at, rows)
	case *GuardSet:
		p.putRoom(f.set(*p.index.rooms[f.Room]), rows)
	case *HostAllowed:
		p.putRoom(f.set(*p.index.rooms[f.Room]), rows)
	default:
		panic(fmt.Sprintf("core: projects were given the fact %T", f))
	}
}

func (p *Projects) putRoom(r StoredRoom, rows RowSink) {
	p.enter(r)
	if rows != nil { // replay does not pay for the encoding
		rows.Put(TableRoom, []byte(r.Room.RoomID), mustJSON(r))
	}
}

// set returns the room after the fact.
func (f *LocksSet) set(r StoredRoom) StoredRoom {
	r.Room.Locks = f.Locks
	return r
}

// set returns the room after the fact.
func (f *GuardSet) set(r StoredRoom) StoredRoom {
	r.Room.GuardHops = f.Hops
	return r
}

// enter adds a room to the state, or replaces it if it changed.
func (p *Projects) enter(r StoredRoom) {
	p.index.PutRoom(r)
	if p.looks[r.Room.RoomID] == nil {
		p.looks[r.Room.RoomID] = lookOf(r.Room.Name)
	}
}

// ProjectsVersion is the version of what Snapshot writes. In version 1 no room says
// what it wants of locks.
const ProjectsVersion uint16 = 2

type projectsSnapshot struct {
	Projects []hub.Project `json:"projects"` // ordered by the records that created them
	Rooms    []StoredRoom  `json:"rooms"`    // likewise
}

// Snapshot returns the state; equal states give equal bytes.
func (p *Projects) Snapshot() []byte {
	s := projectsSnapshot{Projects: p.index.Projects(), Rooms: make([]StoredRoom, 0, p.index.Len())}
	for _, r := range p.index.rooms {
		s.Rooms = append(s.Rooms, *r)
	}
	slices.SortFunc(s.Projects, func(x, y hub.Project) int {
		return compareIDs(PrefixProject, string(x.ProjectID), string(y.ProjectID))
	})
	slices.SortFunc(s.Rooms, func(x, y StoredRoom) int {
		return compareIDs(PrefixRoom, string(x.Room.RoomID), string(y.Room.RoomID))
	})
	return mustJSON(s)
}

// RestoreProjects returns the state that a snapshot of this version holds.
func RestoreProjects(version uint16, data []byte) (*Projects, error) {
	if err := CheckVersion("projects", version, ProjectsVersion); err != nil {
		return nil, err
	}
	var s projectsSnapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("core: projects: %w", err)
	}
	p := NewProjects()
	for _, row := range s.Projects {
		if _, twice := p.index.slugs[row.Slug]; twice || row.ProjectID == "" || p.index.projects[row.ProjectID] != nil {
			return nil, fmt.Errorf("core: projects: %q has no id or stands twice", row.ProjectID)
		}
		p.index.PutProject(row)
	}
	for _, row := range s.Rooms {
		if row.Room.RoomID == "" || p.index.rooms[row.Room.RoomID] != nil || p.index.projects[row.Room.ProjectID] == nil {
			return nil, fmt.Errorf("core: projects: room %q has no id or project, or stands twice", row.Room.RoomID)
		}
		p.enter(row)
	}
	return p, nil
}

// bind returns the room after the fact.
func (f *RoomBound) bind(r StoredRoom, at Position) StoredRoom {
	return r.with(append(slices.Clone(r.Folders), Folder{Path: f.Path, Plain: f.Plain, Common: f.Common, Rel: f.Rel, Seq: at.Seq}))
}

// unbind returns the room after the fact.
func (f *RoomUnbound) unbind(r StoredRoom) StoredRoom {
	return r.with(slices.DeleteFunc(slices.Clone(r.Folders), func(b Folder) bool { return slices.Contains(f.Plain, b.Plain) }))
}

// with returns the room with these folders.
func (r StoredRoom) with(folders []Folder) StoredRoom {
	r.Folders = folders
	r.Room.Bindings = make([]string, 0, len(folders))
	for _, f := range folders {
		r.Room.Bindings = append(r.Room.Bindings, f.Path)
	}
	slices.Sort(r.Room.Bindings)
	return r
}
