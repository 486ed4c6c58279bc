package actors

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestRepeatedRetirementSparesWhoIsBack: a retirement that is sent again is answered as before, and
// takes nothing from an agent that has come back since.
func TestRepeatedRetirementSparesWhoIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		r.ghost()
		time.Sleep(time.Hour)
		ctx, in := withKey(asOperator(t.Context()), "k", "b"), hub.RetireInput{Reason: "long gone"}
		first, err := r.Retire(ctx, "ann", in)
		require.NoError(t, err)
		r.Touch("ann", false)
		r.claim("ann", "new", 7200)
		again, err := r.Retire(ctx, "ann", in)
		if err != nil || !again.Replayed || !reflect.DeepEqual(again.Row, first.Row) {
			t.Errorf("again: %+v, %v, first %+v", again, err, first.Row)
		}
		if got := r.has(); got != "0 0 0 1 0 true" {
			t.Errorf("it has %s, and its new claim was to stay", got)
		}
		r.stop()
	})
}

// TestRepeatedAcceptAfterTheSeatWasFreed: an accept that is sent again gets the seat that it was
// answered with, also if the room has freed that since.
func TestRepeatedAcceptAfterTheSeatWasFreed(t *testing.T) {
	r := start(t, newMemStore())
	room, invite := r.hall(2, 60, "guest")
	ctx := withKey(t.Context(), "k", "b")
	first, err := r.AcceptInvite(ctx, invite.Code, hub.AcceptInput{AgentID: "dev"})
	require.NoError(t, err)
	require.NoError(t, r.freeOf(asOperator(t.Context()), "clear", room.RoomID, "dev", ""))
	again, err := r.AcceptInvite(ctx, invite.Code, hub.AcceptInput{AgentID: "dev"})
	if err != nil || !again.Replayed || again.Row.Seat.SeatID != first.Row.Seat.SeatID {
		t.Errorf("again: seat %s, replayed %v, %v; first %s", again.Row.Seat.SeatID, again.Replayed, err, first.Row.Seat.SeatID)
	}
}
