package httpapi_test

import (
	"bytes"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/persistence"
)

// TestBackupIsTheOperators: no agent gets the store, and the operator gets a whole
// one, which does not hold the operator's token.
func TestBackupIsTheOperators(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	first := c.ok(201, "POST", "/v1/sessions", `{"agent_id":"lead"}`)
	session, _ := first.row("session_id").(string)
	lead := c.with(api.HeaderSession, session)
	lead.ok(201, "POST", "/v1/messages", `{"body":"MARKER-body"}`)
	const path = "/v1/app/backup"
	c.refused(hub.CodeOperatorRequired, "GET", path, "")
	lead.refused(hub.CodeOperatorRequired, "GET", path, "")
	c.with(api.HeaderOperator, "wrong").refused(hub.CodeOperatorRequired, "GET", path, "")
	operator.with(api.HeaderRelay, "lead").refused(hub.CodeOperatorRequired, "GET", path, "")

	a := operator.ok(200, "GET", path, "")
	if got := a.header.Get("Content-Type"); got != "application/octet-stream" {
		t.Errorf("the backup has the type %s", got)
	}
	b, err := persistence.CheckBackup(bytes.NewReader(a.Result))
	require.NoError(t, err)
	if b.Instance != h.Store.InstanceID() || b.Head.Message != 1 || !bytes.Contains(a.Result, []byte("MARKER-body")) {
		t.Errorf("the backup holds %+v", b)
	}
	if bytes.Contains(a.Result, []byte(h.Store.OperatorToken())) {
		t.Error("the backup holds the operator's token")
	}
}
