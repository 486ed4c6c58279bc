package persistence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
)

// scratch is the database in which the versions of all keys of a damaged store are put
// together.
type scratch struct {
	v      *salvager
	dir    string
	db     *badger.DB
	log    *badgerLog
	batch  *badger.WriteBatch
	lastTS uint64

	gaps  []codec.Gap // that the store knows, and those that are found
	end   core.Head
	index codec.ScopeIndex
}

// maxTS is above every number that a store gives to a transaction.
const maxTS = math.MaxUint64 >> 2

func newScratch(v *salvager) (*scratch, error) {
	s := &scratch{v: v, dir: filepath.Join(v.r.dir, salvageScratch), log: &badgerLog{log: v.options.Logger}}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return nil, storedir.IOError("making the folder", err)
	}
	var err error
	if s.db, err = badger.OpenManaged(badgerOptions(s.dir, s.log).WithSyncWrites(false)); err != nil {
		return nil, storedir.DatabaseError(s.dir, err)
	}
	return s, nil
}

func (s *scratch) close() error {
	if s.batch != nil {
		s.batch.Cancel()
	}
	return s.db.Close()
}

// collect puts in what passes its checks.
func (s *scratch) collect(raw *badgerfile.RawReader) error {
	raw.Reaches = s.v.mark.LastFrame
	if err := raw.Listed(); err != nil { // takes nothing: it shows whether anything of them is gone
		return err
	}
	s.batch = s.db.NewManagedWriteBatch()
	raw.Take, raw.Damaged = s.put, nil
	if raw.Unlisted {
		if err := raw.Sweep(badgerfile.WrittenOnce); err != nil { // first, as what is listed counts more
			return err
		}
	}
	if err := raw.Listed(); err != nil {
		return err
	}
	if len(raw.Missed) > 0 { // two files may have been exchanged
		found := func(e *badgerfile.Swept) bool {
			at, ok := raw.Missed[badgerfile.Version{Key: string(e.Key), Ts: e.Ts}]
			return ok && at == e.Place
		}
		if err := raw.Sweep(found); err != nil {
			return err
		}
	}
	if raw.Frame < raw.Reaches {
		s.v.tell(hub.StoreDamage{File: storedir.NameBadger, Reason: fmt.Sprintf("the last record that anything lists is %d, and HEAD knows of %d", raw.Frame, raw.Reaches)})
	}
	err := errors.Join(s.batch.Flush(), s.log.failure())
	s.batch = nil
	if err != nil {
		return storedir.DatabaseError(s.dir, err)
	}
	return nil
}

// put takes one version of a key, if it is whole. Indexes of messages are left out, as
// they follow from the messages.
func (s *scratch) put(p badgerfile.RawPair) error {
	prefix, _, _ := bytes.Cut(p.Key, []byte{'/'})
	switch string(prefix) + "/" {
	case codec.PrefixChannel, codec.PrefixThread, codec.PrefixInbox:
		return nil
	}
	if p.Ts == 0 || p.Ts > maxTS {
		s.v.out.LostRows++
		return nil
	}
	s.lastTS = max(s.lastTS, p.Ts)
	if p.Deleted {
		return s.write(&badger.Entry{Key: p.Key}, p.Ts)
	}
	if checkEntry(p.Key, p.Value) == nil {
		return s.write(&badger.Entry{Key: p.Key, Value: p.Value, ExpiresAt: p.Expires}, p.Ts)
	}
	if bytes.HasPrefix(p.Key, []byte(codec.PrefixMessage)) {
		for _, run := range badgerfile.WholeRuns(p.Key, p.Value) {
			if err := s.write(&badger.Entry{Key: run.Key, Value: run.Value}, p.Ts); err != nil {
				return err
			}
		}
		return nil
	}
	s.v.out.LostRows++
	return nil
}

// write puts an entry into the scratch database; one without a value deletes.
func (s *scratch) write(e *badger.Entry, ts uint64) error {
	size := int64(len(e.Key) + len(e.Value))
	if free, err := s.v.options.free(s.dir); err == nil && free < openNeeded+4*size {
		return storedir.StoreFull(s.dir, free, openNeeded+4*size) // as restorer.put
	}
	if e.Value == nil {
		return s.batch.DeleteAt(e.Key, ts)
	}
	return s.batch.SetEntryAt(e, ts)
}

// arrange makes a store that starts: it notes as gaps what lacks
// between records and between messages, and makes the indexes of the messages.
func (s *scratch) arrange() error {
	s.batch = s.db.NewWriteBatchAt(s.lastTS + 1)
	txn := s.db.NewTransactionAt(s.lastTS, false)
	defer txn.Discard()
	err := s.loadGaps(txn)
	if err == nil {
		err = s.records(txn)
	}
	if err == nil {
		err = s.messages(txn)
	}
	if err != nil {
		return err
	}
	err = errors.Join(s.batch.Flush(), s.log.failure())
	s.batch = nil
	if err != nil {
		return storedir.DatabaseError(s.dir, err)
	}
	return nil
}

// each calls fn for the entries under a prefix.
func (s *scratch) each(txn *badger.Txn, prefix string, fn func(key, value []byte) error) error {
	it := iterate(txn, []byte(prefix), false)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		value, err := it.Item().ValueCopy(nil)
		if err == nil {
			err = fn(it.Item().KeyCopy(nil), value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scratch) loadGaps(txn *badger.Txn) error {
	return s.each(txn, codec.PrefixGap, func(_, value []byte) error {
		g, err := codec.DecodeGap(value)
		s.gaps = append(s.gaps, g)
		s.end.Seq, s.end.Message = max(s.end.Seq, g.Upto), max(s.end.Message, g.HighMessage)
		return err
	})
}

func (s *scratch) giveUp(g codec.Gap) error {
	s.gaps = append(s.gaps, g)
	return s.write(&badger.Entry{Key: codec.SeqKey(codec.PrefixGap, g.From), Value: codec.EncodeGap(g)}, s.lastTS+1)
}

// records keeps the frames and notes the gaps between them. Earlier versions deleted the
// first ones, so the frames may begin anywhere up to the end of the checkpoint.
func (s *scratch) records(txn *badger.Txn) error {
	var point core.Head
	if s.v.point != nil {
		c, err := decodeCheckpoint(s.v.point)
		if err != nil {
			return err
		}
		point = c.Head
	}
	s.end = maxHead(s.end, maxHead(point, s.v.mark.Head))
	want, began, first := point.Seq+1, s.v.point != nil, true
	var lost []codec.Gap
	err := s.each(txn, codec.PrefixFrame, func(key, value []byte) error {
		f, err := codec.DecodeFrame(value)
		if err != nil {
			return err
		}
		if first && began {
			want = min(want, f.First())
		}
		first = false
		next := aboveRecords(s.gaps, want)
		switch {
		case !began && f.First() > next:
			s.end = maxHead(s.end, frameHead(f)) // what was before them is in no checkpoint
			return s.batch.Delete(key)
		case f.First() < next: // a second frame with the same records
			return s.batch.Delete(key)
		case f.First() > next:
			lost = append(lost, codec.Gap{From: next, Upto: f.First() - 1})
		}
		began, want = true, f.Last().Seq+1
		s.end = maxHead(s.end, frameHead(f))
		return nil
	})
	if err != nil {
		return err
	}
	if next := aboveRecords(s.gaps, want); next <= s.end.Seq {
		lost = append(lost, codec.Gap{From: next, Upto: s.end.Seq})
	}
	if !began && s.end.Seq > 0 {
		s.v.note("no checkpoint is whole and the journal does not begin with its first record: claims, locks, open tasks, projects and rooms are lost; the messages in rooms are there")
	}
	for _, g := range lost {
		s.v.out.LostRecords += int64(g.Upto - g.From + 1)
		s.v.out.LostSeqs = listed(s.v.out.LostSeqs, int64(g.From), int64(g.Upto))
		if err := s.giveUp(g); err != nil {
			return err
		}
	}
	return nil
}

func listed(list []hub.NumberRange, first, last int64) []hub.NumberRange {
	if len(list) < salvageListed {
		list = append(list, hub.NumberRange{First: first, Last: last})
	}
	return list
}

// messages makes the indexes, and notes what ids lack. A note of a gap is kept under
// the number of a record. Messages that lack may be of any record, so their gaps take
// numbers behind the end, which no record will have.
func (s *scratch) messages(txn *badger.Txn) error {
	known := slices.Clone(s.gaps) // without those that follow
	s.v.out.Record, s.v.out.Message = s.end.Seq, s.end.Message
	want := hub.MessageID(1)
	lack := func(upto hub.MessageID) error {
		return lacking(known, want, upto, func(first, last hub.MessageID) error {
			s.end.Seq++
			s.v.out.LostMessages += int64(last - first + 1)
			s.v.out.LostIDs = listed(s.v.out.LostIDs, int64(first), int64(last))
			return s.giveUp(codec.Gap{From: s.end.Seq, Upto: s.end.Seq, LowMessage: first - 1, HighMessage: last})
		})
	}
	err := s.each(txn, codec.PrefixMessage, func(key, value []byte) error {
		k, err := codec.DecodeBlock(key, value)
		if err != nil {
			return err
		}
		if k.First < want { // a second block with the same ids
			return s.batch.Delete(key)
		}
		if err := lack(k.First - 1); err != nil {
			return err
		}
		s.v.out.Messages += int64(len(k.Ends) / 4)
		want = k.Last() + 1
		return s.indexOf(&k)
	})
	if err != nil {
		return err
	}
	s.end.Message = max(s.end.Message, want-1)
	s.v.out.Message = s.end.Message
	return lack(s.end.Message)
}

// indexOf writes the index entries of one block.
func (s *scratch) indexOf(k *codec.Block) error {
	s.index.Reset()
	for id := k.First; id <= k.Last(); id++ {
		m, err := k.Message(id)
		if err != nil {
			return err
		}
		s.index.AddMessage(&m)
	}
	for i := range s.index.Lists {
		e := s.index.Lists[i].Entry()
		if err := s.write(&badger.Entry{Key: e.Key, Value: e.Value}, s.lastTS+1); err != nil {
			return err
		}
	}
	return nil
}

// stream writes what is arranged as a backup.
func (s *scratch) stream(b *backupWriter) error {
	b.begin(&backupHead{
		format: s.v.format, made: s.v.out.Made, head: s.end, instance: s.v.out.Instance, key: s.v.key,
	}, s.v.point)
	txn := s.db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	n, err := b.entries(context.Background(), txn, nil)
	if err != nil {
		return fmt.Errorf("reading what was collected: %w", err)
	}
	b.end(n)
	return b.failed
}
