package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/testrace"
)

// Invariant 8: memory is bounded by live state and fixed budgets, not by history,
// nor by the number of channels, threads or agents ever seen, nor by the metadata of idle
// and ended things. The budgets are filled first; then the heap must stay where it is
// while agents come and go.
func TestInvariant8MemoryIsBounded(t *testing.T) {
	testrace.Avoid(t, "it measures memory")
	const perRound = 1500
	store := newMemStore()
	r := start(t, store, ringOf(1<<20))
	fillBudgets(t, r)
	// lives has n agents come and go, and returns the heap after that.
	lives := func(from, n int, metadata json.RawMessage) float64 {
		var workers sync.WaitGroup
		for w := range 8 {
			workers.Go(func() {
				for i := w; i < n; i += 8 {
					comeAndGo(t, r, from+i, metadata)
				}
			})
		}
		workers.Wait()
		r.idle()
		r.view.Seen.Store(r.engine.Failed)      // before what the store in memory holds is dropped
		r.engine.Seq.ForgetEnded(math.MaxInt64) // kept for a while only
		store.mu.Lock()                         // what the store in memory holds is not the hub's
		store.disk.records, store.disk.messages, store.disk.rows = nil, nil, map[core.Table]map[string][]byte{}
		store.disk.checkpoint, store.saved = nil, nil
		store.mu.Unlock()
		return heap()
	}
	first := lives(0, perRound, nil)
	last := lives(perRound, perRound, nil)
	if _, owners, _ := r.engine.DebugOwners(0); owners > mostOwners {
		t.Errorf("%d owners are kept, want at most %d", owners, mostOwners)
	}
	kept := r.view.Sizes()
	live, ended := r.engine.Seq.Sessions()
	kept["incarnations"] = len(live) + ended
	for _, name := range []string{"incarnations", "live agents", "sessions", "parked", "leases", "tasks"} {
		if size, ok := kept[name]; size != 0 || !ok {
			t.Errorf("%d %s are kept of agents that have ended", size, name)
		}
	}
	perEntity := (last - first) / perRound
	t.Logf("%.0f KiB after %d agents, %.0f KiB after twice as many: %.0f bytes for each", first/1024, perRound, last/1024, perEntity)
	if perEntity > 100 { // a session alone would be 600
		t.Errorf("%.0f bytes stay for each agent that has come and gone", perEntity)
	}
	// What idle owners and the ring may hold: 512 KiB in each of 16 shards, and a MiB.
	const mostHeld = 12 << 20
	metadata := json.RawMessage(`{"m":"` + strings.Repeat("x", hub.MaxMetadataBytes-64) + `"}`)
	for from := 2 * perRound; from < 2*perRound+600; from += 100 {
		if held := lives(from, 100, metadata) - last; held > mostHeld {
			t.Fatalf("%.0f KiB are held for %d agents with large metadata that have come and gone, at most %d may be",
				held/1024, from+100-2*perRound, mostHeld>>10)
		}
	}
}

// comeAndGo is the life of one agent, with a channel, a thread, a direct message,
// a task and a lease of its own, all with this metadata.
func comeAndGo(t *testing.T, r *rig, n int, metadata json.RawMessage) {
	metadata = slices.Clone(metadata) // each call brings its own
	ctx := context.Background()
	agent, ch, th := hub.AgentID(fmt.Sprint("agent", n)), hub.ChannelName(fmt.Sprint("ch", n)), hub.ThreadID(fmt.Sprint("th", n))
	s, err := r.Register(ctx, hub.RegisterInput{AgentID: agent, Metadata: metadata})
	if err != nil {
		t.Error(err)
	}
	if _, err := r.CreateChannel(ctx, hub.ChannelInput{Name: ch, CreatedBy: "ann", Metadata: slices.Clone(metadata)}); err != nil {
		t.Error(err)
	}
	task := r.post(hub.PostInput{FromAgent: agent, Channel: ch, ThreadID: th, Kind: hub.KindTask, Body: "x", Metadata: slices.Clone(metadata)})
	r.post(hub.PostInput{FromAgent: agent, ToAgent: agent + "x", ThreadID: th, Body: "x"})
	if _, err := r.CompleteTask(ctx, task.ID, hub.CompleteInput{AgentID: agent}); err != nil {
		t.Error(err)
	}
	key := hub.ClaimKey(fmt.Sprint("ns", n, ":k"))
	if _, err := r.Claim(ctx, hub.ClaimInput{OwnerAgentID: agent, ClaimKey: key, TTLSec: 60, Metadata: slices.Clone(metadata)}); err != nil {
		t.Error(err)
	}
	r.release(agent, key)
	if _, err := r.Events(ctx, hub.EventsQuery{Agent: agent, Since: hub.MaxMessageID, Limit: 1, Wait: 1}); err != nil {
		t.Error(err)
	}
	r.Touch(agent+"x", false)
	if _, err := r.CloseSession(ctx, s.Row.SessionID, ""); err != nil {
		t.Error(err)
	}
}

// fillBudgets brings every cache with a fixed size, and the process table of
// protoactor with its 32,768 maps, to the size that it keeps.
func fillBudgets(t *testing.T, r *rig) {
	r.channels.names.Clear()
	for i := range channelsRemembered {
		r.channels.names.Put(hub.ChannelName(fmt.Sprint("old", i)), struct{}{})
	}
	for i := range 2 * idleRemembered {
		r.Hub.idle.remember(hub.AgentID(fmt.Sprint("old", i)), 0)
	}
	for i := range 20_000 {
		r.seats.Shown(&core.Record{Owner: core.RoomOwner("r_zz")}, []core.Fact{&core.SeatTaken{Agent: hub.AgentID(fmt.Sprint("old", i))}})
	}
	for i := range 2 * 16 * 256 {
		r.view.Seen.Of(hub.AgentID(fmt.Sprint("old", i)))
	}
	if _, err := r.view.Prepare(oldThreads(4096)); err != nil {
		t.Fatal(err)
	}
	for i := range 150_000 {
		r.admit(core.AgentOwner(hub.AgentID(fmt.Sprint("old", i)))).ReturnPermit()
	}
}

// oldThreads is a record with a message in each of n threads.
func oldThreads(n int) []*core.Record {
	rec := &core.Record{}
	for i := range n {
		rec.Messages = append(rec.Messages, core.StoredMessage{ID: 1, Thread: hub.ThreadID(fmt.Sprint("old thread", i))})
	}
	return []*core.Record{rec}
}

func heap() float64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
