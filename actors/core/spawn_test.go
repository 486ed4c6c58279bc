package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
)

// spawnRig is the owner of spawns, its stored rows and its time.
type spawnRig struct {
	t    rapid.TB
	live *core.Spawns
	rows map[string]core.Row // by table and key
	at   core.Position
}

func newSpawnRig(t rapid.TB) *spawnRig {
	return &spawnRig{t: t, live: core.NewSpawns(), rows: map[string]core.Row{}, at: core.Position{Now: core.Now{HubMS: 1000, Wall: 5000}}}
}

// commit decides and applies as an owner and its journal do, each fact twice: that
// is the same as once.
func commit[T any](r *spawnRig, d core.Decision[T], err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	if d.Empty() {
		return d.Answer(core.Position{}), nil
	}
	r.at.Seq++
	for range 2 {
		for _, f := range d.Facts {
			decoded, err := core.DecodeFact(core.EncodeFact(f))
			if err != nil {
				r.t.Fatal(err)
			}
			r.live.Apply(decoded, r.at, func(row core.Row) { r.rows[fmt.Sprintf("%02d/%s", row.Table, row.Key)] = row })
		}
	}
	return d.Answer(r.at), nil
}

func (r *spawnRig) policy(in hub.SpawnPolicyInput) (hub.SpawnPolicy, error) {
	d, err := r.live.SetPolicy(in)
	return commit(r, d, err)
}

func (r *spawnRig) request(version int64, in hub.SpawnInput, taken ...hub.AgentID) (hub.Spawn, error) {
	d, err := r.live.Request(core.SpawnRequest{
		In: in, Version: version, Taken: func(a hub.AgentID) bool { return slices.Contains(taken, a) },
	}, r.at.Now)
	return commit(r, d, err)
}

// loaded is the state made of the stored rows.
func (r *spawnRig) loaded() *core.Spawns {
	policy := core.NoSpawns()
	if row, ok := r.rows[fmt.Sprintf("%02d/policy", core.TableSpawnPolicy)]; ok {
		var err error
		if policy, err = core.RestorePolicy(row.Value); err != nil {
			r.t.Fatal(err)
		}
	}
	var stored core.LiveSpawns
	var live []hub.Spawn
	if row, ok := r.rows[fmt.Sprintf("%02d/live", core.TableSpawnLive)]; ok {
		if err := json.Unmarshal(row.Value, &stored); err != nil {
			r.t.Fatal(err)
		}
	}
	for _, id := range stored.Live {
		live = append(live, r.stored(id))
	}
	return core.RestoreSpawns(policy, live, stored.Recent)
}

func (r *spawnRig) stored(id hub.SpawnID) (row hub.Spawn) {
	key, _ := core.SpawnKey(id)
	if err := json.Unmarshal(r.rows[fmt.Sprintf("%02d/%s", core.TableSpawn, key)].Value, &row); err != nil {
		r.t.Fatal(err)
	}
	return row
}

func codeOf(err error) hub.Code {
	var e *hub.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// TestSpawnProperties: whatever is asked, started, stopped, ended and allowed, the
// limits hold, names are unique, the rows are the state, and each spawn is told of
// once.
func TestSpawnProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newSpawnRig(t)
		rooms := []hub.RoomID{"r_1", "r_2"}
		agents := []hub.AgentID{"lead", "dev", "codex", "codex-2"}
		version, limits := int64(0), core.NoSpawns()
		model := map[hub.SpawnID]hub.Spawn{} // live
		var starts []int64
		pick := func() (hub.SpawnID, bool) {
			ids := make([]hub.SpawnID, 0, len(model))
			for id := range model {
				ids = append(ids, id)
			}
			slices.Sort(ids)
			if len(ids) == 0 || rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
				return "sp_zz", false
			}
			return rapid.SampledFrom(ids).Draw(t, "id"), true
		}
		t.Repeat(map[string]func(*rapid.T){
			"time": func(t *rapid.T) {
				r.at.Now.HubMS += rapid.Int64Range(1, 2_000_000).Draw(t, "ms")
			},
			"policy": func(t *rapid.T) {
				in := hub.SpawnPolicyInput{
					Commands:   []hub.SpawnCommand{{Harness: hub.HarnessCodex, Args: []string{"/x", "{prompt}"}}},
					MaxRunning: rapid.IntRange(0, 3).Draw(t, "running"), MaxPerHour: rapid.IntRange(0, 4).Draw(t, "hour"),
					MaxDepth: rapid.IntRange(0, 2).Draw(t, "depth"), Version: version - int64(rapid.IntRange(0, 1).Draw(t, "stale")),
				}
				for _, room := range rooms[:rapid.IntRange(0, 2).Draw(t, "rooms")] {
					in.Allow = append(in.Allow, hub.SpawnAllowance{RoomID: room, Harness: hub.HarnessCodex, MaxSeats: rapid.IntRange(0, 2).Draw(t, "seats")})
				}
				p, err := r.policy(in)
				if (err == nil) != (in.Version == version) {
					t.Fatalf("a policy of version %d at %d: %v", in.Version, version, err)
				}
				if err == nil {
					version, limits = p.Version, p
				}
			},
			"request": func(t *rapid.T) {
				in := hub.SpawnInput{
					RoomID: rapid.SampledFrom(rooms).Draw(t, "room"), Harness: hub.HarnessCodex, By: rapid.SampledFrom(agents).Draw(t, "by"),
				}
				row, err := r.request(version, in, "codex-3")
				want, depth := wantSpawn(limits, model, starts, in, r.at.Now.HubMS)
				if codeOf(err) != want {
					t.Fatalf("%+v: %v, want %q", in, err, want)
				}
				if err != nil {
					return
				}
				if row.Depth != depth || row.AgentID == in.By || row.AgentID == "codex-3" {
					t.Fatalf("the spawn is %+v, want depth %d", row, depth)
				}
				for _, other := range model {
					if other.AgentID == row.AgentID {
						t.Fatalf("two spawns are %s", row.AgentID)
					}
				}
				model[row.SpawnID], starts = row, append(starts, r.at.Now.HubMS)
			},
			"start": func(t *rapid.T) {
				id, known := pick()
				d, err := r.live.Start(id, "seat_1", 7)
				row, err := commit(r, d, err)
				if known != (err == nil) || known && row.Status != hub.SpawnRunning {
					t.Fatalf("start of %s: %+v %v", id, row, err)
				}
				if known {
					model[id] = row
				}
			},
			"stop": func(t *rapid.T) {
				id, known := pick()
				by, operator := rapid.SampledFrom(agents).Draw(t, "by"), rapid.Bool().Draw(t, "operator")
				d, err := r.live.Stop(id, by, operator)
				row, err := commit(r, d, err)
				switch {
				case !known:
					if !errors.Is(err, core.ErrNotLive) {
						t.Fatalf("stop of nothing: %v", err)
					}
				case !operator && by != model[id].By:
					if codeOf(err) != hub.CodeSpawnNotAllowed {
						t.Fatalf("stop by %s: %v", by, err)
					}
				case err != nil || !row.Stopping:
					t.Fatalf("stop: %+v %v", row, err)
				default:
					model[id] = row
				}
			},
			"end": func(t *rapid.T) {
				id, known := pick()
				d, err := r.live.End(id, core.SpawnOutcome{Status: hub.SpawnExited})
				messages := len(d.Messages)
				row, err := commit(r, d, err)
				if known != (err == nil) || known && (messages != 1 || !row.Status.Terminal() || d.Messages[0].To != model[id].By) {
					t.Fatalf("end of %s: %+v %v, %d messages", id, row, err, messages)
				}
				delete(model, id)
				if known && r.stored(id).Status != hub.SpawnExited {
					t.Fatalf("the row of %s is %+v", id, r.stored(id))
				}
			},
			"": func(t *rapid.T) {
				for id, want := range model {
					if got := r.stored(id); got.Status != want.Status || got.Stopping != want.Stopping {
						t.Fatalf("the row of %s is %+v, want %+v", id, got, want)
					}
				}
				r.live = r.loaded() // a restart, or a retired owner
				for id := range model {
					if _, err := r.live.End(id, core.SpawnOutcome{Status: hub.SpawnLost}); err != nil {
						t.Fatalf("%s is not loaded: %v", id, err)
					}
				}
			},
		})
	})
}

// wantSpawn is what a request comes to, by the rules as docs/spawn.md has them.
func wantSpawn(p hub.SpawnPolicy, live map[hub.SpawnID]hub.Spawn, starts []int64, in hub.SpawnInput, now int64) (hub.Code, int) {
	seats := 0
	for _, a := range p.Allow {
		if a.RoomID == in.RoomID {
			seats = a.MaxSeats
		}
	}
	depth, inRoom, lately := 1, 0, 0
	for _, row := range live {
		if row.AgentID == in.By {
			depth = row.Depth + 1
		}
		if row.RoomID == in.RoomID {
			inRoom++
		}
	}
	for _, at := range starts {
		if now-at < 3_600_000 {
			lately++
		}
	}
	switch {
	case seats == 0 || depth > p.MaxDepth:
		return hub.CodeSpawnNotAllowed, depth
	case inRoom >= seats || len(live) >= p.MaxRunning || lately >= p.MaxPerHour:
		return hub.CodeLimitReached, depth
	}
	return "", depth
}

// TestSpawnArguments: values stand where the operator put them, once, and never
// become options.
func TestSpawnArguments(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		v     core.SpawnValues
		want  []string
		field string // that is refused
	}{
		{"plain", []string{"/x", "-p", "{prompt}"}, core.SpawnValues{Prompt: "do it"}, []string{"/x", "-p", "do it"}, ""},
		{"once", []string{"/x", "{prompt}", "{agent}"}, core.SpawnValues{Prompt: "{agent} {room}", Agent: "a"}, []string{"/x", "{agent} {room}", "a"}, ""},
		{"within", []string{"/x", "--prompt={prompt}"}, core.SpawnValues{Prompt: "-rf"}, []string{"/x", "--prompt=-rf"}, ""},
		{"behind --", []string{"/x", "--", "{prompt}"}, core.SpawnValues{Prompt: "--yolo"}, []string{"/x", "--", "--yolo"}, ""},
		{"option", []string{"/x", "-p", "{prompt}"}, core.SpawnValues{Prompt: "--yolo"}, nil, "prompt"},
		{"option before --", []string{"/x", "{prompt}", "--"}, core.SpawnValues{Prompt: "-x"}, nil, "prompt"},
		{"role as an option", []string{"/x", "{role}", "{prompt}"}, core.SpawnValues{Prompt: "p", Role: "-x"}, nil, "role"},
		{"an empty value before", []string{"/x", "{title}{prompt}"}, core.SpawnValues{Prompt: "-x"}, nil, "title"},
		{"a prompt cannot be --", []string{"/x", "{role}", "{prompt}"}, core.SpawnValues{Prompt: "-x", Role: "--"}, nil, "role"},
		{"the executable is as it is", []string{"/x{prompt}", "{prompt}"}, core.SpawnValues{Prompt: "p"}, []string{"/x{prompt}", "p"}, ""},
		{"unknown braces", []string{"/x", `{"a":"{prompt}"}`, "{other}"}, core.SpawnValues{Prompt: "p"}, []string{"/x", `{"a":"p"}`, "{other}"}, ""},
		{"no prompt", []string{"/x", "{prompt}"}, core.SpawnValues{}, nil, "prompt"},
		{"a prompt for nothing", []string{"/x"}, core.SpawnValues{Prompt: "p"}, nil, "prompt"},
		{"too long", []string{"/x", "{prompt}{prompt}"}, core.SpawnValues{Prompt: strings.Repeat("x", hub.MaxSpawnPromptBytes)}, nil, "prompt"},
	} {
		got, err := core.SpawnArguments(c.args, &c.v)
		var e *hub.Error
		if errors.As(err, &e); (c.field != "") != (e != nil) || e != nil && (e.Code != hub.CodeInvalid || e.Detail["field"] != c.field || e.Fix == "") {
			t.Errorf("%s: %v", c.name, err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSpawnNoticeSaysNothingOfAgents: the hub speaks, and in none of an agent's
// words.
func TestSpawnNoticeSaysNothingOfAgents(t *testing.T) {
	r := newSpawnRig(t)
	if _, err := r.policy(hub.SpawnPolicyInput{
		Commands: []hub.SpawnCommand{{Harness: hub.HarnessCodex, Args: []string{"/x"}}},
		Allow:    []hub.SpawnAllowance{{RoomID: "r_1", Harness: hub.HarnessCodex}},
	}); err != nil {
		t.Fatal(err)
	}
	row, err := r.request(1, hub.SpawnInput{RoomID: "r_1", Harness: hub.HarnessCodex, By: "lead", Title: "EVIL", Role: "EVIL"})
	if err != nil {
		t.Fatal(err)
	}
	one := 1
	d, err := r.live.End(row.SpawnID, core.SpawnOutcome{Status: hub.SpawnExited, ExitCode: &one, Artifact: &hub.Artifact{ArtifactID: "a_1"}})
	if err != nil || len(d.Messages) != 1 {
		t.Fatal(err)
	}
	m := d.Messages[0]
	if m.From != hub.AgentSystem || m.To != "lead" || strings.Contains(m.Body+string(m.Metadata), "EVIL") ||
		!strings.Contains(m.Body, "exit code 1") || !strings.Contains(m.Body, "a_1") {
		t.Errorf("the notice is %+v", m)
	}
}
