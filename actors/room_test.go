package actors

import (
	"encoding/json"
	"slices"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// Seats are found by room and by agent; what was moved away is in neither.
func TestStoredSeats(t *testing.T) {
	store := newMemStore()
	r := start(t, store)
	put := func(seat hub.SeatID, room hub.RoomID, agent hub.AgentID, gone bool) {
		value, by := []byte(nil), []byte(nil)
		if !gone {
			value, _ = json.Marshal(core.StoredSeat{SeatID: seat, RoomID: room, AgentID: agent})
			by = []byte(room)
		}
		err := store.PutRows([]core.Row{
			{Table: core.TableSeat, Key: core.SeatKey(room, agent), Value: value},
			{Table: core.TableSeatByAgent, Key: core.SeatByAgentKey(agent, seat), Value: by},
		})
		require.NoError(t, err)
	}
	put("seat_z", "r_1", "ann", false)
	put("seat_10", "r_2", "ann", false) // a later number, though its text sorts earlier
	put("seat_11", "r_3", "ann", true)
	put("seat_12", "r_1", "anna", false)
	put("seat_13", "r_10", "bob", false)

	if rooms, err := r.view.RoomsOf("ann"); err != nil || !slices.Equal(rooms, []hub.RoomID{"r_2", "r_1"}) {
		t.Errorf("roomsOf(ann) = %v, %v", rooms, err)
	}
	var agents []hub.AgentID
	seats, err := r.view.SeatsOf("r_1")
	for _, s := range seats {
		agents = append(agents, s.AgentID)
	}
	if err != nil || !slices.Equal(agents, []hub.AgentID{"ann", "anna"}) {
		t.Errorf("seatsOf(r_1) = %v, %v", agents, err)
	}
	if seats, err := r.view.SeatsOf("r_3"); err != nil || len(seats) != 0 {
		t.Errorf("seatsOf(r_3) = %v, %v, want none", seats, err)
	}
}
