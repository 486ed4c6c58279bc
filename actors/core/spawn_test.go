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
	"hubcli/internal/require"
)

// spawnRig is the owner of spawns, its stored rows and its time.
type spawnRig struct {
	t    rapid.TB
	live *core.Spawns
	rows map[string]core.Row // by table and key
	at   core.Position
}

func newSpawnRig(t rapid.TB) *spawnRig {
	return &spawnRig{t: t, live: core.RestoreSpawns(core.NoSpawns(), nil, nil), rows: map[string]core.Row{}, at: core.Position{Now: core.Now{HubMS: 1000, Wall: 5000}}}
}

// commit applies a decision as an owner does, with facts that the journal's
// encoding gave back. It applies each fact twice, which must be the same as
// once.
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
			require.NoError(r.t, err)
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

// loaded returns the state that the stored rows give.
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
		require.NoError(r.t, json.Unmarshal(row.Value, &stored))
	}
	for _, id := range stored.Live {
		live = append(live, r.stored(id))
	}
	return core.RestoreSpawns(policy, live, stored.Recent)
}

func (r *spawnRig) stored(id hub.SpawnID) (row hub.Spawn) {
	key, _ := core.SpawnKey(id)
	require.NoError(r.t, json.Unmarshal(r.rows[fmt.Sprintf("%02d/%s", core.TableSpawn, key)].Value, &row))
	return row
}

func codeOf(err error) hub.Code {
	var e *hub.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// TestSpawnArguments: a value stands only where the operator put its name. It
// is not expanded again and never becomes an option.
func TestSpawnArguments(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		v     core.SpawnValues
		want  []string
		field string // the refused one, or ""
	}{
		{"plain", []string{"/x", "-p", "{prompt}"}, core.SpawnValues{Prompt: "do it"}, []string{"/x", "-p", "do it"}, ""},
		{"expanded once", []string{"/x", "{prompt}", "{agent}"}, core.SpawnValues{Prompt: "{agent} {room}", Agent: "a"}, []string{"/x", "{agent} {room}", "a"}, ""},
		{"within an argument", []string{"/x", "--prompt={prompt}"}, core.SpawnValues{Prompt: "-rf"}, []string{"/x", "--prompt=-rf"}, ""},
		{"after --", []string{"/x", "--", "{prompt}"}, core.SpawnValues{Prompt: "--yolo"}, []string{"/x", "--", "--yolo"}, ""},
		{"option", []string{"/x", "-p", "{prompt}"}, core.SpawnValues{Prompt: "--yolo"}, nil, "prompt"},
		{"option before --", []string{"/x", "{prompt}", "--"}, core.SpawnValues{Prompt: "-x"}, nil, "prompt"},
		{"role as an option", []string{"/x", "{role}", "{prompt}"}, core.SpawnValues{Prompt: "p", Role: "-x"}, nil, "role"},
		{"an empty value before the prompt", []string{"/x", "{title}{prompt}"}, core.SpawnValues{Prompt: "-x"}, nil, "title"},
		{"a role cannot be --", []string{"/x", "{role}", "{prompt}"}, core.SpawnValues{Prompt: "-x", Role: "--"}, nil, "role"},
		{"the executable is not expanded", []string{"/x{prompt}", "{prompt}"}, core.SpawnValues{Prompt: "p"}, []string{"/x{prompt}", "p"}, ""},
		{"unknown braces", []string{"/x", `{"a":"{prompt}"}`, "{other}"}, core.SpawnValues{Prompt: "p"}, []string{"/x", `{"a":"p"}`, "{other}"}, ""},
		{"no prompt", []string{"/x", "{prompt}"}, core.SpawnValues{}, nil, "prompt"},
		{"a prompt without a place", []string{"/x"}, core.SpawnValues{Prompt: "p"}, nil, "prompt"},
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

// TestSpawnNoticeHoldsNoTextOfAgents: the notice about a spawn holds no text
// that an agent gave.
func TestSpawnNoticeHoldsNoTextOfAgents(t *testing.T) {
	r := newSpawnRig(t)
	if _, err := r.policy(hub.SpawnPolicyInput{
		Commands: []hub.SpawnCommand{{Harness: hub.HarnessCodex, Args: []string{"/x"}}},
		Allow:    []hub.SpawnAllowance{{RoomID: "r_1", Harness: hub.HarnessCodex}},
	}); err != nil {
		t.Fatal(err)
	}
	row, err := r.request(1, hub.SpawnInput{RoomID: "r_1", Harness: hub.HarnessCodex, By: "lead", Title: "EVIL", Role: "EVIL"})
	require.NoError(t, err)
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
