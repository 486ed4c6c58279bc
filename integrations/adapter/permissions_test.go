package adapter

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// permitted are the harnesses with permissions, and what one of them looks like
// in which file.
var permitted = map[hub.Harness][2]string{
	hub.HarnessClaudeCode: {".claude/settings.json", `"mcp__hub"`},
	hub.HarnessCodex:      {".codex/config.toml", `default_tools_approval_mode = "approve"`},
	hub.HarnessGeminiCLI:  {".gemini/policies/hubcli.toml", `decision = "allow"`},
	hub.HarnessQwenCode:   {".qwen/settings.json", `"trust": true`},
	hub.HarnessCline:      {clineFile, `"hub_dm"`},
}

// TestPermissions: an install offers them, shows them and says how to refuse
// them; a refusal takes them out; a repair adds none; an uninstall takes all.
func TestPermissions(t *testing.T) {
	for h, c := range permitted {
		t.Run(string(h), func(t *testing.T) {
			r := newRig(t)
			before, in, file := r.tree(), r.input(hub.AdapterGlobal), filepath.Join(r.home, c[0])
			without := in
			without.NoPermissions = true
			plan, err := r.PreviewAdapter(context.Background(), h, hub.AdapterInstall, in)
			if err != nil || !strings.Contains(plan.Prompt, c[1]) || !strings.Contains(plan.Prompt, "--no-permissions") {
				t.Errorf("the offer: %v\n%s", err, plan.Prompt)
			}
			r.must(h, hub.AdapterInstall, without)
			if got := r.permissionsOf(h, in); got != "absent" || exists(file) && strings.Contains(r.read(file), c[1]) {
				t.Errorf("refused, but it is %s", got)
			}
			if done := r.must(h, hub.AdapterRepair, in); done.Changed {
				t.Errorf("a repair gave permissions: %+v", done.Files)
			}
			r.Ensure(context.Background())
			if got := r.permissionsOf(h, in); got != "absent" {
				t.Errorf("a start that asks nobody gave permissions: %s", got)
			}
			r.must(h, hub.AdapterInstall, in)
			if got := r.permissionsOf(h, in); got != "installed" || strings.Count(r.read(file), c[1]) != 1 {
				t.Errorf("granted: %s\n%s", got, r.read(file))
			}
			if got := r.statesOf(h, in); !inState(got, "installed") {
				t.Errorf("granted: %s", got)
			}
			again, err := r.PreviewAdapter(context.Background(), h, hub.AdapterInstall, in)
			if err != nil || again.Prompt != "" {
				t.Errorf("granted twice: %v %s", err, again.Prompt)
			}
			r.must(h, hub.AdapterInstall, without)
			if got := r.permissionsOf(h, in); got != "absent" || exists(file) && strings.Contains(r.read(file), c[1]) {
				t.Errorf("withdrawn: %s", got)
			}
			r.must(h, hub.AdapterInstall, in)
			r.must(h, hub.AdapterUninstall, in)
			if got := r.tree(); !maps.Equal(got, before) {
				t.Errorf("left: %v", got)
			}
		})
	}
}

// TestPermissionsOfTheUser: rules that are not the hub's stay, also when they
// equal or resemble its own, and a harness that is told to ask goes on asking.
func TestPermissionsOfTheUser(t *testing.T) {
	for _, c := range []struct {
		name    string
		harness hub.Harness
		file    string
		own     string
		state   string // after installing
	}{
		{"equal rule", hub.HarnessClaudeCode, ".claude/settings.json", `{"permissions": {"allow": ["Read", "mcp__hub"], "deny": ["WebFetch"]}} // mine`, "installed"},
		{"longer rules", hub.HarnessClaudeCode, ".claude/settings.json", `{"permissions": {"allow": ["mcp__hub__hub_dm", "mcp__hubspot"]}}`, "installed"},
		{"no list", hub.HarnessClaudeCode, ".claude/settings.json", `{"permissions": {"allow": "all"}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			in, file := r.input(hub.AdapterGlobal), filepath.Join(r.home, c.file)
			r.write(file, c.own)
			if c.state == "" {
				r.refused(hub.CodeAdapterRefused, c.harness, hub.AdapterInstall, in)
			} else {
				r.must(c.harness, hub.AdapterInstall, in)
				if got := r.permissionsOf(c.harness, in); got != c.state || strings.Count(r.read(file), `"mcp__hub"`) != 1 {
					t.Errorf("installed: %s\n%s", got, r.read(file))
				}
				r.write(file, r.read(file)+"\n") // so the old bytes are not simply put back
				r.must(c.harness, hub.AdapterUninstall, in)
				c.own += "\n"
			}
			if got := r.read(file); got != c.own {
				t.Errorf("left: %s\nwant: %s", got, c.own)
			}
		})
	}
}

// TestPermissionThatTheUserChose: the hub does not replace another value of the
// member, nor call it drift, and does not bring back one that was removed.
func TestPermissionThatTheUserChose(t *testing.T) {
	r := newRig(t)
	in, file := r.input(hub.AdapterGlobal), filepath.Join(r.home, ".codex/config.toml")
	r.must(hub.HarnessCodex, hub.AdapterInstall, in)
	r.write(file, strings.Replace(r.read(file), `"approve"`, `"prompt"`, 1))
	for _, action := range []hub.AdapterAction{hub.AdapterInstall, hub.AdapterRepair} {
		if r.must(hub.HarnessCodex, action, in); !strings.Contains(r.read(file), `"prompt"`) {
			t.Errorf("%s replaced it:\n%s", action, r.read(file))
		}
	}
	if got := r.statesOf(hub.HarnessCodex, in) + " " + r.permissionsOf(hub.HarnessCodex, in); got != "installed installed unsupported absent" {
		t.Errorf("states: %s", got)
	}
	r.write(file, strings.Replace(r.read(file), "default_tools_approval_mode = \"prompt\"\n", "", 1))
	if r.must(hub.HarnessCodex, hub.AdapterRepair, in); strings.Contains(r.read(file), "approval_mode") {
		t.Errorf("a repair brought it back:\n%s", r.read(file))
	}
}

// TestPermissionFollowsTheExecutable: the rule for hubcli watch names the path
// that is installed, and only that.
func TestPermissionFollowsTheExecutable(t *testing.T) {
	r := newRig(t)
	in, file := r.input(hub.AdapterGlobal), filepath.Join(r.home, ".claude/settings.json")
	r.must(hub.HarnessClaudeCode, hub.AdapterInstall, in)
	old := r.self
	r.self = filepath.Join(r.home, "my tools", "hubcli")
	r.write(r.self, r.read(old))
	require.NoError(t, os.Chmod(r.self, 0o755))
	if got := r.permissionsOf(hub.HarnessClaudeCode, in); got != "installed*" {
		t.Errorf("moved: %s", got)
	}
	r.must(hub.HarnessClaudeCode, hub.AdapterRepair, in)
	if got := r.read(file); strings.Contains(got, "Bash("+old) || !strings.Contains(got, `"Bash('`+r.self+`' watch:*)"`) {
		t.Errorf("repaired:\n%s", got)
	}
	if got := r.permissionsOf(hub.HarnessClaudeCode, in); got != "installed" {
		t.Errorf("repaired: %s", got)
	}
}
