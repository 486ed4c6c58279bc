package persistence

import (
	"slices"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// maxKept is how much of a buffer, in bytes, is kept for the next group.
const maxKept = 4 << 20

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
			s.index.addMessage(m)
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
