package core_test

import (
	"strings"
	"testing"

	"hubcli/actors/core"
)

// What a later version has written is refused with a way out.
func TestLaterVersionsSayWhatToDo(t *testing.T) {
	_, fact := core.DecodeFact(core.EncodedFact{Type: 65535, Data: []byte("{}")})
	_, leases := core.RestoreLeases(core.LeasesVersion+1, []byte("{}"))
	_, tasks := core.RestoreTasks(core.TasksVersion+1, []byte("{}"))
	_, projects := core.RestoreProjects(core.ProjectsVersion+1, []byte("{}"))
	for what, err := range map[string]error{
		"fact type 65535 is not known": fact, "leases of version ": leases, "tasks of version ": tasks, "projects of version ": projects,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "core: "+what) ||
			!strings.HasSuffix(err.Error(), "written by a later version of hubcli: use that one, or an earlier copy of the store") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := core.CheckVersion("leases", 0, 1); err == nil || strings.Contains(err.Error(), "later") {
		t.Errorf("no version: %v", err)
	}
}
