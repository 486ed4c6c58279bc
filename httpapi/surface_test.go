package httpapi_test

import (
	"encoding/json"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// surfaces returns the settings in the answer to a query, by harness.
func surfaces(t *testing.T, c *client, query string) map[hub.Harness]hub.ToolSurface {
	t.Helper()
	var rows []hub.ToolSurface
	require.NoError(t, json.Unmarshal(c.ok(200, "GET", "/v1/tool-surface"+query, "").Result, &rows))
	by := map[hub.Harness]hub.ToolSurface{}
	for _, row := range rows {
		by[row.Harness] = row
	}
	return by
}

func walkSurfaces(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	all := surfaces(t, c, "")
	if len(all) != len(hub.Harnesses()) || all[hub.HarnessClaudeCode].Surface != hub.SurfaceFull ||
		all[hub.HarnessVSCode].Surface != hub.SurfaceProgressive || !all[hub.HarnessVSCode].Default {
		t.Errorf("the defaults are %+v", all)
	}
	c.refused(hub.CodeOperatorRequired, "PUT", "/v1/tool-surface", `{"harness":"zed","surface":"progressive"}`)
	a := operator.ok(200, "PUT", "/v1/tool-surface", `{"harness":"Gemini","surface":"progressive"}`)
	if a.row("harness") != "gemini-cli" || a.row("surface") != "progressive" || a.row("default") != false {
		t.Errorf("the setting is %s", a.Result)
	}
	if got := surfaces(t, c, "?harness=gemini"); len(got) != 1 || got[hub.HarnessGeminiCLI].Surface != hub.SurfaceProgressive {
		t.Errorf("gemini has %+v", got)
	}
	for _, body := range []string{
		`{}`, `{"harness":"emacs"}`, `{"harness":"zed","surface":"some"}`, `{"harness":7}`, `{"harness":""}`,
	} {
		operator.refused(hub.CodeInvalid, "PUT", "/v1/tool-surface", body)
	}
	c.refused(hub.CodeInvalid, "GET", "/v1/tool-surface?harness=emacs", "")
	if a := operator.ok(200, "PUT", "/v1/tool-surface", `{"harness":"gemini-cli","surface":null}`); a.row("default") != true {
		t.Errorf("the setting that was taken back is %s", a.Result)
	}
}

// TestToolSurfaceSurvives: after a restart a setting of the operator is kept,
// and a removed setting stays removed.
func TestToolSurfaceSurvives(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h).with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(200, "PUT", "/v1/tool-surface", `{"harness":"codex","surface":"progressive"}`)
	c.ok(200, "PUT", "/v1/tool-surface", `{"harness":"zed","surface":"progressive"}`)
	c.ok(200, "PUT", "/v1/tool-surface", `{"harness":"zed"}`)
	require.NoError(t, h.Stop())
	again := testhub.Start(t, testhub.Dir(h.Dir))
	got := surfaces(t, newClient(t, again), "")
	want := hub.ToolSurface{Harness: hub.HarnessCodex, Surface: hub.SurfaceProgressive}
	if got[hub.HarnessCodex] != want || !got[hub.HarnessZed].Default {
		t.Errorf("after a restart codex has %+v, zed %+v", got[hub.HarnessCodex], got[hub.HarnessZed])
	}
}
