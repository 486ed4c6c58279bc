package view

import (
	"encoding/json"
	"errors"

	"hubcli/actors/core"
	"hubcli/hub"
)

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

// RoomWithin returns the room that an agent joined last or, if it has joined none, the one
// in which it began to act last; empty: there is none. No list of an agent holds the
// seats of the latter kind, so it looks into each room.
func (v *View) RoomWithin(agent hub.AgentID) (latest hub.RoomID, err error) {
	joined, err := v.RoomsOf(agent)
	if err != nil || len(joined) > 0 {
		return append(joined, "")[0], err
	}
	var rooms []hub.RoomID
	v.Places.Rooms("", func(r *hub.Room) { rooms = append(rooms, r.RoomID) })
	since := hub.Time(-1)
	for _, room := range rooms {
		seat, err := v.SeatOf(room, agent)
		switch {
		case errors.Is(err, core.ErrNotFound):
		case err != nil:
			return "", err
		case seat.JoinedAt > since:
			latest, since = room, seat.JoinedAt
		}
	}
	return latest, nil
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

// AgentRow returns what is stored of an agent that has registered, or nil.
func (v *View) AgentRow(id hub.AgentID) (*core.AgentRow, error) {
	row, err := v.AgentState(id)
	if row != nil && row.Session.Incarnation == 0 {
		return nil, err // all that is known is that it was retired
	}
	return row, err
}

// AgentState returns what is stored of an agent, or nil.
func (v *View) AgentState(id hub.AgentID) (*core.AgentRow, error) {
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

// maxSuccessors bounds how many successors of successors are followed.
const maxSuccessors = 8

// Successor returns the agent that reads messages to id: id itself, or, if its
// agent has gone on under another id and nobody has begun a session as id since,
// that one. Where successors form a ring or a longer chain, it is id itself.
func (v *View) Successor(id hub.AgentID) (hub.AgentID, error) {
	at := id
	for range maxSuccessors {
		if _, _, live := v.Directory.Session(at); live || at == "" || at.Reserved() {
			return at, nil
		}
		row, err := v.AgentRow(at)
		if err != nil || row == nil || row.Successor == "" {
			return at, err
		}
		at = row.Successor
	}
	return id, nil
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
	if errors.Is(err, core.ErrNotFound) || err == nil && len(value) == 0 { // empty: it was deleted
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

// StoredTask returns a task as it is stored. ErrNotFound.
func (v *View) StoredTask(id hub.TaskID) (core.StoredTask, error) {
	return StoredRow[core.StoredTask](v.rows, core.TableTask, core.IDKey(id))
}

// AnyTask returns a task, live or not. ErrNotFound.
func (v *View) AnyTask(id hub.TaskID) (core.StoredTask, error) {
	if t, live := v.Tasks.Get(id); live {
		return t, nil
	}
	return v.StoredTask(id)
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
		return run, hub.Errorf(hub.CodeRunNotFound, "there is no run %s", id).With("run_id", id)
	}
	return run, err
}

// StoredRuns reads the first limit runs of a room, or of all if room is empty,
// that were made before a record, newest first.
func (v *View) StoredRuns(room hub.RoomID, before hub.Seq, limit int, keep func(*core.StoredRun) bool) (out []core.StoredRun, err error) {
	err = LatestRows(v.rows, core.TableRun, core.TableRunByRoom, room, before, func(run core.StoredRun) bool {
		if keep(&run) {
			out = append(out, run)
		}
		return len(out) < limit
	})
	return out, err
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

// EachMemoryEnd calls fn for each memory of a room or project, the earliest first, with its
// end; nil if it is current.
func EachMemoryEnd(rows core.Rows, of string, fn func(seq hub.Seq, end *core.MemoryEnd) error) error {
	var bad error
	err := rows.RowsOf(core.TableMemoryBy, core.MemoryByKey(of, 0), false, func(key, value []byte) bool {
		var end *core.MemoryEnd
		if len(value) > 0 {
			var row core.MemoryEnd
			if row, bad = DecodeRow[core.MemoryEnd](core.TableMemoryBy, value); bad != nil {
				return false
			}
			end = &row
		}
		bad = fn(hub.Seq(core.KeyEnd(key)), end)
		return bad == nil
	})
	return errors.Join(err, bad)
}

// ThreadChannel returns the channel of a thread's public messages, or "" if it has
// none or cannot be read.
func (v *View) ThreadChannel(thread hub.ThreadID) hub.ChannelName {
	part, err := readThreadPart(v.rows, core.TableThread, []byte(thread))
	if err != nil {
		return ""
	}
	return part.Channel
}
