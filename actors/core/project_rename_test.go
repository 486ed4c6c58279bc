package core_test

import (
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestRenames: after any renaming slugs lead where they led, no two projects and no two rooms of a
// project have one name, a name leads to what has it now, and the snapshot equals the state.
func TestRenames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := core.NewProjects()
		at := core.Position{}
		apply := func(facts []core.Fact) {
			for _, f := range facts {
				decoded, err := core.DecodeFact(core.EncodeFact(f))
				require.NoError(t, err)
				p.Apply(decoded, at, func(core.Row) {})
			}
		}
		var projects []hub.Project
		var rooms []hub.Room
		for _, name := range []string{"Shop", "Store"} {
			at.Seq++
			d, err := p.Create(hub.ProjectInput{Name: name}, core.StandingOperator)
			require.NoError(t, err)
			apply(d.Facts)
			projects = append(projects, d.Answer(at))
			for _, room := range []string{"Kitchen", "Warehouse"} {
				at.Seq++
				d, err := p.CreateRoom(hub.RoomInput{Project: name, Name: room}, core.StandingOperator)
				require.NoError(t, err)
				apply(d.Facts)
				rooms = append(rooms, d.Answer(at))
			}
		}
		name := rapid.SampledFrom([]string{"Shop", "STORE", "Kitchen", "warehouse", "Till", "p_1"})
		for range rapid.IntRange(1, 12).Draw(t, "renames") {
			at.Seq++
			to := name.Draw(t, "name")
			if rapid.Bool().Draw(t, "project") {
				project := rapid.SampledFrom(projects).Draw(t, "which")
				if d, err := p.Rename(project.Slug, to); err == nil {
					apply(d.Facts)
					found, err := p.ProjectIndex().FindProject(to)
					require.NoError(t, err)
					if found.ProjectID != project.ProjectID || d.Answer(at).Name != to {
						t.Fatalf("%q leads to %+v", to, found)
					}
				}
				continue
			}
			room := rapid.SampledFrom(rooms).Draw(t, "which")
			if d, err := p.RenameRoom(room.RoomID, to); err == nil {
				apply(d.Facts)
				found, err := p.ProjectIndex().FindRoom(hub.RoomRef{Project: string(room.ProjectID), Room: to})
				require.NoError(t, err)
				if found.Room.RoomID != room.RoomID {
					t.Fatalf("%q leads to %+v", to, found.Room)
				}
			}
		}
		for _, project := range projects {
			found, err := p.ProjectIndex().FindProject(project.Slug)
			require.NoError(t, err)
			if found.ProjectID != project.ProjectID {
				t.Errorf("slug %s leads to %s", project.Slug, found.ProjectID)
			}
		}
		for _, room := range rooms {
			found, err := p.ProjectIndex().FindRoom(hub.RoomRef{Project: string(room.ProjectID), Room: room.Slug})
			require.NoError(t, err)
			if found.Room.RoomID != room.RoomID || found.Room.Channel != room.Channel {
				t.Errorf("slug %s leads to %s", room.Slug, found.Room.RoomID)
			}
		}
		again, err := core.RestoreProjects(core.ProjectsVersion, p.Snapshot())
		require.NoError(t, err)
		if string(again.Snapshot()) != string(p.Snapshot()) {
			t.Error("the restored state is another")
		}
	})
}
