package persistence

import (
	"errors"
	"time"

	"hubcli/persistence/codec"

	"github.com/dgraph-io/badger/v4"
)

// discardEvery is the number of commits after which Badger is told which
// versions it may drop.
const discardEvery = 256

// commitAll commits entries in order, in as few transactions as possible.
func (s *Store) commitAll(entries []codec.Entry) error {
	for len(entries) > 0 {
		n, cost := 0, int64(0)
		for n < len(entries) && n < maxTxnEntries-1 {
			if cost += entries[n].Cost(); cost >= maxTxnBytes && n > 0 {
				break
			}
			n++
		}
		if err := s.commit(entries[:n]); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

// commit makes entries durable in one transaction and returns after Badger has
// synced it. A nil value deletes the key. The caller holds
// s.writing, or runs inside Open, and publishes the new timestamp itself. The
// bytes that entries hold may be reused when commit returns.
//
// The store hands out its own commit timestamps (Badger's managed mode), for
// two reasons. A read never waits for a commit under way, because it reads at
// the last published timestamp. And at most one transaction is under way, so a
// crash can tear at most one. verify.go relies on this.
//
// Badger's own answer is not enough: it logs a failed sync of the value log and
// returns nil. badgerLog keeps such lines, and a line during a commit makes the
// commit fail.
func (s *Store) commit(entries []codec.Entry) error {
	if s.start != nil && s.start.preview != nil {
		return s.commitPreview(entries)
	}
	gen, _, err := s.gate.enter()
	if err != nil {
		return err
	}
	defer s.gate.leave(gen)
	if err := s.badger.failure(); err != nil {
		return err
	}
	s.rest.wake()
	txn := s.db.NewTransactionAt(s.lastTS, true)
	defer txn.Discard()
	var size int64
	for _, e := range entries {
		if e.Value == nil {
			err = txn.Delete(e.Key)
		} else {
			err = txn.SetEntry(&badger.Entry{Key: e.Key, Value: e.Value, ExpiresAt: e.Expires})
		}
		if err != nil {
			return err
		}
		size += int64(len(e.Key) + len(e.Value))
	}
	begin := time.Now()
	err = txn.CommitAt(s.lastTS+1, nil)
	s.synced.Store(int64(max(time.Since(begin), 1)))
	// A folder that was deleted meanwhile has taken the transaction with it.
	if err = errors.Join(err, s.badger.failure(), s.folder.check()); err != nil {
		return err
	}
	s.lastTS++
	s.space.written.Add(size)
	s.ahead.wrote(entries)
	s.mapped.wrote(entries)
	if s.commits++; s.commits%discardEvery == 0 {
		if ts, ok := s.gate.unread(); ok {
			s.db.SetDiscardTs(ts)
		}
	}
	return nil
}

// txnSize returns the size of entries in bytes, and whether they fit into one
// transaction.
func txnSize(entries []codec.Entry) (size int64, fits bool) {
	var cost int64
	for i := range entries {
		cost += entries[i].Cost()
		size += int64(len(entries[i].Key) + len(entries[i].Value) + 32)
	}
	return size, len(entries) < maxTxnEntries && cost < maxTxnBytes
}
