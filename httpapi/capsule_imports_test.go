package httpapi_test

import (
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"

	"hubcli/api"
	"hubcli/capsule/seal"
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

// TestSealedCapsules: a signed and encrypted capsule is planned, looked at and refused.
func TestSealedCapsules(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(201, "POST", "/v1/projects", `{"name":"Shop"}`)
	dir := t.TempDir()
	secret, public, err := seal.NewKey()
	require.NoError(t, err)
	key, err := seal.ParsePublicKey("keys", string(public))
	require.NoError(t, err)
	id, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	keyFile, identity, out := filepath.Join(dir, "key"), filepath.Join(dir, "id"), filepath.Join(dir, "shop.hubpack.age")
	require.NoError(t, os.WriteFile(keyFile, secret, 0o600))
	require.NoError(t, os.WriteFile(identity, []byte(id.String()), 0o600))

	const path, look = "/v1/capsules/export", "/v1/capsules/inspect"
	operator.refused(hub.CodeInvalid, "POST", path, `{"project":"shop","out":"`+out+`","sign_key":"key"}`)
	operator.refused(hub.CodeInvalid, "POST", path, `{"project":"shop","out":"`+out+`","to":["ann"]}`)
	plan := awaitPlan(t, operator, operator.ok(200, "POST", path, `{"project":"shop","out":"`+out+`","to":["`+id.Recipient().String()+`"],"sign_key":"`+keyFile+`"}`))
	digest, _ := operator.ok(200, "GET", path+"/"+plan, "").row("plan_digest").(string)
	operator.ok(200, "POST", path+"/"+plan+"/confirm", `{"confirm":"`+digest+`"}`)

	operator.refused(hub.CodeCapsuleEncrypted, "POST", look, `{"path":"`+out+`"}`)
	operator.refused(hub.CodeCapsuleEncrypted, "POST", "/v1/capsules/import", `{"path":"`+out+`"}`)
	operator.refused(hub.CodeInvalid, "POST", look, `{"path":"`+out+`","signed":true}`)
	operator.refused(hub.CodeInvalid, "POST", look, `{"path":"`+out+`","identity":"id"}`)
	body := `{"path":"` + out + `","identity":"` + identity + `","keys":["` + key.String() + `"],"signed":true}`
	if got := operator.ok(200, "POST", look, body); got.row("encrypted") != true || got.row("signature").(map[string]any)["state"] != "valid" {
		t.Errorf("the capsule is %s", got.Result)
	}
	awaitImport(t, operator, operator.ok(200, "POST", "/v1/capsules/import", body), "ready")
	require.NoError(t, os.WriteFile(out+seal.SignatureSuffix, []byte("no signature"), 0o600))
	operator.refused(hub.CodeSignatureInvalid, "POST", look, body)
	operator.refused(hub.CodeSignatureInvalid, "POST", "/v1/capsules/import", body)
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
