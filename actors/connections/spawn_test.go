package connections_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// plans is a runner that starts nothing and notes what it was given.
type plans struct {
	mu  sync.Mutex
	all []hub.SpawnPlan
}

func (*plans) Check(*hub.SpawnPlan) error { return nil }

func (p *plans) Start(plan *hub.SpawnPlan, ended func(hub.SpawnEnd)) (hub.SpawnControl, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, *plan)
	go ended(hub.SpawnEnd{Output: []byte("it ran\n")})
	return hub.SpawnControl{PID: 4711, Stop: func(string) {}}, nil
}

func (p *plans) last() map[string]hub.Secret {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[len(p.all)-1].Secrets
}

func (p *plans) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

// spawnRig is a rig in which the operator allows codex, and qwen with the connection "work".
type spawnRig struct {
	*rig
	*plans
	room hub.RoomID
	work hub.Connection
}

func newSpawnRig(t *testing.T) *spawnRig {
	t.Helper()
	s := &spawnRig{plans: &plans{}}
	s.rig = newRig(t, map[string]string{"GROQ_API_KEY": "gsk-variable-1"}, testhub.With(func(c *supervisor.Config) { c.Runner = s.plans }))
	s.work = s.create(t, hub.ConnectionInput{ProviderID: "openai", Label: "work", Key: "sk-stored-1"})
	p, err := s.Hub.Hub.CreateProject(s.ctx, hub.ProjectInput{Name: "Shop"})
	require.NoError(t, err)
	room, err := s.Hub.Hub.CreateRoom(s.ctx, hub.RoomInput{Project: p.Row.Slug, Name: "Till"})
	require.NoError(t, err)
	s.room = room.Row.RoomID
	policy, err := s.setPolicy(0, "WORK")
	require.NoError(t, err)
	if got := policy.Commands[1].Connection; got != string(s.work.ConnectionID) {
		t.Errorf("the policy keeps %q, want the id", got)
	}
	return s
}

func (s *spawnRig) setPolicy(version int64, ref string) (hub.SpawnPolicy, error) {
	out, err := s.Hub.Hub.SetSpawnPolicy(s.ctx, hub.SpawnPolicyInput{
		Commands: []hub.SpawnCommand{
			{Harness: hub.HarnessCodex, Args: []string{"/bin/codex"}, Dir: "/"},
			{Harness: hub.HarnessQwenCode, Args: []string{"/bin/qwen"}, Dir: "/", Connection: ref},
		},
		Allow:   []hub.SpawnAllowance{{RoomID: s.room, Harness: hub.HarnessCodex}, {RoomID: s.room, Harness: hub.HarnessQwenCode}},
		Version: version,
	})
	return out.Row, err
}

func (s *spawnRig) spawn(caller *hub.Caller, harness hub.Harness, ref string) (hub.Spawn, error) {
	out, err := s.Hub.Hub.Spawn(hub.WithCaller(s.ctx, caller), hub.SpawnInput{RoomID: s.room, Harness: harness, By: "lead", Connection: ref})
	return out.Row, err
}

// TestSpawnsGetTheKeyOfTheirConnection: the one that the operator names, or the one of the
// command, and no other spawn gets any. The row says which, and nothing holds the key.
func TestSpawnsGetTheKeyOfTheirConnection(t *testing.T) {
	s := newSpawnRig(t)
	groq := s.create(t, hub.ConnectionInput{ProviderID: "groq", EnvCredential: true})
	operator, agent := &hub.Caller{Operator: true}, &hub.Caller{}
	for _, c := range []struct {
		caller        *hub.Caller
		harness       hub.Harness
		ref           string
		id            hub.ConnectionID
		variable, key string
	}{
		{operator, hub.HarnessCodex, "work", s.work.ConnectionID, "OPENAI_API_KEY", "sk-stored-1"},
		{operator, hub.HarnessCodex, string(groq.ConnectionID), groq.ConnectionID, "GROQ_API_KEY", "gsk-variable-1"},
		{agent, hub.HarnessQwenCode, "", s.work.ConnectionID, "OPENAI_API_KEY", "sk-stored-1"},
		{operator, hub.HarnessQwenCode, "groq", groq.ConnectionID, "GROQ_API_KEY", "gsk-variable-1"},
		{operator, hub.HarnessCodex, "", "", "", ""},
		{agent, hub.HarnessCodex, "", "", "", ""},
	} {
		row, err := s.spawn(c.caller, c.harness, c.ref)
		require.NoError(t, err)
		got := s.last()
		if want := min(len(c.key), 1); row.ConnectionID != c.id || len(got) != want || got[c.variable].Reveal() != c.key {
			t.Errorf("%s with %q: %+v, %d variables", c.harness, c.ref, row, len(got))
		}
		if text, err := json.Marshal(row); err != nil || strings.Contains(string(text), "sk-stored") || strings.Contains(string(text), "gsk-") {
			t.Errorf("the row is %s, %v", text, err)
		}
	}
	if text := s.log.String(); strings.Contains(text, "sk-stored") || strings.Contains(text, "gsk-variable") {
		t.Errorf("the log says %s", text)
	}
}

// TestSpawnsGetNoKeyThatIsNotTheirs: an agent names no connection, and what cannot be
// handed on starts nothing.
func TestSpawnsGetNoKeyThatIsNotTheirs(t *testing.T) {
	s := newSpawnRig(t)
	s.create(t, hub.ConnectionInput{ProviderID: "ollama", Label: "free", NoKey: true})
	s.create(t, hub.ConnectionInput{ProviderID: "custom", Endpoint: "https://llm.example.com", Label: "nameless", Key: "sk-nameless-1"})
	operator := &hub.Caller{Operator: true}
	for name, c := range map[string]struct {
		caller *hub.Caller
		ref    string
		want   hub.Code
	}{
		"an agent":        {&hub.Caller{}, "work", hub.CodeOperatorRequired},
		"a spool":         {&hub.Caller{Relay: "lead"}, "work", hub.CodeForbiddenRelay},
		"nobody":          {operator, "nobody", hub.CodeConnectionNotFound},
		"several":         {operator, "cn_", hub.CodeAmbiguous},
		"without a key":   {operator, "free", hub.CodeCredentialUnresolved},
		"no variable":     {operator, "nameless", hub.CodeCredentialUnresolved},
		"another harness": {operator, "work", hub.CodeSpawnNotAllowed},
	} {
		harness := hub.HarnessCodex
		if name == "another harness" {
			harness = hub.HarnessZed
		}
		if _, err := s.spawn(c.caller, harness, c.ref); !isCode(err, c.want) || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for ref, want := range map[string]hub.Code{"nobody": hub.CodeConnectionNotFound, "cn_": hub.CodeAmbiguous} {
		if _, err := s.setPolicy(1, ref); !isCode(err, want) {
			t.Errorf("a policy with %q: %v, want %s", ref, err, want)
		}
	}
	// A connection that the policy names and that is gone later.
	_, err := s.Hub.Hub.DeleteConnection(s.ctx, "work")
	require.NoError(t, err)
	if _, err := s.spawn(&hub.Caller{}, hub.HarnessQwenCode, ""); !isCode(err, hub.CodeConnectionNotFound) {
		t.Errorf("a connection that is gone: %v", err)
	}
	var e *hub.Error
	if _, err := s.spawn(&hub.Caller{}, hub.HarnessCodex, "work"); !errors.As(err, &e) || !strings.Contains(e.Fix, "spawn policy") {
		t.Errorf("the way out of an agent: %v", err)
	}
	if n := s.count(); n != 0 {
		t.Errorf("%d processes were started", n)
	}
}
