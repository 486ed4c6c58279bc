package core_test

import (
	"errors"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestArchiveOfAProject: the rooms of a project go with it and come back with it, also over a
// restart. One that was archived by itself stays so.
func TestArchiveOfAProject(t *testing.T) {
	r := newProjectRig(t)
	project, err := r.project(hub.ProjectInput{Name: "Shop"})
	require.NoError(t, err)
	attic, err := r.room(hub.RoomInput{Project: "shop", Name: "Attic"})
	require.NoError(t, err)
	kitchen, err := r.room(hub.RoomInput{Project: "shop", Name: "Kitchen"})
	require.NoError(t, err)
	archive := func(archived bool) int {
		d, err := r.live.Archive("shop", archived)
		require.NoError(t, err)
		if got := d.Answer(r.commit(d.Draft)); got.ProjectID != project.ProjectID || got.Archived != archived {
			t.Errorf("the answer is %+v", got)
		}
		return len(d.Facts)
	}
	room := func(id hub.RoomID, archived bool) error {
		d, err := r.live.ArchiveRoom(id, archived)
		if err == nil {
			d.Answer(r.commit(d.Draft))
		}
		return err
	}
	is := func(step string, inAttic, inKitchen bool) {
		t.Helper()
		a, _ := r.live.ProjectIndex().Room(attic.RoomID)
		k, _ := r.view.Room(kitchen.RoomID)
		if a.Room.Archived != inAttic || k.Room.Archived != inKitchen {
			t.Errorf("%s: the attic is archived: %v, the kitchen: %v", step, a.Room.Archived, k.Room.Archived)
		}
	}
	require.NoError(t, room(attic.RoomID, true))
	if archive(true) != 1 || archive(true) != 0 {
		t.Error("a project that is archived is archived again")
	}
	is("archived", true, true)
	r.restart()
	if err := room(kitchen.RoomID, false); !errors.Is(err, &hub.Error{Code: hub.CodeArchived}) {
		t.Errorf("a room comes back without its project: %v", err)
	}
	if _, err := r.room(hub.RoomInput{Project: "shop", Name: "Cellar"}); !errors.Is(err, &hub.Error{Code: hub.CodeArchived}) {
		t.Errorf("a room is made in an archived project: %v", err)
	}
	archive(false)
	is("back", true, false)
	archive(true)
	require.NoError(t, room(kitchen.RoomID, true)) // now by itself
	archive(false)
	is("by itself", true, true)
	require.NoError(t, room(kitchen.RoomID, false))
	is("alone", true, false)
	if _, err := r.live.Archive("nowhere", true); !errors.Is(err, &hub.Error{Code: hub.CodeProjectNotFound}) {
		t.Errorf("of no project: %v", err)
	}
}
