package adapter

import (
	"testing"

	"hubcli/hub"
	"hubcli/integrations/adapter/files"
)

// TestEntriesOfANewerVersion: an adapter that an older version has installed is
// installed and outdated where this version writes more entries. An entry that was
// recorded and is gone is drift.
func TestEntriesOfANewerVersion(t *testing.T) {
	installed, absent := files.Status{State: files.Installed}, files.Status{State: files.Absent}
	removed := files.Status{State: files.Absent, Known: true}
	for name, c := range map[string]struct {
		all      []files.Status
		state    hub.AdapterState
		outdated bool
	}{
		"more entries now": {[]files.Status{installed, absent}, hub.AdapterInstalled, true},
		"one was removed":  {[]files.Status{installed, removed}, hub.AdapterDrifted, false},
		"never installed":  {[]files.Status{absent, absent}, hub.AdapterAbsent, false},
		"all there":        {[]files.Status{installed, installed}, hub.AdapterInstalled, false},
	} {
		if got := stateOf(hub.PartHooks, c.all); got.State != c.state || got.Outdated != c.outdated {
			t.Errorf("%s: %s, outdated %v", name, got.State, got.Outdated)
		}
	}
}
