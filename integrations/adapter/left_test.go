package adapter

import (
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
)

// TestCodexAfterASession: Codex puts what it remembers before the last comment of its
// file, so between our marks. Every change of the adapter still works, and what Codex
// remembers stays.
func TestCodexAfterASession(t *testing.T) {
	const own, trust = "model = \"gpt-5.5\"\n", "[projects.\"/home/u/shop\"]\ntrust_level = \"trusted\"\n"
	for name, change := range map[string]func(r *rig, path string){
		"repair": func(r *rig, path string) {
			r.write(path, strings.Replace(r.read(path), "startup_timeout_sec = 30", "startup_timeout_sec = 31", 1))
			r.must(hub.HarnessCodex, hub.AdapterRepair, hub.AdapterInput{Scope: hub.AdapterGlobal})
		},
		"install without permissions": func(r *rig, _ string) {
			r.must(hub.HarnessCodex, hub.AdapterInstall, hub.AdapterInput{Scope: hub.AdapterGlobal, NoPermissions: true})
		},
		"nothing": func(*rig, string) {},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			in, path := hub.AdapterInput{Scope: hub.AdapterGlobal}, filepath.Join(r.home, ".codex", "config.toml")
			r.write(path, own)
			r.must(hub.HarnessCodex, hub.AdapterInstall, in)
			r.write(path, strings.Replace(r.read(path), "# <<<", "\n"+trust+"# <<<", 1))
			change(r, path)
			if got := r.statesOf(hub.HarnessCodex, in); !inState(got, "installed") {
				t.Errorf("after %s: %s", name, got)
			}
			r.must(hub.HarnessCodex, hub.AdapterUninstall, in)
			if got := r.read(path); got != own+"\n"+trust {
				t.Errorf("uninstalled, it is\n%s", got)
			}
		})
	}
}
