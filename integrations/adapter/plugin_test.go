package adapter

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
)

// TestWhyThereIsNoPlugin: of a harness that the hub is set up in by an extension or a plugin, the status does not
// say that it has none.
func TestWhyThereIsNoPlugin(t *testing.T) {
	for i := range rows() {
		r := &rows()[i]
		for _, scope := range r.scopes() {
			s, want := r.setup(scope), noPlugin
			switch {
			case r.harness == hub.HarnessClaudeCode && scope == hub.AdapterGlobal:
				want = ""
			case r.harness == hub.HarnessClaudeCode:
				want = forTheUser
			}
			if got := s.lacks(hub.PartPlugin, scope); got != want || strings.Contains(got, "this harness") {
				t.Errorf("%s, %s: %q", r.harness, scope, got)
			}
			if s.own != nil && s.own.lacks(hub.PartPlugin, scope) != noPlugin {
				t.Errorf("%s, %s, own files: %q", r.harness, scope, s.own.lacks(hub.PartPlugin, scope))
			}
		}
	}
}

// TestPlugin: it is written only if the user asks for it, stays until he says
// otherwise, and goes without a trace.
func TestPlugin(t *testing.T) {
	r := newRig(t)
	in, folder := r.input(hub.AdapterGlobal), filepath.Join(r.home, ".claude/skills")
	with, without := in, in
	with.Plugin, without.Plugin = new(true), new(false)
	state := func() string {
		return r.partsOf(hub.HarnessClaudeCode, in, func(p hub.AdapterPartName) bool { return p == hub.PartPlugin })
	}
	before := r.tree()
	r.must(hub.HarnessClaudeCode, hub.AdapterInstall, in)
	plain := r.tree()
	if state() != "absent" || exists(folder) {
		t.Errorf("nobody has asked for it: %s", state())
	}
	r.must(hub.HarnessClaudeCode, hub.AdapterInstall, with)
	monitor := r.read(filepath.Join(folder, "hubcli/monitors/monitors.json"))
	if state() != "installed" || !strings.Contains(monitor, `"exec `+r.self+` watch --stream --operator-by-hook"`) {
		t.Errorf("written: %s\n%s", state(), monitor)
	}
	for _, action := range []hub.AdapterAction{hub.AdapterInstall, hub.AdapterRepair} {
		if done := r.must(hub.HarnessClaudeCode, action, in); done.Changed {
			t.Errorf("%s changed %+v", action, done.Files)
		}
	}
	r.must(hub.HarnessClaudeCode, hub.AdapterInstall, without)
	if got := r.tree(); !maps.Equal(got, plain) {
		t.Errorf("taken out, but there is %q", slices.Sorted(maps.Keys(got)))
	}
	r.must(hub.HarnessClaudeCode, hub.AdapterInstall, with)
	r.must(hub.HarnessClaudeCode, hub.AdapterUninstall, in)
	if got := r.tree(); !maps.Equal(got, before) {
		t.Errorf("left: %q", slices.Sorted(maps.Keys(got)))
	}
}
