package core

import (
	"slices"

	"hubcli/hub"
)

// The facts of archives: 877, and 900 to 909. Those of deletions are among them.
const (
	factRoomArchived    FactType = 877
	factProjectArchived FactType = 900
	factChannelArchived FactType = 901
)

// RoomArchived takes a room out of lists and of what all are shown, or back into them.
type RoomArchived struct {
	Room     hub.RoomID `json:"room"`
	Archived bool       `json:"archived"`
}

// ProjectArchived takes a project and its rooms out of lists, or back into them. Rooms that
// were archived by themselves are not among them.
type ProjectArchived struct {
	Project  hub.ProjectID `json:"project"`
	Archived bool          `json:"archived"`
	Rooms    []hub.RoomID  `json:"rooms,omitempty"`
}

// FactType implements Fact.
func (*RoomArchived) FactType() FactType { return factRoomArchived }

// FactType implements Fact.
func (*ProjectArchived) FactType() FactType { return factProjectArchived }

func archiveFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factRoomArchived:    func() Fact { return &RoomArchived{} },
		factProjectArchived: func() Fact { return &ProjectArchived{} },
		factChannelArchived: func() Fact { return &ChannelArchived{} },
		factRoomDeleted:     func() Fact { return &RoomDeleted{} },
		factProjectDeleted:  func() Fact { return &ProjectDeleted{} },
		factChannelDeleted:  func() Fact { return &ChannelDeleted{} },
	}
}

// ArchiveRoom decides whether a room is archived. If it is so already, nothing changes. Errors:
// room_not_found; archived if the room is to come back without its project.
func (p *Projects) ArchiveRoom(id hub.RoomID, archived bool) (Decision[hub.Room], error) {
	stored, ok := p.index.Room(id)
	if !ok {
		return Decision[hub.Room]{}, ErrRoomNotFound(string(id))
	}
	project, _ := p.index.Project(stored.Room.ProjectID)
	if project.Archived && !archived {
		return Decision[hub.Room]{}, errProjectArchived(&project)
	}
	room, d := stored.Room, Decision[hub.Room]{}
	if room.Archived != archived || room.WithProject {
		f := &RoomArchived{Room: id, Archived: archived}
		d.Facts = []Fact{f}
		room = f.set(stored).Room
	}
	d.Answer = func(Position) hub.Room { return room }
	return d, nil
}

// Archive decides whether a project is archived with its rooms. If it is so already, nothing
// changes. Error: project_not_found.
func (p *Projects) Archive(ref string, archived bool) (Decision[hub.Project], error) {
	project, err := p.index.FindProject(ref)
	if err != nil {
		return Decision[hub.Project]{}, err
	}
	d := Decision[hub.Project]{}
	if project.Archived != archived {
		f := &ProjectArchived{Project: project.ProjectID, Archived: archived}
		for _, room := range p.index.Rooms(project.ProjectID) {
			if room.WithProject != archived && room.Archived != archived {
				f.Rooms = append(f.Rooms, room.RoomID)
			}
		}
		slices.Sort(f.Rooms)
		d.Facts = []Fact{f}
		project.Archived = archived
	}
	d.Answer = func(Position) hub.Project { return project }
	return d, nil
}

// errProjectArchived refuses what a project cannot have while it is archived.
func errProjectArchived(p *hub.Project) error {
	return hub.Errorf(hub.CodeArchived, "project %s is archived with its rooms", p.Slug).
		With("project_id", p.ProjectID).With("project", p.Slug)
}

// ErrArchived refuses a post to a channel that is archived, by itself or with its room. The
// detail names the project with which the room went, if it did.
func (a *ProjectIndex) ErrArchived(channel hub.ChannelName) error {
	what := "channel " + string(channel)
	id, ofRoom := channel.Room()
	if ofRoom {
		what = "room " + string(id)
	}
	err := hub.Errorf(hub.CodeArchived, "%s is archived: nobody is shown what is posted there", what).With("channel", channel)
	if room, ok := a.Room(id); ofRoom && ok {
		if p, ok := a.Project(room.Room.ProjectID); ok && p.Archived {
			err = err.With("project_id", p.ProjectID).With("project", p.Slug)
		}
	}
	return err
}

// set returns the room after the fact.
func (f *RoomArchived) set(r StoredRoom) StoredRoom {
	r.Room.Archived, r.Room.WithProject = f.Archived, false
	return r
}

// archiveProject applies the fact.
func (p *Projects) archiveProject(f *ProjectArchived, rows RowSink) {
	project, _ := p.index.Project(f.Project)
	project.Archived = f.Archived
	p.index.PutProject(project)
	rows.Put(TableProject, []byte(project.ProjectID), mustJSON(project))
	for _, id := range f.Rooms {
		room := *p.index.rooms[id]
		room.Room.Archived, room.Room.WithProject = f.Archived, f.Archived
		p.putRoom(room, rows)
	}
}

// ChannelArchived takes a channel out of lists and of what all are shown, or back into them.
type ChannelArchived struct {
	Name     hub.ChannelName `json:"name"`
	Archived bool            `json:"archived"`
}

// FactType implements Fact.
func (*ChannelArchived) FactType() FactType { return factChannelArchived }

// Archive decides whether the channel is archived. If it is so already, nothing changes.
// Error: channel_not_found.
func (c *Channel) Archive(name hub.ChannelName, archived bool) (Decision[hub.Channel], error) {
	if c.row == nil {
		return Decision[hub.Channel]{}, hub.Errorf(hub.CodeChannelNotFound, "there is no channel %s", name).With("channel", name)
	}
	row, d := *c.row, Decision[hub.Channel]{}
	if row.Archived != archived {
		d.Facts = []Fact{&ChannelArchived{Name: name, Archived: archived}}
		row.Archived = archived
	}
	d.Answer = func(Position) hub.Channel { return row }
	return d, nil
}

// archive applies the fact. The table of archived channels is what a start reads: it is small,
// and the channels are many.
func (c *Channel) archive(f *ChannelArchived, rows RowSink) {
	row := *c.row
	row.Archived = f.Archived
	c.row = &row
	rows.Put(TableChannel, []byte(row.Name), mustJSON(row))
	var mark []byte
	if f.Archived {
		mark = []byte{1}
	}
	rows.Put(TableChannelArchived, []byte(row.Name), mark)
}
