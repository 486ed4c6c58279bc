package core_test

import (
	"errors"
	"testing"

	"hubcli/actors/core"
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

// TestDeletedPlacesComeBack: what is deleted is nowhere in the state, also after a snapshot and
// a replay, and its place counts for another. What came into it in the same moment brings it back.
func TestDeletedPlacesComeBack(t *testing.T) {
	p, n := core.NewProjects(), hub.Seq(0)
	replayed := core.NewProjects()
	apply := func(d core.Draft, err error) {
		t.Helper()
		require.NoError(t, err)
		n++
		for _, f := range d.Facts {
			p.Apply(f, core.Position{Seq: n}, func(core.Row) {})
			replayed.Apply(f, core.Position{Seq: n}, nil)
		}
	}
	made, err := p.Create(hub.ProjectInput{Name: "Shop", CreatedBy: "a"}, core.StandingProved)
	apply(made.Draft, err)
	shop := p.ProjectIndex().Projects()[0]
	room := func() hub.Room {
		t.Helper()
		d, err := p.CreateRoom(hub.RoomInput{Project: "shop", Name: "Hall", CreatedBy: "a"}, core.StandingProved)
		apply(d.Draft, err)
		rooms := p.ProjectIndex().Rooms(shop.ProjectID)
		return rooms[len(rooms)-1]
	}
	hall := room()
	if _, err := p.DeleteRoom(hall.RoomID); codeOf(err) != hub.CodePlanChanged {
		t.Errorf("a room that is not archived: %v", err)
	}
	archived, err := p.Archive("shop", true)
	apply(archived.Draft, err)
	if _, err := p.DeleteProject(shop.ProjectID); codeOf(err) != hub.CodePlanChanged {
		t.Errorf("a project with a room: %v", err)
	}
	deleted, err := p.DeleteRoom(hall.RoomID)
	was := deleted.Answer(core.Position{})
	apply(deleted.Draft, err)
	if p.ProjectIndex().Len() != 0 {
		t.Error("the room is there")
	}
	if _, err := p.DeleteRoom(hall.RoomID); codeOf(err) != hub.CodeRoomNotFound {
		t.Errorf("once more: %v", err)
	}
	back, err := p.KeepRoom(was)
	apply(back.Draft, err)
	if now, ok := p.ProjectIndex().Room(hall.RoomID); !ok || now.Room.Slug != "hall" || !now.Room.Archived {
		t.Errorf("what came back is %+v", now)
	}
	deleted, err = p.DeleteRoom(hall.RoomID)
	apply(deleted.Draft, err)
	gone, err := p.DeleteProject(shop.ProjectID)
	apply(gone.Draft, err)
	if _, err := p.KeepRoom(was); codeOf(err) != hub.CodeProjectNotFound {
		t.Errorf("a room of a project that is no more: %v", err)
	}
	again, err := p.Create(hub.ProjectInput{Name: "Shop", CreatedBy: "a"}, core.StandingProved)
	apply(again.Draft, err)
	if all := p.ProjectIndex().Projects(); len(all) != 1 || all[0].Slug != "shop" || all[0].ProjectID == shop.ProjectID {
		t.Errorf("the name is not free: %+v", all)
	}
	kept := p.KeepProject(shop)
	apply(kept.Draft, nil)
	if now, ok := p.ProjectIndex().Project(shop.ProjectID); !ok || now.Slug != "shop-2" {
		t.Errorf("what came back is %+v", now)
	}
	if string(p.Snapshot()) != string(replayed.Snapshot()) {
		t.Errorf("the replay differs:\n%s\n%s", replayed.Snapshot(), p.Snapshot())
	}
	restored, err := core.RestoreProjects(core.ProjectsVersion, p.Snapshot())
	require.NoError(t, err)
	if string(restored.Snapshot()) != string(p.Snapshot()) {
		t.Error("the snapshot differs")
	}
}

// TestDeletedChannelIsMadeAnew: the name of a deleted channel is free, and one that got a
// message in the same moment is back.
func TestDeletedChannelIsMadeAnew(t *testing.T) {
	c := core.NewChannel(nil)
	apply := func(d core.Draft, err error) {
		t.Helper()
		require.NoError(t, err)
		for _, f := range d.Facts {
			c.Apply(f, core.Position{Seq: 1}, func(core.Row) {})
		}
	}
	create := func(by hub.AgentID) bool {
		d, err := c.Create(hub.ChannelInput{Name: "x", CreatedBy: by}, nil)
		apply(d.Draft, err)
		return d.Answer(core.Position{}).Created
	}
	create("a")
	if _, err := c.Delete("x"); codeOf(err) != hub.CodePlanChanged {
		t.Errorf("a channel that is not archived: %v", err)
	}
	archived, err := c.Archive("x", true)
	apply(archived.Draft, err)
	deleted, err := c.Delete("x")
	was := deleted.Answer(core.Position{})
	apply(deleted.Draft, err)
	if _, err := c.Delete("x"); codeOf(err) != hub.CodeChannelNotFound {
		t.Errorf("once more: %v", err)
	}
	apply(c.Keep(was).Draft, nil)
	if d, err := c.Delete("x"); err != nil {
		t.Errorf("what came back is not archived: %v", err)
	} else {
		apply(d.Draft, nil)
	}
	if !create("b") {
		t.Error("the name is not free")
	}
	if d := c.Keep(was); len(d.Facts) != 0 || d.Answer(core.Position{}).CreatedBy != "b" {
		t.Error("another channel was replaced")
	}
}
