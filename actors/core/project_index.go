package core

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"hubcli/hub"
)

// StoredRoom is a room with its bound folders, as the store keeps it.
type StoredRoom struct {
	Room    hub.Room `json:"room"`
	Folders []Folder `json:"folders"` // in the order of binding
}

// ProjectIndex holds projects and rooms, and finds them by id, slug and bound
// folder. The projects owner decides on one index; another one is the view of
// committed records. Callers get shallow copies of rows, so a value that a row
// points to is replaced, never changed in place.
type ProjectIndex struct {
	projects map[hub.ProjectID]*place
	slugs    map[string]hub.ProjectID
	rooms    map[hub.RoomID]*StoredRoom
	bound    map[string][]boundFolder // see bindingKeys
	bytes    int                      // that all rooms take in memory; see roomBytes
}

// place is a project with its rooms.
type place struct {
	project hub.Project
	rooms   map[string]hub.RoomID // by slug
}

// NewProjectIndex returns an index without projects.
func NewProjectIndex() *ProjectIndex {
	return &ProjectIndex{
		projects: map[hub.ProjectID]*place{}, slugs: map[string]hub.ProjectID{},
		rooms: map[hub.RoomID]*StoredRoom{}, bound: map[string][]boundFolder{},
	}
}

// PutProject adds a project or replaces its row. The slug of a project never
// changes.
func (a *ProjectIndex) PutProject(p hub.Project) {
	if known := a.projects[p.ProjectID]; known != nil {
		known.project = p
		return
	}
	a.projects[p.ProjectID] = &place{project: p, rooms: map[string]hub.RoomID{}}
	a.slugs[p.Slug] = p.ProjectID
}

// PutRoom adds a room of a known project, or replaces its row. The project and
// slug of a room never change.
func (a *ProjectIndex) PutRoom(r StoredRoom) {
	if r.Room.Locks == "" { // the row is older than the field
		r.Room.Locks = hub.LocksWarn
	}
	known := a.rooms[r.Room.RoomID]
	if known != nil {
		a.bytes -= roomBytes(&known.Room)
	}
	a.bytes += roomBytes(&r.Room)
	a.rebind(known, &r)
	a.rooms[r.Room.RoomID] = &r
	a.projects[r.Room.ProjectID].rooms[r.Room.Slug] = r.Room.RoomID
}

// Project returns the project with this id.
func (a *ProjectIndex) Project(id hub.ProjectID) (hub.Project, bool) {
	if p := a.projects[id]; p != nil {
		return p.project, true
	}
	return hub.Project{}, false
}

// Room returns the room with this id.
func (a *ProjectIndex) Room(id hub.RoomID) (StoredRoom, bool) {
	if r := a.rooms[id]; r != nil {
		return *r, true
	}
	return StoredRoom{}, false
}

// Len returns how many rooms there are.
func (a *ProjectIndex) Len() int { return len(a.rooms) }

// RoomSlugs returns those of the slugs that rooms have, sorted.
func (a *ProjectIndex) RoomSlugs(of []string) []string {
	taken := map[string]bool{}
	for _, r := range a.rooms {
		taken[r.Room.Slug] = true
	}
	found := slices.DeleteFunc(slices.Clone(of), func(slug string) bool { return !taken[slug] })
	slices.Sort(found)
	return found
}

// Projects lists all projects by slug.
func (a *ProjectIndex) Projects() []hub.Project {
	rows := make([]hub.Project, 0, len(a.projects))
	for _, p := range a.projects {
		rows = append(rows, p.project)
	}
	slices.SortFunc(rows, func(x, y hub.Project) int { return strings.Compare(x.Slug, y.Slug) })
	return rows
}

// EachRoom calls fn with the rooms of a project, or of all projects if id is
// empty, in any order.
func (a *ProjectIndex) EachRoom(id hub.ProjectID, fn func(*hub.Room)) {
	if id == "" {
		for _, r := range a.rooms {
			fn(&r.Room)
		}
	} else if p := a.projects[id]; p != nil {
		for _, room := range p.rooms {
			fn(&a.rooms[room].Room)
		}
	}
}

// Rooms lists the rooms of a project, or of all projects if id is empty, by slug.
func (a *ProjectIndex) Rooms(id hub.ProjectID) []hub.Room {
	var rows []hub.Room
	a.EachRoom(id, func(r *hub.Room) { rows = append(rows, *r) })
	slices.SortFunc(rows, CompareRooms)
	return rows
}

// CompareRooms orders rooms by slug, and rooms with the same slug by age.
func CompareRooms(x, y hub.Room) int {
	return cmp.Or(strings.Compare(x.Slug, y.Slug), compareIDs(PrefixRoom, string(x.RoomID), string(y.RoomID)))
}

// compareIDs orders ids of one kind by the records that created them.
func compareIDs(prefix, x, y string) int {
	m, _ := SeqOf(prefix, x)
	n, _ := SeqOf(prefix, y)
	return cmp.Compare(m, n)
}

// FindProject returns the project that ref names: by id, else by slug, else by
// name without regard to case. Error: project_not_found.
func (a *ProjectIndex) FindProject(ref string) (hub.Project, error) {
	if p := a.projects[hub.ProjectID(ref)]; p != nil {
		return p.project, nil
	}
	if p := a.projects[a.slugs[ref]]; p != nil {
		return p.project, nil
	}
	if p := a.named(ref); p != nil {
		return p.project, nil
	}
	return hub.Project{}, hub.NewError(hub.CodeProjectNotFound, "there is no such project").With("project", ref)
}

// called returns the project whose id, slug or name is this text, in any case.
func (a *ProjectIndex) called(name string) *place {
	lower := strings.ToLower(name)
	if p := a.projects[hub.ProjectID(lower)]; p != nil {
		return p
	}
	if p := a.projects[a.slugs[lower]]; p != nil {
		return p
	}
	return a.named(name)
}

// named returns the project with this name. There is at most one.
func (a *ProjectIndex) named(name string) *place {
	name = foldName(name)
	for _, p := range a.projects {
		if foldName(p.project.Name) == name {
			return p
		}
	}
	return nil
}

// FindRoom returns the room that ref names. The room is given by id, or, with a
// project, also by slug or by name in any case. Errors: project_not_found;
// room_not_found, also if several rooms have the name.
func (a *ProjectIndex) FindRoom(ref hub.RoomRef) (StoredRoom, error) {
	room := a.rooms[hub.RoomID(ref.Room)]
	if ref.Project == "" {
		if room == nil {
			return StoredRoom{}, ErrRoomNotFound(ref.Room).
				WithFix("name the room by its id, or name its project too")
		}
		return *room, nil
	}
	project, err := a.FindProject(ref.Project)
	if err != nil {
		return StoredRoom{}, err
	}
	if room != nil && room.Room.ProjectID == project.ProjectID {
		return *room, nil
	}
	rooms := a.projects[project.ProjectID].rooms
	if id, ok := rooms[ref.Room]; ok {
		return *a.rooms[id], nil
	}
	var named []SlugAndID
	for slug, id := range rooms {
		if sameName(a.rooms[id].Room.Name, ref.Room) {
			named = append(named, SlugAndID{slug, id})
		}
	}
	if len(named) == 1 {
		return *a.rooms[named[0].RoomID], nil
	}
	notFound := ErrRoomNotFound(ref.Room).With("project_id", project.ProjectID)
	if len(named) == 0 {
		return StoredRoom{}, notFound.WithFix("name a room of project " + project.Slug + " by its id, slug or name")
	}
	slices.SortFunc(named, func(x, y SlugAndID) int { return strings.Compare(x.Slug, y.Slug) })
	notFound.Message = fmt.Sprintf("%d rooms of the project have this name", len(named))
	return StoredRoom{}, notFound.With("rooms", named).WithFix("name the room by its slug or its id")
}

// SlugAndID names a room in the detail of an error.
type SlugAndID struct {
	Slug   string     `json:"slug"`
	RoomID hub.RoomID `json:"room_id"`
}

// ErrRoomNotFound is the error for a room that does not exist.
func ErrRoomNotFound(ref string) *hub.Error {
	return hub.NewError(hub.CodeRoomNotFound, "there is no such room").With("room_id", ref)
}

// DecodeProject reads the value of a row of TableProject.
func DecodeProject(value []byte) (p hub.Project, err error) {
	if err := json.Unmarshal(value, &p); err != nil {
		return p, fmt.Errorf("core: decoding the row of a project: %w", err)
	}
	return p, nil
}

// DecodeRoom reads the value of a row of TableRoom.
func DecodeRoom(value []byte) (r StoredRoom, err error) {
	if err := json.Unmarshal(value, &r); err != nil {
		return r, fmt.Errorf("core: decoding the row of a room: %w", err)
	}
	return r, nil
}

// foldPath gives paths that a file system may treat as one the same form: it
// removes differences of case and of Unicode composition.
func foldPath(path string) string { return norm.NFC.String(strings.ToLower(norm.NFC.String(path))) }

func plainKey(plain string) string { return "p" + foldPath(plain) }

func sharedKey(common, rel string) string { return "s" + foldPath(common) + "\x00" + foldPath(rel) }

// Folder is a folder that is bound to a room. It is found by its plain path, and
// from every work tree of its repository by its place in the work tree.
type Folder struct {
	Path   string  `json:"path"` // as given when it was bound
	Plain  string  `json:"plain"`
	Common string  `json:"common,omitempty"`
	Rel    string  `json:"rel,omitempty"`
	Seq    hub.Seq `json:"seq"` // the record that bound it
}

// bindingKeys returns the keys of a folder in the index of bindings.
func (f *Folder) bindingKeys() []string {
	if f.Common == "" {
		return []string{plainKey(f.Plain)}
	}
	return []string{plainKey(f.Plain), sharedKey(f.Common, f.Rel)}
}

// boundFolder is an entry of the index of bindings.
type boundFolder struct {
	Folder
	room hub.RoomID
}

// rebind replaces the index entries of room was (nil: none) by those of room
// is. Entries of one key stay in the order of binding.
func (a *ProjectIndex) rebind(was, is *StoredRoom) {
	if was != nil {
		for i := range was.Folders {
			for _, key := range was.Folders[i].bindingKeys() {
				left := slices.DeleteFunc(a.bound[key], func(b boundFolder) bool { return b.Folder == was.Folders[i] })
				if a.bound[key] = left; len(left) == 0 {
					delete(a.bound, key)
				}
			}
		}
	}
	for _, f := range is.Folders {
		for _, key := range f.bindingKeys() {
			at, _ := slices.BinarySearchFunc(a.bound[key], f.Seq, func(b boundFolder, s hub.Seq) int { return int(b.Seq) - int(s) })
			a.bound[key] = slices.Insert(a.bound[key], at, boundFolder{f, is.Room.RoomID})
		}
	}
}
