package persistence

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
)

// maxRedoBytes bounds a redo list, which is one value of Badger.
const maxRedoBytes = 40 << 20

// Head is the end of the journal as it was found when the store was opened.
func (s *Store) Head() core.Head { return s.opened }

// Append makes a group durable, as a whole or not at all, and returns after it is
// synced. Only one goroutine may append.
//
// Errors: core.ErrNoRoom says that nothing of the group has been written and that
// the next Append may try again. ErrClosed says that Close came first. Any other
// error is final: see Failed.
//
// The steps, and what a crash between two of them leaves:
//
//  1. checkGroup compares the numbers with the end of the journal. Nothing is
//     written before the whole group is known to follow it. Then raise makes durable
//     that earlier programs do not understand the store, if that is so from now on.
//  2. hasRoom reserves space for all of the group. This is the last point at which
//     a group can be taken back: Badger has not heard of it.
//  3. commit writes and syncs. A crash in it leaves the whole transaction or none
//     of it; verify.go cuts the torn end of Badger's log at the next start. The
//     group is not acknowledged, so both outcomes are right.
//  4. publish makes the group visible to reads, then tail moves. The order matters:
//     a reader that sees the new tail must find its records.
//  5. HEAD is written, without a sync of its own. A crash before it leaves a
//     journal that is longer than HEAD says, which a start accepts; a journal that
//     is shorter than HEAD says has lost acknowledged records, and a start refuses.
//
// After step 3 no error may be answered with "try again": the caller would write
// the same numbers twice. So every error from there on makes the store fail-stop.
func (s *Store) Append(g *core.Group) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.ready(); err != nil {
		return err
	}
	if len(g.Records) == 0 {
		return s.putRows(g.Rows)
	}
	end, err := s.checkGroup(g)
	if err != nil {
		return s.fail(err)
	}
	if err := s.raise(s.formatOf(g)); err != nil {
		return err
	}
	err = s.write(g.Records, g.Rows, false)
	if cap(s.buf) > maxKept {
		s.buf = nil
	}
	switch {
	case errors.Is(err, core.ErrNoRoom):
		return cmp.Or(s.Check(), err) // a folder that is gone has no room either
	case errors.Is(err, storedir.ErrClosed):
		return err
	case err != nil:
		return s.fail(err)
	}
	s.durable = end
	s.gate.publish(s.lastTS)
	for _, r := range g.Records {
		s.revealBy(r.Rows)
	}
	s.tail.Store(uint64(end.Seq))
	if err := s.writeHead(); err != nil {
		return s.fail(err)
	}
	return nil
}

// PutRows makes rows durable that belong to no record. It may be called beside
// Append. After core.ErrNoRoom none has been written. Rows that come before Begin are stored
// by it, and are not seen until then.
func (s *Store) PutRows(rows []core.Row) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.start != nil {
		s.start.rows = append(s.start.rows, rows...)
		return nil
	}
	if err := s.Check(); err != nil {
		return err
	}
	return s.putRows(rows)
}

func (s *Store) putRows(rows []core.Row) error {
	if err := s.raise(s.formats.OfRows(rows)); err != nil {
		return err
	}
	s.entries = s.entries[:0]
	for i := range rows {
		s.addRow(&rows[i])
	}
	if size, fits := txnSize(s.entries); !s.hasRoom(s.entries, size, fits) {
		return cmp.Or(s.Check(), core.ErrNoRoom)
	}
	err := s.commitAll(s.entries)
	if err != nil && !errors.Is(err, storedir.ErrClosed) {
		return s.fail(err)
	}
	s.gate.publish(s.lastTS)
	s.revealBy(rows)
	return err
}

// checkGroup refuses a group that does not follow the end of the journal. Nothing
// has been written then. It returns the head after the group.
func (s *Store) checkGroup(g *core.Group) (core.Head, error) {
	h := s.durable
	for _, r := range g.Records {
		switch {
		case r.Seq != h.Seq+1:
			return h, fmt.Errorf("record %d does not follow record %d", r.Seq, h.Seq)
		case r.FirstMessage != h.Message+1 || len(r.Messages) != r.MessageCount:
			return h, fmt.Errorf("record %d: its messages do not follow message %d", r.Seq, h.Message)
		case r.FirstFence <= h.Fence || r.FenceCount < 0:
			return h, fmt.Errorf("record %d: its fences do not follow fence %d", r.Seq, h.Fence)
		}
		for i := range r.Messages {
			m := &r.Messages[i]
			if m.ID != r.FirstMessage+hub.MessageID(i) {
				return h, fmt.Errorf("record %d: message %d is out of order", r.Seq, m.ID)
			}
			if !codec.Indexable(string(m.Channel)) || !codec.Indexable(string(m.Thread)) || !codec.Indexable(string(m.To)) {
				return h, fmt.Errorf("message %d: a name has a control character", m.ID)
			}
		}
		h = core.Head{
			Seq: r.Seq, HubMS: max(h.HubMS, r.HubMS),
			Message: h.Message + hub.MessageID(r.MessageCount),
			Fence:   r.FirstFence + hub.Fence(r.FenceCount) - 1,
		}
	}
	return h, nil
}

// write commits records, and rows with the last of them.
//
// A group that fits one transaction is one transaction. A larger group is
// written with a redo list: its frame carries all its rows, so that the commit
// of the frame is the commit of the group, and the rows follow in further
// transactions. survey carries the list out again if the process died in
// between. A group that exceeds even a redo list is written in halves, which
// only a group of many records can be: the halves are acknowledged together,
// and a crash between them keeps the first half, which was not acknowledged.
//
// Rejected: Badger's WriteBatch, which splits a batch into transactions silently
// and would make half a record durable.
func (s *Store) write(records []*core.Record, rows []core.Row, halved bool) error {
	if err := s.encodeGroup(records, rows); err != nil {
		return err
	}
	size, fits := txnSize(s.entries)
	// All of a group must have room before any of it is written. A redo list is
	// stored beside the rows that it lists, so the size counts twice. The halves of
	// a group that is too large for one list are not asked again.
	if !halved && !s.hasRoom(s.entries, 2*size, fits) {
		return core.ErrNoRoom
	}
	first := records[0].Seq
	if fits {
		err := s.commit(s.entries)
		s.frameEnd = first
		return err
	}
	redo := s.entries[1:]
	if size <= maxRedoBytes {
		f, err := codec.AppendFrame(nil, records, redo)
		if err != nil {
			return err
		}
		if err := s.commit([]codec.Entry{{Key: codec.SeqKey(codec.PrefixFrame, first), Value: f}}); err != nil {
			return err
		}
		s.frameEnd = first
		return s.carryOut(records, redo)
	}
	if len(records) == 1 {
		return fmt.Errorf("record %d has %d bytes of rows in %d entries: too many to be written at once", first, size, len(redo))
	}
	half := len(records) / 2
	if err := s.write(records[:half], nil, true); err != nil {
		return err
	}
	return s.write(records[half:], rows, true)
}

// hasRoom reports whether entries, of size bytes, can be committed: the disk has
// room to spare, or the blocks of a commit in one transaction are reserved, or
// giving up the ballast makes room. The caller asks before it writes anything.
func (s *Store) hasRoom(entries []codec.Entry, size int64, oneTransaction bool) bool {
	covered := s.ahead.cover(entries) // reserves blocks while there are some
	if !s.space.tight(size) {
		return true
	}
	return covered && oneTransaction || s.space.fits(size)
}

// carryOut commits the rows of a redo list in as many transactions as it takes. Then the
// frame of the records is written anew without the list: frames are kept for ever, and the
// rows are stored. If the process ends before, the frame keeps its list, which harms nothing.
func (s *Store) carryOut(records []*core.Record, redo []codec.Entry) error {
	first := records[0].Seq
	done := codec.Seal(binary.BigEndian.AppendUint64(make([]byte, codec.SealSize), uint64(first)), 0, codec.RowVersion, []byte(codec.KeyRedone))
	f, err := codec.AppendFrame(nil, records, nil)
	if err != nil {
		return err
	}
	return s.commitAll(append(redo[:len(redo):len(redo)],
		codec.Entry{Key: []byte(codec.KeyRedone), Value: done}, codec.Entry{Key: codec.SeqKey(codec.PrefixFrame, first), Value: f}))
}
