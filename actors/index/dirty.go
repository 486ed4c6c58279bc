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

// free returns a position with its sequence number before the first record that
// is held, and whether there is one.
func (x *Indexer) free(at core.IndexPosition) (core.IndexPosition, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, seq := range x.held {
		at.Seq = min(at.Seq, seq-1)
	}
	return at, len(x.held) > 0
}

// keptRows counts the decisions, artifacts and memories among rows.
func keptRows(rows []core.Row) (n int64) {
	for i := range rows {
		switch rows[i].Table {
		case core.TableDecision, core.TableArtifact, core.TableMemory:
			n++
		default:
		}
	}
	return n
}
