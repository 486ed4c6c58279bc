package core

import (
	"strings"

	"hubcli/hub"
)

// The facts of names stand beside those of pauses, with which they came.
const (
	factProjectRenamed FactType = 875
	factRoomRenamed    FactType = 876
)

// ProjectRenamed gives a project another name. Its slug stays.
type ProjectRenamed struct {
	Project hub.ProjectID `json:"project"`
	Name    string        `json:"name"`
}

// RoomRenamed gives a room another name. Its slug and channel stay.
type RoomRenamed struct {
	Room hub.RoomID `json:"room"`
	Name string     `json:"name"`
}

// FactType implements Fact.
func (*ProjectRenamed) FactType() FactType { return factProjectRenamed }

// FactType implements Fact.
func (*RoomRenamed) FactType() FactType { return factRoomRenamed }

func renameFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factProjectRenamed: func() Fact { return &ProjectRenamed{} },
		factRoomRenamed:    func() Fact { return &RoomRenamed{} },
	}
}

// Rename decides the name of a project. Errors: project_not_found; project_exists if the name
// is the name or slug of another project; invalid if it has the form of an id.
func (p *Projects) Rename(ref, name string) (Decision[hub.Project], error) {
	project, err := p.index.FindProject(ref)
	if err != nil {
		return Decision[hub.Project]{}, err
	}
	if known := p.index.called(name); known != nil && known.project.ProjectID != project.ProjectID {
		return Decision[hub.Project]{}, projectExists(known.project, "name")
	}
	for _, other := range p.index.projects { // called finds one, which may be the project by its slug
		if other.project.ProjectID != project.ProjectID && sameName(other.project.Name, name) {
			return Decision[hub.Project]{}, projectExists(other.project, "name")
		}
	}
	if _, ok := SeqOf(PrefixProject, strings.ToLower(name)); ok {
		return Decision[hub.Project]{}, hub.Invalid("name", "name has the form of a project's id").WithFix("choose another name")
	}
	d := Decision[hub.Project]{}
	if project.Name != name {
		d.Facts = []Fact{&ProjectRenamed{Project: project.ProjectID, Name: name}}
		project.Name = name
	}
	d.Answer = func(Position) hub.Project { return project }
	return d, nil
}

// RenameRoom decides the name of a room. Errors: room_not_found; similar_room_exists if another
// room of the project has the name or the slug.
func (p *Projects) RenameRoom(id hub.RoomID, name string) (Decision[hub.Room], error) {
	stored, ok := p.index.Room(id)
	if !ok {
		return Decision[hub.Room]{}, ErrRoomNotFound(string(id))
	}
	room := stored.Room
	for slug, other := range p.index.projects[room.ProjectID].rooms {
		if known := &p.index.rooms[other].Room; other != id && (sameName(known.Name, name) || sameName(slug, name)) {
			return Decision[hub.Room]{}, hub.Errorf(hub.CodeSimilarRoomExists, "room %s of the project has this name", known.Slug).
				With("candidates", []hub.SimilarRoom{{RoomID: other, Slug: known.Slug, Name: known.Name, Topic: known.Topic, Why: "it has this name or slug"}}).
				WithFix("choose another name")
		}
	}
	d := Decision[hub.Room]{}
	if room.Name != name {
		d.Facts = []Fact{&RoomRenamed{Room: id, Name: name}}
		room.Name = name
	}
	d.Answer = func(Position) hub.Room { return room }
	return d, nil
}

// renameProject applies the fact.
func (p *Projects) renameProject(f *ProjectRenamed, rows RowSink) {
	project, _ := p.index.Project(f.Project)
	project.Name = f.Name
	p.index.PutProject(project)
	rows.Put(TableProject, []byte(project.ProjectID), mustJSON(project))
}

// renameRoom applies the fact.
func (p *Projects) renameRoom(f *RoomRenamed, rows RowSink) {
	room := *p.index.rooms[f.Room]
	room.Room.Name = f.Name
	p.looks[f.Room] = lookOf(f.Name)
	p.putRoom(room, rows)
}
