package httpapi_test

import (
	"os"
	"path/filepath"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// TestCapsuleImports: the operator plans, confirms and cancels imports.
func TestCapsuleImports(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(201, "POST", "/v1/projects", `{"name":"Shop"}`)
	dir := t.TempDir()
	out := filepath.Join(dir, "shop.hubpack")
	id := awaitPlan(t, operator, operator.ok(200, "POST", "/v1/capsules/export", `{"project":"shop","out":"`+out+`"}`))
	digest, _ := operator.ok(200, "GET", "/v1/capsules/export/"+id, "").row("plan_digest").(string)
	operator.ok(200, "POST", "/v1/capsules/export/"+id+"/confirm", `{"confirm":"`+digest+`"}`)

	const path = "/v1/capsules/import"
	body := `{"path":"` + out + `"}`
	c.refused(hub.CodeOperatorRequired, "POST", path, body)
	operator.with(api.HeaderRelay, "lead").refused(hub.CodeOperatorRequired, "POST", path, body)
	operator.refused(hub.CodeInvalid, "POST", path, `{"path":"shop.hubpack"}`)
	operator.refused(hub.CodePathNotFound, "POST", path, `{"path":"`+filepath.Join(dir, "none.hubpack")+`"}`)
	broken := filepath.Join(dir, "broken.hubpack")
	require.NoError(t, os.WriteFile(broken, []byte("no capsule"), 0o600))
	operator.refused(hub.CodeCapsuleInvalid, "POST", path, `{"path":"`+broken+`"}`)
	operator.refused(hub.CodePlanNotFound, "GET", path+"/none", "")

	id = awaitImport(t, operator, operator.ok(200, "POST", path, body), "ready")
	other := awaitImport(t, operator, operator.ok(200, "POST", path, body), "ready")
	c.refused(hub.CodeOperatorRequired, "GET", path+"/"+id, "")
	operator.refused(hub.CodePlanChanged, "POST", path+"/"+id+"/confirm", `{"confirm":"sha256:0"}`)
	digest, _ = operator.ok(200, "GET", path+"/"+id, "").row("plan_digest").(string)
	done := operator.ok(200, "POST", path+"/"+id+"/confirm", `{"confirm":"`+digest+`"}`)
	awaitImport(t, operator, done, "done")
	operator.ok(200, "POST", path+"/"+id+"/confirm", `{"confirm":"`+digest+`"}`) // changes nothing
	c.ok(200, "GET", "/v1/projects/shop-2", "")
	c.refused(hub.CodeProjectNotFound, "GET", "/v1/projects/shop-3", "")

	// The other plan was made for the name that is taken now.
	was, _ := operator.ok(200, "GET", path+"/"+other, "").row("plan_digest").(string)
	operator.refused(hub.CodePlanChanged, "POST", path+"/"+other+"/confirm", `{"confirm":"`+was+`"}`)
	if now := operator.ok(200, "GET", path+"/"+other, ""); now.row("slug") != "shop-3" || len(now.row("earlier").([]any)) != 1 {
		t.Errorf("the new plan is %s", now.Result)
	}
	operator.ok(200, "DELETE", path+"/"+other, "")
	operator.refused(hub.CodePlanNotFound, "DELETE", path+"/"+other, "")
}

// awaitImport returns the id of a plan that has come to a state.
func awaitImport(t *testing.T, c *client, a answer, state string) string {
	t.Helper()
	id, _ := a.row("plan_id").(string)
	require.Eventually(t, "the plan is "+state, func() bool {
		return c.ok(200, "GET", "/v1/capsules/import/"+id, "").row("state") == state
	})
	return id
}
