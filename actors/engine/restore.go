package engine

import (
	"errors"
	"fmt"

	"hubcli/actors/core"
	"hubcli/hub"
)

// restored is the state that a start made from the checkpoint and the records behind
// it.
type restored struct {
	asOf   hub.Seq                     // number of the checkpoint
	Behind core.Head                   // head of the checkpoint
	states map[core.Owner]core.Machine // of the permanent owners
	last   map[core.Owner]hub.Seq      // the last record of each of them
}

// Restore reads the newest checkpoint and applies the records behind it. It restores
// the permanent owners and the sessions; the state of the other owners is their stored
// rows (load).
//
// Restore reads no clock and no configuration, and it only reads the store, except for
// the mark of a new quarantine. So a crash during a start changes nothing, and the
// next start gets the same state. The sections of the checkpoint are of different
// moments; each is skipped up to its own AsOf.
func (e *Engine) Restore() (*restored, error) {
	r := &restored{states: map[core.Owner]core.Machine{}, last: map[core.Owner]hub.Seq{}}
	for _, k := range e.permanentOwners() {
		r.states[k] = e.kinds[k.Kind].Fresh()
	}
	c, err := e.Journal.Checkpoint()
	switch {
	case errors.Is(err, core.ErrNotFound):
	case err != nil:
		return nil, fmt.Errorf("read checkpoint: %w", err)
	default:
		r.asOf, r.Behind = c.Head.Seq, c.Head
		e.Clock.resume(c.Head.HubMS)
		for _, s := range c.Sections {
			if err := e.restoreSection(r, s); err != nil {
				return nil, fmt.Errorf("restore %s from checkpoint %d: %w", s.Owner, c.Head.Seq, err)
			}
		}
	}
	if err := e.quarantine.read(); err != nil {
		return nil, err
	}
	if err := e.Journal.Records(r.asOf, func(rec *core.Record) error { return e.replay(r, rec) }); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return r, nil
}

func (e *Engine) restoreSection(r *restored, s core.Section) (err error) {
	r.last[s.Owner] = s.AsOf
	if s.Owner == core.DirectoryOwner() {
		return e.view.Restore(s)
	}
	if r.states[s.Owner] == nil {
		return errors.New("no such permanent owner")
	}
	r.states[s.Owner], err = e.kinds[s.Owner.Kind].Restore(s.Version, s.Data)
	return err
}

// replay applies one record to the restored state. A fact that panics puts its owner
// into quarantine and affects no other owner. An unknown fact or owner kind is an
// error, and the start fails.
func (e *Engine) replay(r *restored, rec *core.Record) error {
	at := rec.Position()
	kind, err := e.kindOf(rec.Owner)
	if err != nil {
		return fmt.Errorf("record %d: %w", rec.Seq, err)
	}
	state := r.states[rec.Owner] // nil: the kind is not permanent
	if state == nil && kind.Load == nil {
		return fmt.Errorf("record %d: no owner %s", rec.Seq, rec.Owner)
	}
	if state != nil && (rec.Seq <= r.last[rec.Owner] || e.quarantine.has(rec.Owner)) {
		return nil
	}
	directory := rec.Seq > r.last[core.DirectoryOwner()]
	for _, encoded := range rec.Facts {
		f, err := core.DecodeFact(encoded)
		if err != nil {
			return fmt.Errorf("record %d: %w", rec.Seq, err)
		}
		if state == nil {
			if directory {
				e.view.Replay(f, at)
			}
			continue
		}
		if err := e.applyGuarded(rec.Owner, state, f, at, nil); err != nil {
			e.quarantine.put(rec.Owner, rec.Seq, err)
			return nil
		}
	}
	if state != nil {
		r.last[rec.Owner] = rec.Seq
	}
	return nil
}

// begin starts the views and the permanent owners with the restored state.
func (e *Engine) begin(r *restored) {
	for _, s := range e.view.Started(e.Seq.head, e.Clock.Now().Wall, r.states) {
		e.Seq.incarnations[s.Agent] = s.Incarnation
	}
	owners := make([]*Owner, 0, len(r.states))
	for _, k := range e.permanentOwners() {
		owners = append(owners, e.install(k, r.states[k], r))
	}
	// The first turn may commit, and the writer then changes the views. So turns come
	// after Started.
	if err := e.rebuildMarked(); err != nil {
		e.fail(fmt.Errorf("rebuild the marked owners: %w", err))
	}
	for _, o := range owners {
		if o.Extension != nil {
			o.Tell(Call{func(o *Owner) { o.Extension.Begin() }, func(error) {}})
		}
	}
}

func (e *Engine) install(k core.Owner, state core.Machine, r *restored) *Owner {
	o := e.registry.install(k, state)
	o.lastSeq.Store(r.last[k])
	if extend := e.kinds[k.Kind].Extend; extend != nil {
		o.Extension = extend(o)
	}
	if q, ok := e.quarantine.of(k); ok {
		o.Quarantined = errQuarantined(q)
	}
	return o
}

// load makes the state of an owner from its stored rows.
func (e *Engine) load(k core.Owner) (core.Machine, error) {
	if q, ok := e.quarantine.of(k); ok {
		return nil, errQuarantined(q)
	}
	kind, err := e.kindOf(k)
	if err != nil {
		return nil, err
	}
	if kind.Load == nil {
		return nil, fmt.Errorf("engine: %s is not loaded on demand", k)
	}
	state, _, err := kind.Load(k.Name)
	return state, err
}
