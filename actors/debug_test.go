package actors

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// TestDebugShowsParkedCalls: each kind of call stands in the list while it waits, the
// longest first, and a watch stands there under its agent.
func TestDebugShowsParkedCalls(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.newRoom("Debug")
		r.register("bob")
		r.claim("cid", "k", 600)
		begun := hub.TimeOf(time.Now())
		poll := async(func() (hub.Page, error) {
			return r.Events(t.Context(), hub.EventsQuery{Agent: "bob", Limit: 10, Since: r.view.Ring.Visible(), Wait: 40 * time.Second})
		})
		synctest.Wait()
		time.Sleep(time.Second)
		watch := async(func() (hub.Watched, error) {
			return r.Watch(t.Context(), watchOf(t, room.RoomID, 20*time.Second, "message-from:bob"))
		})
		synctest.Wait()
		time.Sleep(time.Second)
		lease := r.waitFor(t.Context(), "dan", "k", 20)
		want := []hub.ParkedCall{
			{Kind: hub.ParkedPoll, AgentID: "bob", Since: begun},
			{Kind: hub.ParkedWatch, AgentID: "ann", Since: begun + 1000},
			{Kind: hub.ParkedLease, AgentID: "dan", Since: begun + 2000},
		}
		got := r.Debug()
		if got.ParkedCount != 3 || len(got.Parked) != 3 || got.Parked[0] != want[0] || got.Parked[1] != want[1] || got.Parked[2] != want[2] {
			t.Errorf("%d calls are parked: %+v, want %+v", got.ParkedCount, got.Parked, want)
		}
		if oldest, all := r.view.Directory.ParkedCalls(1); all != 3 || len(oldest) != 1 || oldest[0] != want[0] {
			t.Errorf("the oldest of %d is %+v", all, oldest)
		}
		within(t, watch) // from the middle of the list
		if got := r.Debug().Parked; len(got) != 2 || got[0] != want[0] || got[1] != want[2] {
			t.Errorf("after the watch these are parked: %+v", got)
		}
		within(t, lease)
		within(t, poll)
		if got := r.Debug(); got.ParkedCount != 0 || len(got.Parked) != 0 {
			t.Errorf("at the end these are parked: %+v", got.Parked)
		}
	})
}

// TestDebugAnswersWhileTheDiskHangs: it shows which record is in the commit, which
// wait for it and which owner still fills its own, and it waits for none of them.
func TestDebugAnswersWhileTheDiskHangs(t *testing.T) {
	gates := map[engine.Step]chan chan struct{}{
		engine.StepAppending: make(chan chan struct{}), engine.StepNumbered: make(chan chan struct{}),
	}
	armed := make(chan struct{}) // closed when the hooks are to stop the hub
	r := start(t, newMemStore(), func(o *Options) {
		o.Step = func(s engine.Step) {
			select {
			case <-armed:
			default:
				return
			}
			if gate := gates[s]; gate != nil {
				release := make(chan struct{})
				gate <- release
				<-release
			}
		}
	})
	r.channel("one")
	r.channel("two")
	r.register("ann")
	r.idle()
	before := r.Debug()
	if before.PendingCount != 0 || len(before.Pending) != 0 || before.DurableSeq != 3 || len(before.Recent) != 3 {
		t.Fatalf("before: %+v", before)
	}
	last := before.Recent[0]
	if last.Seq != 3 || last.Owner != "agent/ann" || last.State != hub.RecordDurable || last.Rows == 0 || last.Bytes == 0 ||
		last.Facts != len(last.FactTypes) || last.FactTypes[0] != "SessionStarted" {
		t.Errorf("the record of the session is shown as %+v", last)
	}
	close(armed)
	post := func(channel hub.ChannelName) <-chan result[hub.Message] {
		return async(func() (hub.Message, error) {
			return r.tryPost(context.Background(), hub.PostInput{FromAgent: "ann", Channel: channel, Kind: hub.KindChat, Body: "x"})
		})
	}
	first := post("one")
	close(<-gates[engine.StepNumbered])
	commit := <-gates[engine.StepAppending]
	second := post("two")
	filling := <-gates[engine.StepNumbered]
	got := r.Debug()
	if got.NumberedSeq != 5 || got.DurableSeq != 3 || got.PendingCount != 2 || len(got.Pending) != 2 {
		t.Fatalf("while the disk hangs: %+v", got)
	}
	for i, want := range []hub.DebugRecord{
		{Seq: 4, Owner: "channel/one", State: hub.RecordCommitting, Messages: 1},
		{Seq: 5, Owner: "channel/two", State: hub.RecordFilling, Messages: 1},
	} {
		if r := got.Pending[i]; r.Seq != want.Seq || r.Owner != want.Owner || r.State != want.State || r.Messages != want.Messages {
			t.Errorf("pending record %d is %+v, want %+v", i, r, want)
		}
	}
	for i, want := range []hub.DebugOwner{{Name: "one", LastSeq: 4}, {Name: "two", LastSeq: 2}} { // two does not know its record yet
		want.Kind, want.State, want.Commands, want.Bytes = "channel", hub.OwnerBusy, 1, got.Owners[i].Bytes
		if got.Owners[i] != want || want.Bytes == 0 {
			t.Errorf("owner %d is %+v, want %+v", i, got.Owners[i], want)
		}
	}
	close(filling)
	close(commit)
	close(<-gates[engine.StepAppending])
	if a, b := within(t, first), within(t, second); a.err != nil || b.err != nil {
		t.Fatalf("the posts end with %v, %v", a.err, b.err)
	}
	r.idle()
	after := r.Debug()
	if after.PendingCount != 0 || len(after.Pending) != 0 || len(after.Recent) != 5 || after.Recent[0].Owner != "channel/two" {
		t.Errorf("after: %+v", after)
	}
}

// TestDebugOwners: an owner in quarantine comes first, the list is cut and counted,
// and owners that left the memory are counted.
func TestDebugOwners(t *testing.T) {
	_, broken := breaks(-1, ofType[*core.ChannelCreated])
	r := start(t, newMemStore(), broken)
	r.channel("c")
	r.idle()
	for i := range 2000 { // more than the shards keep idle
		r.register(hub.AgentID("agent-" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))))
	}
	rows, all, retired := r.engine.DebugOwners(2)
	if len(rows) != 2 || rows[0].Kind != "channel" || rows[0].Name != "c" || rows[0].State != hub.OwnerQuarantined {
		t.Errorf("the first owners are %+v", rows)
	}
	if most := mostOwners + 1; all > most || retired < int64(2000-most) {
		t.Errorf("%d owners are in memory, at most %d; %d were retired", all, most, retired)
	}
	if got := r.Debug(); got.OwnerCount != all || len(got.Owners) != min(all, hub.MaxDebugOwners) || len(got.Recent) != hub.MaxDebugRecords {
		t.Errorf("%d of %d owners and %d records are shown", len(got.Owners), got.OwnerCount, len(got.Recent))
	}
}
