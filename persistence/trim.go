package persistence

import (
	"errors"

	"github.com/dgraph-io/badger/v4"

	"hubcli/hub"
)

// trimBatch is how many frames one transaction deletes at most.
const trimBatch = 1000

// trim deletes the frames that lie wholly up to seq, a batch at a time so that
// commits of the hub go in between.
func (s *Store) trim(seq hub.Seq) error {
	for {
		batch, err := s.trimmable(seq)
		if err != nil || len(batch) == 0 {
			return err
		}
		s.writing.Lock()
		err = s.Err()
		if size, _ := txnSize(batch); err == nil && !s.hasRoom(batch, size, true) {
			s.writing.Unlock()
			return nil // the next checkpoint goes on here
		}
		if err == nil {
			if err = s.commit(batch); err != nil && !errors.Is(err, ErrClosed) {
				err = s.fail(err)
			}
		}
		if err == nil {
			s.gate.publish(s.lastTS)
		}
		s.writing.Unlock()
		if err != nil {
			return err
		}
		last, _ := keyNumber(batch[len(batch)-1].key)
		s.trimmed = hub.Seq(last) + 1
	}
}

// trimmable returns deletions of the first frames that lie wholly up to seq.
func (s *Store) trimmable(seq hub.Seq) (batch []entry, err error) {
	err = s.view(func(txn *badger.Txn) error {
		it := iterate(txn, []byte(prefixFrame), false)
		defer it.Close()
		var previous []byte
		most := min(trimBatch, maxTxnEntries-1)
		for it.Seek(seqKey(prefixFrame, s.trimmed)); it.Valid() && len(batch) < most; it.Next() {
			// A frame ends before the next one begins; the last frame stays.
			first, _ := keyNumber(it.Item().Key())
			if hub.Seq(first) > seq+1 {
				break
			}
			if previous != nil {
				batch = append(batch, entry{key: previous})
			}
			previous = it.Item().KeyCopy(nil)
		}
		return nil
	})
	return batch, err
}
