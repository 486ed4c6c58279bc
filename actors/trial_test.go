package actors

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestTrialsLeaveNothing: an agent by which an adapter is tried gets no seat where it watches and
// posts, and a message that it leaves unread is no trouble and not undelivered. One whose id only
// looks alike is an agent like any other.
func TestTrialsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		room := r.roomWithSeats("ben")
		r.register("ben")
		c, err := hub.ParseCondition("until", "message-from:ben")
		require.NoError(t, err)
		for _, id := range []hub.AgentID{hub.TrialPrefix + "1", "adapter-verified"} {
			r.register(id)
			_, err := r.Watch(context.Background(), hub.WatchQuery{Agent: id, Room: room.RoomID, Until: []hub.Condition{c}})
			require.NoError(t, err)
			r.say(id, room.Channel, "hello")
			r.direct(id, room)
		}
		r.direct(hub.TrialPrefix+"never", room)
		time.Sleep(2 * hub.AsleepAfter)
		synctest.Wait()
		status, err := r.RoomStatus(context.Background(), hub.StatusQuery{RoomID: room.RoomID, All: true})
		require.NoError(t, err)
		seats := map[hub.AgentID]bool{}
		for _, s := range status.Seats {
			seats[s.AgentID] = true
		}
		if seats[hub.TrialPrefix+"1"] || !seats["adapter-verified"] {
			t.Errorf("seats are %v", seats)
		}
		if got := r.asleepAgents(); len(got) != 1 || got[0] != "adapter-verified" {
			t.Errorf("asleep are %v", got)
		}
		log := func(q hub.LogQuery) (n int) {
			q.Limit = 100
			for _, m := range decodeAll(t, must(r.Log(asOperator(context.Background()), q)).Rows) {
				if m.ToAgent != nil && m.ToAgent.Trial() {
					n++
				}
			}
			return n
		}
		if n := log(hub.LogQuery{Direct: true}); n != 0 {
			t.Errorf("the log shows %d direct messages of trials", n)
		}
		if n := log(hub.LogQuery{Direct: true, Agent: hub.TrialPrefix + "1"}); n != 1 {
			t.Errorf("the log of an agent of a trial shows %d messages to it, want 1", n)
		}
		if got := r.undelivered(); len(got) > 0 {
			t.Errorf("undelivered is %q", got)
		}
	})
}
