package httpapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// enter gets a pass and returns a client that acts with it.
func enter(t *testing.T, c, operator *client) (*client, string) {
	t.Helper()
	code := operator.ok(200, "POST", "/v1/passes/codes", `{}`).row("code").(string)
	got := c.ok(201, "POST", "/v1/passes", `{"code":"`+code+`","label":"test"}`)
	return c.with(api.HeaderOperator, got.row("token").(string)), got.row("pass_id").(string)
}

func walkPasses(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/passes/codes", `{}`)
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/passes", "")
	operator.refused(hub.CodeInvalid, "POST", "/v1/passes/codes", `{"ttl_sec":9}`)
	operator.refused(hub.CodeInvalid, "POST", "/v1/passes/codes", `{"ttl_sec":2592001}`)
	for _, body := range []string{`{}`, `{"code":"` + strings.Repeat("x", 65) + `"}`, `{"code":"x","label":"` + strings.Repeat("x", 65) + `"}`} {
		c.refused(hub.CodeInvalid, "POST", "/v1/passes", body)
	}
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/passes", `{"code":"never-made"}`)

	pass, id := enter(t, c, operator)
	pass.ok(200, "GET", "/v1/asks?state=open", "")
	a := pass.ok(201, "POST", "/v1/messages", `{"channel":"general","body":"the human says"}`)
	if a.row("authority") != "operator" {
		t.Errorf("a post with a pass is %s", a.Result)
	}
	if a := pass.ok(200, "GET", "/v1/passes", ""); !strings.Contains(string(a.Result), `"label":"test"`) || strings.Contains(string(a.Result), "token") {
		t.Errorf("the passes are %s", a.Result)
	}
	// A pass makes no codes and reads no keys: what it may do ends with it.
	pass.refused(hub.CodeOperatorRequired, "POST", "/v1/passes/codes", `{}`)
	pass.refused(hub.CodeOperatorRequired, "GET", "/v1/app/backup", "")
	for _, token := range []string{id, id + ".", id + ".AAAAAAAAAAAAAAAAAAAAAA", "pass_", "pass_zz.x"} {
		c.with(api.HeaderOperator, token).refused(hub.CodeOperatorRequired, "GET", "/v1/passes", "")
	}
	operator.refused(hub.CodePassNotFound, "POST", "/v1/passes/pass_zzz/end", "")
	operator.ok(200, "POST", "/v1/passes/"+id+"/end", "")
	pass.refused(hub.CodeOperatorRequired, "GET", "/v1/asks?state=open", "")
	operator.refused(hub.CodePassNotFound, "POST", "/v1/passes/"+id+"/end", "")
}

// TestCodesAreGoodOnce: a code that was exchanged is unknown, but for the same call with
// the same idempotency key, which gets its pass again.
func TestCodesAreGoodOnce(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	code := operator.ok(200, "POST", "/v1/passes/codes", `{}`).row("code").(string)
	body := `{"code":"` + code + `"}`
	first := c.with(api.HeaderIdempotency, "k").ok(201, "POST", "/v1/passes", body)
	again := c.with(api.HeaderIdempotency, "k").ok(201, "POST", "/v1/passes", body)
	if first.row("token") != again.row("token") {
		t.Error("the repeated call got another pass")
	}
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/passes", body)

	// A code gives way to sixteen later ones.
	early := operator.ok(200, "POST", "/v1/passes/codes", `{}`).row("code").(string)
	for range hub.MaxPassCodes {
		operator.ok(200, "POST", "/v1/passes/codes", `{}`)
	}
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/passes", `{"code":"`+early+`"}`)
}

// TestPassGuessesAreSlowed as wrong codes of invites are.
func TestPassGuessesAreSlowed(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	for range 10 {
		c.refused(hub.CodeOperatorRequired, "POST", "/v1/passes", `{"code":"guess"}`)
	}
	c.refused(hub.CodeTooManyAttempts, "POST", "/v1/passes", `{"code":"guess"}`)
}

// TestConsoleIsServed at the root and below /ui/, to browsers that the guard lets in, and
// says nothing of the store.
func TestConsoleIsServed(t *testing.T) {
	h := testhub.Start(t)
	ask := func(method, path string, headers ...string) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, http.NoBody)
		require.NoError(t, err)
		for i := 0; i < len(headers); i += 2 {
			if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
				r.Host = headers[i+1]
			}
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res, string(b)
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	for _, path := range []string{"/", "/ui/", "/ui/rooms/r_1?x=y"} {
		res, page := ask("GET", path)
		if res.StatusCode != 200 || !strings.Contains(page, `id="app"`) || res.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s is answered %d: %s", path, res.StatusCode, page)
		}
		if instance := res.Header.Get(api.HeaderInstance); instance != "" || strings.Contains(page, string(h.Store.InstanceID())) {
			t.Errorf("%s tells of the store %s", path, instance)
		}
	}
	for _, c := range []struct {
		method, path string
		headers      []string
		status       int
	}{
		{"GET", "/", []string{"Host", "evil.example"}, 403},
		{"GET", "/ui/", []string{"Origin", "http://evil.example"}, 403},
		{"GET", "/", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST", "/", nil, 405},
		{"DELETE", "/ui/x", nil, 405},
		{"GET", "/ui/assets/none.js", nil, 404},
	} {
		res, said := ask(c.method, c.path, c.headers...)
		if res.StatusCode != c.status || !strings.Contains(said, `"ok":false`) {
			t.Errorf("%s %s with %v is answered %d: %s", c.method, c.path, c.headers, res.StatusCode, said)
		}
	}
}
