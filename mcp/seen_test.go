package mcp

import (
	"slices"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// seatedIn returns the seat of an agent as the page of a room shows it, or nil.
func (r *rig) seatedIn(t *testing.T, room hub.RoomID, agent hub.AgentID) *hub.Seat {
	t.Helper()
	page, err := r.hub.RoomStatus(t.Context(), hub.StatusQuery{RoomID: room})
	require.NoError(t, err)
	i := slices.IndexFunc(page.Seats, func(s hub.Seat) bool { return s.AgentID == agent })
	if i < 0 {
		return nil
	}
	return &page.Seats[i]
}

// A bridge in a bound folder is seen in the room as soon as it has a session,
// before its agent calls a tool, and again after it becomes another agent. It
// is no member: its room stays the folder's.
func TestBridgeIsSeenInItsRoom(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	lead := bridgeTo(t, h, in(t.TempDir(), "lead"))
	room := bound(t, lead, dir)
	dev := bridgeTo(t, h, func(c *Config) {
		in(dir, "dev")(c)
		c.Harness = "codex"
	})
	require.Eventually(t, "dev is not seen", func() bool { return dev.seatedIn(t, room, "dev") != nil })
	if seat := dev.seatedIn(t, room, "dev"); seat.Role != "" || seat.Presence != hub.PresenceLive || seat.Harness != "codex" {
		t.Errorf("dev is seen as %+v", seat)
	}
	var me aboutMe
	if dev.must("hub_whoami", nil, &me); me.RoomID != room {
		t.Errorf("the room of dev is %q, want the folder's, %s", me.RoomID, room)
	}
	dev.must("hub_join", args{"agent_id": "dev-b"}, nil)
	require.Eventually(t, "dev-b is not seen", func() bool { return dev.seatedIn(t, room, "dev-b") != nil })
}

// A bridge that posts into another room is seen there, and still works in its own.
func TestPostingElsewhereMovesNobody(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	lead := bridgeTo(t, h, in(t.TempDir(), "lead"))
	home := bound(t, lead, dir)
	var other shownRoom
	lead.must("hub_create_room", args{"project": "web-shop", "name": "Warehouse"}, &other)
	dev := bridgeTo(t, h, in(dir, "dev"))
	dev.must("hub_post_message", args{"body": "any stock?", "channel": string(other.Channel)}, nil)
	require.Eventually(t, "dev is not seen where it posted", func() bool { return dev.seatedIn(t, other.RoomID, "dev") != nil })
	dev.end()
	again := bridgeTo(t, h, in(dir, "dev"))
	var me aboutMe
	if again.must("hub_whoami", nil, &me); me.RoomID != home {
		t.Errorf("the room of dev is %q, want %s", me.RoomID, home)
	}
}
