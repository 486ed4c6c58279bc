package view

import (
	"maps"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// places shows the projects and rooms that are committed. There are few of them
// and they are never deleted, so all are kept.
type places struct {
	mu    sync.RWMutex
	index *core.ProjectIndex
	// archived holds the archived channels, also those of archived rooms; nil: there are
	// none. Each change makes another map, because every poll reads it.
	archived atomic.Pointer[map[hub.ChannelName]bool]
}

func newPlaces() *places { return &places{index: core.NewProjectIndex()} }

// apply takes a committed row of the projects owner.
func (p *places) apply(row *core.Row) {
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

// note keeps whether a channel is archived.
func (p *places) note(channel hub.ChannelName, archived bool) {
	was := p.archived.Load()
	if was == nil && !archived || was != nil && (*was)[channel] == archived {
		return
	}
	is := map[hub.ChannelName]bool{}
	if was != nil {
		maps.Copy(is, *was)
	}
	if delete(is, channel); archived {
		is[channel] = true
	}
	p.archived.Store(&is)
}

// Archived reports whether a message is a public one in an archived channel.
func (p *places) Archived(m *core.StoredMessage) bool {
	return m.To == "" && p.Closed(m.Channel)
}

// Closed reports whether a channel is archived, by itself or with its room.
func (p *places) Closed(channel hub.ChannelName) bool {
	channels := p.archived.Load()
	return channels != nil && (*channels)[channel]
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
