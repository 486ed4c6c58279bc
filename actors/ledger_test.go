package actors

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// ledgerOf returns the rows of an agent as "sender path messages characters".
func (r *rig) ledgerOf(agent hub.AgentID) (rows []string) {
	r.t.Helper()
	got, err := r.AttentionLedger(r.t.Context())
	require.NoError(r.t, err)
	for _, g := range got.Rows {
		if g.AgentID == agent {
			rows = append(rows, fmt.Sprint(g.FromAgent, " ", g.Path, " ", g.Messages, " ", g.Chars))
		}
	}
	return rows
}

// The ledger counts what an agent was given, by sender and by path; what it only peeked at,
// what was left out of an answer and what the operator read do not count.
func TestLedger(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.makeRoom("room")
		r.register("ann")
		r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: strings.Repeat("ä", 300)})
		r.post(hub.PostInput{FromAgent: "cid", Channel: "general", Body: "hello"})
		read := func(q hub.EventsQuery) {
			q.Agent, q.Limit = "ann", 100
			must(r.Events(t.Context(), q))
		}
		want := func(step string, rows ...string) {
			t.Helper()
			if got := r.ledgerOf("ann"); !slices.Equal(got, rows) {
				t.Errorf("%s: the ledger is %q, want %q", step, got, rows)
			}
		}
		read(hub.EventsQuery{Peek: true})
		must(r.Inbox(asOperator(t.Context()), hub.InboxQuery{Agent: "ann", Limit: 10}))
		want("peeked")

		must(r.Watch(t.Context(), watchOf(t, room.RoomID, time.Minute, "for-me")))
		want("watched", "ben watch 1 200")
		must(r.Tell(t.Context(), hub.ToldInput{AgentID: "ann", ToldID: 100}))
		must(r.Tell(t.Context(), hub.ToldInput{AgentID: "ann", ToldID: 100}))
		want("told", "ben hook 1 200", "ben watch 1 200")

		read(hub.EventsQuery{})
		read(hub.EventsQuery{})
		must(r.Inbox(t.Context(), hub.InboxQuery{Agent: "ann", Limit: 10}))
		read(hub.EventsQuery{Streamed: true, Channels: []hub.ChannelName{"general"}, Since: 1})
		want("read", "ben poll 2 600", "ben inbox 1 300", "ben hook 1 200", "ben watch 1 200", "cid poll 2 10", "cid stream 1 5")
		read(hub.EventsQuery{MaxChars: 10})
		want("shortened", "ben poll 3 600", "ben inbox 1 300", "ben hook 1 200", "ben watch 1 200", "cid poll 3 15", "cid stream 1 5")

		hour := func() int {
			r.register("ann")
			agents, _, err := r.Agents(t.Context(), hub.AgentsQuery{Details: true, Prefix: "ann", Limit: 10})
			require.NoError(t, err)
			return agents[0].Details.GivenHour
		}
		if n := hour(); n != 1320 {
			t.Errorf("%d characters in this hour", n)
		}
		time.Sleep(time.Hour + 5*time.Minute)
		synctest.Wait()
		if n := hour(); n != 0 {
			t.Errorf("%d characters in the hour after", n)
		}
	})
}

// The ledger counts by room too: what was said in it to all. The rest is in no room.
func TestLedgerByRoom(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.makeRoom("room")
		r.register("ann")
		r.post(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "hello"})
		r.post(hub.PostInput{FromAgent: "cid", Channel: room.Channel, Body: "ann?"})
		r.post(hub.PostInput{FromAgent: "cid", Channel: "general", Body: "all"})
		r.post(hub.PostInput{FromAgent: "cid", ToAgent: "ann", Channel: room.Channel, Body: "between us"})
		must(r.Events(t.Context(), hub.EventsQuery{Agent: "ann", Limit: 100}))
		got, err := r.AttentionLedger(t.Context())
		require.NoError(t, err)
		seen := map[hub.RoomID]string{}
		for _, g := range got.Rooms {
			id := hub.RoomID("")
			if g.RoomID != nil {
				id = *g.RoomID
			}
			if g.AgentID == "ann" {
				seen[id] = fmt.Sprint(g.Messages, " ", g.Chars)
			}
		}
		if want := map[hub.RoomID]string{room.RoomID: "2 9", "": "2 13"}; !maps.Equal(seen, want) {
			t.Errorf("by room %q, want %q", seen, want)
		}
	})
}

// The ledger is bounded, and keeps what has changed last.
func TestLedgerIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.say("ben", "general", "hello")
		for i := range hub.MaxLedgerRows + 100 {
			must(r.Events(t.Context(), hub.EventsQuery{Agent: hub.AgentID(fmt.Sprint("a", i)), Limit: 10}))
		}
		got, err := r.AttentionLedger(t.Context())
		if err != nil || len(got.Rows) != hub.MaxLedgerRows {
			t.Errorf("%d rows, %v", len(got.Rows), err)
		}
		if len(got.Rooms) != hub.MaxLedgerRows {
			t.Errorf("%d rows by room", len(got.Rooms))
		}
		if len(r.ledgerOf("a0")) != 0 || len(r.ledgerOf(hub.AgentID(fmt.Sprint("a", hub.MaxLedgerRows)))) != 1 {
			t.Error("it keeps the oldest rows")
		}
	})
}
