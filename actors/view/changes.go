package view

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Changes tells those that follow the whole hub which things change. While nobody follows, a
// change costs one atomic load. What a follower has not taken yet is a set of bounded size,
// so a slow one costs no more than a quick one.
type Changes struct {
	count atomic.Int32
	mu    sync.RWMutex
	all   map[*Follower]struct{}
}

// Follower collects changes until they are taken.
type Follower struct {
	// C receives when there is something to take. Its capacity is 1.
	C       chan struct{}
	changes *Changes

	mu     sync.Mutex
	kinds  map[hub.ChangedKind]struct{}
	rooms  map[hub.RoomID]struct{}
	tasks  map[hub.TaskID]struct{}
	agents map[hub.AgentID]struct{} // that may have changed; the follower looks at them
	every  bool                     // so many agents that all are to be looked at
	cut    bool
}

// Taken is what a follower took.
type Taken struct {
	Kinds  []hub.ChangedKind // in no order
	Rooms  []hub.RoomID
	Tasks  []hub.TaskID
	Agents []hub.AgentID
	Every  bool
	Cut    bool
}

func newChanges() *Changes { return &Changes{all: map[*Follower]struct{}{}} }

// Follow begins to collect; nil if too many do already.
func (c *Changes) Follow() *Follower {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) >= hub.MaxFollows {
		return nil
	}
	f := &Follower{C: make(chan struct{}, 1), changes: c}
	f.reset()
	c.all[f] = struct{}{}
	c.count.Store(int32(len(c.all)))
	return f
}

// Close ends the collection.
func (f *Follower) Close() {
	f.changes.mu.Lock()
	defer f.changes.mu.Unlock()
	delete(f.changes.all, f)
	f.changes.count.Store(int32(len(f.changes.all)))
}

func (f *Follower) reset() {
	f.kinds, f.rooms, f.tasks, f.agents = map[hub.ChangedKind]struct{}{}, map[hub.RoomID]struct{}{}, map[hub.TaskID]struct{}{}, map[hub.AgentID]struct{}{}
	f.every, f.cut = false, false
}

// Take returns what has changed since the last time.
func (f *Follower) Take() Taken {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := Taken{
		Kinds: slices.Collect(maps.Keys(f.kinds)), Rooms: slices.Sorted(maps.Keys(f.rooms)), Tasks: slices.Sorted(maps.Keys(f.tasks)),
		Agents: slices.Sorted(maps.Keys(f.agents)), Every: f.every, Cut: f.cut,
	}
	if len(t.Kinds)+len(t.Agents) > 0 || f.every {
		f.reset()
	}
	return t
}

// note tells all followers.
func (c *Changes) note(add func(*Follower)) {
	if c.count.Load() == 0 {
		return
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	for f := range c.all {
		f.mu.Lock()
		add(f)
		f.mu.Unlock()
		select {
		case f.C <- struct{}{}:
		default:
		}
	}
}

// Note tells that things of a kind have changed somewhere.
func (c *Changes) Note(kind hub.ChangedKind) {
	c.note(func(f *Follower) { f.kinds[kind] = struct{}{} })
}

// agent tells that an agent may do something else now.
func (c *Changes) agent(id hub.AgentID) {
	c.note(func(f *Follower) { f.agent(id) })
}

func (f *Follower) agent(id hub.AgentID) {
	if len(f.agents) >= hub.MaxChangedIDs {
		f.every = true
		return
	}
	f.agents[id] = struct{}{}
}

// add keeps an id, or notes that there are more than are kept.
func add[ID comparable](f *Follower, ids map[ID]struct{}, id ID) {
	if _, known := ids[id]; !known && len(ids) >= hub.MaxChangedIDs {
		f.cut = true
		return
	}
	ids[id] = struct{}{}
}

// changedBy says which kind of thing a row of a table is.
var changedBy = map[core.Table]hub.ChangedKind{
	core.TableProject: hub.ChangedRooms, core.TableRoom: hub.ChangedRooms, core.TableChannel: hub.ChangedRooms, core.TableChannelArchived: hub.ChangedRooms,
	core.TableTask: hub.ChangedTasks, core.TableRun: hub.ChangedRuns, core.TableClaim: hub.ChangedLeases, core.TableLock: hub.ChangedLeases,
	core.TableSeat: hub.ChangedSeats, core.TableAsk: hub.ChangedAsks, core.TablePause: hub.ChangedPauses, core.TableMute: hub.ChangedMutes,
	core.TableBudget: hub.ChangedBudgets, core.TableDecisionByRoom: hub.ChangedDecisions, core.TableArtifactByRoom: hub.ChangedArtifacts,
	core.TableMemoryBy: hub.ChangedMemory, core.TableInvite: hub.ChangedInvites, core.TableSpawnByRoom: hub.ChangedSpawns, core.TableSpawn: hub.ChangedSpawns,
	core.TableToolSurface: hub.ChangedSettings, core.TableNotify: hub.ChangedSettings, core.TablePermissions: hub.ChangedSettings,
	core.TableSpawnPolicy: hub.ChangedSettings, core.TablePass: hub.ChangedPasses, core.TableUser: hub.ChangedSettings, core.TableRetired: hub.ChangedAgents, core.TableAgent: hub.ChangedAgents,
	core.TableImport: hub.ChangedMessages,
}

// ofRoom are the tables whose keys begin with a room and a zero byte.
var ofRoom = map[core.Table]bool{
	core.TableSeat: true, core.TableDecisionByRoom: true, core.TableArtifactByRoom: true, core.TableMemoryBy: true, core.TableInvite: true, core.TableSpawnByRoom: true,
}

// row tells of a committed row.
func (c *Changes) row(r *core.Row) {
	if c.count.Load() == 0 {
		return
	}
	kind, known := changedBy[r.Table]
	if !known {
		return
	}
	c.note(func(f *Follower) {
		f.kinds[kind] = struct{}{}
		switch {
		case r.Table == core.TableTask:
			add(f, f.tasks, hub.TaskID(binary.BigEndian.Uint64(r.Key)))
		case r.Table == core.TableRoom:
			add(f, f.rooms, hub.RoomID(r.Key))
		case ofRoom[r.Table]:
			room, _, _ := bytes.Cut(r.Key, []byte{0})
			add(f, f.rooms, hub.RoomID(room))
		}
	})
}

// task tells of a changed task: its room, and the agents that it keeps at work or did.
func (c *Changes) task(was, is *hub.Task) {
	if c.count.Load() == 0 {
		return
	}
	c.note(func(f *Follower) {
		if is.RoomID != nil {
			add(f, f.rooms, *is.RoomID)
		}
		for _, t := range []*hub.Task{was, is} {
			if t.Assignee != nil {
				f.agent(*t.Assignee)
			}
		}
	})
}
