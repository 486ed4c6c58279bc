package actors

import (
	"cmp"
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// runView shows the runs that have not ended, also by room. Ended ones are read
// from their stored rows.
type runView struct {
	mu    sync.RWMutex
	live  map[hub.RunID]core.StoredRun
	rooms multimap[hub.RoomID, hub.RunID]
}

func newRunView() *runView {
	return &runView{live: map[hub.RunID]core.StoredRun{}, rooms: multimap[hub.RoomID, hub.RunID]{}}
}

// apply takes a committed row of TableRun and returns the run.
func (v *runView) apply(row *core.Row) core.StoredRun {
	r, err := decodeRow[core.StoredRun](row.Table, row.Value)
	if err != nil {
		panic(err) // this process has encoded it
	}
	v.put(r)
	return r
}

func (v *runView) put(r core.StoredRun) {
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

// list returns the live runs of a room, or of all if room is empty, newest first.
func (v *runView) list(room hub.RoomID) []core.StoredRun {
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

// page returns the first n live runs of a room, or of all if room is empty, that
// were made before a record, newest first.
func (v *runView) page(room hub.RoomID, before hub.Seq, n int) []core.StoredRun {
	found := firsts[hub.Seq]{n: n, compare: func(a, b hub.Seq) int { return cmp.Compare(b, a) }}
	add := func(id hub.RunID) {
		if seq := seqOf(core.PrefixRun, id); seq < before {
			found.add(seq)
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
	seqs := found.sorted()
	out := make([]core.StoredRun, len(seqs))
	for i, seq := range seqs {
		out[i] = v.live[hub.RunID(core.IDAt(core.PrefixRun, seq))]
	}
	return out
}

func (v *runView) get(id hub.RunID) (core.StoredRun, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	r, ok := v.live[id]
	return r, ok
}
