package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"hubcli/actors/core"
	"hubcli/hub"
)

// rebuild makes the state of an owner anew after a panic in Apply, from its
// checkpoint or row and its records. It waits until all of these are durable; in
// its own turn, so commands to the owner wait with it and nobody else does. The
// rows that the broken Apply did not give are derived again and stored. A fact
// that panics again puts the owner into quarantine. An error means that it has to
// be tried again later: the disk is full.
func (o *Owner) rebuild() error {
	h := o.engine
	durable := make(chan error, 1)
	h.Seq.after(o.Epoch, o.lastSeq, func(failed error) { durable <- failed })
	switch err := <-durable; {
	case errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}):
		return nil // records were taken back: prepare looks again
	case err != nil:
		o.endService(err)
		return nil
	}
	state, asOf, err := h.checkpointed(o.key)
	if !h.permanent(o.key.Kind) {
		// Its row holds all records but the one in doubt; earlier ones may be gone.
		asOf = max(asOf, o.doubtSeq-1)
	}
	var derived []core.Row
	var broken hub.Seq
	if err == nil {
		derived, broken, err = h.replayOwner(o.key, state, asOf, o.lastSeq)
	}
	rows := latest(derived)
	if err == nil {
		err = h.Journal.PutRows(append(rows, DirtyMark(o.key, 0)))
	}
	switch {
	case errors.Is(err, core.ErrNoRoom):
		return errWithdrawn()
	case err != nil && broken == 0: // nothing is wrong with its facts
		h.dirty.Release(o.key, rows)
		o.endService(err)
		return nil
	case err != nil:
		h.dirty.Release(o.key, rows)
		o.endService(errQuarantined(h.setQuarantine(o.key, broken, err)))
		return nil
	}
	h.dirty.Release(o.key, rows)
	h.log.LogAttrs(context.Background(), slog.LevelWarn, "owner rebuilt", slog.String("owner", o.key.String()), slog.Uint64("from_seq", uint64(asOf)))
	o.State, o.Doubt = state, nil
	h.view.Rebuilt(o.key, state, rows)
	if o.Extension != nil {
		o.Extension.Rebuilt()
	}
	return nil
}

// replayOwner applies the records of an owner behind after, up to upto, to state, and
// returns the rows that this gives. After an error of a record broken is its
// number.
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

// reload makes the state of an owner anew after records of it were taken back. All
// its other records are durable, and the views show no more than these: nothing
// has to be waited for, and no row is missing but what a doubt that remains is
// about.
func (o *Owner) reload() error {
	h := o.engine
	o.Withdrawn.Store(false) // first: if it is set again, it has to be done again
	durable := h.Seq.DurableSeq()
	o.lastSeq = min(o.lastSeq, durable)
	if o.Doubt != nil && o.doubtSeq <= durable {
		return nil // the rebuild makes the state anew
	}
	if o.Doubt != nil { // about a record that was taken back
		o.Doubt = nil
		h.dirty.Release(o.key, nil)
	}
	if !h.permanent(o.key.Kind) {
		o.State = nil // its rows are its state
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

// latest keeps the last row under each key, so that no crash between two of them
// leaves an older one, and nobody is shown one.
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

// doubtRow marks an owner whose record Seq lacks its rows; 0 takes the mark back.
type doubtRow struct {
	Owner core.Owner `json:"owner"`
	Seq   hub.Seq    `json:"seq"`
}

// DirtyMark is the row that marks an owner whose record seq lacks its rows; 0 takes the mark back.
func DirtyMark(k core.Owner, seq hub.Seq) core.Row {
	return core.Row{Table: core.TableDoubt, Key: []byte(k.String()), Value: EncodeEffect(doubtRow{k, seq})}
}

// rebuildMarked rebuilds the owners that were in doubt when the hub ended.
func (e *Engine) rebuildMarked() error {
	var marked []doubtRow
	var bad error
	err := e.rows.RowsOf(core.TableDoubt, nil, false, func(_, value []byte) bool {
		var d doubtRow
		if bad = json.Unmarshal(value, &d); bad == nil && d.Seq > 0 {
			marked = append(marked, d)
		}
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	for _, d := range marked {
		if !e.isQuarantined(d.Owner) {
			e.dirty.Hold(d.Owner, d.Seq)
		}
		p, err := e.Registry.Admit(d.Owner, 0)
		if err != nil {
			return err
		}
		p.Owner.Tell(markedTurn(p, d.Seq))
	}
	return nil
}

// markedTurn rebuilds an owner that an earlier run has marked: record seq lacks its
// rows.
func markedTurn(p permit, seq hub.Seq) Turn {
	return Call{func(o *Owner) {
		defer o.Tell(o.rebuildTurn(p))
		o.Doubt, o.doubtSeq = fmt.Errorf("record %d lacks its rows", seq), seq
		o.lastSeq = max(o.lastSeq, seq)
	}, func(error) {
		p.Owner.engine.dirty.Release(p.Owner.key, nil)
		p.Owner.engine.Registry.Done(p)
	}}
}

// endService refuses every command from now on, and those that wait.
func (o *Owner) endService(reason error) {
	o.Quarantined = reason
	if o.Extension != nil {
		o.Extension.Refuse(reason)
	}
}

// checkpointed returns the state of one owner as it was stored, and the last
// record that is in it.
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

// restoreQuarantine reads which owners are in quarantine from an earlier run.
func (e *Engine) restoreQuarantine() error {
	var bad error
	err := e.rows.RowsOf(core.TableQuarantine, nil, false, func(_, value []byte) bool {
		var q quarantineRow
		if bad = json.Unmarshal(value, &q); bad != nil {
			return false
		}
		if !q.Lifted {
			e.Quarantine[q.Owner] = q.shown()
		}
		return true
	})
	return errors.Join(err, bad)
}

type quarantineRow struct {
	Owner  core.Owner `json:"owner"`
	Seq    hub.Seq    `json:"seq"`
	Reason string     `json:"reason"`
	Lifted bool       `json:"lifted,omitempty"`
}

func (q quarantineRow) shown() hub.QuarantinedActor {
	return hub.QuarantinedActor{Owner: q.Owner.String(), Seq: q.Seq, Reason: q.Reason}
}

// setQuarantine marks an owner, also for later runs.
func (e *Engine) setQuarantine(k core.Owner, seq hub.Seq, reason error) hub.QuarantinedActor {
	row := quarantineRow{Owner: k, Seq: seq, Reason: fmt.Sprint(reason)}
	e.QuarantineMu.Lock()
	e.Quarantine[k] = row.shown()
	e.QuarantineMu.Unlock()
	e.log.LogAttrs(context.Background(), slog.LevelError, "owner quarantined",
		slog.String("owner", k.String()), slog.String("seq", strconv.FormatUint(uint64(seq), 10)), slog.String("reason", row.Reason))
	value, err := json.Marshal(row)
	if err == nil {
		err = e.Journal.PutRows([]core.Row{{Table: core.TableQuarantine, Key: []byte(k.String()), Value: value}})
	}
	// Where the disk is full the mark waits: the next start finds the fact again.
	if err != nil && !errors.Is(err, core.ErrNoRoom) {
		e.fail(fmt.Errorf("mark quarantine: %w", err))
	}
	return row.shown()
}

func (e *Engine) quarantineOf(k core.Owner) (hub.QuarantinedActor, bool) {
	e.QuarantineMu.Lock()
	defer e.QuarantineMu.Unlock()
	q, ok := e.Quarantine[k]
	return q, ok
}

func (e *Engine) isQuarantined(k core.Owner) bool {
	_, ok := e.quarantineOf(k)
	return ok
}

func errQuarantined(q hub.QuarantinedActor) error {
	return hub.Errorf(hub.CodeQuarantined, "%s is out of service: record %d could not be applied", q.Owner, q.Seq).
		With("owner", q.Owner).With("seq", q.Seq).
		WithFix("everything else works; report this with the hub's log, and see app status")
}
