package view

import (
	"encoding/json"
	"errors"
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
)

// ReadRows calls fn with the rows of a table whose key begins with prefix, in
// key order (falling if backward), from the first behind a key on, until fn returns
// false; nil is the beginning. Rows without a value are left out. corrupt_record.
func ReadRows[T any](rows core.Rows, t core.Table, prefix, behind []byte, backward bool, fn func(key []byte, row T) bool) error {
	var bad error
	err := rows.RowsBehind(t, prefix, behind, backward, func(key, value []byte) bool {
		if len(value) == 0 {
			return true
		}
		var row T
		if row, bad = DecodeRow[T](t, value); bad != nil {
			return false
		}
		return fn(key, row)
	})
	return errors.Join(err, bad)
}

// StoredRow returns the row of a table under key. ErrNotFound, corrupt_record.
func StoredRow[T any](rows core.Rows, t core.Table, key []byte) (row T, err error) {
	value, err := rows.Row(t, key)
	if err != nil {
		return row, err
	}
	return DecodeRow[T](t, value)
}

// DecodeRow decodes a stored row of a table. The error is a *hub.Error.
func DecodeRow[T any](t core.Table, value []byte) (row T, err error) {
	if json.Unmarshal(value, &row) != nil {
		return row, hub.NewError(hub.CodeCorruptRecord, "a stored row cannot be read").With("table", t)
	}
	return row, nil
}

// LatestRows calls fn with the rows of a table by sequence number, latest first
// from the one before before on, those of one room if room is not empty, until fn
// returns false.
func LatestRows[T any](rows core.Rows, table, byRoom core.Table, room hub.RoomID, before hub.Seq, fn func(T) bool) error {
	index, prefix := table, []byte(nil)
	if room != "" {
		index, prefix = byRoom, core.OwnedKey(room, nil)
	}
	var bad error
	behind := append(slices.Clip(prefix), core.SeqKey(before)...)
	err := rows.RowsBehind(index, prefix, behind, true, func(key, value []byte) bool {
		seq := hub.Seq(core.KeyEnd(key))
		var row T
		if room == "" {
			row, bad = DecodeRow[T](table, value)
		} else {
			row, bad = StoredRow[T](rows, table, core.SeqKey(seq))
		}
		return bad == nil && fn(row)
	})
	return errors.Join(err, bad)
}

// SeqOf is the number in an id that the hub has made.
func SeqOf[ID ~string](prefix string, id ID) hub.Seq {
	seq, _ := core.SeqOf(prefix, string(id))
	return seq
}

// IDKey is the place of a thing in a list by its number.
func IDKey[ID ~string](prefix string, id ID) []byte { return core.SeqKey(SeqOf(prefix, id)) }

// BuiltinChannel is the row of a channel that every hub has.
func BuiltinChannel(name hub.ChannelName) hub.Channel {
	return hub.Channel{Name: name, CreatedBy: hub.AgentSystem, Metadata: json.RawMessage("{}")}
}

// RoomChannel is the row of the channel that a room owns.
func RoomChannel(r *hub.Room) hub.Channel {
	row := BuiltinChannel(r.Channel)
	row.CreatedAt, row.CreatedBy, row.RoomID, row.Archived = r.CreatedAt, r.CreatedBy, &r.RoomID, r.Archived
	return row
}

// DecodeLease decodes a stored lease. The error is a *hub.Error.
func DecodeLease(value []byte) (core.Lease, error) {
	l, err := core.DecodeLease(value)
	if err != nil {
		return l, hub.NewError(hub.CodeCorruptRecord, "a stored lease cannot be read")
	}
	return l, nil
}
