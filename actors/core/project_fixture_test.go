package core_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// fixtureProjects returns a state that uses every field.
func fixtureProjects(t *testing.T) *core.Projects {
	t.Helper()
	r := newProjectRig(t)
	must := func(err error) {
		t.Helper()
		require.NoError(t, err)
	}
	_, err := r.project(hub.ProjectInput{Name: "Größte <Schöpfung>", CreatedBy: "ann"})
	must(err)
	_, err = r.project(hub.ProjectInput{Name: "Two", Slug: "second"})
	must(err)
	room, err := r.room(hub.RoomInput{Project: "second", Name: "Checkout", Topic: "the till", CreatedBy: "ann"})
	must(err)
	forced, err := r.room(hub.RoomInput{Project: "second", Name: "check-out", Force: true, ForceReason: "two teams"})
	must(err)
	_, err = r.bind(room.RoomID, tree("/work/repo", "services/till"))
	must(err)
	_, err = r.bind(room.RoomID, level("/else"))
	must(err)
	_, err = r.bind(forced.RoomID, level("/gone"))
	must(err)
	_, err = r.unbind(forced.RoomID, "/gone")
	must(err)
	return r.live
}

// TestProjectsFixture reads states of all versions, whose files are never rewritten.
// The code of today must still write the latest, also of an older one.
func TestProjectsFixture(t *testing.T) {
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		return bytes.TrimSpace(data)
	}
	data := read("snapshot_projects_v2_made_by.json")
	if today := fixtureProjects(t).Snapshot(); !bytes.Equal(today, data) {
		t.Errorf("the code of today writes\n%s", today)
	}
	nobody := read("snapshot_projects_v2.json") // does not say who made a project
	for _, f := range []struct {
		name    string
		version uint16
		want    []byte
	}{{"snapshot_projects_v1.json", 1, nobody}, {"snapshot_projects_v2.json", 2, nobody}, {"snapshot_projects_v2_made_by.json", 2, data}} {
		restored, err := core.RestoreProjects(f.version, read(f.name))
		require.NoError(t, err)
		if again := restored.Snapshot(); !bytes.Equal(again, f.want) {
			t.Errorf("%s is now written as\n%s", f.name, again)
		}
	}
	restored, err := core.RestoreProjects(2, data)
	require.NoError(t, err)
	// Derived state, which is not written, is there again too.
	found := restored.ProjectIndex().Candidates([]core.Level{{Plain: "/w/services/till", Root: "/w", Common: "/repo/.git", Rel: "services/till"}})
	if len(found) != 1 || len(found[0].Same) != 0 || found[0].Folder.Path != "/work/repo/services/till" {
		t.Errorf("another work tree finds %+v", found)
	}
}
