package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

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

// A bridge in a bound folder is seen in the room some seconds after it has a session, also
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

// A bridge that ends before its agent has called a tool, as those do by which a harness lists its
// servers, leaves no seat, and neither does one by which an adapter is tried. With the first tool
// the agent is seen at once.
func TestBridgeWithoutACallLeavesNoSeat(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	lead := bridgeTo(t, h, in(t.TempDir(), "lead"))
	room := bound(t, lead, dir)
	lister := bridgeTo(t, h, in(dir, "lister"))
	require.Eventually(t, "the lister has no session", func() bool { return lister.live(t, "lister") })
	lister.end()
	trial := bridgeTo(t, h, in(dir, hub.TrialPrefix+"1"))
	trial.must("hub_whoami", nil, nil)
	dev := bridgeTo(t, h, in(dir, "dev"))
	began := time.Now()
	dev.must("hub_whoami", nil, nil)
	require.Eventually(t, "dev is not seen", func() bool { return dev.seatedIn(t, room, "dev") != nil })
	t.Logf("dev was seen after %s", time.Since(began))
	for _, agent := range []hub.AgentID{"lister", hub.TrialPrefix + "1"} {
		if seat := dev.seatedIn(t, room, agent); seat != nil {
			t.Errorf("%s has the seat %+v", agent, seat)
		}
	}
}

// live reports whether an agent has a live session.
func (r *rig) live(t *testing.T, agent hub.AgentID) bool {
	t.Helper()
	rows, _, err := r.hub.Agents(t.Context(), hub.AgentsQuery{Prefix: string(agent)})
	require.NoError(t, err)
	return len(rows) > 0
}

// TestTeamSaysWhoIsWho: a lead sees of each colleague where it works and what it does, in hub_start
// and on the page of the room.
func TestTeamSaysWhoIsWho(t *testing.T) {
	h, dir := testhub.Start(t), filepath.Join(t.TempDir(), "shop")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/fix-tax\n"), 0o644))
	lead := bridgeTo(t, h, in(t.TempDir(), "lead"))
	room := bound(t, lead, dir)
	dev := bridgeTo(t, h, func(c *Config) {
		in(dir, "dev")(c)
		c.Harness = "codex"
	})
	var p posted
	lead.must("hub_post_message", args{"body": "mend it", "kind": "task", "channel": string(room.Channel())}, &p)
	dev.must("hub_take", args{"task_id": p.ID}, nil)
	require.Eventually(t, "dev is not seen", func() bool { return dev.seatedIn(t, room, "dev") != nil })
	want := teammate{AgentID: "dev", At: "codex in shop@fix-tax", Activity: hub.ActivityWorking, TaskID: p.ID}
	var s started
	two := bridgeTo(t, h, in(dir, "two"))
	two.must("hub_start", nil, &s)
	i := slices.IndexFunc(s.Team, func(m teammate) bool { return m.AgentID == "dev" })
	if i < 0 || s.Team[i].For == "" {
		t.Fatalf("the team is %+v", s.Team)
	}
	if s.Team[i].For = ""; s.Team[i] != want {
		t.Errorf("dev is %+v, want %+v", s.Team[i], want)
	}
	var page pageOfRoom
	two.must("hub_room_status", nil, &page)
	j := slices.IndexFunc(page.Seats, func(s shownSeat) bool { return s.AgentID == "dev" })
	if j < 0 || page.Seats[j].At != want.At || page.Seats[j].For == "" {
		t.Errorf("the seats are %+v", page.Seats)
	}
}
