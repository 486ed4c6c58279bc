package actors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
	"hubcli/internal/require"
)

// state is everything that a hub decides and shows, in a form that compares.
func (r *rig) state() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	put := func(name string, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			r.t.Fatalf("%s: %v", name, err)
		}
		out[name] = string(b)
	}
	c, err := r.engine.Checkpoint()
	require.NoError(r.t, err)
	for _, s := range c.Sections[1:] {
		out["owner "+s.Owner.String()] = string(s.Data)
	}
	directory, head := r.view.Directory.Snapshot()
	for i := range directory.Sessions {
		directory.Sessions[i].LastSeen = 0
	}
	head.HubMS = 0
	put("directory", directory)
	put("head", head)
	live, _ := r.engine.Seq.Sessions()
	put("incarnations", live)
	for _, space := range []core.LeaseSpace{core.SpaceClaim, core.SpaceLock} {
		leases, err := r.view.Leases.List(space, func(*core.Lease) bool { return true })
		require.NoError(r.t, err)
		put(fmt.Sprint("lease view ", space), leases)
	}
	put("places", view.Look(r.view.Places, func(a *core.ProjectIndex) any { return []any{a.Projects(), a.Rooms("")} }))
	put("task view", r.view.Tasks.List(func(*core.StoredTask) bool { return true }))
	put("run view", r.view.Runs.List(""))
	for _, viewer := range append([]hub.AgentID{""}, someAgents...) {
		found, err := r.view.Threads.Latest(viewer, view.Walk{AsOf: math.MaxUint64, Before: math.MaxUint64}, 100)
		require.NoError(r.t, err)
		put("threads of "+string(viewer), fmt.Sprint(found))
	}
	put("counts", r.Counts())
	return out
}

func wantSameState(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s: %s\n got %.2000s\nwant %.2000s", when, name, got[name], want[name])
		}
	}
}

// Invariant 6: facts, not commands, are stored; live state = replayed state under
// any delivery delay. Random commands go through the hub while the journal takes
// random times; then hubs started from the journal alone, and from a checkpoint
// taken under load with the records behind it, must be in the live state.
func TestInvariant6ReplayEqualsLiveUnderRandomDelay(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			store := newMemStore()
			store.delay = randomDelay(seed, time.Millisecond)
			r := start(t, store)
			rng := rand.New(rand.NewPCG(seed, 5))
			loaded := make(chan struct{})
			go func() {
				defer close(loaded)
				load(r, newLedger(), seed, 8, 60)
			}()
			for done := false; !done; { // checkpoints in the midst of it
				select {
				case <-loaded:
					done = true
				case <-time.After(time.Duration(rng.IntN(8)) * time.Millisecond):
					if _, err := r.engine.SaveCheckpoint(); err != nil {
						t.Errorf("checkpoint: %v", err)
					}
				}
			}
			r.idle()
			live := r.state()
			left := r.crash()
			wantRowsOfFacts(t, left.disk)
			if left.disk.checkpoint == nil || left.disk.checkpoint.Head.Seq == 0 {
				t.Fatal("no checkpoint was taken under load")
			}

			journal := left.restarted()
			journal.disk.checkpoint = nil
			wantSameState(t, "from the journal", start(t, journal).state(), live)

			for _, c := range store.saved[max(0, len(store.saved)-3):] {
				s := left.restarted()
				s.disk.checkpoint = &c
				s.forgetRecords()
				again := start(t, s)
				wantSameState(t, fmt.Sprint("from the checkpoint at ", c.Head.Seq), again.state(), live)
				again.stop()
				wantSameState(t, "from the checkpoint of a clean stop", start(t, s.restarted()).state(), live)
			}
		})
	}
}

// wantRowsOfFacts derives every entity row and thread summary from the records
// and messages alone, and compares them with those that the hub has stored.
func wantRowsOfFacts(t *testing.T, d *disk) {
	t.Helper()
	want := newDisk()
	machines := map[core.Owner]core.Machine{}
	for _, r := range d.records {
		m := machines[r.Owner]
		if m == nil {
			switch r.Owner.Kind {
			case core.OwnerAgent:
				m = core.NewAgent(hub.AgentID(r.Owner.Name), nil)
			case core.OwnerChannel:
				m = core.NewChannel(nil)
			case core.OwnerLeases:
				m = core.NewLeases()
			case core.OwnerTasks:
				m = core.NewTasks()
			case core.OwnerProjects:
				m = core.NewProjects()
			case core.OwnerMemory:
				m = core.NewMemory(r.Owner.Name)
			case core.OwnerSettings:
				m = core.NewSettings()
			case core.OwnerSpawns:
				m = core.RestoreSpawns(core.NoSpawns(), nil, nil)
			case core.OwnerAsks:
				m = core.RestoreAsks(core.NoPermissions(), nil)
			case core.OwnerPauses:
				m = core.NewPauses()
			case core.OwnerMutes:
				m = core.NewMutes()
			case core.OwnerBudgets:
				m = core.NewBudgets()
			case core.OwnerConnections:
				m = core.NewConnections()
			case core.OwnerRoom:
				t.Fatalf("record %d is of %s", r.Seq, r.Owner)
			}
			machines[r.Owner] = m
		}
		for _, e := range r.Facts {
			f, err := core.DecodeFact(e)
			require.NoError(t, err)
			m.Apply(f, r.Position(), func(row core.Row) { want.put([]core.Row{row}) })
		}
	}
	parts := map[string]view.ThreadPart{}
	add := func(table core.Table, key []byte, m *core.StoredMessage) {
		k := string(byte(table)) + string(key)
		p := parts[k]
		p.Add(m)
		parts[k] = p
		value, _ := json.Marshal(p)
		want.put([]core.Row{{Table: table, Key: key, Value: value}})
	}
	for i := range d.messages {
		m := &d.messages[i]
		switch {
		case m.Thread == "":
		case m.To == "":
			add(core.TableThread, []byte(m.Thread), m)
		default:
			for _, party := range slices.Compact([]hub.AgentID{m.From, m.To}) {
				add(core.TableThreadAgent, []byte(string(party)+"\x00"+string(m.Thread)), m)
			}
		}
	}
	for table, rows := range d.rows {
		if table == core.TableSeen {
			continue // what agents have read is in no record
		}
		if len(rows) != len(want.rows[table]) {
			t.Errorf("table %d has %d rows, its facts give %d", table, len(rows), len(want.rows[table]))
		}
		for k, v := range rows {
			if !bytes.Equal(v, want.rows[table][k]) {
				t.Errorf("table %d, row %q\n    stored %s\nfrom facts %s", table, k, v, want.rows[table][k])
			}
		}
	}
}

// A checkpoint that is taken while a record is being shown holds all of it or
// nothing.
func TestCheckpointHoldsWholeRecords(t *testing.T) {
	store := newMemStore()
	r := start(t, store)
	stop, stopped := make(chan struct{}), make(chan struct{})
	var torn []string
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			s, head := r.view.Directory.Snapshot()
			if int64(head.Seq) != s.Channels {
				torn = append(torn, fmt.Sprintf("%d channels after %d records", s.Channels, head.Seq))
			}
		}
	}()
	for _, ch := range names[hub.ChannelName]("c", 300) {
		r.channel(ch)
	}
	close(stop)
	<-stopped
	if len(torn) > 0 {
		t.Errorf("%d snapshots hold half of a record, such as %s", len(torn), torn[0])
	}
}

// A record that cannot be trusted, and a checkpoint of a form that is not known,
// end the start with an error instead of a wrong state.
func TestStartRefusesWhatItCannotTrust(t *testing.T) {
	r := start(t, newMemStore())
	r.claim("ann", "k", 60)
	r.say("ann", "", "x")
	left := r.crash()
	for name, spoil := range map[string]func(*memStore){
		"corrupt record": func(s *memStore) { s.corrupt = map[hub.Seq]bool{2: true} },
		"unknown fact": func(s *memStore) {
			bad := *s.disk.records[0]
			bad.Facts = []core.EncodedFact{{Type: 9999, Data: []byte("{}")}}
			s.disk.records[0] = &bad
		},
		"fact that is no JSON": func(s *memStore) {
			bad := *s.disk.records[0]
			bad.Facts = []core.EncodedFact{{Type: bad.Facts[0].Type, Data: []byte("{")}}
			s.disk.records[0] = &bad
		},
		"unknown lease owner": func(s *memStore) {
			bad := *s.disk.records[0]
			bad.Owner.Name = "16"
			s.disk.records[0] = &bad
		},
		"newer section": func(s *memStore) {
			s.disk.checkpoint = &core.Checkpoint{Head: core.Head{Seq: 1}, Sections: []core.Section{{Owner: core.TasksOwner(), Version: 99}}}
		},
		"newer directory": func(s *memStore) {
			s.disk.checkpoint = &core.Checkpoint{Head: core.Head{Seq: 1}, Sections: []core.Section{{Owner: core.DirectoryOwner(), Version: 99}}}
		},
	} {
		s := left.restarted()
		spoil(s)
		if h, err := Start(Options{Journal: s, Rows: s, Secret: testSecret}); err == nil {
			t.Errorf("%s: started", name)
			_ = h.Stop(t.Context())
		}
	}
}
