package core

import (
	"cmp"
	"slices"
	"strings"

	"hubcli/hub"
)

// Projects is the state of the projects owner: all projects and rooms, with the folders
// bound to rooms. Only what holds nothing is ever deleted.
type Projects struct {
	index *ProjectIndex
	looks map[hub.RoomID]*look // of every room's name
}

// NewProjects returns the state of an owner that has decided nothing yet.
func NewProjects() *Projects {
	return &Projects{index: NewProjectIndex(), looks: map[hub.RoomID]*look{}}
}

// ProjectIndex returns what the state holds, to be read before the next Apply.
func (p *Projects) ProjectIndex() *ProjectIndex { return p.index }

// Create decides that a project exists. A name or slug must lead to one project
// only. Errors: project_exists if the name or slug is the name or slug of
// another project; invalid if the name has the form of an id; limit_reached.
func (p *Projects) Create(in hub.ProjectInput, by Standing) (Decision[hub.Project], error) {
	if id, taken := p.index.slugs[in.Slug]; taken {
		return Decision[hub.Project]{}, projectExists(p.index.projects[id].project, "slug")
	}
	if known := p.index.called(in.Name); known != nil {
		return Decision[hub.Project]{}, projectExists(known.project, "name")
	}
	if known := p.index.named(in.Slug); known != nil && in.Slug != "" {
		return Decision[hub.Project]{}, projectExists(known.project, "slug")
	}
	if _, ok := SeqOf(PrefixProject, strings.ToLower(in.Name)); ok {
		return Decision[hub.Project]{}, hub.Invalid("name", "name has the form of a project's id").WithFix("choose another name")
	}
	if err := p.index.placeForProject(in.CreatedBy, by); err != nil {
		return Decision[hub.Project]{}, err
	}
	slug := in.Slug
	if slug == "" {
		slug = freeSlug(slugOf(in.Name, "project"), func(s string) bool {
			_, taken := p.index.slugs[s]
			return taken || p.index.named(s) != nil
		})
	}
	f := &ProjectCreated{Slug: slug, Name: in.Name, CreatedBy: in.CreatedBy}
	return Decision[hub.Project]{Draft: Draft{Facts: []Fact{f}}, Answer: f.project}, nil
}

func projectExists(known hub.Project, by string) error {
	return hub.Errorf(hub.CodeProjectExists, "a project of this %s exists", by).With("project", known).
		WithFix("use project " + known.Slug + ", or choose another " + by)
}

// CreateRoom decides that a room exists in the project that the input names.
// Errors: project_not_found, archived, similar_room_exists (not with Force),
// limit_reached.
func (p *Projects) CreateRoom(in hub.RoomInput, by Standing) (Decision[hub.Room], error) {
	project, err := p.index.FindProject(in.Project)
	if err != nil {
		return Decision[hub.Room]{}, err
	}
	if project.Archived {
		return Decision[hub.Room]{}, errProjectArchived(&project)
	}
	similar := p.similar(project.ProjectID, in.Name)
	if len(similar) > 0 && !in.Force {
		return Decision[hub.Room]{}, similarRoomExists(project, similar)
	}
	rooms := p.index.projects[project.ProjectID].rooms
	f := &RoomCreated{
		Project: project.ProjectID, Name: in.Name, Topic: in.Topic, CreatedBy: in.CreatedBy,
		Slug: freeSlug(slugOf(in.Name, "room"), func(s string) bool { _, taken := rooms[s]; return taken }),
	}
	if len(similar) > 0 {
		f.ForceReason = in.ForceReason
	}
	room := f.room(Position{}).Room
	if err := p.index.placeForRoom(&room, by); err != nil {
		return Decision[hub.Room]{}, err
	}
	return Decision[hub.Room]{
		Draft:  Draft{Facts: []Fact{f}},
		Answer: func(at Position) hub.Room { return f.room(at).Room },
	}, nil
}

// RoomKeeper is the caller that changes a setting of a room that protects others.
type RoomKeeper struct {
	Operator bool
	Agent    hub.AgentID // whose session the call has proved; empty: none
}

// mayKeep refuses all but the operator and the agent that made the room.
func (k RoomKeeper) mayKeep(room *hub.Room) error {
	if k.Operator || k.Agent != "" && k.Agent == room.CreatedBy {
		return nil
	}
	e := hub.NewError(hub.CodeOperatorRequired, "only the operator and the agent that made the room change this, for it protects others").
		With("room_id", room.RoomID)
	if room.CreatedBy == "" {
		return e.WithFix("ask the operator")
	}
	return e.With("created_by", room.CreatedBy).
		WithFix("ask the operator, or " + string(room.CreatedBy) + ", which has to prove its session")
}

// SetLocks decides what a room wants of locks. If it wants that already, nothing
// changes. Errors: room_not_found, operator_required.
func (p *Projects) SetLocks(id hub.RoomID, in hub.LockPolicyInput, by RoomKeeper) (Decision[hub.Room], error) {
	stored, ok := p.index.Room(id)
	if !ok {
		return Decision[hub.Room]{}, ErrRoomNotFound(string(id))
	}
	room := stored.Room
	if err := by.mayKeep(&room); err != nil {
		return Decision[hub.Room]{}, err
	}
	f := &LocksSet{Room: id, Locks: in.Locks, By: in.AgentID}
	if room.Locks == in.Locks {
		return answering(room), nil
	}
	room.Locks = in.Locks
	return Decision[hub.Room]{Draft: Draft{Facts: []Fact{f}}, Answer: func(Position) hub.Room { return room }}, nil
}

// SetGuard decides whether and when agents of a room are stopped that post to each other without
// progress. If that is so already, nothing changes. Errors: room_not_found.
func (p *Projects) SetGuard(id hub.RoomID, in hub.GuardInput) (Decision[hub.Room], error) {
	stored, ok := p.index.Room(id)
	if !ok {
		return Decision[hub.Room]{}, ErrRoomNotFound(string(id))
	}
	was, room := stored.Room.GuardHops, stored.Room
	room.GuardHops = in.Hops
	d := answering(room)
	if (was == nil) != (in.Hops == nil) || was != nil && *was != *in.Hops {
		d.Facts = []Fact{&GuardSet{Room: id, Hops: in.Hops}}
	}
	return d, nil
}

func similarRoomExists(project hub.Project, similar []hub.SimilarRoom) error {
	looks := "a room that looks"
	if len(similar) > 1 {
		looks = "rooms that look"
	}
	return hub.Errorf(hub.CodeSimilarRoomExists, "project %s has %s like this one", project.Slug, looks).
		With("candidates", similar).
		WithFix("use room " + string(similar[0].RoomID) + "; or, if a sibling is needed, repeat with force and force_reason")
}

// similar lists the rooms of a project whose names look like this one, closest
// first.
func (p *Projects) similar(project hub.ProjectID, name string) []hub.SimilarRoom {
	type found struct {
		room *hub.Room
		rank int
	}
	var all []found
	want := lookOf(name)
	for _, id := range p.index.projects[project].rooms {
		room := &p.index.rooms[id].Room
		if rank := likeness(want, p.looks[id]); rank >= 0 {
			all = append(all, found{room, rank})
		}
	}
	slices.SortFunc(all, func(x, y found) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), strings.Compare(x.room.Slug, y.room.Slug))
	})
	rooms := make([]hub.SimilarRoom, 0, min(len(all), maxCandidates))
	for _, f := range all[:cap(rooms)] {
		rooms = append(rooms, hub.SimilarRoom{
			RoomID: f.room.RoomID, Slug: f.room.Slug, Name: f.room.Name, Topic: f.room.Topic,
			Why: "its name is " + likenesses[f.rank].why,
		})
	}
	return rooms
}
