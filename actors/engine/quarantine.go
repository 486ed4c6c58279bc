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

// quarantineRow is the stored form of a quarantine. A lifted one is history.
type quarantineRow struct {
	Owner  core.Owner `json:"owner"`
	Seq    hub.Seq    `json:"seq"`
	Reason string     `json:"reason"`
	Lifted bool       `json:"lifted,omitempty"`
}

func (q quarantineRow) shown() hub.QuarantinedActor {
	return hub.QuarantinedActor{Owner: q.Owner.String(), Seq: q.Seq, Reason: q.Reason}
}

func (q quarantineRow) row() core.Row {
	return core.Row{Table: core.TableQuarantine, Key: []byte(q.Owner.String()), Value: EncodeEffect(q)}
}

// readQuarantine reads which owners earlier runs of the hub put into quarantine. This
// start applies their records again, because its version may have no such mistake:
// rebuildMarked has each of them rebuilt, and rebuild lifts the quarantine or renews it.
func (e *Engine) readQuarantine() error {
	var bad error
	err := e.rows.RowsOf(core.TableQuarantine, nil, false, func(_, value []byte) bool {
		var q quarantineRow
		if bad = json.Unmarshal(value, &q); bad == nil && !q.Lifted {
			e.earlier[q.Owner] = q
		}
		return bad == nil
	})
	return errors.Join(err, bad)
}

// setQuarantine puts an owner into quarantine until a start can apply its records.
func (e *Engine) setQuarantine(k core.Owner, seq hub.Seq, reason error) hub.QuarantinedActor {
	q := quarantineRow{Owner: k, Seq: seq, Reason: fmt.Sprint(reason)}
	e.QuarantineMu.Lock()
	e.Quarantine[k] = q.shown()
	delete(e.earlier, k)
	e.QuarantineMu.Unlock()
	e.log.LogAttrs(context.Background(), slog.LevelError, "owner quarantined",
		slog.String("owner", k.String()), slog.String("seq", strconv.FormatUint(uint64(seq), 10)), slog.String("reason", q.Reason))
	err := e.Journal.PutRows([]core.Row{q.row()})
	// On a full disk the row is not stored: the next start meets the bad fact again.
	if err != nil && !errors.Is(err, core.ErrNoRoom) {
		e.fail(fmt.Errorf("mark quarantine: %w", err))
	}
	return q.shown()
}

// earlierQuarantine returns the quarantine of an earlier run that this start has neither
// lifted nor renewed.
func (e *Engine) earlierQuarantine(k core.Owner) (quarantineRow, bool) {
	e.QuarantineMu.Lock()
	defer e.QuarantineMu.Unlock()
	q, ok := e.earlier[k]
	return q, ok
}

// lifts returns the row that lifts the quarantine of an earlier run, if there is one.
// lifted follows when the row is stored.
func (e *Engine) lifts(k core.Owner) []core.Row {
	q, ok := e.earlierQuarantine(k)
	if !ok {
		return nil
	}
	q.Lifted = true
	return []core.Row{q.row()}
}

func (e *Engine) lifted(k core.Owner) {
	e.QuarantineMu.Lock()
	defer e.QuarantineMu.Unlock()
	if q, ok := e.earlier[k]; ok {
		delete(e.earlier, k)
		e.log.LogAttrs(context.Background(), slog.LevelWarn, "quarantine lifted",
			slog.String("owner", k.String()), slog.Uint64("seq", uint64(q.Seq)))
	}
}

// inQuarantine returns an owner that is in quarantine, or that an earlier run put there
// and whose records this start has not applied yet. While there is one, no checkpoint
// is saved: the journal must keep its records.
func (e *Engine) inQuarantine() (core.Owner, bool) {
	e.QuarantineMu.Lock()
	defer e.QuarantineMu.Unlock()
	for k := range e.Quarantine {
		return k, true
	}
	for k := range e.earlier {
		return k, true
	}
	return core.Owner{}, false
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
