package actors

import (
	"encoding/json"
	"errors"

	"hubcli/actors/core"
	"hubcli/hub"
)

// loadRoom makes the state of a room's owner from its stored rows.
func (h *Hub) loadRoom(id hub.RoomID) (*core.Room, error) {
	r := core.NewRoom(id)
	all := core.OwnedKey(id, nil)
	seats, err := h.seatsOf(id)
	if err != nil {
		return nil, err
	}
	for _, s := range seats {
		r.RestoreSeat(s)
	}
	active, err := storedRow[[]hub.InviteID](h, core.TableInvitesActive, []byte(id))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	for _, invite := range active {
		i, err := storedRow[core.StoredInvite](h, core.TableInvite, core.InviteKey(id, invite))
		if err != nil {
			return nil, err
		}
		r.RestoreInvite(i)
	}
	err = readRows(h, core.TableArtifactTitle, all, nil, false, func(key []byte, latest core.LatestArtifact) bool {
		r.RestoreTitle(string(key[len(all):]), latest.Version)
		return true
	})
	return r, err
}

// seatsOf lists the seats of a room by agent id.
func (h *Hub) seatsOf(room hub.RoomID) (seats []core.StoredSeat, err error) {
	err = readRows(h, core.TableSeat, core.SeatKey(room, ""), nil, false, func(_ []byte, s core.StoredSeat) bool {
		seats = append(seats, s)
		return true
	})
	return seats, err
}

// seatOf returns an agent's seat in a room. ErrNotFound.
func (h *Hub) seatOf(room hub.RoomID, agent hub.AgentID) (seat core.StoredSeat, err error) {
	value, err := h.rows.Row(core.TableSeat, core.SeatKey(room, agent))
	switch {
	case err != nil:
		return seat, err
	case len(value) == 0:
		return seat, core.ErrNotFound
	}
	return decodeRow[core.StoredSeat](core.TableSeat, value)
}

// roomsOf lists the rooms that the agent has a seat in, the latest joined first.
func (h *Hub) roomsOf(agent hub.AgentID) (rooms []hub.RoomID, err error) {
	err = h.rows.RowsOf(core.TableSeatByAgent, core.SeatByAgentKey(agent, ""), true, func(_, room []byte) bool {
		if len(room) > 0 {
			rooms = append(rooms, hub.RoomID(room))
		}
		return true
	})
	return rooms, err
}

// readRows calls fn with the rows of a table whose key begins with prefix, in
// key order (falling if backward), from the first behind a key on, until fn returns
// false; nil is the beginning. Rows without a value are left out. corrupt_record.
func readRows[T any](h *Hub, t core.Table, prefix, behind []byte, backward bool, fn func(key []byte, row T) bool) error {
	var bad error
	err := h.rows.RowsBehind(t, prefix, behind, backward, func(key, value []byte) bool {
		if len(value) == 0 {
			return true
		}
		var row T
		if row, bad = decodeRow[T](t, value); bad != nil {
			return false
		}
		return fn(key, row)
	})
	return errors.Join(err, bad)
}

// storedRow returns the row of a table under key. ErrNotFound, corrupt_record.
func storedRow[T any](h *Hub, t core.Table, key []byte) (row T, err error) {
	value, err := h.rows.Row(t, key)
	if err != nil {
		return row, err
	}
	return decodeRow[T](t, value)
}

func decodeRow[T any](t core.Table, value []byte) (row T, err error) {
	if json.Unmarshal(value, &row) != nil {
		return row, hub.NewError(hub.CodeCorruptRecord, "a stored row cannot be read").With("table", t)
	}
	return row, nil
}
