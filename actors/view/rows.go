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

// SeatsOf lists the seats of a room by agent id.
func (v *View) SeatsOf(room hub.RoomID) (seats []core.StoredSeat, err error) {
	err = ReadRows(v.rows, core.TableSeat, core.SeatKey(room, ""), nil, false, func(_ []byte, s core.StoredSeat) bool {
		seats = append(seats, s)
		return true
	})
	return seats, err
}

// SeatOf returns an agent's seat in a room. ErrNotFound.
func (v *View) SeatOf(room hub.RoomID, agent hub.AgentID) (seat core.StoredSeat, err error) {
	value, err := v.rows.Row(core.TableSeat, core.SeatKey(room, agent))
	switch {
	case err != nil:
		return seat, err
	case len(value) == 0:
		return seat, core.ErrNotFound
	}
	return DecodeRow[core.StoredSeat](core.TableSeat, value)
}

// RoomsOf lists the rooms that the agent has a seat in, the latest joined first.
func (v *View) RoomsOf(agent hub.AgentID) (rooms []hub.RoomID, err error) {
	err = v.rows.RowsOf(core.TableSeatByAgent, core.SeatByAgentKey(agent, ""), true, func(_, room []byte) bool {
		if len(room) > 0 {
			rooms = append(rooms, hub.RoomID(room))
		}
		return true
	})
	return rooms, err
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

// AgentRow returns what is stored of an agent, or nil.
func (v *View) AgentRow(id hub.AgentID) (*core.AgentRow, error) {
	value, err := v.rows.Row(core.TableAgent, []byte(id))
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var row core.AgentRow
	if json.Unmarshal(value, &row) != nil {
		return nil, hub.Errorf(hub.CodeCorruptRecord, "the stored row of agent %s cannot be read", id)
	}
	return &row, nil
}

// ChannelRow returns the row of a channel, or nil. The two that always exist and
// those of rooms are not stored.
func (v *View) ChannelRow(name hub.ChannelName) (*hub.Channel, error) {
	if name == hub.DefaultChannel || name == hub.DirectChannel {
		row := BuiltinChannel(name)
		return &row, nil
	}
	if id, ok := name.Room(); ok {
		room, err := v.Room(id)
		if err != nil {
			return nil, nil //nolint:nilerr // no room, no channel: only rooms own names of this form
		}
		row := RoomChannel(&room)
		return &row, nil
	}
	value, err := v.rows.Row(core.TableChannel, []byte(name))
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var row hub.Channel
	if json.Unmarshal(value, &row) != nil {
		return nil, hub.Errorf(hub.CodeCorruptRecord, "the stored row of channel %s cannot be read", name)
	}
	return &row, nil
}

// BuiltinChannel is the row of a channel that every hub has.
func BuiltinChannel(name hub.ChannelName) hub.Channel {
	return hub.Channel{Name: name, CreatedBy: hub.AgentSystem, Metadata: json.RawMessage("{}")}
}

// RoomChannel is the row of the channel that a room owns.
func RoomChannel(r *hub.Room) hub.Channel {
	row := BuiltinChannel(r.Channel)
	row.CreatedAt, row.CreatedBy, row.RoomID = r.CreatedAt, r.CreatedBy, &r.RoomID
	return row
}

// StoredTask returns a task as it is stored. ErrNotFound.
func (v *View) StoredTask(id hub.TaskID) (core.StoredTask, error) {
	return StoredRow[core.StoredTask](v.rows, core.TableTask, core.IDKey(id))
}

// StoredRun returns a run as it is stored. ErrNotFound.
func (v *View) StoredRun(id hub.RunID) (core.StoredRun, error) {
	seq, ok := core.SeqOf(core.PrefixRun, string(id))
	if !ok {
		return core.StoredRun{}, core.ErrNotFound
	}
	return StoredRow[core.StoredRun](v.rows, core.TableRun, core.SeqKey(seq))
}

// Run returns a run, live or not. run_not_found.
func (v *View) Run(id hub.RunID) (core.StoredRun, error) {
	if run, live := v.Runs.get(id); live {
		return run, nil
	}
	run, err := v.StoredRun(id)
	if errors.Is(err, core.ErrNotFound) {
		return run, hub.Errorf(hub.CodeRunNotFound, "there is no run %s", id).With("run_id", id).
			WithFix("list the runs with GET /v1/runs")
	}
	return run, err
}

// AnyTask returns a task, live or not. ErrNotFound.
func (v *View) AnyTask(id hub.TaskID) (core.StoredTask, error) {
	if t, live := v.Tasks.Get(id); live {
		return t, nil
	}
	return v.StoredTask(id)
}

// DecodeLease decodes a stored lease. The error is a *hub.Error.
func DecodeLease(value []byte) (core.Lease, error) {
	l, err := core.DecodeLease(value)
	if err != nil {
		return l, hub.NewError(hub.CodeCorruptRecord, "a stored lease cannot be read")
	}
	return l, nil
}

// SeatsIn returns who has a seat in a room. room_not_found.
func (v *View) SeatsIn(room hub.RoomID) (map[hub.AgentID]bool, error) {
	if _, err := v.Room(room); err != nil {
		return nil, err
	}
	stored, err := v.SeatsOf(room)
	seats := make(map[hub.AgentID]bool, len(stored))
	for i := range stored {
		seats[stored[i].AgentID] = true
	}
	return seats, err
}

// Memory returns a memory as it is now. ErrNotFound.
func (v *View) Memory(seq hub.Seq) (core.StoredMemory, error) {
	row, err := StoredRow[core.StoredMemory](v.rows, core.TableMemory, core.SeqKey(seq))
	if err != nil {
		return row, err
	}
	value, err := v.rows.Row(core.TableMemoryBy, core.MemoryByKey(row.Of(), seq))
	if err != nil || len(value) == 0 {
		return row, err
	}
	var end core.MemoryEnd
	if json.Unmarshal(value, &end) != nil {
		return row, hub.Errorf(hub.CodeCorruptRecord, "the end of memory %s cannot be read", row.MemoryID)
	}
	row.ReplacedAt = &end.At
	return row, nil
}
