package engine

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// These functions show an operator the running engine. Each one copies a
// bounded part under a lock that it holds only briefly, and works on the copy.
// None of them sends a turn, so they answer even while an owner or the disk
// hangs.

// DebugOwners returns at most limit owners: those in quarantine, then those
// with the most commands, then those with the latest records. all is the number
// of owners in quarantine or in memory; retired is how many have left the
// memory since the start.
func (e *Engine) DebugOwners(limit int) (rows []hub.DebugOwner, all int, retired int64) {
	rows = []hub.DebugOwner{}
	quarantined := map[core.Owner]hub.Seq{} // the failed record of each
	for k, q := range e.quarantine.all() {
		quarantined[k] = q.Seq
	}
	for i := range e.registry.shards {
		sh := &e.registry.shards[i]
		sh.mu.Lock()
		for k, o := range sh.owners {
			row := hub.DebugOwner{
				Kind: k.Kind.String(), Name: k.Name, State: hub.OwnerIdle,
				Commands: o.commands, Bytes: o.bytes, LastSeq: o.lastSeq.Load(),
			}
			if o.commands > 0 {
				row.State = hub.OwnerBusy
			}
			if _, ok := quarantined[k]; ok {
				row.State = hub.OwnerQuarantined
				delete(quarantined, k)
			}
			rows = append(rows, row)
		}
		sh.mu.Unlock()
	}
	for k, seq := range quarantined { // these are not in memory
		rows = append(rows, hub.DebugOwner{Kind: k.Kind.String(), Name: k.Name, State: hub.OwnerQuarantined, LastSeq: seq})
	}
	slices.SortFunc(rows, func(a, b hub.DebugOwner) int {
		if first := a.State == hub.OwnerQuarantined; first != (b.State == hub.OwnerQuarantined) {
			if first {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Commands, a.Commands), cmp.Compare(b.LastSeq, a.LastSeq),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return rows[:min(len(rows), limit)], len(rows), e.registry.retired.Load()
}

// DebugPending returns the records that have a number and are not durable: at
// most limit, the oldest first.
func (e *Engine) DebugPending(limit int) (p PendingWrites) { return e.Seq.debug(limit) }

// PendingWrites is what waits for the disk.
type PendingWrites struct {
	Numbered, Durable hub.Seq
	Answers           int // those without a record, which wait for the records before them
	Records           []hub.DebugRecord
}

// debug copies the state of the pending entries. The lock orders it after
// publish, so a ready record is complete. Owners still fill the other records:
// debug reads from them only what was set before reserve.
func (q *sequencer) debug(limit int) (p PendingWrites) {
	var found []recordNote
	q.mu.Lock()
	p.Numbered, p.Durable = q.head.Seq, q.durable.Seq
	for i, list := range [][]*entry{q.taken, q.pending} {
		for _, s := range list {
			switch {
			case s.record == nil:
				p.Answers++
			case s.record.Seq > p.Durable && len(found) < limit:
				note := noteOf(s)
				if i == 0 {
					note.state = hub.RecordCommitting
				}
				found = append(found, note)
			}
		}
	}
	q.mu.Unlock()
	p.Records = make([]hub.DebugRecord, len(found))
	for i := range found {
		p.Records[i] = found[i].row()
	}
	return p
}

// DebugRecent returns the last durable records, latest first.
func (e *Engine) DebugRecent() []hub.DebugRecord {
	recent := e.Writer.recent.list()
	rows := make([]hub.DebugRecord, len(recent))
	for i := range recent {
		rows[i] = recent[i].row()
	}
	return rows
}

// recordNote holds what the operator sees of a record: its number, the types of
// its facts and its size. It does not keep the record in memory.
type recordNote struct {
	seq                          hub.Seq
	at                           hub.Time
	owner                        core.Owner
	state                        hub.RecordState
	types                        [6]core.FactType // those of the first facts; 0: none
	facts, messages, rows, bytes int
}

// noteOf makes the note of a record. It reads the fields that the owner fills,
// but only if the record is ready.
func noteOf(s *entry) recordNote {
	r := s.record
	n := recordNote{
		seq: r.Seq, at: r.Wall, owner: r.Owner, state: hub.RecordFilling, facts: len(s.facts), messages: r.MessageCount,
	}
	for i := range min(len(s.facts), len(n.types)) {
		n.types[i] = s.facts[i].FactType()
	}
	if s.ready {
		n.state, n.rows, n.bytes = hub.RecordReady, len(r.Rows), s.bytes
	}
	return n
}

func (n *recordNote) row() hub.DebugRecord {
	row := hub.DebugRecord{
		Seq: n.seq, At: n.at, Owner: n.owner.String(), State: n.state, FactTypes: []string{},
		Facts: n.facts, Messages: n.messages, Rows: n.rows, Bytes: n.bytes,
	}
	for _, t := range n.types {
		if name := t.String(); t != 0 && !slices.Contains(row.FactTypes, name) {
			row.FactTypes = append(row.FactTypes, name)
		}
	}
	return row
}

// recentRecords holds notes of the last durable records. The writer adds them.
type recentRecords struct {
	mu    sync.Mutex
	notes [hub.MaxDebugRecords]recordNote
	added int
}

func (l *recentRecords) add(s *entry) {
	n := noteOf(s)
	n.state = hub.RecordDurable
	l.mu.Lock()
	l.notes[l.added%len(l.notes)] = n
	l.added++
	l.mu.Unlock()
}

// list returns the notes, latest first.
func (l *recentRecords) list() []recordNote {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]recordNote, min(l.added, len(l.notes)))
	for i := range out {
		out[i] = l.notes[(l.added-1-i)%len(l.notes)]
	}
	return out
}

// Quarantined lists the owners that are out of service.
func (e *Engine) Quarantined() []hub.QuarantinedActor {
	return slices.SortedFunc(maps.Values(e.quarantine.all()), func(a, b hub.QuarantinedActor) int { return cmp.Compare(a.Owner, b.Owner) })
}
