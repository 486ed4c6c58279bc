package persistence

import (
	"slices"
	"time"

	"hubcli/persistence/codec"

	"hubcli/actors/core"
	"hubcli/hub"
)

// maxKept is how much of a buffer, in bytes, is kept for the next group.
const maxKept = 4 << 20

// encodeGroup fills entries with the frame of records, first, and all rows.
func (s *Store) encodeGroup(records []*core.Record, rows []core.Row) error {
	s.entries = append(s.entries[:0], codec.Entry{Key: codec.SeqKey(codec.PrefixFrame, records[0].Seq)})
	var err error
	if s.buf, err = codec.AppendFrame(slices.Grow(s.buf[:0], encodedSize(records)), records, nil); err != nil {
		return err
	}
	s.entries[0].Value = s.buf[:len(s.buf):len(s.buf)]
	if err := s.addMessages(records); err != nil {
		return err
	}
	for _, r := range records {
		for i := range r.Rows {
			s.addRow(&r.Rows[i])
		}
		if r.Effect != nil {
			s.entries = append(s.entries, codec.Entry{
				Key: codec.EffectKey(r.Effect.Scope), Value: codec.EncodeEffect(r.Effect),
				Expires: uint64(time.Now().Add(hub.IdempotencyKept).Unix()),
			})
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
	s.index.Reset()
	k := &s.block
	k.Ends, k.Body = k.Ends[:0], k.Body[:0]
	for _, r := range records {
		for i := range r.Messages {
			m := &r.Messages[i]
			if len(k.Ends) == 0 {
				k.First = m.ID
			}
			var err error
			if k.Body, err = codec.AppendMessage(k.Body, m); err != nil {
				return err
			}
			k.Ends = append(k.Ends, uint32(len(k.Body)))
			if len(k.Body) >= codec.MaxBlock {
				s.addBlock()
			}
			s.index.AddMessage(m)
		}
	}
	s.addBlock()
	for i := range s.index.Lists {
		s.entries = append(s.entries, s.index.Lists[i].Entry())
	}
	return nil
}

// addBlock adds the block that has been collected, if it holds anything.
func (s *Store) addBlock() {
	k := &s.block
	if len(k.Ends) == 0 {
		return
	}
	start := len(s.buf)
	s.buf = k.Seal(s.buf)
	s.entries = append(s.entries, codec.Entry{Key: codec.MessageKey(k.First), Value: s.buf[start:len(s.buf):len(s.buf)]})
	k.Ends, k.Body = k.Ends[:0], k.Body[:0]
	if cap(k.Body) > maxKept {
		k.Body = nil
	}
}

func (s *Store) addRow(r *core.Row) {
	key := codec.RowKey(r.Table, r.Key)
	s.entries = append(s.entries, codec.Entry{Key: key, Value: codec.EncodeRow(key, r.Value)})
}
