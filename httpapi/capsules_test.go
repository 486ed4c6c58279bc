package httpapi_test

import (
	"archive/zip"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// TestCapsules: the operator plans, confirms and cancels exports; everybody on this machine
// may look at a capsule.
func TestCapsules(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(201, "POST", "/v1/projects", `{"name":"Shop"}`)
	const path = "/v1/capsules/export"
	dir := t.TempDir()
	out := filepath.Join(dir, "shop.hubpack")
	body := `{"project":"shop","out":"` + out + `"}`
	c.refused(hub.CodeOperatorRequired, "POST", path, body)
	operator.with(api.HeaderRelay, "lead").refused(hub.CodeOperatorRequired, "POST", path, body)
	operator.refused(hub.CodeInvalid, "POST", path, `{"project":"shop","out":"shop.hubpack"}`)
	operator.refused(hub.CodeInvalid, "POST", path, `{"project":"shop","out":"`+out+`","rooms":["r_1"]}`)
	operator.refused(hub.CodeProjectNotFound, "POST", path, `{"project":"none","out":"`+out+`"}`)
	operator.refused(hub.CodePlanNotFound, "GET", path+"/none", "")

	id := awaitPlan(t, operator, operator.ok(200, "POST", path, body))
	other := awaitPlan(t, operator, operator.ok(200, "POST", path, body))
	c.refused(hub.CodeOperatorRequired, "GET", path+"/"+id, "")
	plan := operator.ok(200, "GET", path+"/"+id, "")
	operator.refused(hub.CodePlanChanged, "POST", path+"/"+id+"/confirm", `{"confirm":"sha256:0"}`)
	digest, _ := plan.row("plan_digest").(string)
	done := operator.ok(200, "POST", path+"/"+id+"/confirm", `{"confirm":"`+digest+`"}`)
	if done.row("state") != "done" {
		t.Errorf("the export is %v", done.row("state"))
	}
	operator.refused(hub.CodeTargetExists, "POST", path, body)
	operator.ok(200, "DELETE", path+"/"+other, "")
	operator.refused(hub.CodePlanNotFound, "DELETE", path+"/"+other, "")
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/capsules/inspect", `{"path":"`+out+`"}`)
	inspectCapsules(t, operator, dir, out)
	exportProjects(t, c, operator, dir)
}

// exportProjects: a bundle is planned by a GET, and confirmed as a capsule is.
func exportProjects(t *testing.T, c, operator *client, dir string) {
	t.Helper()
	const path = "/v1/projects/shop/export"
	out := filepath.Join(dir, "shop")
	query := "?out=" + url.QueryEscape(out)
	c.refused(hub.CodeOperatorRequired, "GET", path+query, "")
	operator.refused(hub.CodeInvalid, "GET", path, "")
	operator.refused(hub.CodeInvalid, "GET", path+"?out=shop", "")
	operator.refused(hub.CodeInvalid, "GET", path+query+"&scope=half", "")
	operator.refused(hub.CodeInvalid, "GET", path+query+"&rooms=r_1", "")
	operator.refused(hub.CodeRoomNotFound, "GET", path+query+"&scope=selected_rooms&rooms=r_zz&artifacts=a_1", "")
	operator.refused(hub.CodeProjectNotFound, "GET", "/v1/projects/none/export"+query, "")
	operator.refused(hub.CodeTargetExists, "GET", path+"?out="+url.QueryEscape(dir), "")
	id := awaitPlan(t, operator, operator.ok(200, "GET", path+query, ""))
	plan := operator.ok(200, "GET", "/v1/capsules/export/"+id, "")
	digest, _ := plan.row("plan_digest").(string)
	done := operator.ok(200, "POST", "/v1/capsules/export/"+id+"/confirm", `{"confirm":"`+digest+`"}`)
	if done.row("state") != "done" || done.row("form") != "bundle" || done.row("scope") != "complete" {
		t.Errorf("the export is %s", done.Result)
	}
	if _, err := os.Stat(filepath.Join(out, "README.md")); err != nil {
		t.Error(err)
	}
}

// awaitPlan returns the id of a plan that is ready.
func awaitPlan(t *testing.T, c *client, a answer) string {
	t.Helper()
	id, _ := a.row("plan_id").(string)
	require.Eventually(t, "the plan is ready", func() bool {
		return c.ok(200, "GET", "/v1/capsules/export/"+id, "").row("state") == "ready"
	})
	return id
}

func inspectCapsules(t *testing.T, c *client, dir, out string) {
	t.Helper()
	const path = "/v1/capsules/inspect"
	named := func(file string) string { return `{"path":"` + file + `"}` }
	if got := c.ok(200, "POST", path, named(out)); got.row("slug") != "shop" || got.row("scope") != "knowledge" {
		t.Errorf("the capsule is %s", got.Result)
	}
	c.refused(hub.CodeInvalid, "POST", path, named("shop.hubpack"))
	c.refused(hub.CodeInvalid, "POST", path, named(dir))
	c.refused(hub.CodePathNotFound, "POST", path, named(filepath.Join(dir, "none.hubpack")))

	broken := filepath.Join(dir, "broken.hubpack")
	require.NoError(t, os.WriteFile(broken, []byte("no capsule"), 0o600))
	c.refused(hub.CodeCapsuleInvalid, "POST", path, named(broken))
	require.NoError(t, os.Truncate(broken, 5<<30)) // a sparse file
	c.refused(hub.CodeCapsuleTooLarge, "POST", path, named(broken))
	require.NoError(t, os.Remove(broken))
	later := filepath.Join(dir, "later.hubpack")
	ofNextMajor(t, out, later)
	c.refused(hub.CodeCapsuleTooNew, "POST", path, named(later))
}

// ofNextMajor copies a capsule as one of a later version.
func ofNextMajor(t *testing.T, from, to string) {
	t.Helper()
	in, err := zip.OpenReader(from)
	require.NoError(t, err)
	defer in.Close()
	f, err := os.Create(to)
	require.NoError(t, err)
	defer f.Close()
	out := zip.NewWriter(f)
	for _, e := range in.File {
		if e.Name != "manifest.json" {
			require.NoError(t, out.Copy(e))
			continue
		}
		r, err := e.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		changed := strings.Replace(string(text), `"major": 1`, `"major": 2`, 1)
		if !json.Valid([]byte(changed)) || changed == string(text) {
			t.Fatalf("the manifest is %s", text)
		}
		head := e.FileHeader
		head.Flags, head.Extra, head.Modified = 0, nil, time.Time{} // a new time would add a field
		w, err := out.CreateHeader(&head)
		require.NoError(t, err)
		_, err = io.WriteString(w, changed)
		require.NoError(t, err)
	}
	require.NoError(t, out.Close())
}
