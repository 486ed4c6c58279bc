package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"sync"

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

// quarantine knows the owners that are out of service because a record of theirs cannot
// be applied. All methods may be called from any goroutine.
type quarantine struct {
	rows    core.Rows
	journal core.Journal
	log     *slog.Logger
	fail    func(error) // stops the hub

	mu  sync.Mutex
	now map[core.Owner]hub.QuarantinedActor
	old map[core.Owner]quarantineRow // of earlier runs; this start has neither lifted nor renewed them
}

// read reads which owners earlier runs of the hub put into quarantine. This
// start applies their records again, because its version may have no such mistake:
// rebuildMarked has each of them rebuilt, and rebuild lifts the quarantine or renews it.
func (q *quarantine) read() error {
	var bad error
	err := q.rows.RowsOf(core.TableQuarantine, nil, false, func(_, value []byte) bool {
		var row quarantineRow
		if bad = json.Unmarshal(value, &row); bad == nil && !row.Lifted {
			q.old[row.Owner] = row
		}
		return bad == nil
	})
	return errors.Join(err, bad)
}

// put puts an owner into quarantine until a start can apply its records.
func (q *quarantine) put(k core.Owner, seq hub.Seq, reason error) hub.QuarantinedActor {
	row := quarantineRow{Owner: k, Seq: seq, Reason: fmt.Sprint(reason)}
	q.mu.Lock()
	q.now[k] = row.shown()
	delete(q.old, k)
	q.mu.Unlock()
	q.log.LogAttrs(context.Background(), slog.LevelError, "owner quarantined",
		slog.String("owner", k.String()), slog.String("seq", strconv.FormatUint(uint64(seq), 10)), slog.String("reason", row.Reason))
	err := q.journal.PutRows([]core.Row{row.row()})
	// On a full disk the row is not stored: the next start meets the bad fact again.
	if err != nil && !errors.Is(err, core.ErrNoRoom) {
		q.fail(fmt.Errorf("mark quarantine: %w", err))
	}
	return row.shown()
}

// earlier returns the quarantine of an earlier run that this start has neither lifted
// nor renewed.
func (q *quarantine) earlier(k core.Owner) (quarantineRow, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	row, ok := q.old[k]
	return row, ok
}

// lifts returns the row that lifts the quarantine of an earlier run, if there is one.
// lifted follows when the row is stored.
func (q *quarantine) lifts(k core.Owner) []core.Row {
	row, ok := q.earlier(k)
	if !ok {
		return nil
	}
	row.Lifted = true
	return []core.Row{row.row()}
}

func (q *quarantine) lifted(k core.Owner) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if row, ok := q.old[k]; ok {
		delete(q.old, k)
		q.log.LogAttrs(context.Background(), slog.LevelWarn, "quarantine lifted",
			slog.String("owner", k.String()), slog.Uint64("seq", uint64(row.Seq)))
	}
}

// any returns an owner that is in quarantine, or that an earlier run put there
// and whose records this start has not applied yet. While there is one, no checkpoint
// is saved: the journal must keep its records.
func (q *quarantine) any() (core.Owner, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for k := range q.now {
		return k, true
	}
	for k := range q.old {
		return k, true
	}
	return core.Owner{}, false
}

func (q *quarantine) of(k core.Owner) (hub.QuarantinedActor, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	row, ok := q.now[k]
	return row, ok
}

func (q *quarantine) has(k core.Owner) bool {
	_, ok := q.of(k)
	return ok
}

// all returns the owners in quarantine.
func (q *quarantine) all() map[core.Owner]hub.QuarantinedActor {
	q.mu.Lock()
	defer q.mu.Unlock()
	return maps.Clone(q.now)
}

func errQuarantined(q hub.QuarantinedActor) error {
	return hub.Errorf(hub.CodeQuarantined, "%s is out of service: record %d could not be applied", q.Owner, q.Seq).
		With("owner", q.Owner).With("seq", q.Seq).
		WithFix("everything else works; report this with the hub's log, and see app status")
}
