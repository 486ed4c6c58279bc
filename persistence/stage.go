package persistence

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
)

// How an import is stored. PassOver notes a gap twice in one transaction: under g/, like
// numbers that were given up, so that the journal goes on behind it; and under u/, which
// says that things of an import stand in it. Stage writes these things under the keys at
// which they are read later. While no row of TableImport names the gap, every read leaves
// out what the gap owns. The commit of that row reveals all of it, whatever its size. A
// start finds gaps that were never revealed, and their owner deletes what is in them.
//
// Invariants:
//  1. What is staged in a gap is durable before the row that reveals the gap is committed:
//     the caller of Stage has its answer first.
//  2. A read loads the list of gaps before its transaction begins. So it never sees a part
//     of a gap that it takes for revealed.
//  3. Unstage deletes the note under u/ last. A crash before that repeats it.

// unstageBatch is how many keys one transaction of Unstage deletes.
const unstageBatch = 5_000

// importGap is a gap of an import, and whether it is still out of sight.
type importGap struct {
	core.Gap
	hidden bool
	vacant int64 // ids that no message has, of a gap that is in sight
}

// importGaps are all gaps of imports, rising. The list is never changed in place.
type importGaps []importGap

// hidesMessage reports whether a message is out of sight.
func (gs importGaps) hidesMessage(id hub.MessageID) bool {
	for i := range gs {
		if gs[i].hidden && gs[i].HasMessage(id) {
			return true
		}
	}
	return false
}

// hidesRow reports whether the row of a table is out of sight.
func (gs importGaps) hidesRow(t core.Table, key []byte) bool {
	for i := range gs {
		if gs[i].hidden && gs[i].Owns(t, key) {
			return true
		}
	}
	return false
}

// anyHidden returns the list, or nil if no gap is hidden, so that reads need not look.
func (gs importGaps) anyHidden() importGaps {
	if slices.ContainsFunc(gs, func(g importGap) bool { return g.hidden }) {
		return gs
	}
	return nil
}

func (s *Store) importGaps() importGaps {
	if gs := s.imports.Load(); gs != nil {
		return *gs
	}
	return nil
}

// loadImports reads the notes of imports at a start.
func (s *Store) loadImports() error {
	var all importGaps
	err := s.view(func(txn *badger.Txn) error {
		it := iterate(txn, []byte(codec.PrefixImport), false)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			var g codec.Gap
			if err := it.Item().Value(func(b []byte) (err error) {
				g, err = codec.DecodeGap(b)
				return err
			}); err != nil {
				return err
			}
			one, err := importNote(txn, g.AsImport())
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		return nil
	})
	if err != nil {
		return storedir.Corrupt("its note of an import fails its checks", codec.Redacted{Err: err})
	}
	s.imports.Store(&all)
	return nil
}

// importNote returns a gap as its row of TableImport says. Without one it is hidden. That a
// row is damaged is for those to say who read it.
func importNote(txn *badger.Txn, g core.Gap) (importGap, error) {
	key := codec.RowKey(core.TableImport, core.ImportKey(g.FromSeq))
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return importGap{Gap: g, hidden: true}, nil
	}
	if err != nil {
		return importGap{}, err
	}
	out := importGap{Gap: g}
	if value, err := itemRow(item, key, core.TableImport); err == nil {
		out.vacant = vacantOf(value)
	}
	return out, nil
}

// vacantOf reads how many ids of a gap no message has, from the row that reveals the gap.
func vacantOf(value []byte) int64 {
	row, err := core.DecodeImport(value)
	if err != nil {
		return 0
	}
	return row.Vacant
}

// PassOver makes durable that a gap follows the end of the journal; see core.Stager.
func (s *Store) PassOver(g core.Gap) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.ready(); err != nil {
		return err
	}
	h := s.durable
	if g.FromSeq != h.Seq+1 || g.UptoSeq < g.FromSeq || g.FromMessage != h.Message+1 || g.UptoMessage < h.Message {
		return s.fail(fmt.Errorf("the gap from record %d does not follow record %d", g.FromSeq, h.Seq))
	}
	note := codec.Gap{From: g.FromSeq, Upto: g.UptoSeq, LowMessage: h.Message, HighMessage: g.UptoMessage}
	value := codec.EncodeGap(note)
	entries := []codec.Entry{{Key: codec.SeqKey(codec.PrefixGap, g.FromSeq), Value: value}, {Key: codec.SeqKey(codec.PrefixImport, g.FromSeq), Value: value}}
	if size, fits := txnSize(entries); !s.hasRoom(entries, size, fits) {
		return core.ErrNoRoom
	}
	if err := s.commit(entries); err != nil {
		if errors.Is(err, storedir.ErrClosed) {
			return err
		}
		return s.fail(err)
	}
	given := append(slices.Clone(s.givenUp()), note)
	s.gaps.Store(&given)
	all := append(slices.Clone(s.importGaps()), importGap{Gap: g, hidden: true})
	s.imports.Store(&all)
	s.durable.Seq, s.durable.Message = g.UptoSeq, g.UptoMessage
	s.gate.publish(s.lastTS)
	s.tail.Store(uint64(g.UptoSeq))
	if err := s.writeHead(); err != nil {
		return s.fail(err)
	}
	return nil
}

// Stage makes messages and rows of a gap durable; see core.Stager.
func (s *Store) Stage(g core.Gap, messages []core.StoredMessage, rows []core.Row) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.ready(); err != nil {
		return err
	}
	if err := stageable(&g, s.importGaps(), messages, rows); err != nil {
		return err
	}
	if err := s.raise(max(s.formats.OfMessages(messages), s.formatOfFlags(messages), s.formats.OfRows(rows))); err != nil {
		return err
	}
	s.entries, s.buf = s.entries[:0], s.buf[:0]
	if len(messages) > 0 {
		if err := s.addMessages([]*core.Record{{Messages: messages}}); err != nil {
			return err
		}
	}
	for i := range rows {
		s.addRow(&rows[i])
	}
	for i := range s.entries {
		if len(s.entries[i].Value) > codec.MaxValue {
			return codec.ErrTooLarge
		}
	}
	if size, fits := txnSize(s.entries); !s.hasRoom(s.entries, size, fits) {
		return core.ErrNoRoom
	}
	err := s.commitAll(s.entries)
	if cap(s.buf) > maxKept {
		s.buf = nil
	}
	if err != nil {
		if errors.Is(err, storedir.ErrClosed) {
			return err
		}
		return s.fail(err)
	}
	s.gate.publish(s.lastTS)
	return nil
}

// stageable refuses what does not belong to a hidden gap. Nothing has been written then.
func stageable(g *core.Gap, all importGaps, messages []core.StoredMessage, rows []core.Row) error {
	if !slices.Contains(all, importGap{Gap: *g, hidden: true}) {
		return fmt.Errorf("the gap from record %d is not one of an import that is under way", g.FromSeq)
	}
	for i := range messages {
		m := &messages[i]
		if !g.HasMessage(m.ID) || i > 0 && m.ID != messages[i-1].ID+1 {
			return fmt.Errorf("message %d does not belong where it was staged", m.ID)
		}
		if !codec.Indexable(string(m.Channel)) || !codec.Indexable(string(m.Thread)) || !codec.Indexable(string(m.To)) {
			return fmt.Errorf("message %d: a name has a control character", m.ID)
		}
	}
	for i := range rows {
		if !g.Owns(rows[i].Table, rows[i].Key) {
			return fmt.Errorf("a row of table %d does not belong to the gap from record %d", rows[i].Table, g.FromSeq)
		}
	}
	return nil
}

// revealBy takes the gaps into sight that committed rows reveal.
func (s *Store) revealBy(rows []core.Row) {
	for i := range rows {
		if rows[i].Table != core.TableImport {
			continue
		}
		all := slices.Clone(s.importGaps())
		for j := range all {
			if bytes.Equal(rows[i].Key, core.ImportKey(all[j].FromSeq)) {
				all[j].hidden = false
				all[j].vacant = vacantOf(rows[i].Value)
			}
		}
		s.imports.Store(&all)
	}
}

// Staged returns the gaps that are not revealed; see core.Stager.
func (s *Store) Staged() (gaps []core.Gap) {
	for _, g := range s.importGaps() {
		if g.hidden {
			gaps = append(gaps, g.Gap)
		}
	}
	return gaps
}

// Vacant counts the ids that no message has; see core.Stager.
func (s *Store) Vacant(upto hub.MessageID) (n int64) {
	for _, g := range s.givenUp() { // gaps of imports are among them
		if g.HighMessage <= upto {
			n += int64(g.HighMessage - g.LowMessage)
		}
	}
	for _, g := range s.importGaps() {
		if !g.hidden && g.UptoMessage <= upto {
			n -= int64(g.UptoMessage-g.FromMessage) + 1 - g.vacant
		}
	}
	return n
}

// Unstage deletes all that was staged in a gap; see core.Stager.
func (s *Store) Unstage(ctx context.Context, g core.Gap) error {
	if !slices.Contains(s.importGaps(), importGap{Gap: g, hidden: true}) {
		return fmt.Errorf("the gap from record %d is not one of an import that is under way", g.FromSeq)
	}
	for _, prefix := range []string{codec.PrefixMessage, codec.PrefixChannel, codec.PrefixThread, codec.PrefixInbox, codec.PrefixRow} {
		if err := s.deleteOwned(ctx, g, []byte(prefix)); err != nil {
			return err
		}
	}
	if err := s.deleteKeys([][]byte{codec.SeqKey(codec.PrefixImport, g.FromSeq)}); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	all := slices.DeleteFunc(slices.Clone(s.importGaps()), func(x importGap) bool { return x.Gap == g })
	s.imports.Store(&all)
	return nil
}

// deleteOwned deletes the keys with a prefix that a gap owns. It looks at keys alone.
func (s *Store) deleteOwned(ctx context.Context, g core.Gap, prefix []byte) error {
	from := prefix
	for from != nil {
		var keys [][]byte
		start := from
		from = nil
		err := s.view(func(txn *badger.Txn) error {
			it := iterate(txn, prefix, false)
			defer it.Close()
			for it.Seek(start); it.ValidForPrefix(prefix); it.Next() {
				if key := it.Item().Key(); ownsKey(&g, key) {
					if len(keys) == unstageBatch {
						from = it.Item().KeyCopy(nil)
						return nil
					}
					keys = append(keys, it.Item().KeyCopy(nil))
				}
			}
			return nil
		})
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = s.deleteKeys(keys)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ownsKey reports whether a key of the store belongs to a gap.
func ownsKey(g *core.Gap, key []byte) bool {
	if rest, ok := bytes.CutPrefix(key, []byte(codec.PrefixRow)); ok {
		return len(rest) > 2 && g.Owns(core.Table(rest[0]), rest[2:])
	}
	return len(key) >= 8 && g.HasMessage(hub.MessageID(binary.BigEndian.Uint64(key[len(key)-8:])))
}

func (s *Store) deleteKeys(keys [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.ready(); err != nil {
		return err
	}
	s.entries = s.entries[:0]
	for _, key := range keys {
		s.entries = append(s.entries, codec.Entry{Key: key})
	}
	if size, fits := txnSize(s.entries); !s.hasRoom(s.entries, size, fits) {
		return core.ErrNoRoom
	}
	err := s.commitAll(s.entries)
	if err != nil && !errors.Is(err, storedir.ErrClosed) {
		return s.fail(err)
	}
	s.gate.publish(s.lastTS)
	return err
}
