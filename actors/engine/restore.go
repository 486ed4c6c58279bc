package engine

import (
	"errors"
	"fmt"

	"hubcli/actors/core"
	"hubcli/hub"
)

// restored is what a start has made of the checkpoint and the records behind it.
type restored struct {
	asOf   hub.Seq                     // of the checkpoint
	Behind core.Head                   // the same, and what else the checkpoint reached
	states map[core.Owner]core.Machine // of the permanent owners
	last   map[core.Owner]hub.Seq      // the last record of each of them
}

// kindOf returns the row of an owner's kind.
func (e *Engine) kindOf(k core.Owner) (*Kind, error) {
	if kind := e.kinds[k.Kind]; kind != nil {
		return kind, nil
	}
	return nil, fmt.Errorf("actors: no owner kind %d", k.Kind)
}

// Restore reads the newest checkpoint and applies the records behind it. Agents
// and channels are not restored: their rows are their state, see load.
func (e *Engine) Restore() (*restored, error) {
	r := &restored{states: map[core.Owner]core.Machine{}, last: map[core.Owner]hub.Seq{}}
	for _, k := range e.PermanentOwners() {
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
	if err := e.restoreQuarantine(); err != nil {
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

// replay applies one record to what is kept in memory. A fact that panics puts
// its owner into quarantine and nothing else.
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
	if state != nil && (rec.Seq <= r.last[rec.Owner] || e.isQuarantined(rec.Owner)) {
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
			e.setQuarantine(rec.Owner, rec.Seq, err)
			return nil
		}
	}
	if state != nil {
		r.last[rec.Owner] = rec.Seq
	}
	return nil
}

// applyGuarded is Apply with a panic turned into an error.
func (e *Engine) applyGuarded(o core.Owner, m core.Machine, f core.Fact, at core.Position, rows core.RowSink) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("applying %T: %v", f, r)
		}
	}()
	if hook := e.options.ApplyHook; hook != nil {
		hook(o, f)
	}
	m.Apply(f, at, rows)
	return nil
}

// begin starts the permanent owners and the views with what was restored.
func (e *Engine) begin(r *restored) {
	for _, s := range e.view.Started(e.Seq.head, e.Clock.Now().Wall, r.states) {
		e.Seq.Incarnations[s.Agent] = s.Incarnation
	}
	owners := make([]*Owner, 0, len(r.states))
	for _, k := range e.PermanentOwners() {
		owners = append(owners, e.install(k, r.states[k], r))
	}
	// From the first turn on the writer changes the views, so turns come last.
	if err := e.rebuildMarked(); err != nil {
		e.fail(fmt.Errorf("rebuild what was in doubt: %w", err))
	}
	for _, o := range owners {
		if o.Extension != nil {
			o.Tell(Call{func(o *Owner) { o.Extension.Begin() }, func(error) {}})
		}
	}
}

func (e *Engine) install(k core.Owner, state core.Machine, r *restored) *Owner {
	o := e.Registry.install(k, state)
	o.lastSeq = r.last[k]
	if extend := e.kinds[k.Kind].Extend; extend != nil {
		o.Extension = extend(o)
	}
	if q, ok := e.quarantineOf(k); ok {
		o.Quarantined = errQuarantined(q)
	}
	return o
}

// load makes the state of an owner whose stored row is its state.
func (e *Engine) load(k core.Owner) (core.Machine, error) {
	if q, ok := e.quarantineOf(k); ok {
		return nil, errQuarantined(q)
	}
	kind, err := e.kindOf(k)
	if err != nil {
		return nil, err
	}
	if kind.Load == nil {
		return nil, fmt.Errorf("actors: %s is not loaded on demand", k)
	}
	state, _, err := kind.Load(k.Name)
	return state, err
}
