package persistence

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
)

const (
	headSyncEvery = time.Second // HEAD may be that far behind on the disk
	discardEvery  = 256         // commits between two looks at what nobody reads
	trimBatch     = 1000        // frames deleted by one transaction
	maxRedoBytes  = 40 << 20    // of a redo list; it is one value
	maxKept       = 4 << 20     // of the buffer that is kept for the next group
)

// Head is the end of the journal as it was found when the store was opened.
func (s *Store) Head() core.Head { return s.opened }

// Append makes a group durable, as a whole or not at all. Only one goroutine may
// append. After core.ErrNoRoom nothing of the group has been written, and the next
// Append may try again. Any other error but ErrClosed is final: see Failed.
func (s *Store) Append(g *core.Group) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.Err(); err != nil {
		return err
	}
	if len(g.Records) == 0 {
		return s.putRows(g.Rows)
	}
	end, err := s.checkGroup(g)
	if err != nil {
		return s.fail(err)
	}
	err = s.write(g.Records, g.Rows, false)
	if cap(s.buf) > maxKept {
		s.buf = nil
	}
	switch {
	case errors.Is(err, ErrClosed), errors.Is(err, core.ErrNoRoom):
		return err
	case err != nil:
		return s.fail(err)
	}
	s.durable = end
	s.gate.publish(s.lastTS) // first: who reads up to tail must find it
	s.tail.Store(uint64(end.Seq))
	if err := s.writeHead(); err != nil {
		return s.fail(err)
	}
	return nil
}

// PutRows makes rows durable that belong to no record. It may be called beside
// Append. After core.ErrNoRoom none has been written.
func (s *Store) PutRows(rows []core.Row) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.Err(); err != nil {
		return err
	}
	return s.putRows(rows)
}

func (s *Store) putRows(rows []core.Row) error {
	s.entries = s.entries[:0]
	for i := range rows {
		s.addRow(&rows[i])
	}
	if size, fits := txnSize(s.entries); !s.hasRoom(s.entries, size, fits) {
		return core.ErrNoRoom
	}
	err := s.commitAll(s.entries)
	if err != nil && !errors.Is(err, ErrClosed) {
		return s.fail(err)
	}
	s.gate.publish(s.lastTS)
	return err
}

// checkGroup refuses a group that does not follow what is stored; nothing has
// been written then. It returns the head after the group.
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
			if !indexable(string(m.Channel)) || !indexable(string(m.Thread)) || !indexable(string(m.To)) {
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

// write commits records, and rows with the last of them: in one transaction if
// they fit, else with a redo list, else in halves.
func (s *Store) write(records []*core.Record, rows []core.Row, halved bool) error {
	if err := s.encodeGroup(records, rows); err != nil {
		return err
	}
	size, fits := txnSize(s.entries)
	// Nothing of a group has been written before all of it has room. A redo list
	// stands beside the rows that it lists, hence twice. The halves of a group that
	// is too large for one are not asked again.
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
		f, err := appendFrame(nil, records, redo)
		if err != nil {
			return err
		}
		if err := s.commit([]entry{{key: seqKey(prefixFrame, first), value: f}}); err != nil {
			return err
		}
		s.frameEnd = first
		return s.carryOut(first, redo)
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

// hasRoom makes sure that entries, of size bytes, can be committed: the disk has
// room to spare, or the blocks of a commit in one transaction are reserved, or the
// ballast makes room. It is asked before anything is written.
func (s *Store) hasRoom(entries []entry, size int64, oneTransaction bool) bool {
	covered := s.ahead.cover(entries) // reserves blocks while there are some
	if !s.space.tight(size) {
		return true
	}
	return covered && oneTransaction || s.space.fits(size)
}

// carryOut commits the rows of a redo list in as many transactions as it takes.
func (s *Store) carryOut(first hub.Seq, redo []entry) error {
	done := seal(binary.BigEndian.AppendUint64(make([]byte, sealSize), uint64(first)), 0, rowVersion, []byte(keyRedone))
	return s.commitAll(append(redo[:len(redo):len(redo)], entry{key: []byte(keyRedone), value: done}))
}

// encodeGroup fills entries with the frame of records, first, and all rows.
func (s *Store) encodeGroup(records []*core.Record, rows []core.Row) error {
	s.entries = append(s.entries[:0], entry{key: seqKey(prefixFrame, records[0].Seq)})
	var err error
	if s.buf, err = appendFrame(slices.Grow(s.buf[:0], encodedSize(records)), records, nil); err != nil {
		return err
	}
	s.entries[0].value = s.buf[:len(s.buf):len(s.buf)]
	if err := s.addMessages(records); err != nil {
		return err
	}
	for _, r := range records {
		for i := range r.Rows {
			s.addRow(&r.Rows[i])
		}
		if r.Effect != nil {
			s.entries = append(s.entries, entry{
				key: effectKey(r.Effect.Scope), value: encodeEffect(r.Effect),
				expires: uint64(time.Now().Add(hub.IdempotencyKept).Unix()),
			})
		}
	}
	for i := range rows {
		s.addRow(&rows[i])
	}
	for i := range s.entries {
		if len(s.entries[i].value) > maxValue {
			return errTooLarge
		}
	}
	return nil
}

// encodedSize is about what encodeGroup appends to buf.
func encodedSize(records []*core.Record) (n int) {
	for _, r := range records {
		n += 128 + len(r.Owner.Name)
		for i := range r.Facts {
			n += 6 + len(r.Facts[i].Data)
		}
		for i := range r.Messages {
			n += 256 + len(r.Messages[i].JSON)
		}
	}
	return n
}

// addMessages adds the blocks of all messages, and the index entries that find
// them by scope.
func (s *Store) addMessages(records []*core.Record) error {
	s.index.reset()
	k := &s.block
	k.ends, k.body = k.ends[:0], k.body[:0]
	for _, r := range records {
		for i := range r.Messages {
			m := &r.Messages[i]
			if len(k.ends) == 0 {
				k.first = m.ID
			}
			var err error
			if k.body, err = appendMessage(k.body, m); err != nil {
				return err
			}
			k.ends = append(k.ends, uint32(len(k.body)))
			if len(k.body) >= maxBlock {
				s.addBlock()
			}
			if m.To == "" {
				s.index.add(prefixChannel, string(m.Channel), m.ID)
			} else {
				s.index.add(prefixInbox, string(m.To), m.ID)
			}
			if m.Thread != "" {
				s.index.add(prefixThread, string(m.Thread), m.ID)
			}
		}
	}
	s.addBlock()
	for i := range s.index.lists {
		s.entries = append(s.entries, s.index.lists[i].entry())
	}
	return nil
}

// addBlock adds the block that has been collected, if it holds anything.
func (s *Store) addBlock() {
	k := &s.block
	if len(k.ends) == 0 {
		return
	}
	start := len(s.buf)
	s.buf = k.seal(s.buf)
	s.entries = append(s.entries, entry{key: messageKey(k.first), value: s.buf[start:len(s.buf):len(s.buf)]})
	k.ends, k.body = k.ends[:0], k.body[:0]
	if cap(k.body) > maxKept {
		k.body = nil
	}
}

func (s *Store) addRow(r *core.Row) {
	key := rowKey(r.Table, r.Key)
	s.entries = append(s.entries, entry{key: key, value: encodeRow(key, r.Value)})
}

// cost is what Badger counts of an entry against the limit of a transaction.
func (e *entry) cost() int64 {
	if len(e.value) < valueThreshold {
		return int64(len(e.key) + len(e.value) + 12)
	}
	return int64(len(e.key) + 24)
}

// txnSize returns the bytes of entries and whether they fit one transaction.
func txnSize(entries []entry) (size int64, fits bool) {
	var cost int64
	for i := range entries {
		cost += entries[i].cost()
		size += int64(len(entries[i].key) + len(entries[i].value) + 32)
	}
	return size, len(entries) < maxTxnEntries && cost < maxTxnBytes
}

// commitAll commits entries in order, in as few transactions as they fit.
func (s *Store) commitAll(entries []entry) error {
	for len(entries) > 0 {
		n, cost := 0, int64(0)
		for n < len(entries) && n < maxTxnEntries-1 {
			if cost += entries[n].cost(); cost >= maxTxnBytes && n > 0 {
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

// commit makes entries durable in one transaction; a nil value under a frame's
// key deletes it. The caller publishes. writing is held, or nobody else has the
// store yet. What entries hold is free again when it returns.
func (s *Store) commit(entries []entry) error {
	gen, _, err := s.gate.enter()
	if err != nil {
		return err
	}
	defer s.gate.leave(gen)
	if err := s.badger.failure(); err != nil {
		return err
	}
	txn := s.db.NewTransactionAt(s.lastTS, true)
	defer txn.Discard()
	var size int64
	for _, e := range entries {
		if e.value == nil && bytes.HasPrefix(e.key, []byte(prefixFrame)) {
			err = txn.Delete(e.key)
		} else {
			err = txn.SetEntry(&badger.Entry{Key: e.key, Value: e.value, ExpiresAt: e.expires})
		}
		if err != nil {
			return err
		}
		size += int64(len(e.key) + len(e.value))
	}
	begin := time.Now()
	err = txn.CommitAt(s.lastTS+1, nil)
	s.synced.Store(int64(max(time.Since(begin), 1)))
	// Badger logs a failed sync of the value log and returns nil.
	if err = errors.Join(err, s.badger.failure()); err != nil {
		return err
	}
	s.lastTS++
	s.space.written.Add(size)
	s.ahead.wrote(entries)
	if s.commits++; s.commits%discardEvery == 0 {
		if ts, ok := s.gate.unread(); ok {
			s.db.SetDiscardTs(ts)
		}
	}
	return nil
}

// mark is what HEAD says now.
func (s *Store) mark(clean bool) mark {
	return mark{Head: s.durable, lastFrame: s.frameEnd, clean: clean}
}

// writeHead writes HEAD after a commit. It is synced within headSyncEvery, or at
// once where that is what makes the commit durable.
func (s *Store) writeHead() error {
	s.heading.Lock()
	defer s.heading.Unlock()
	if err := s.head.write(s.mark(false)); err != nil {
		return err
	}
	if syncEveryCommit {
		return s.head.sync()
	}
	if s.headTimer == nil {
		s.headTimer = time.AfterFunc(headSyncEvery, s.syncHead)
	}
	return nil
}

// syncHead runs a second after the first write that is not synced. Commits go on
// meanwhile.
func (s *Store) syncHead() {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	s.heading.Lock()
	if s.headTimer == nil {
		s.heading.Unlock()
		return // stopped
	}
	s.headTimer = nil
	s.head.dirty = false
	s.heading.Unlock()
	if err := s.head.f.Sync(); err != nil {
		_ = s.fail(fmt.Errorf("syncing HEAD: %w", err))
	}
}

func (s *Store) stopHeadTimer() {
	s.heading.Lock()
	if s.headTimer != nil {
		s.headTimer.Stop()
		s.headTimer = nil
	}
	s.heading.Unlock()
	s.syncing.Lock() // waits for a run that has begun
	defer s.syncing.Unlock()
}

// Records calls fn for every record above seq, in order. The records and their
// facts belong to fn.
func (s *Store) Records(seq hub.Seq, fn func(*core.Record) error) error {
	tail := hub.Seq(s.tail.Load()) // before the snapshot, which reaches at least there
	return s.view(func(txn *badger.Txn) error {
		want := s.skipGaps(seq + 1)
		it := iterate(txn, []byte(prefixFrame), false)
		defer it.Close()
		for it.Seek(seqKey(prefixFrame, s.frameOf(txn, want))); it.Valid(); it.Next() {
			f, err := readFrame(it.Item())
			if err != nil {
				return corruptRecord("a record", map[string]any{"after_seq": want - 1})
			}
			for _, r := range f.records {
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
	it := iterate(txn, []byte(prefixFrame), true)
	defer it.Close()
	if it.Seek(seqKey(prefixFrame, seq)); it.ValidForPrefix([]byte(prefixFrame)) {
		if n, ok := keyNumber(it.Item().Key()); ok {
			return hub.Seq(n)
		}
	}
	return seq
}

// skipGaps returns the first number from seq on that was not given up.
func (s *Store) skipGaps(seq hub.Seq) hub.Seq {
	for _, g := range s.gaps {
		if seq >= g.from && seq <= g.upto {
			seq = g.upto + 1
		}
	}
	return seq
}

// readFrame decodes a frame on a copy of its bytes and compares it with its key.
func readFrame(item *badger.Item) (*frame, error) {
	b, err := item.ValueCopy(nil)
	if err != nil {
		return nil, redacted{err}
	}
	f, err := decodeFrame(b)
	if err != nil {
		return nil, err
	}
	if n, ok := keyNumber(item.Key()); !ok || hub.Seq(n) != f.first() {
		return nil, errDamaged
	}
	return f, nil
}
