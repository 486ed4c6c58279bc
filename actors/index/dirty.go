package index

import (
	"hubcli/actors/core"
	"hubcli/hub"
)

// Hold keeps the position of the index before a record whose rows are in doubt,
// until Release: they are stored by the owner's rebuild, later than those of the
// records behind them. It is called before the record is shown. What is held
// counts as behind.
func (x *Indexer) Hold(k core.Owner, seq hub.Seq) {
	if x == nil || k.Kind != core.OwnerRoom && k.Kind != core.OwnerMemory {
		return
	}
	x.mu.Lock()
	x.held[k] = seq
	x.mu.Unlock()
	x.kept.Add(1)
	poke(x.poked)
}

// Release ends a hold once these rows are stored, or will not be in this run.
func (x *Indexer) Release(k core.Owner, rows []core.Row) {
	if x == nil {
		return
	}
	x.mu.Lock()
	delete(x.held, k)
	x.mu.Unlock()
	x.kept.Add(keptRows(rows))
	poke(x.poked)
}
