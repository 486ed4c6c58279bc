package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/integrations/credstore"
	"hubcli/integrations/provider"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// keys stands in for the credential store of the system; variables are read by the real
// source.
type keys struct {
	credstore.Keeper
	mu     sync.Mutex
	kept   map[string]string
	locked bool
}

func newKeys(env map[string]string) *keys {
	return &keys{kept: map[string]string{}, Keeper: credstore.Keeper{Store: &credstore.Store{
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	}}}
}

func (k *keys) refuses() error {
	if k.locked {
		return credstore.Told(&credstore.Error{Kind: credstore.Locked, Message: "the credential store is locked", Fix: "unlock it"})
	}
	return nil
}

func (k *keys) Get(ctx context.Context, ref string) (hub.Secret, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch text, ok := k.kept[ref]; {
	case !strings.HasPrefix(ref, "os:"):
		return k.Keeper.Get(ctx, ref)
	case k.locked:
		return hub.Secret{}, k.refuses()
	case ok:
		return hub.NewSecret(text), nil
	}
	return hub.Secret{}, credstore.Told(&credstore.Error{Kind: credstore.NotFound, Message: "the credential store has no such secret", Fix: "give it"})
}

func (k *keys) Set(_ context.Context, ref string, secret hub.Secret) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.locked {
		k.kept[ref] = secret.Reveal()
	}
	return k.refuses()
}

func (k *keys) Delete(_ context.Context, ref string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.locked {
		delete(k.kept, ref)
	}
	return k.refuses()
}

func (k *keys) lock(yes bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.locked = yes
}

func (k *keys) holds() (all []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, text := range k.kept {
		all = append(all, text)
	}
	return all
}

// vendor is a server that lists models to those who send its key.
func vendor(t *testing.T, key string) (url string, down func(int)) {
	status := http.StatusOK
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, `{"data":[{"id":"m-1","name":"Model One","context_length":8192,"pricing":{"prompt":"0.000001","completion":"0.000002"}}]}`)
	}))
	t.Cleanup(server.Close)
	return server.URL, func(code int) {
		mu.Lock()
		defer mu.Unlock()
		status = code
	}
}

// TestConnections makes every call about connections, and takes what can go wrong.
func TestConnections(t *testing.T) {
	const key = "sk-planted-0001"
	url, answers := vendor(t, key)
	other, _ := vendor(t, key)
	k := newKeys(map[string]string{"GROQ_API_KEY": "gsk-env", "OWN_KEY": key})
	h := testhub.Start(t, testhub.With(func(c *supervisor.Config) { c.Directory, c.Credentials = &provider.Client{}, k }))
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/connections", "")
	if a := c.ok(200, "GET", "/v1/providers", ""); a.rows() < 26 {
		t.Errorf("%d presets", a.rows())
	}

	for _, body := range []string{
		`{}`, `{"provider_id":"openai","region":"moon"}`, `{"provider_id":"openai","endpoint":"https://x.example"}`,
		`{"provider_id":"custom"}`, `{"provider_id":"openai","label":"cn_1"}`, `{"provider_id":"openai","label":" x"}`,
		`{"provider_id":"openai","key":"two words"}`, `{"provider_id":"openai","key":"a","env_credential":true}`,
		`{"provider_id":"openai","key":"` + strings.Repeat("x", hub.MaxProviderKey+1) + `"}`,
		`{"provider_id":"azure-openai","params":{"resource":"a.b"}}`, `{"provider_id":"azure-openai","params":{"resource":7}}`, `{"provider_id":"azure-openai"}`,
		`{"provider_id":"openai","params":{"resource":"a"}}`, `{"provider_id":"openai","key_variable":"A-B"}`, `{"provider_id":"openai","no_key":true}`,
	} {
		operator.refused(hub.CodeInvalid, "POST", "/v1/connections", body)
	}
	operator.refused(hub.CodeProviderNotFound, "POST", "/v1/connections", `{"provider_id":"oai"}`)
	operator.refused(hub.CodeCredentialUnresolved, "POST", "/v1/connections", `{"provider_id":"openai","env_credential":true}`)
	operator.refused(hub.CodeCredentialUnresolved, "POST", "/v1/connections", `{"provider_id":"openai"}`)
	k.lock(true)
	operator.refused(hub.CodeCredentialStore, "POST", "/v1/connections", `{"provider_id":"openai","key":"`+key+`"}`)
	k.lock(false)
	operator.ok(201, "POST", "/v1/connections", `{"provider_id":"groq","env_credential":true}`)

	if a := operator.ok(201, "POST", "/v1/connections", `{"provider_id":"azure-openai","params":{"resource":"acme"},"key_variable":"OWN_KEY"}`); a.row("endpoint") != "https://acme.openai.azure.com/openai/v1" {
		t.Errorf("with a parameter: %s", a.Result)
	}
	operator.ok(200, "DELETE", "/v1/connections/azure-openai", "")

	body := `{"provider_id":"custom","endpoint":"` + url + `","label":"Mine","key":"` + key + `"}`
	again := operator.with(api.HeaderIdempotency, "k1")
	id := again.ok(201, "POST", "/v1/connections", body).row("connection_id").(string)
	if got := again.ok(201, "POST", "/v1/connections", body).row("connection_id"); got != id || len(k.holds()) != 1 {
		t.Errorf("a repeated call made %v, and the store holds %d keys", got, len(k.holds()))
	}
	operator.refused(hub.CodeLabelTaken, "POST", "/v1/connections", strings.Replace(body, "Mine", "mine", 1))
	if n := len(k.holds()); n != 1 {
		t.Errorf("a refused call has left %d keys", n)
	}
	operator.refused(hub.CodeAmbiguous, "POST", "/v1/connections/cn_/verify", "")
	operator.refused(hub.CodeConnectionNotFound, "POST", "/v1/connections/cn_zzz/verify", "")

	if a := operator.ok(200, "GET", "/v1/connections/mine/models", ""); a.row("fetched_at") != nil {
		t.Errorf("models before the first verification: %s", a.Result)
	}
	if a := operator.ok(200, "POST", "/v1/connections/mine/verify", ""); !strings.Contains(string(a.Result), `"key":"proved"`) {
		t.Errorf("verified: %s", a.Result)
	}
	models := string(operator.ok(200, "GET", "/v1/connections/"+id+"/models", "").Result)
	if !strings.Contains(models, `"model_id":"m-1"`) || !strings.Contains(models, `"context_tokens":8192`) || !strings.Contains(models, `"input":1,`) {
		t.Errorf("models: %s", models)
	}
	for status, fault := range map[int]hub.ProviderFault{429: hub.FaultRateLimited, 500: hub.FaultProviderDown, 404: hub.FaultWrongRegion} {
		answers(status)
		repeated := operator.with(api.HeaderIdempotency, fmt.Sprint("v", status))
		for range 2 {
			if a := repeated.refused(hub.CodeProviderFailed, "POST", "/v1/connections/Mine/verify", ""); a.Detail["fault"] != string(fault) {
				t.Errorf("%d: %v", status, a.Detail)
			}
		}
	}
	if a := string(operator.ok(200, "GET", "/v1/connections/mine/models", "").Result); !strings.Contains(a, `"model_id":"m-1"`) {
		t.Errorf("a failure has taken the models: %s", a)
	}
	answers(http.StatusOK)

	// Another label keeps the key; another server has it given again.
	operator.refused(hub.CodeInvalid, "POST", "/v1/connections/mine", `{}`)
	operator.ok(200, "POST", "/v1/connections/mine", `{"label":"yours"}`)
	operator.ok(200, "POST", "/v1/connections/yours/verify", "")
	if a := operator.ok(200, "POST", "/v1/connections/yours", `{"endpoint":"`+other+`"}`); a.row("key_source") != "needed" || len(k.holds()) != 0 {
		t.Errorf("moved: %s, %d keys are kept", a.Result, len(k.holds()))
	}
	if a := operator.refused(hub.CodeProviderFailed, "POST", "/v1/connections/yours/verify", ""); a.Detail["fault"] != string(hub.FaultNoKey) {
		t.Errorf("moved: %v", a.Detail)
	}
	operator.refused(hub.CodeCredentialUnresolved, "POST", "/v1/connections/yours/key", `{"key_variable":"NOT_SET"}`)
	operator.ok(200, "POST", "/v1/connections/yours/key", `{"key_variable":"OWN_KEY"}`)
	operator.ok(200, "POST", "/v1/connections/yours/verify", "")
	operator.ok(200, "POST", "/v1/connections/yours/key", `{"key":"sk-wrong"}`)
	if a := operator.refused(hub.CodeProviderFailed, "POST", "/v1/connections/yours/verify", ""); a.Detail["fault"] != string(hub.FaultWrongKey) {
		t.Errorf("a wrong key: %v", a.Detail)
	}

	k.lock(true)
	operator.refused(hub.CodeCredentialStore, "DELETE", "/v1/connections/yours", "")
	k.lock(false)
	operator.ok(200, "DELETE", "/v1/connections/yours", "")
	if n := len(k.holds()); n != 0 {
		t.Errorf("%d keys are left", n)
	}
	if a := operator.ok(200, "GET", "/v1/connections", ""); a.rows() != 1 || strings.Contains(string(a.Result), "gsk-env") {
		t.Errorf("the connections are %s", a.Result)
	}
}
