package actors

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/view"
	"hubcli/hub"
	"hubcli/internal/require"
)

// A log between two moments has the messages of that time, from the first moment on
// and without the second, from the ring as from the disk.
func TestLogBetweenTwoMoments(t *testing.T) {
	for _, ring := range []int{1, 1 << 20} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, newMemStore(), ringOf(ring))
			defer r.stop()
			var at []hub.Time
			for range 8 {
				time.Sleep(time.Minute)
				at = append(at, hub.TimeOf(time.Now()))
				r.say("ann", "general", "one")
				r.post(hub.PostInput{FromAgent: "ann", ToAgent: "bob", Body: "two"})
			}
			for name, x := range map[string]struct {
				q    hub.LogQuery
				want []hub.MessageID
			}{
				"from a moment":              {hub.LogQuery{Since: at[6]}, []hub.MessageID{13, 15}},
				"from between two":           {hub.LogQuery{Since: at[6] + 1, Direct: true}, []hub.MessageID{15, 16}},
				"a time":                     {hub.LogQuery{Since: at[2], Until: at[4], Direct: true}, []hub.MessageID{5, 6, 7, 8}},
				"the end of a time":          {hub.LogQuery{Since: at[2], Until: at[4], Direct: true, Tail: true, Limit: 3}, []hub.MessageID{6, 7, 8}},
				"a time, from an id on":      {hub.LogQuery{Since: at[2], Until: at[4], SinceID: 6}, []hub.MessageID{7}},
				"before all":                 {hub.LogQuery{Until: at[0]}, nil},
				"after all":                  {hub.LogQuery{Since: at[7] + 1}, nil},
				"from before all":            {hub.LogQuery{Since: 1, Limit: 2}, []hub.MessageID{1, 3}},
				"before an id":               {hub.LogQuery{BeforeID: 6, Direct: true}, []hub.MessageID{1, 2, 3, 4, 5}},
				"right before an id":         {hub.LogQuery{BeforeID: 6, Direct: true, Tail: true, Limit: 2}, []hub.MessageID{4, 5}},
				"before the first":           {hub.LogQuery{BeforeID: 1, Direct: true, Tail: true}, nil},
				"between two ids":            {hub.LogQuery{SinceID: 3, BeforeID: 8}, []hub.MessageID{5, 7}},
				"before an id and a moment":  {hub.LogQuery{BeforeID: 9, Until: at[2], Tail: true, Limit: 1}, []hub.MessageID{3}},
				"before an id to come":       {hub.LogQuery{BeforeID: 99, Tail: true, Limit: 1}, []hub.MessageID{15}},
				"a time that ends it begins": {hub.LogQuery{Since: at[4], Until: at[2]}, nil},
			} {
				if x.q.Limit == 0 {
					x.q.Limit = 100
				}
				page, err := r.Log(t.Context(), x.q)
				require.NoError(t, err)
				if got := ids(decodeAll(t, page.Rows)); !slices.Equal(got, x.want) {
					t.Errorf("ring of %d, %s: %v, want %v", ring, name, got, x.want)
				}
			}
		})
	}
}

// The log of a room has the direct messages with the room's label to agents with a seat
// there and to the operator, for the operator alone, and none of other rooms.
func TestLogOfARoomHasItsDirectMessages(t *testing.T) {
	for _, ring := range []int{1, 1 << 20} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, newMemStore(), ringOf(ring))
			defer r.stop()
			room, other := r.newRoom("Shop"), r.newRoom("Store")
			r.seat(room.RoomID, "bob", "cleo")
			post := func(to hub.AgentID, channel hub.ChannelName) hub.MessageID {
				return r.post(hub.PostInput{FromAgent: "ann", ToAgent: to, Channel: channel, Body: "x"}).ID
			}
			want := []hub.MessageID{post("", room.Channel), post("bob", room.Channel), post("operator", room.Channel), post("cleo", room.Channel)}
			for _, x := range []struct {
				to      hub.AgentID
				channel hub.ChannelName
			}{{"bob", ""}, {"bob", other.Channel}, {"operator", other.Channel}, {"", other.Channel}} {
				post(x.to, x.channel)
			}
			want = append(want, post("", room.Channel))
			for name, x := range map[string]struct {
				q    hub.LogQuery
				want []hub.MessageID
			}{
				"with direct":        {hub.LogQuery{Direct: true}, want},
				"the last two":       {hub.LogQuery{Direct: true, Tail: true, Limit: 2}, want[3:]},
				"right before an id": {hub.LogQuery{Direct: true, Tail: true, Limit: 2, BeforeID: want[3]}, want[1:3]},
				"without":            {hub.LogQuery{}, []hub.MessageID{want[0], want[4]}},
			} {
				x.q.RoomID = room.RoomID
				if x.q.Limit == 0 {
					x.q.Limit = 100
				}
				page, err := r.Log(t.Context(), x.q)
				require.NoError(t, err)
				if got := ids(decodeAll(t, page.Rows)); !slices.Equal(got, x.want) {
					t.Errorf("ring of %d, %s: %v, want %v", ring, name, got, x.want)
				}
			}
		})
	}
}

// TestLogTailBehindOtherDirectMessages: the last messages of a room are all there, however many
// direct messages of no room its seats got meanwhile, and those right before an id, too.
func TestLogTailBehindOtherDirectMessages(t *testing.T) {
	r := start(t, newMemStore(), ringOf(1))
	room := r.newRoom("Shop")
	r.seat(room.RoomID, "bob")
	for _, to := range []hub.AgentID{"", "", "bob"} {
		r.post(hub.PostInput{FromAgent: "ann", ToAgent: to, Channel: room.Channel, Body: "of the room"})
	}
	for range view.MaxExamined + 10 {
		r.post(hub.PostInput{FromAgent: "ann", ToAgent: "bob", Body: "of no room"})
	}
	for name, x := range map[string]struct {
		before hub.MessageID
		want   []hub.MessageID
	}{
		"the last ones":            {0, []hub.MessageID{1, 2, 3}},
		"before the first of them": {3, []hub.MessageID{1, 2}},
	} {
		q := hub.LogQuery{RoomID: room.RoomID, Direct: true, Tail: true, Limit: 100, BeforeID: x.before}
		page, err := r.Log(asOperator(t.Context()), q)
		require.NoError(t, err)
		if got := ids(decodeAll(t, page.Rows)); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", name, got, x.want)
		}
	}
}

// Somebody who follows the log is woken by each message, makes no agent live and
// leaves every message unread.
func TestLogIsFollowed(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		follow := func(since hub.MessageID, direct bool) <-chan result[hub.Page] {
			c := async(func() (hub.Page, error) {
				return r.Log(t.Context(), hub.LogQuery{SinceID: since, Direct: direct, Limit: 10, Wait: time.Minute})
			})
			synctest.Wait()
			return c
		}
		all, public := follow(0, true), follow(0, false)
		r.post(hub.PostInput{FromAgent: "ann", ToAgent: "bob", Body: "direct"})
		if p := <-all; p.err != nil || len(p.v.Rows) != 1 {
			t.Errorf("a direct message: %+v", p)
		}
		parked(t, public)
		all = follow(1, true)
		r.say("ann", "general", "public")
		for _, c := range []<-chan result[hub.Page]{all, public} {
			if p := <-c; p.err != nil || len(p.v.Rows) != 1 || p.v.NextSinceID != 2 {
				t.Errorf("a public message: %+v", p)
			}
		}
		live, _, err := r.Agents(t.Context(), hub.AgentsQuery{})
		require.NoError(t, err)
		if len(live) != 0 {
			t.Errorf("live agents: %+v", live)
		}
		attention, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "bob"})
		require.NoError(t, err)
		if len(attention.Directed) != 1 {
			t.Errorf("what bob has not seen: %+v", attention)
		}
	})
}
