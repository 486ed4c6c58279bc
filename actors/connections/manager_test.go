package connections_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hubcli/hub"
	"hubcli/integrations/credstore"
	"hubcli/integrations/provider"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/internal/testlog"
	"hubcli/supervisor"
)

// keyring stands in for the credential store of the system, which the tests of credstore run for
// real; variables are read by the real source.
type keyring struct {
	credstore.Keeper
	mu     sync.Mutex
	kept   map[string]string
	locked bool
	asked  int // for secrets, while it was locked
}

func newKeyring(env map[string]string) *keyring {
	return &keyring{kept: map[string]string{}, Keeper: credstore.Keeper{Store: &credstore.Store{
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	}}}
}

func (k *keyring) Get(ctx context.Context, ref string) (hub.Secret, error) {
	if !strings.HasPrefix(ref, "os:") {
		return k.Keeper.Get(ctx, ref)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.locked {
		k.asked++
		return hub.Secret{}, credstore.Told(&credstore.Error{Kind: credstore.Locked, Message: "the credential store is locked", Fix: "unlock it"})
	}
	if text, ok := k.kept[ref]; ok {
		return hub.NewSecret(text), nil
	}
	return hub.Secret{}, credstore.Told(&credstore.Error{Kind: credstore.NotFound, Message: "the credential store has no such secret", Fix: "give it"})
}

func (k *keyring) Set(_ context.Context, ref string, secret hub.Secret) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept[ref] = secret.Reveal()
	return nil
}

func (k *keyring) Delete(_ context.Context, ref string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.kept, ref)
	return nil
}

// refs are the names under which the store holds something.
func (k *keyring) refs() (all []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for ref := range k.kept {
		all = append(all, ref)
	}
	slices.Sort(all)
	return all
}

// rig is a hub with such a store, and what it has logged.
type rig struct {
	*testhub.Hub
	ctx  context.Context // the operator's
	keys *keyring
	log  *testlog.Buffer
}

func newRig(t *testing.T, env map[string]string, more ...testhub.Option) *rig {
	t.Helper()
	r := &rig{ctx: hub.WithCaller(t.Context(), &hub.Caller{Operator: true}), keys: newKeyring(env), log: &testlog.Buffer{}}
	r.Hub = testhub.Start(t, append(more, testhub.Log(slog.New(slog.NewTextHandler(r.log, nil))), testhub.With(func(c *supervisor.Config) {
		c.Credentials, c.WithoutSearch = r.keys, true
		if c.Directory == nil {
			c.Directory = &provider.Client{}
		}
	}))...)
	return r
}

func (r *rig) create(t *testing.T, in hub.ConnectionInput) hub.Connection {
	t.Helper()
	out, err := r.Hub.Hub.CreateConnection(r.ctx, in)
	require.NoError(t, err)
	return out.Row
}

func isCode(err error, code hub.Code) bool { return errors.Is(err, &hub.Error{Code: code}) }

// TestShortSecretsSpoilNoExport: a text of a few bytes, which would be found everywhere, is no
// reason to export nothing. Longer secrets are still replaced.
func TestShortSecretsSpoilNoExport(t *testing.T) {
	const long = "local-model-4711"
	r := newRig(t, map[string]string{"GITHUB_TOKEN": "x", "OWN_KEY": "abcde", "GROQ_API_KEY": long})
	r.create(t, hub.ConnectionInput{ProviderID: "custom", Endpoint: "http://127.0.0.1:1", KeyVariable: "OWN_KEY"})
	r.create(t, hub.ConnectionInput{ProviderID: "ollama", Key: "none"})
	p, err := r.Hub.Hub.CreateProject(r.ctx, hub.ProjectInput{Name: "Shop"})
	require.NoError(t, err)
	room, err := r.Hub.Hub.CreateRoom(r.ctx, hub.RoomInput{Project: p.Row.Slug, Name: "Till"})
	require.NoError(t, err)
	_, err = r.Hub.Hub.Post(r.ctx, hub.PostInput{FromAgent: "ann", Channel: room.Row.Channel, Kind: hub.KindChat, Body: "use " + long + " for it, none of abcde"})
	require.NoError(t, err)
	in := hub.CapsuleExportInput{Project: "shop", Out: filepath.Join(t.TempDir(), "shop.hubpack"), Scope: hub.CapsuleComplete, Privacy: hub.CapsuleShareSafe}
	plan, err := r.Capsules().Exports.PlanExport(r.ctx, in)
	require.NoError(t, err)
	require.Eventually(t, "the plan is ready", func() bool {
		plan, err = r.Capsules().Exports.ExportPlan(r.ctx, plan.PlanID)
		return err != nil || plan.State != hub.CapsulePlanning
	})
	require.NoError(t, err)
	if plan.State != hub.CapsuleReady || plan.Redactions["literal"] == 0 {
		t.Errorf("the plan is %s (%s), with %v replaced", plan.State, plan.Error, plan.Redactions)
	}
	if got := r.Hub.Hub.ConnectionSecrets(r.ctx); !slices.Equal(got, []string{long}) {
		t.Errorf("%d secrets are looked for, want the long one alone", len(got))
	}
	if text := r.log.String(); !strings.Contains(text, "too short to be looked for") || !strings.Contains(text, "name=env:OWN_KEY") || strings.Contains(text, "abcde") {
		t.Errorf("the log says %s", text)
	}
}

// TestLockedStoreIsAskedOnce: each refusal may take seconds, and an export waits for it.
func TestLockedStoreIsAskedOnce(t *testing.T) {
	r := newRig(t, map[string]string{"GROQ_API_KEY": "gsk-variable-1"})
	for n := range 5 {
		r.create(t, hub.ConnectionInput{ProviderID: "openai", Key: fmt.Sprintf("sk-stored-%d", n)})
	}
	if got := r.Hub.Hub.ConnectionSecrets(r.ctx); len(got) != 6 {
		t.Errorf("%d secrets are looked for, want 6", len(got))
	}
	r.keys.locked = true
	if got := r.Hub.Hub.ConnectionSecrets(r.ctx); !slices.Equal(got, []string{"gsk-variable-1"}) || r.keys.asked != 1 {
		t.Errorf("a locked store was asked %d times, and %d secrets are looked for", r.keys.asked, len(got))
	}
	if text := r.log.String(); strings.Count(text, "keys of connections not known") != 1 || strings.Contains(text, "sk-stored") {
		t.Errorf("the log says %s", text)
	}
}

// TestKeysAreFoundInOrder: the credential store first, then the variables in their order.
func TestKeysAreFoundInOrder(t *testing.T) {
	env := map[string]string{"GEMINI_API_KEY": "second", "GOOGLE_GENERATIVE_AI_API_KEY": "third"}
	r := newRig(t, env)
	if got := r.create(t, hub.ConnectionInput{ProviderID: "gemini"}); got.KeyRef != "env:GEMINI_API_KEY" || got.KeyVariable != "GEMINI_API_KEY" || got.KeySource != hub.KeySourceEnv {
		t.Errorf("from a variable: %+v", got)
	}
	r.keys.kept["os:gemini"] = "stored by hand"
	got := r.create(t, hub.ConnectionInput{ProviderID: "gemini"})
	if got.KeyRef != "os:gemini" || got.KeySource != hub.KeySourceOS || got.Label != "gemini-2" {
		t.Errorf("from the store: %+v", got)
	}
	if got := r.create(t, hub.ConnectionInput{ProviderID: "gemini", EnvCredential: true}); got.KeySource != hub.KeySourceEnv {
		t.Errorf("the variable was required: %+v", got)
	}
	if got := r.create(t, hub.ConnectionInput{ProviderID: "ollama"}); got.KeySource != hub.KeySourceNone || got.KeyFingerprint != "" {
		t.Errorf("a server that needs no key: %+v", got)
	}
	// What the hub has not put there stays.
	_, err := r.Hub.Hub.DeleteConnection(r.ctx, string(got.ConnectionID))
	require.NoError(t, err)
	if refs := r.keys.refs(); !slices.Equal(refs, []string{"os:gemini"}) {
		t.Errorf("the store holds %q", refs)
	}
}

// TestRefusedConnectionsLeaveNoKey in the credential store, and none that was there before.
func TestRefusedConnectionsLeaveNoKey(t *testing.T) {
	r := newRig(t, nil)
	mine := r.create(t, hub.ConnectionInput{ProviderID: "openai", Label: "Mine", Key: "sk-one-1"})
	_, err := r.Hub.Hub.CreateConnection(r.ctx, hub.ConnectionInput{ProviderID: "openai", Label: "mINE", Key: "sk-two-2"})
	if !isCode(err, hub.CodeLabelTaken) {
		t.Fatalf("the same label: %v", err)
	}
	if refs := r.keys.refs(); !slices.Equal(refs, []string{mine.KeyRef}) {
		t.Errorf("the store holds %q", refs)
	}
	out, err := r.Hub.Hub.SetConnectionKey(r.ctx, "mine", hub.ConnectionKeyInput{Key: "sk-three-3"})
	require.NoError(t, err)
	if refs := r.keys.refs(); !slices.Equal(refs, []string{out.Row.KeyRef}) || out.Row.KeyRef == mine.KeyRef || out.Row.KeyFingerprint == mine.KeyFingerprint {
		t.Errorf("the store holds %q, and the connection is %+v", refs, out.Row)
	}
}

// TestKeysStayWithTheirServers: a connection that leads elsewhere has no key for it, to verify
// and to hand on.
func TestKeysStayWithTheirServers(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked++; w.WriteHeader(http.StatusInternalServerError) }))
	t.Cleanup(server.Close)
	r := newRig(t, map[string]string{"OWN_KEY": "sk-own-key-1"})
	made := r.create(t, hub.ConnectionInput{ProviderID: "custom", Endpoint: "https://llm.example.com/v1", Label: "own", KeyVariable: "OWN_KEY"})
	got, err := r.Hub.Hub.ConnectionVariable(r.ctx, "own")
	if err != nil || got.ConnectionID != made.ConnectionID || got.Variable != "OWN_KEY" || got.Key.Reveal() != "sk-own-key-1" {
		t.Errorf("handed on: %+v, %v", got, err)
	}
	if text := fmt.Sprintf("%v %+v %#v", got, got, got); strings.Contains(text, "sk-own") {
		t.Errorf("a secret prints itself: %s", text)
	}
	moved, err := r.Hub.Hub.UpdateConnection(r.ctx, string(made.ConnectionID), hub.ConnectionUpdate{Endpoint: &server.URL})
	require.NoError(t, err)
	if moved.Row.KeySource != hub.KeySourceNeeded || moved.Row.KeyFingerprint != "" {
		t.Errorf("moved: %+v", moved.Row)
	}
	if _, err := r.Hub.Hub.ConnectionVariable(r.ctx, "own"); !isCode(err, hub.CodeCredentialUnresolved) {
		t.Errorf("handed on after a move: %v", err)
	}
	if _, err := r.Hub.Hub.VerifyConnection(r.ctx, "own"); !isCode(err, hub.CodeProviderFailed) || asked != 0 {
		t.Errorf("verified after a move: %v, the new server was asked %d times", err, asked)
	}
}

// TestConnectionsWithoutAKeyAreNotHandedOn, each with its reason.
func TestConnectionsWithoutAKeyAreNotHandedOn(t *testing.T) {
	r := newRig(t, nil)
	r.create(t, hub.ConnectionInput{ProviderID: "ollama", Label: "free", NoKey: true})
	r.create(t, hub.ConnectionInput{ProviderID: "custom", Endpoint: "https://llm.example.com", Label: "nameless", Key: "sk-nameless-1"})
	r.create(t, hub.ConnectionInput{ProviderID: "openai", Label: "lost", Key: "sk-lost-1"})
	for ref := range r.keys.kept {
		if r.keys.kept[ref] == "sk-lost-1" {
			delete(r.keys.kept, ref)
		}
	}
	for ref, want := range map[string]string{"free": "no key that could be handed on", "nameless": "no variable is known", "lost": "has no key"} {
		got, err := r.Hub.Hub.ConnectionVariable(r.ctx, ref)
		if !isCode(err, hub.CodeCredentialUnresolved) || !strings.Contains(err.Error(), want) || !got.Key.Empty() {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if _, err := r.Hub.Hub.ConnectionVariable(r.ctx, "nobody"); !isCode(err, hub.CodeConnectionNotFound) {
		t.Errorf("nobody: %v", err)
	}
}

// TestReferencesNameOneConnection or say between which the choice is.
func TestReferencesNameOneConnection(t *testing.T) {
	r := newRig(t, nil)
	one := r.create(t, hub.ConnectionInput{ProviderID: "ollama", Label: "One", NoKey: true})
	two := r.create(t, hub.ConnectionInput{ProviderID: "ollama", NoKey: true})
	for ref, want := range map[string]hub.ConnectionID{"one": one.ConnectionID, "OLLAMA": two.ConnectionID, string(two.ConnectionID): two.ConnectionID} {
		if got, err := r.Hub.Hub.ConnectionModels(r.ctx, ref); err != nil || got.ConnectionID != want {
			t.Errorf("%s is %s, %v", ref, got.ConnectionID, err)
		}
	}
	for ref, want := range map[string]hub.Code{"cn_": hub.CodeAmbiguous, "": hub.CodeConnectionNotFound, "on": hub.CodeConnectionNotFound, "cn_zz": hub.CodeConnectionNotFound} {
		_, err := r.Hub.Hub.ConnectionModels(r.ctx, ref)
		var e *hub.Error
		if !errors.As(err, &e) || e.Code != want {
			t.Errorf("%q: %v, want %s", ref, err, want)
		}
		if want == hub.CodeAmbiguous && (!strings.Contains(e.Fix, "One") || !strings.Contains(e.Fix, string(two.ConnectionID))) {
			t.Errorf("the candidates are not named: %s", e.Fix)
		}
	}
}
