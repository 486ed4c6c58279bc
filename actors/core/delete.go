package core

import (
	"hubcli/hub"
)

// The facts of deletions are numbered with those of archives: 904 to 906.
const (
	factRoomDeleted    FactType = 904
	factProjectDeleted FactType = 905
	factChannelDeleted FactType = 906
)

// RoomDeleted says that an archived room in which nothing was ever kept is no more. With Back
// the room is there again: something had come into it in the moment of its end.
type RoomDeleted struct {
	Room hub.RoomID  `json:"room"`
	Back *StoredRoom `json:"back,omitempty"`
}

// ProjectDeleted says the same of an archived project without rooms.
type ProjectDeleted struct {
	Project hub.ProjectID `json:"project"`
	Back    *hub.Project  `json:"back,omitempty"`
}

// ChannelDeleted says the same of an archived channel outside rooms.
type ChannelDeleted struct {
	Name hub.ChannelName `json:"name"`
	Back *hub.Channel    `json:"back,omitempty"`
}

// FactType implements Fact.
func (*RoomDeleted) FactType() FactType { return factRoomDeleted }

// FactType implements Fact.
func (*ProjectDeleted) FactType() FactType { return factProjectDeleted }

// FactType implements Fact.
func (*ChannelDeleted) FactType() FactType { return factChannelDeleted }

// errNotArchived refuses to delete what somebody has taken back meanwhile.
func errNotArchived(what string) error {
	return hub.Errorf(hub.CodePlanChanged, "%s is not archived any more", what).WithFix("archive it, or leave it")
}

// DeleteRoom decides that an archived room is no more. The caller has found nothing in it. Errors:
// room_not_found, plan_changed.
func (p *Projects) DeleteRoom(id hub.RoomID) (Decision[StoredRoom], error) {
	stored, ok := p.index.Room(id)
	switch {
	case !ok:
		return Decision[StoredRoom]{}, ErrRoomNotFound(string(id))
	case !stored.Room.Archived:
		return Decision[StoredRoom]{}, errNotArchived("room " + stored.Room.Slug)
	}
	return answering(stored, &RoomDeleted{Room: id}), nil
}

// KeepRoom decides that a deleted room is there again. Its slug may have gone to another room.
func (p *Projects) KeepRoom(was StoredRoom) (Decision[StoredRoom], error) {
	place := p.index.projects[was.Room.ProjectID]
	if place == nil {
		return Decision[StoredRoom]{}, hub.NewError(hub.CodeProjectNotFound, "there is no such project").With("project", was.Room.ProjectID)
	}
	was.Room.Slug = freeSlug(was.Room.Slug, func(s string) bool { _, taken := place.rooms[s]; return taken })
	return answering(was, &RoomDeleted{Room: was.Room.RoomID, Back: &was}), nil
}

// DeleteProject decides that an archived project without rooms is no more. The caller has found
// nothing else in it. Errors: project_not_found, plan_changed.
func (p *Projects) DeleteProject(id hub.ProjectID) (Decision[hub.Project], error) {
	place := p.index.projects[id]
	switch {
	case place == nil:
		return Decision[hub.Project]{}, hub.NewError(hub.CodeProjectNotFound, "there is no such project").With("project", id)
	case !place.project.Archived:
		return Decision[hub.Project]{}, errNotArchived("project " + place.project.Slug)
	case len(place.rooms) > 0:
		return Decision[hub.Project]{}, ErrNotEmpty("project "+place.project.Slug, "rooms")
	}
	return answering(place.project, &ProjectDeleted{Project: id}), nil
}

// KeepProject is KeepRoom for a project.
func (p *Projects) KeepProject(was hub.Project) Decision[hub.Project] {
	was.Slug = freeSlug(was.Slug, func(s string) bool { _, taken := p.index.slugs[s]; return taken || p.index.named(s) != nil })
	return answering(was, &ProjectDeleted{Project: was.ProjectID, Back: &was})
}

// Delete decides that the channel is no more. The caller has found nothing in it. Errors:
// channel_not_found, plan_changed.
func (c *Channel) Delete(name hub.ChannelName) (Decision[hub.Channel], error) {
	switch {
	case c.row == nil:
		return Decision[hub.Channel]{}, hub.Errorf(hub.CodeChannelNotFound, "there is no channel %s", name).With("channel", name)
	case !c.row.Archived:
		return Decision[hub.Channel]{}, errNotArchived("channel " + string(name))
	}
	return answering(*c.row, &ChannelDeleted{Name: name}), nil
}

// Keep decides that a deleted channel is there again, unless another one has its name.
func (c *Channel) Keep(was hub.Channel) Decision[hub.Channel] {
	if c.row != nil {
		row := *c.row
		return answering(row)
	}
	return answering(was, &ChannelDeleted{Name: was.Name, Back: &was})
}

// ErrNotEmpty refuses to delete what holds something.
func ErrNotEmpty(what, holds string) error {
	return hub.Errorf(hub.CodePlanChanged, "%s holds %s, and what was acknowledged is not deleted", what, holds).With("holds", holds).
		WithFix("leave it archived: it takes no place of the limits")
}

// deleteRoom applies the fact. The empty row says that there was a room.
func (p *Projects) deleteRoom(f *RoomDeleted, rows RowSink) {
	if f.Back != nil {
		p.putRoom(*f.Back, rows)
		return
	}
	p.index.DropRoom(f.Room)
	delete(p.looks, f.Room)
	rows.Put(TableRoom, []byte(f.Room), nil)
}

// deleteProject applies the fact.
func (p *Projects) deleteProject(f *ProjectDeleted, rows RowSink) {
	if f.Back != nil {
		p.index.PutProject(*f.Back)
		rows.Put(TableProject, []byte(f.Project), mustJSON(*f.Back))
		return
	}
	p.index.DropProject(f.Project)
	rows.Put(TableProject, []byte(f.Project), nil)
}

// delete applies the fact.
func (c *Channel) delete(f *ChannelDeleted, rows RowSink) {
	if f.Back != nil {
		c.row = f.Back
		rows.Put(TableChannel, []byte(f.Name), mustJSON(*f.Back))
		rows.Put(TableChannelArchived, []byte(f.Name), []byte{1})
		return
	}
	c.row = nil
	rows.Put(TableChannel, []byte(f.Name), nil)
	rows.Put(TableChannelArchived, []byte(f.Name), nil)
}

// DropRoom forgets a room.
func (a *ProjectIndex) DropRoom(id hub.RoomID) {
	known := a.rooms[id]
	if known == nil {
		return
	}
	a.bytes -= roomBytes(&known.Room)
	a.rebind(known, &StoredRoom{})
	delete(a.rooms, id)
	delete(a.projects[known.Room.ProjectID].rooms, known.Room.Slug)
}

// DropProject forgets a project without rooms.
func (a *ProjectIndex) DropProject(id hub.ProjectID) {
	if known := a.projects[id]; known != nil {
		delete(a.slugs, known.project.Slug)
		delete(a.projects, id)
	}
}
