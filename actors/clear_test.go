package actors

import (
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestWhatIsDeletedMeanwhileComesBack: a call may look for a room, and keep something in it when
// it has been deleted. Then the room is there again, archived, and so it is after a crash.
func TestWhatIsDeletedMeanwhileComesBack(t *testing.T) {
	r := start(t, newMemStore())
	late, empty := r.newRoom("Late"), r.newRoom("Empty")
	for _, room := range []hub.Room{late, empty} {
		_, err := r.ArchiveRoom(t.Context(), room.RoomID, hub.ArchiveInput{Archived: true})
		require.NoError(t, err)
	}
	c, err := r.clearing(true)
	require.NoError(t, err)
	d, looks := c.deletionOfRoom(&late), 0
	d.holds = func() (string, error) {
		if looks++; looks == 1 {
			return "", nil
		}
		if _, err := r.view.Room(late.RoomID); err == nil {
			t.Error("the room is looked at again before it is gone")
		}
		return "artifacts", nil
	}
	wantCode(t, deleteOne(asOperator(t.Context()), r.Hub, d), hub.CodePlanChanged)
	require.NoError(t, c.deleteRoom(asOperator(t.Context()), empty.RoomID))
	for _, when := range []string{"at once", "after a crash"} {
		if room, err := r.view.Room(late.RoomID); err != nil || !room.Archived || room.Slug != "late" || !r.view.Places.Closed(late.Channel) {
			t.Errorf("%s the room is %+v, %v", when, room, err)
		}
		if _, err := r.view.Room(empty.RoomID); codeOf(err) != hub.CodeRoomNotFound {
			t.Errorf("%s the deleted room: %v", when, err)
		}
		r = start(t, r.crash())
	}
}
