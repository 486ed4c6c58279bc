package persistence

import (
	"errors"
	"fmt"
	"slices"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

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
func (s *Store) survey(m storedir.Mark, accept bool) error {
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
		s.frameEnd = last.First()
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

func frameHead(f *codec.Frame) core.Head {
	r := f.Last()
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
func (s *Store) lastFrame() (f *codec.Frame, err error) {
	err = s.view(func(txn *badger.Txn) error {
		it := iterate(txn, []byte(codec.PrefixFrame), true)
		defer it.Close()
		if it.Seek(codec.After([]byte(codec.PrefixFrame))); !it.ValidForPrefix([]byte(codec.PrefixFrame)) {
			return nil
		}
		f, err = readFrame(it.Item())
		return err
	})
	if err != nil {
		return nil, storedir.Corrupt("the last record of its journal fails its checks", err)
	}
	return f, nil
}

// givenUp returns the ranges of numbers that no record has, rising.
func (s *Store) givenUp() []codec.Gap {
	if gaps := s.gaps.Load(); gaps != nil {
		return *gaps
	}
	return nil
}

func (s *Store) loadGaps() (gaps []codec.Gap, err error) {
	err = s.view(func(txn *badger.Txn) error {
		it := iterate(txn, []byte(codec.PrefixGap), false)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			var g codec.Gap
			if err := it.Item().Value(func(b []byte) error {
				g, err = codec.DecodeGap(b)
				return err
			}); err != nil {
				return err
			}
			gaps = append(gaps, g)
		}
		return nil
	})
	if err != nil {
		return nil, storedir.Corrupt("its note of given up records fails its checks", err)
	}
	return gaps, nil
}

// overGaps moves the end of the journal over the gaps that begin right there.
func (s *Store) overGaps(end core.Head) core.Head {
	for _, g := range s.givenUp() {
		if g.From <= end.Seq+1 && g.Upto > end.Seq {
			end.Seq, end.Message = g.Upto, max(end.Message, g.HighMessage)
		}
	}
	return end
}

// recordLoss writes down that the numbers after end, up to told, are lost.
func (s *Store) recordLoss(end, told core.Head) error {
	g := codec.Gap{From: end.Seq + 1, Upto: told.Seq, LowMessage: end.Message, HighMessage: max(end.Message, told.Message)}
	s.log.Warn("records were given up", "from", g.From, "to", g.Upto)
	err := s.commit([]codec.Entry{{Key: codec.SeqKey(codec.PrefixGap, g.From), Value: codec.EncodeGap(g)}})
	if err != nil {
		return storedir.IOError("writing down the lost records", codec.Redacted{Err: err})
	}
	s.gate.publish(s.lastTS)
	gaps := append(slices.Clone(s.givenUp()), g)
	slices.SortFunc(gaps, func(a, b codec.Gap) int { return int(int64(a.From) - int64(b.From)) })
	s.gaps.Store(&gaps)
	return nil
}

// redo carries out the rest of a group that was larger than a transaction. It is
// the last one: the next frame is only written after the rows of this one.
func (s *Store) redo(f *codec.Frame) error {
	if f.Redo == nil {
		return nil
	}
	var doneUpto hub.Seq
	err := s.view(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(codec.KeyRedone))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return item.Value(func(b []byte) error {
			d := codec.Decoder{B: b}
			if b, err = codec.Unseal(b, codec.RowVersion, []byte(codec.KeyRedone)); err != nil {
				return err
			}
			d.B = b
			doneUpto = hub.Seq(d.U64())
			return nil
		})
	})
	if err != nil {
		return storedir.Corrupt("its note of finished groups fails its checks", codec.Redacted{Err: err})
	}
	if doneUpto >= f.First() {
		return nil
	}
	if err := s.carryOut(f.Records, f.Redo); err != nil {
		return storedir.IOError("finishing the last group", codec.Redacted{Err: err})
	}
	s.gate.publish(s.lastTS)
	return nil
}

// checkDensity walks the newest messages down from head: a missing one was lost
// by the database without an error.
func (s *Store) checkDensity(head hub.MessageID) error {
	err := s.view(func(txn *badger.Txn) error {
		prefix := []byte(codec.PrefixMessage)
		it := iterate(txn, prefix, true)
		defer it.Close()
		it.Seek(codec.After(prefix))
		for want := s.belowGaps(head); want > max(0, head-densityChecked); it.Next() {
			if !it.ValidForPrefix(prefix) {
				return fmt.Errorf("message %d is missing", want)
			}
			var k codec.Block
			item := it.Item()
			if err := item.Value(func(b []byte) (err error) {
				k, err = codec.DecodeBlock(item.Key(), b)
				return err
			}); err != nil {
				return codec.Redacted{Err: err}
			}
			switch {
			case k.Last() < want:
				return fmt.Errorf("message %d is missing", want)
			case k.First <= want:
				want = s.belowGaps(k.First - 1)
			}
		}
		return nil
	})
	if err != nil {
		return storedir.Corrupt("a message is missing from it", err)
	}
	return nil
}

// belowGaps returns the highest id up to id that was not given up.
func (s *Store) belowGaps(id hub.MessageID) hub.MessageID {
	gaps := s.givenUp()
	for at := hub.MessageID(-1); at != id; { // their order is that of records, not of messages
		at = id
		for i := len(gaps) - 1; i >= 0; i-- {
			if g := gaps[i]; id > g.LowMessage && id <= g.HighMessage {
				id = g.LowMessage
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
