package view

import (
	"cmp"
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Runs shows the runs that have not ended, also by room. Ended ones are read
// from their stored rows.
type Runs struct {
	mu    sync.RWMutex
	live  map[hub.RunID]core.StoredRun
	rooms multimap[hub.RoomID, hub.RunID]
}

func newRuns() *Runs {
	return &Runs{live: map[hub.RunID]core.StoredRun{}, rooms: multimap[hub.RoomID, hub.RunID]{}}
}

// apply takes a committed row of TableRun and returns the run.
func (v *Runs) apply(row *core.Row) core.StoredRun {
	r, err := DecodeRow[core.StoredRun](row.Table, row.Value)
	if err != nil {
		panic(err) // this process has encoded it
	}
	v.Put(r)
	return r
}

// Put shows a run in its latest state.
func (v *Runs) Put(r core.StoredRun) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id := r.Run.RunID
	if was, ok := v.live[id]; ok {
		v.rooms.removeOf(was.Run.RoomID, id)
	}
	if r.Run.Status.Terminal() {
		delete(v.live, id)
	} else {
		v.live[id] = r
		v.rooms.addOf(r.Run.RoomID, id)
	}
}

// List returns the live runs of a room, or of all if room is empty, newest first.
func (v *Runs) List(room hub.RoomID) []core.StoredRun {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []core.StoredRun
	if room == "" {
		for _, r := range v.live {
			out = append(out, r)
		}
	}
	for id := range v.rooms[room] {
		out = append(out, v.live[id])
	}
	slices.SortFunc(out, func(a, b core.StoredRun) int { return core.CompareRuns(b.Run.RunID, a.Run.RunID) })
	return out
}

// Page returns the first n live runs of a room, or of all if room is empty, that
// were made before a record, newest first.
func (v *Runs) Page(room hub.RoomID, before hub.Seq, n int) []core.StoredRun {
	found := Firsts[hub.Seq]{N: n, Compare: func(a, b hub.Seq) int { return cmp.Compare(b, a) }}
	add := func(id hub.RunID) {
		if seq := SeqOf(core.PrefixRun, id); seq < before {
			found.Add(seq)
		}
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	if room == "" {
		for id := range v.live {
			add(id)
		}
	}
	for id := range v.rooms[room] {
		add(id)
	}
	seqs := found.Sorted()
	out := make([]core.StoredRun, len(seqs))
	for i, seq := range seqs {
		out[i] = v.live[hub.RunID(core.IDAt(core.PrefixRun, seq))]
	}
	return out
}

func (v *Runs) get(id hub.RunID) (core.StoredRun, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	r, ok := v.live[id]
	return r, ok
}
