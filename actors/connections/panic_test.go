package connections_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/integrations/provider"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// panicking asks nobody: it panics with all that it was given.
type panicking struct{ provider.Client }

func (*panicking) Check(_ context.Context, to hub.ProviderTarget, key hub.Secret) (hub.ConnectionCheck, []hub.ProviderModel, error) {
	panic(fmt.Sprintf("%v %+v %#v %s %q", to, key, key, key, []any{key, &key}))
}

// TestPanicsTellNoKey: what a panic tells of a key, to the caller and in the log, is that
// there is one.
func TestPanicsTellNoKey(t *testing.T) {
	r := newRig(t, nil, testhub.With(func(c *supervisor.Config) { c.Directory = &panicking{} }))
	for n := range 20 {
		r.create(t, hub.ConnectionInput{ProviderID: "openai", Label: fmt.Sprintf("c%d", n), Key: fmt.Sprintf("sk-PLANTED-%d", n)})
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("%s/v1/connections/c%d/verify", r.URL, n), strings.NewReader("{}"))
		require.NoError(t, err)
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("X-Hub-Operator", r.Store.OperatorToken())
		a, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		body, err := io.ReadAll(a.Body)
		require.NoError(t, err)
		require.NoError(t, a.Body.Close())
		if a.StatusCode != http.StatusInternalServerError || strings.Contains(string(body), "PLANTED") {
			t.Errorf("the answer is %d %s", a.StatusCode, body)
		}
	}
	text := r.log.String()
	if strings.Count(text, "handler panicked") != 20 || strings.Contains(text, "PLANTED") {
		t.Errorf("the log says %.2000s", text)
	}
}
