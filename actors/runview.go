package actors

import (
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// runView shows the runs that have not ended. Ended ones are read from their
// stored rows.
type runView struct {
	mu   sync.RWMutex
	live map[hub.RunID]core.StoredRun
}

func newRunView() *runView { return &runView{live: map[hub.RunID]core.StoredRun{}} }

// apply takes a committed row of TableRun and returns the run.
func (v *runView) apply(row *core.Row) core.StoredRun {
	r, err := decodeRun(row.Value)
	if err != nil {
		panic(err) // this process has encoded it
	}
	v.put(r)
	return r
}

func (v *runView) put(r core.StoredRun) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r.Run.Status.Terminal() {
		delete(v.live, r.Run.RunID)
	} else {
		v.live[r.Run.RunID] = r
	}
}

// list returns the live runs of a room, or of all if room is empty, newest first.
func (v *runView) list(room hub.RoomID) []core.StoredRun {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []core.StoredRun
	for _, r := range v.live {
		if room == "" || r.Run.RoomID != nil && *r.Run.RoomID == room {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b core.StoredRun) int { return core.CompareRuns(b.Run.RunID, a.Run.RunID) })
	return out
}

func (v *runView) get(id hub.RunID) (core.StoredRun, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	r, ok := v.live[id]
	return r, ok
}

func decodeRun(value []byte) (core.StoredRun, error) {
	r, err := core.DecodeRun(value)
	if err != nil {
		return r, hub.NewError(hub.CodeCorruptRecord, "a stored run cannot be read")
	}
	return r, nil
}
