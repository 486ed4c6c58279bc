package lists

import (
	"context"
	"errors"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Claims lists claims by key; see hub.Leases.
func (s *Lists) Claims(ctx context.Context, q hub.LeasesQuery) ([]hub.Claim, hub.Cursor, error) {
	p := newPage[hub.Claim](q.Limit)
	return p.end(s.cursors, listClaims, s.listLeases(ctx, core.SpaceClaim, listClaims, q, func(l *core.Lease) bool {
		row := l.Claim(s.engine.Clock.Now())
		if l.Ended == nil {
			row.Waiters = s.view.Waiters.Of(l.LeaseKey(), l.Agent)
		}
		return p.add(row, []byte(l.Key))
	}))
}

// Locks lists file locks by path; see hub.Leases.
func (s *Lists) Locks(ctx context.Context, q hub.LeasesQuery) ([]hub.Lock, hub.Cursor, error) {
	var err error
	if q.Key != "" {
		if q.Key, err = core.CanonicalPath(q.Key); err != nil {
			return nil, "", err
		}
	}
	if q.Covering != "" {
		if q.Covering, err = core.CanonicalPath(q.Covering); err != nil {
			return nil, "", err
		}
	}
	if q.Prefix, err = core.CanonicalPrefix(q.Prefix); err != nil {
		return nil, "", err
	}
	q.ThreadID = "" // locks have no thread
	p := newPage[hub.Lock](q.Limit)
	return p.end(s.cursors, listLocks, s.listLeases(ctx, core.SpaceLock, listLocks, q, func(l *core.Lease) bool {
		row := l.Lock(s.engine.Clock.Now())
		if l.Ended == nil {
			row.Waiters = s.view.Waiters.Of(l.LeaseKey(), l.Agent)
		}
		return p.add(row, []byte(l.Key))
	}))
}

// listLeases calls add with the held leases from memory, or with the last state of every
// key from the store, until add returns false.
func (s *Lists) listLeases(ctx context.Context, space core.LeaseSpace, list listOf, q hub.LeasesQuery, add func(*core.Lease) bool) error {
	behind, err := s.cursors.textPlace(list, q.Cursor)
	if err != nil {
		return err
	}
	keeps, err := s.leaseFilter(ctx, q)
	if err != nil {
		return err
	}
	var bad error
	sees := view.ViewerOf(ctx, q.Viewer)
	shown := func(l *core.Lease) bool {
		var may bool
		if may, bad = s.view.SeesLease(sees, l); bad != nil {
			return false
		}
		return !may || add(l)
	}
	if !q.ActiveOnly {
		err = s.lastLeases(ctx, space, behind, keeps, shown)
	} else {
		err = s.heldLeases(space, behind, pageRows(q.Limit)+1, keeps, shown)
	}
	return errors.Join(err, bad)
}

// heldLeases reads the held leases behind a key from memory, n at a time: some of them may
// not be shown.
func (s *Lists) heldLeases(space core.LeaseSpace, behind string, n int, keeps *view.LeaseFilter, add func(*core.Lease) bool) error {
	for {
		rows := s.view.Leases.Page(space, behind, n, keeps)
		for _, row := range rows {
			l, err := view.DecodeLease(row)
			if err != nil || !add(&l) {
				return err
			}
			behind = l.Key
		}
		if len(rows) < n {
			return nil
		}
	}
}

// lastLeases reads the last state of the keys behind one from the store, which has a row
// of every key, held or not. A held lease is shown as the view has it. A lease that is
// granted or ends at this moment is shown in its old or its new state, and never left out.
func (s *Lists) lastLeases(ctx context.Context, space core.LeaseSpace, behind string, keeps *view.LeaseFilter, add func(*core.Lease) bool) error {
	table := core.TableClaim
	if space == core.SpaceLock {
		table = core.TableLock
	}
	var bad error
	err := s.rows.RowsBehind(table, []byte(keeps.Beginning()), []byte(behind), false, func(key, value []byte) bool {
		if keeps.Key != "" && string(key) != keeps.Key {
			return false // the key itself comes before all longer keys
		}
		if row, held := s.view.Leases.Row(core.LeaseKey{Space: space, Key: string(key)}); held && row == nil {
			return true // its state is in doubt
		} else if held {
			value = row
		}
		var l core.Lease
		if l, bad = view.DecodeLease(value); bad == nil && keeps.Keep(l.Key, l.Agent, l.Thread, l.Task) && !add(&l) {
			return false
		}
		if bad == nil && ctx.Err() != nil {
			bad = engine.ErrAbandoned()
		}
		return bad == nil
	})
	return errors.Join(err, bad)
}

// leaseFilter makes the filter of a query. The leases of a room are those that its page
// counts: the leases of agents with a seat in it, and the claims on its open tasks that
// the viewer may see. A claim must not tell where a hidden task is. room_not_found.
func (s *Lists) leaseFilter(ctx context.Context, q hub.LeasesQuery) (*view.LeaseFilter, error) {
	f := &view.LeaseFilter{Key: q.Key, Prefix: q.Prefix, Covering: q.Covering, Owner: q.Owner, Thread: q.ThreadID}
	if q.RoomID == "" {
		return f, nil
	}
	seats, err := s.view.SeatsIn(q.RoomID)
	if err != nil {
		return nil, err
	}
	sees := view.ViewerOf(ctx, q.Viewer)
	f.Room, f.Seats, f.Tasks = true, seats, map[hub.MessageID]bool{}
	for _, t := range s.view.Tasks.InRoom(q.RoomID, sees.Task) {
		f.Tasks[t.Task.TaskID] = true
	}
	return f, nil
}
