package persistence

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
)

// densityChecked is how many of the newest message ids must follow each other at
// the start: more than two memtables can hold.
const densityChecked = 50_000

// survey finds the end of the journal, compares it with what HEAD and the
// checkpoints say, and finishes a group that a crash interrupted. Before Begin it does so in
// the preview alone.
func (s *Store) survey(m mark, accept bool) error {
	last, err := s.lastFrame()
	if err != nil {
		return err
	}
	gaps, err := s.loadGaps()
	if err != nil {
		return err
	}
	s.gaps.Store(&gaps)
	point := s.newestPoint()
	end := point
	if last != nil {
		end = frameHead(last)
		s.frameEnd = last.first()
		if err := s.redo(last); err != nil {
			return err
		}
	}
	if err := s.loadImports(); err != nil { // after redo, which may store the row that reveals one
		return err
	}
	end = s.overGaps(end)
	told := maxHead(m.Head, point)
	if end.Seq < told.Seq {
		if !accept {
			return truncated(told.Seq, end.Seq)
		}
		if err := s.recordLoss(end, told); err != nil {
			return err
		}
	}
	s.durable = maxHead(end, told)
	s.opened = s.durable
	s.tail.Store(uint64(s.durable.Seq))
	return nil
}

func frameHead(f *frame) core.Head {
	r := f.last()
	h := core.Head{
		Seq: r.Seq, HubMS: r.HubMS,
		Message: r.FirstMessage + hub.MessageID(r.MessageCount) - 1,
		Fence:   r.FirstFence + hub.Fence(r.FenceCount) - 1,
	}
	return h
}

func maxHead(a, b core.Head) core.Head {
	return core.Head{
		Seq: max(a.Seq, b.Seq), Message: max(a.Message, b.Message),
		Fence: max(a.Fence, b.Fence), HubMS: max(a.HubMS, b.HubMS),
	}
}

// lastFrame returns the last frame of the journal, or nil.
func (s *Store) lastFrame() (f *frame, err error) {
	err = s.view(func(txn *badger.Txn) error {
		it := iterate(txn, []byte(prefixFrame), true)
		defer it.Close()
		if it.Seek(after([]byte(prefixFrame))); !it.ValidForPrefix([]byte(prefixFrame)) {
			return nil
		}
		f, err = readFrame(it.Item())
		return err
	})
	if err != nil {
		return nil, corrupt("the last record of its journal fails its checks", err)
	}
	return f, nil
}

// givenUp returns the ranges of numbers that no record has, rising.
func (s *Store) givenUp() []gap {
	if gaps := s.gaps.Load(); gaps != nil {
		return *gaps
	}
	return nil
}

func (s *Store) loadGaps() (gaps []gap, err error) {
	err = s.view(func(txn *badger.Txn) error {
		it := iterate(txn, []byte(prefixGap), false)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			var g gap
			if err := it.Item().Value(func(b []byte) error {
				g, err = decodeGap(b)
				return err
			}); err != nil {
				return err
			}
			gaps = append(gaps, g)
		}
		return nil
	})
	if err != nil {
		return nil, corrupt("its note of given up records fails its checks", err)
	}
	return gaps, nil
}

// overGaps moves the end of the journal over the gaps that begin right there.
func (s *Store) overGaps(end core.Head) core.Head {
	for _, g := range s.givenUp() {
		if g.from <= end.Seq+1 && g.upto > end.Seq {
			end.Seq, end.Message = g.upto, max(end.Message, g.highMessage)
		}
	}
	return end
}

// recordLoss writes down that the numbers after end, up to told, are lost.
func (s *Store) recordLoss(end, told core.Head) error {
	g := gap{from: end.Seq + 1, upto: told.Seq, lowMessage: end.Message, highMessage: max(end.Message, told.Message)}
	s.log.Warn("records were given up", "from", g.from, "to", g.upto)
	err := s.commit([]entry{{key: seqKey(prefixGap, g.from), value: encodeGap(g)}})
	if err != nil {
		return ioError("writing down the lost records", redacted{err})
	}
	s.gate.publish(s.lastTS)
	gaps := append(slices.Clone(s.givenUp()), g)
	slices.SortFunc(gaps, func(a, b gap) int { return int(int64(a.from) - int64(b.from)) })
	s.gaps.Store(&gaps)
	return nil
}

// redo carries out the rest of a group that was larger than a transaction. It is
// the last one: the next frame is only written after the rows of this one.
func (s *Store) redo(f *frame) error {
	if f.redo == nil {
		return nil
	}
	var doneUpto hub.Seq
	err := s.view(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(keyRedone))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return item.Value(func(b []byte) error {
			d := decoder{b: b}
			if b, err = unseal(b, rowVersion, []byte(keyRedone)); err != nil {
				return err
			}
			d.b = b
			doneUpto = hub.Seq(d.u64())
			return nil
		})
	})
	if err != nil {
		return corrupt("its note of finished groups fails its checks", redacted{err})
	}
	if doneUpto >= f.first() {
		return nil
	}
	if err := s.carryOut(f.records, f.redo); err != nil {
		return ioError("finishing the last group", redacted{err})
	}
	s.gate.publish(s.lastTS)
	return nil
}

// checkDensity walks the newest messages down from head: a missing one was lost
// by the database without an error.
func (s *Store) checkDensity(head hub.MessageID) error {
	err := s.view(func(txn *badger.Txn) error {
		prefix := []byte(prefixMessage)
		it := iterate(txn, prefix, true)
		defer it.Close()
		it.Seek(after(prefix))
		for want := s.belowGaps(head); want > max(0, head-densityChecked); it.Next() {
			if !it.ValidForPrefix(prefix) {
				return fmt.Errorf("message %d is missing", want)
			}
			var k block
			item := it.Item()
			if err := item.Value(func(b []byte) (err error) {
				k, err = decodeBlock(item.Key(), b)
				return err
			}); err != nil {
				return redacted{err}
			}
			switch {
			case k.last() < want:
				return fmt.Errorf("message %d is missing", want)
			case k.first <= want:
				want = s.belowGaps(k.first - 1)
			}
		}
		return nil
	})
	if err != nil {
		return corrupt("a message is missing from it", err)
	}
	return nil
}

// belowGaps returns the highest id up to id that was not given up.
func (s *Store) belowGaps(id hub.MessageID) hub.MessageID {
	gaps := s.givenUp()
	for at := hub.MessageID(-1); at != id; { // their order is that of records, not of messages
		at = id
		for i := len(gaps) - 1; i >= 0; i-- {
			if g := gaps[i]; id > g.lowMessage && id <= g.highMessage {
				id = g.lowMessage
			}
		}
	}
	return id
}

// iterate returns an iterator over the keys with prefix; values are fetched only
// when asked for. Backward ones begin with Seek(after(prefix)).
func iterate(txn *badger.Txn, prefix []byte, backward bool) *badger.Iterator {
	o := badger.DefaultIteratorOptions
	o.PrefetchValues = false
	o.Reverse = backward
	if !backward {
		o.Prefix = prefix
	}
	return txn.NewIterator(o)
}
