package view

import (
	"encoding/json"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// passes shows the passes that have not ended. Every call with a pass asks it.
type passes struct {
	mu   sync.RWMutex
	held map[hub.PassID]hub.Pass
}

func newPasses() *passes { return &passes{held: map[hub.PassID]hub.Pass{}} }

// apply takes a committed row.
func (p *passes) apply(key, value []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var row hub.Pass
	if json.Unmarshal(value, &row) != nil {
		delete(p.held, hub.PassID(key))
		return
	}
	p.held[row.PassID] = row
}

// RestorePasses takes the stored rows at a start.
func (v *View) RestorePasses() error {
	return v.rows.RowsOf(core.TablePass, nil, false, func(key, value []byte) bool {
		v.passes.apply(key, value)
		return true
	})
}

// PassInForce reports whether the pass has neither ended nor run out.
func (v *View) PassInForce(id hub.PassID, now hub.Time) bool {
	v.passes.mu.RLock()
	defer v.passes.mu.RUnlock()
	row, held := v.passes.held[id]
	return held && now < row.ExpiresAt
}

// Passes lists the passes in force, the latest first.
func (v *View) Passes(now hub.Time) []hub.Pass {
	v.passes.mu.RLock()
	defer v.passes.mu.RUnlock()
	all := []hub.Pass{}
	for _, row := range core.SortedPasses(v.passes.held) {
		if now < row.ExpiresAt {
			all = append(all, row)
		}
	}
	return all
}
