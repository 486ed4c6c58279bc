package view

import (
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// places shows the projects and rooms that are committed. There are few of them, so all are
// kept.
type places struct {
	mu    sync.RWMutex
	index *core.ProjectIndex
	// archived holds the names of the archived channels, also of those of archived rooms. Every
	// poll reads it without a lock.
	archived sync.Map
}

func newPlaces() *places { return &places{index: core.NewProjectIndex()} }

// apply takes a committed row of the projects owner.
func (p *places) apply(row *core.Row) {
	if len(row.Value) == 0 && row.Table != core.TableChannelArchived {
		p.drop(row)
		return
	}
	if row.Table == core.TableProject {
		project, err := core.DecodeProject(row.Value)
		if err != nil {
			panic(err) // this process has encoded it
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.index.PutProject(project)
	}
	if row.Table == core.TableChannelArchived {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.note(hub.ChannelName(row.Key), len(row.Value) > 0)
	}
	if row.Table != core.TableRoom {
		return
	}
	room, err := core.DecodeRoom(row.Value)
	if err != nil {
		panic(err) // this process has encoded it
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.index.PutRoom(room)
	p.note(room.Room.Channel, room.Room.Archived)
}

// drop forgets a project or room that was deleted.
func (p *places) drop(row *core.Row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if row.Table == core.TableProject {
		p.index.DropProject(hub.ProjectID(row.Key))
		return
	}
	id := hub.RoomID(row.Key)
	p.index.DropRoom(id)
	p.note(id.Channel(), false)
}

// note keeps whether a channel is archived.
func (p *places) note(channel hub.ChannelName, archived bool) {
	if archived {
		p.archived.Store(channel, true)
	} else {
		p.archived.Delete(channel)
	}
}

// Archived reports whether a message is a public one in an archived channel.
func (p *places) Archived(m *core.StoredMessage) bool {
	return m.To == "" && p.Closed(m.Channel)
}

// Closed reports whether a channel is archived, by itself or with its room.
func (p *places) Closed(channel hub.ChannelName) bool {
	_, archived := p.archived.Load(channel)
	return archived
}

// RestoreArchived takes the stored marks of archived channels at a start. Those of rooms
// come with the rooms.
func (v *View) RestoreArchived() error {
	return v.rows.RowsOf(core.TableChannelArchived, nil, false, func(key, value []byte) bool {
		v.Places.mu.Lock()
		defer v.Places.mu.Unlock()
		v.Places.note(hub.ChannelName(key), len(value) > 0)
		return true
	})
}

// restore takes what was restored, at a start.
func (p *places) restore(a *core.ProjectIndex) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, project := range a.Projects() {
		p.index.PutProject(project)
	}
	for _, room := range a.Rooms("") {
		stored, _ := a.Room(room.RoomID)
		p.index.PutRoom(stored)
		p.note(room.Channel, room.Archived)
	}
}

// Look returns the answer of ask, which reads the index under the lock.
func Look[T any](p *places, ask func(*core.ProjectIndex) T) T {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return ask(p.index)
}

// Rooms calls fn with the rooms of a project, or of all if id is empty, in any
// order. fn asks no view.
func (p *places) Rooms(id hub.ProjectID, fn func(*hub.Room)) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	p.index.EachRoom(id, fn)
}
