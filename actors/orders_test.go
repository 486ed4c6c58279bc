package actors

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// order has the operator say something to all in a channel.
func (r *rig) order(channel hub.ChannelName, body string) hub.MessageID {
	r.t.Helper()
	out, err := r.Post(asOperator(r.t.Context()), hub.PostInput{FromAgent: hub.AgentOperator, Channel: channel, Kind: hub.KindChat, Body: body})
	require.NoError(r.t, err)
	row, err := out.Row.Decode()
	require.NoError(r.t, err)
	return row.ID
}

func (r *rig) directedTo(agent hub.AgentID, room hub.RoomID) (ids []hub.MessageID) {
	r.t.Helper()
	got, err := r.Attention(r.t.Context(), hub.AttentionQuery{Agent: agent, Room: room})
	require.NoError(r.t, err)
	for _, row := range got.Directed {
		ids = append(ids, row.ID)
	}
	return ids
}

// TestOrdersAskThoseInTheRoom: what the operator says to a room asks something of the agents with
// a seat in it and of one that reads there, and of nobody else. What is said in a channel of no
// room asks everybody. What was said before an agent registered asks nothing of it.
func TestOrdersAskThoseInTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room, other := r.newRoom("one"), r.newRoom("two")
		r.order(room.Channel, "before all")
		time.Sleep(time.Second)
		for _, agent := range []hub.AgentID{"reader", "elsewhere"} {
			r.register(agent)
		}
		invite, err := r.CreateInvite(t.Context(), hub.InviteInput{Room: string(room.RoomID), TTLSec: 60, MaxUses: 1})
		require.NoError(t, err)
		_, err = r.AcceptInvite(t.Context(), invite.Row.Code, hub.AcceptInput{AgentID: "seated"})
		require.NoError(t, err)
		said := r.order(room.Channel, "drop the staging database")
		for _, c := range []struct {
			agent hub.AgentID
			room  hub.RoomID
			asked bool
		}{
			{"seated", "", true},
			{"seated", room.RoomID, true},
			{"reader", room.RoomID, true},
			{"reader", "", false},
			{"elsewhere", "", false},
			{"elsewhere", other.RoomID, false},
		} {
			var want []hub.MessageID
			if c.asked {
				want = append(want, said)
			}
			if got := r.directedTo(c.agent, c.room); !slices.Equal(got, want) {
				t.Errorf("%s in room %q is asked by %v, want %v", c.agent, c.room, got, want)
			}
		}
		all := r.order(hub.DefaultChannel, "stop at noon")
		if got := r.directedTo("elsewhere", ""); !slices.Equal(got, []hub.MessageID{all}) {
			t.Errorf("what is said to everybody asks %v", got)
		}
	})
}

// TestOrdersHideNoMail: however many orders an agent has not read, the messages to it alone and
// those that name it are among those that it is told of, and the newest orders beside them.
func TestOrdersHideNoMail(t *testing.T) {
	r := start(t, newMemStore())
	room := r.newRoom("one")
	r.register("ann")
	r.seat(room.RoomID, "ann")
	var last hub.MessageID
	orders := func() {
		for range 3 * attentionRows {
			last = r.order(room.Channel, "an order")
		}
	}
	orders()
	first := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "for you"}).ID
	orders()
	mail := first
	named := r.say("ben", room.Channel, "ask @ann").ID
	orders()
	got := r.directedTo("ann", room.RoomID)
	if len(got) != attentionRows || !slices.Contains(got, first) || !slices.Contains(got, named) || got[len(got)-1] != last || !slices.IsSorted(got) {
		t.Errorf("told of %v; the mail is %d, the mention %d, the last order %d", got, first, named, last)
	}
	for range attentionRows {
		mail = r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "for you"}).ID
	}
	_, err := r.Tell(t.Context(), hub.ToldInput{AgentID: "ann", ToldID: mail})
	require.NoError(t, err)
	last = r.order(room.Channel, "stop")
	if got := r.directedTo("ann", room.RoomID); len(got) != attentionRows || got[len(got)-1] != last {
		t.Errorf("much mail was told, and the new order %d is not among %v", last, got)
	}
	q := watchOf(t, room.RoomID, 0, "for-me")
	q.Agent = "ann"
	seen, err := r.Watch(t.Context(), q)
	require.NoError(t, err)
	shows := func(id hub.MessageID) bool {
		return slices.ContainsFunc(seen.Messages, func(row hub.UnreadRow) bool { return row.ID == id })
	}
	if !seen.Met || !shows(first) || !shows(last) {
		t.Errorf("the watch shows %+v", seen.Messages)
	}
}
