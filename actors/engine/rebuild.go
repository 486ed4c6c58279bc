package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// rebuild makes the state of an owner again after a panic in Apply. An error
// means that the disk is full and the rebuild has to be tried again later.
// These are the steps, and what a crash after each of them leaves:
//
//  1. Wait until all records of the owner are durable. This happens in the owner's
//     turn, so only this owner's commands wait. A crash leaves the mark (dirtyMark),
//     which is in the same group as the record: the next start rebuilds.
//  2. Load the stored state and apply the records after it. This changes nothing on
//     the disk. A fact that panics again puts the owner into quarantine.
//  3. Store the derived rows and take the mark back, in one PutRows: both or neither.
//     If there is no room, nothing is stored, and the state stays dirty.
//  4. Show the rows and go on.
//
// A restart with the state that the panic left, as supervision usually does it,
// would be wrong: the state may hold half a record.
func (o *Owner) rebuild() error {
	h := o.engine
	durable := make(chan error, 1)
	h.Seq.after(o.Epoch, o.lastSeq.Load(), func(failed error) { durable <- failed })
	switch err := <-durable; {
	case errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}):
		return nil // records were taken back; prepare reloads the state
	case err != nil:
		o.endService(err)
		return nil
	}
	state, asOf, err := h.checkpointed(o.key)
	if !h.permanent(o.key.Kind) {
		// The stored row holds all records except the dirty one. The journal
		// may have deleted earlier records.
		asOf = max(asOf, o.dirtySeq-1)
	}
	var derived []core.Row
	var broken hub.Seq
	if err == nil {
		derived, broken, err = h.replayOwner(o.key, state, asOf, o.lastSeq.Load())
	}
	if q, ok := h.quarantine.earlier(o.key); ok && err != nil && broken == 0 {
		broken = q.Seq // the record is still not applied, whatever the reason
	}
	rows := latest(derived)
	if err == nil {
		err = h.Journal.PutRows(append(append(rows, dirtyMark(o.key, 0)), h.quarantine.lifts(o.key)...))
	}
	switch {
	case errors.Is(err, core.ErrNoRoom):
		return errWithdrawn()
	case err != nil && broken == 0: // the store failed, not the facts
		h.dirty.Release(o.key, rows)
		o.endService(err)
		return nil
	case err != nil:
		h.dirty.Release(o.key, rows)
		o.endService(errQuarantined(h.quarantine.put(o.key, broken, err)))
		return nil
	}
	h.dirty.Release(o.key, rows)
	h.quarantine.lifted(o.key)
	h.log.LogAttrs(context.Background(), slog.LevelWarn, "owner rebuilt", slog.String("owner", o.key.String()), slog.Uint64("from_seq", uint64(asOf)))
	o.State, o.Dirty = state, nil
	h.view.Rebuilt(o.key, state, rows)
	if o.Extension != nil {
		o.Extension.Rebuilt()
	}
	return nil
}

// replayOwner applies the records of an owner with after < seq <= upto to state. It
// returns the rows that Apply gives. If a fact cannot be applied, broken is the number
// of its record.
func (e *Engine) replayOwner(k core.Owner, state core.Machine, after, upto hub.Seq) (rows []core.Row, broken hub.Seq, err error) {
	err = e.Journal.Records(after, func(rec *core.Record) error {
		if rec.Owner != k || rec.Seq > upto {
			return nil
		}
		for _, encoded := range rec.Facts {
			f, err := core.DecodeFact(encoded)
			if err == nil {
				err = e.applyGuarded(k, state, f, rec.Position(), func(r core.Row) { rows = append(rows, r) })
			}
			if err != nil {
				broken = rec.Seq
				return err
			}
		}
		return nil
	})
	return rows, broken, err
}

// reload makes the state of an owner again after records of it were taken back.
// All its other records are durable, so it waits for nothing. The views show
// only durable records, so they need no change. No stored row is missing,
// unless the owner has a dirty record that is durable; then rebuild does the
// work.
func (o *Owner) reload() error {
	h := o.engine
	// Clear the flag first: a withdrawal during the reload sets it again, and prepare
	// then reloads again.
	o.Withdrawn.Store(false)
	durable := h.Seq.DurableSeq()
	o.lastSeq.Store(min(o.lastSeq.Load(), durable))
	if o.Dirty != nil && o.dirtySeq <= durable {
		return nil // the rebuild makes the state anew
	}
	if o.Dirty != nil { // the dirty record was taken back
		o.Dirty = nil
		h.dirty.Release(o.key, nil)
	}
	if !h.permanent(o.key.Kind) {
		o.State = nil // prepare loads it from the stored rows
		return nil
	}
	state, asOf, err := h.checkpointed(o.key)
	if err == nil {
		_, _, err = h.replayOwner(o.key, state, asOf, durable)
	}
	if err != nil {
		o.Withdrawn.Store(true)
		return err
	}
	o.State = state
	if o.Extension != nil {
		o.Extension.Reloaded()
	}
	return nil
}

// latest keeps only the last row under each key, so that no older row is stored
// or shown, even after a crash.
func latest(rows []core.Row) []core.Row {
	type place struct {
		table core.Table
		key   string
	}
	at := map[place]int{}
	out := rows[:0:0]
	for _, r := range rows {
		k := place{r.Table, string(r.Key)}
		if i, ok := at[k]; ok {
			out[i] = r
			continue
		}
		at[k] = len(out)
		out = append(out, r)
	}
	return out
}

// dirtyRow is the stored form of dirtyMark.
type dirtyRow struct {
	Owner core.Owner `json:"owner"`
	Seq   hub.Seq    `json:"seq"`
}

// dirtyMark is the row that marks an owner whose record seq lacks its rows. With seq 0
// it takes the mark back.
func dirtyMark(k core.Owner, seq hub.Seq) core.Row {
	return core.Row{Table: core.TableDirty, Key: []byte(k.String()), Value: EncodeEffect(dirtyRow{k, seq})}
}

// rebuildMarked starts a rebuild of each owner that was dirty or in quarantine when the
// hub ended. It does not wait for the rebuilds.
func (e *Engine) rebuildMarked() error {
	var marked []dirtyRow
	var bad error
	err := e.rows.RowsOf(core.TableDirty, nil, false, func(_, value []byte) bool {
		var d dirtyRow
		if bad = json.Unmarshal(value, &d); bad == nil && d.Seq > 0 {
			marked = append(marked, d)
		}
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	for k, q := range e.quarantine.old {
		if !slices.ContainsFunc(marked, func(d dirtyRow) bool { return d.Owner == k }) {
			marked = append(marked, dirtyRow{k, q.Seq})
		}
	}
	for _, d := range marked {
		if !e.quarantine.has(d.Owner) {
			e.dirty.Hold(d.Owner, d.Seq)
		}
		p, err := e.registry.admit(d.Owner, 0)
		if err != nil {
			return err
		}
		p.Owner.Tell(markedTurn(p, d.Seq))
	}
	return nil
}

// markedTurn makes an owner dirty because an earlier run of the hub marked it:
// the rows of its record seq are missing. A rebuildTurn follows.
func markedTurn(p permit, seq hub.Seq) Turn {
	return Call{func(o *Owner) {
		defer o.Tell(o.rebuildTurn(p))
		o.Dirty, o.dirtySeq = fmt.Errorf("record %d lacks its rows", seq), seq
		o.lastSeq.Store(max(o.lastSeq.Load(), seq))
	}, func(error) {
		p.Owner.engine.dirty.Release(p.Owner.key, nil)
		p.Owner.engine.registry.done(p)
	}}
}

// endService refuses the waiting commands and all later ones.
func (o *Owner) endService(reason error) {
	o.Quarantined = reason
	if o.Extension != nil {
		o.Extension.Refuse(reason)
	}
}

// checkpointed returns the stored state of one owner, and the last record in it.
func (e *Engine) checkpointed(k core.Owner) (core.Machine, hub.Seq, error) {
	kind, err := e.kindOf(k)
	if err != nil {
		return nil, 0, err
	}
	if kind.Load != nil {
		return kind.Load(k.Name)
	}
	c, err := e.Journal.Checkpoint()
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, 0, err
	}
	if c != nil {
		for _, s := range c.Sections {
			if s.Owner != k {
				continue
			}
			state, err := kind.Restore(s.Version, s.Data)
			return state, s.AsOf, err
		}
	}
	return kind.Fresh(), 0, nil
}

// rebuildTurn is a turn without work of its own: prepare rebuilds the state
// before it. On a full disk the turn is repeated later and keeps its permit.
// Without a permit the owner could be retired while its stored row lacks a
// record.
func (o *Owner) rebuildTurn(p permit) Turn {
	done := func() { o.engine.registry.done(p) }
	return Call{func(*Owner) { done() }, func(err error) {
		if !errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) {
			done()
			return
		}
		time.AfterFunc(FrozenRetry, func() {
			if o.engine.Stopping.Load() {
				done()
				return
			}
			o.Tell(o.rebuildTurn(p))
		})
	}}
}

// reloadTurn makes an owner load its state soon after records of it were taken
// back, without waiting for the next command. A waiting caller in its extension
// may be next, and a deadline that a lost record handled is due again.
func (o *Owner) reloadTurn() Turn {
	return Call{func(*Owner) {}, func(error) { o.TellLater(o.reloadTurn) }}
}

// applyGuarded calls Apply and turns a panic into an error.
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
