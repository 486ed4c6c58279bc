package view

import (
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// places shows the projects and rooms that are committed. There are few of them
// and they are never deleted, so all are kept.
type places struct {
	mu    sync.RWMutex
	index *core.ProjectIndex
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
