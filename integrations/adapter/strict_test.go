package adapter

import (
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestFilesThatTheHarnessSkips: Claude Code skips a settings file with comments or trailing
// commas. An install says so, and a verification fails. Gemini CLI reads such files.
func TestFilesThatTheHarnessSkips(t *testing.T) {
	for doc, skipped := range map[string]bool{
		"{\n  // mine\n  \"model\": \"x\"\n}\n":  true,
		"{\n  \"model\": \"x\",\n}\n":            true,
		"{\n  \"model\": \"x\"\n}\n":             false,
		"\xef\xbb\xbf{\r\n  \"a\": [1]\r\n}\r\n": false,
		"":                                       false,
	} {
		for harness, at := range map[hub.Harness]string{hub.HarnessClaudeCode: ".claude/settings.json", hub.HarnessGeminiCLI: ".gemini/settings.json"} {
			r := newRig(t)
			r.config.Hub = silent{}
			in, want := r.input(hub.AdapterGlobal), skipped && harness == hub.HarnessClaudeCode
			r.write(filepath.Join(r.home, filepath.FromSlash(at)), doc)
			plan, err := r.PreviewAdapter(t.Context(), harness, hub.AdapterInstall, in)
			require.NoError(t, err)
			if got := strings.Contains(plan.Prompt, "skips the whole file"); got != want {
				t.Errorf("%s %q: the plan says so: %t\n%s", harness, doc, got, plan.Prompt)
			}
			r.must(harness, hub.AdapterInstall, in)
			v, err := r.VerifyAdapter(t.Context(), harness, in)
			require.NoError(t, err)
			for _, name := range []string{"hooks in place", "permissions in place"} {
				if got := checks(v)[name]; (got.Status == hub.CheckFailed) != want || want && !strings.Contains(got.Detail, "line ") {
					t.Errorf("%s %q: %+v", harness, doc, got)
				}
			}
			if got := checks(v)["mcp in place"]; got.Status != hub.CheckPassed && harness == hub.HarnessClaudeCode {
				t.Errorf("%s %q: %+v", harness, doc, got)
			}
		}
	}
}

// TestOldVerificationGoes: what an earlier verification has found is not shown after the
// files have changed.
func TestOldVerificationGoes(t *testing.T) {
	r := newRig(t)
	r.config.Hub = silent{}
	in := r.input(hub.AdapterGlobal)
	shown := func() bool {
		row, err := r.Adapter(t.Context(), hub.HarnessCursor, hub.AdapterQuery{})
		require.NoError(t, err)
		return row.Verified != nil
	}
	r.must(hub.HarnessCursor, hub.AdapterInstall, in)
	_, err := r.VerifyAdapter(t.Context(), hub.HarnessCursor, in)
	require.NoError(t, err)
	if r.must(hub.HarnessCursor, hub.AdapterInstall, in); !shown() {
		t.Error("an install that changes nothing has dropped the result")
	}
	if r.must(hub.HarnessCursor, hub.AdapterUninstall, in); shown() {
		t.Error("the result stands after an uninstall")
	}
	if r.must(hub.HarnessCursor, hub.AdapterInstall, in); shown() {
		t.Error("the result stands after a new install")
	}
}
