package persistence

import (
	"github.com/dgraph-io/badger/v4"

	"hubcli/persistence/codec"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Records calls fn for every record above seq, in order. The records and their
// facts belong to fn.
func (s *Store) Records(seq hub.Seq, fn func(*core.Record) error) error {
	tail := hub.Seq(s.tail.Load()) // before the snapshot, which reaches at least there
	return s.view(func(txn *badger.Txn) error {
		want := s.skipGaps(seq + 1)
		it := iterate(txn, []byte(codec.PrefixFrame), false)
		defer it.Close()
		for it.Seek(codec.SeqKey(codec.PrefixFrame, s.frameOf(txn, want))); it.Valid(); it.Next() {
			s.mapped.reads(it.Item())
			f, err := readFrame(it.Item())
			if err != nil {
				return codec.CorruptRecord("a record", map[string]any{"after_seq": want - 1})
			}
			for _, r := range f.Records {
				if r.Seq < want {
					continue
				}
				if r.Seq > want {
					return missingRecord(want)
				}
				if err := fn(r); err != nil {
					return err
				}
				want = s.skipGaps(r.Seq + 1)
			}
		}
		if want <= tail {
			return missingRecord(want)
		}
		return nil
	})
}

func missingRecord(seq hub.Seq) error {
	return hub.Errorf(hub.CodeCorruptRecord, "record %d is missing from the journal", seq).
		With("seq", seq).WithFix("stop the hub and restore its store from a backup")
}

// frameOf returns the key number of the frame that holds seq, or seq.
func (s *Store) frameOf(txn *badger.Txn, seq hub.Seq) hub.Seq {
	it := iterate(txn, []byte(codec.PrefixFrame), true)
	defer it.Close()
	if it.Seek(codec.SeqKey(codec.PrefixFrame, seq)); it.ValidForPrefix([]byte(codec.PrefixFrame)) {
		if n, ok := codec.KeyNumber(it.Item().Key()); ok {
			return hub.Seq(n)
		}
	}
	return seq
}

// skipGaps returns the first number from seq on that was not given up.
func (s *Store) skipGaps(seq hub.Seq) hub.Seq { return aboveRecords(s.givenUp(), seq) }

// readFrame decodes a frame on a copy of its bytes and compares it with its key.
func readFrame(item *badger.Item) (*codec.Frame, error) {
	b, err := item.ValueCopy(nil)
	if err != nil {
		return nil, codec.Redacted{Err: err}
	}
	f, err := codec.DecodeFrame(b)
	if err != nil {
		return nil, err
	}
	if n, ok := codec.KeyNumber(item.Key()); !ok || hub.Seq(n) != f.First() {
		return nil, codec.ErrDamaged
	}
	return f, nil
}
