package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/hostiletext"
	"hubcli/internal/peertext"
	"hubcli/internal/require"
	"hubcli/internal/testcli"
	"hubcli/internal/testhub"
)

// hostileTexts is how many texts agents write in the test.
const hostileTexts = 500

// TestNoTextActsOnTheTerminal: 500 texts of agents go into everything that agents write.
// No command prints a character of them that a terminal obeys or that hides anything,
// neither in lists nor as JSON.
func TestNoTextActsOnTheTerminal(t *testing.T) {
	h := testhub.Start(t)
	c := client.New(client.Config{BaseURL: h.URL})
	defer c.Close()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	ctx := t.Context()
	_, err := c.CreateProject(ctx, hub.ProjectInput{Name: "P"})
	require.NoError(t, err)
	made, err := c.CreateRoom(ctx, hub.RoomInput{Project: "p", Name: "R", Topic: "t"})
	require.NoError(t, err)
	room := made.Row
	kept := 0
	for i := range hostileTexts {
		// A name that is refused is one text less in that place, and no more.
		s := hostiletext.Text(random)
		agent := hub.AgentID(fmt.Sprintf("agent-%d", i%7))
		metadata, err := json.Marshal(map[string]string{"m": s})
		require.NoError(t, err)
		try := func(err error) {
			if err == nil {
				kept++
			}
		}
		switch i % 10 {
		case 0:
			_, err = c.Register(ctx, hub.RegisterInput{AgentID: agent, DisplayName: s, Capabilities: []string{s}, Metadata: metadata})
		case 1:
			_, err = c.AddDecision(ctx, hub.DecisionInput{RoomID: room.RoomID, Title: s, Note: s, By: agent})
		case 2:
			_, err = c.Remember(ctx, hub.MemoryInput{RoomID: room.RoomID, Key: s, Text: s, Tags: []string{s}, By: agent})
		case 3:
			_, err = c.AddArtifact(ctx, hub.ArtifactInput{RoomID: room.RoomID, Title: s, Kind: s, By: agent, Body: &s})
		case 4:
			_, err = c.Claim(ctx, hub.ClaimInput{OwnerAgentID: agent, ClaimKey: hub.ClaimKey(s), TTLSec: 3600, Metadata: metadata})
		case 5:
			_, err = c.Lock(ctx, hub.LockInput{AgentID: agent, FilePath: s, TTLSec: 3600})
		case 6:
			_, err = c.CreateRoom(ctx, hub.RoomInput{Project: "p", Name: s, Topic: s})
		case 7:
			_, err = c.CreateChannel(ctx, hub.ChannelInput{Name: hub.ChannelName(s), CreatedBy: agent, Metadata: metadata})
		case 8:
			_, err = c.CreateRun(ctx, hub.RunInput{Title: s, RoomID: room.RoomID, CreatedBy: agent})
		case 9:
			_, err = c.CreateInvite(ctx, hub.InviteInput{Project: "p", Room: "R", Role: s})
		}
		try(err)
		kind := []hub.Kind{hub.KindChat, hub.KindTask, hub.KindNotice}[i%3]
		_, err = c.Post(ctx, hub.PostInput{
			FromAgent: agent, Channel: []hub.ChannelName{"general", room.Channel}[i%2], Kind: kind, Body: s, ThreadID: "t", Metadata: metadata,
			Attachments: []hub.Attachment{{Type: hub.AttachmentText, Content: json.RawMessage(mustQuote(t, s))}},
		})
		require.NoError(t, err)
		if i%5 == 0 {
			_, err = c.Post(ctx, hub.PostInput{FromAgent: agent, ToAgent: "reader", Body: s})
			require.NoError(t, err)
		}
	}
	if kept < hostileTexts {
		t.Logf("%d of %d names were taken", kept, hostileTexts)
	}
	printed := 0
	for _, line := range []string{
		"poll --agent reader --timeout 0", "whoami --agent reader", "app log", "app agents", "app channels", "app threads", "app claims", "app locks", "app tasks", "app runs",
		"app memory --room " + string(room.RoomID), "app decisions --room " + string(room.RoomID), "app message 5", "app receipt 5 --agent agent-1", "app search words", "app search world",
		"app attention", "app undelivered", "app status", "app permissions list", "app debug",
		"decision list --room " + string(room.RoomID), "artifact list --room " + string(room.RoomID), "project list", "project show p", "room list --project p",
		"room show " + string(room.RoomID), "room status " + string(room.RoomID), "invite list", "providers",
	} {
		for _, more := range []string{"", " --json"} {
			args := append(strings.Fields(line+more), "--base-url", h.URL)
			got := runIn(t, testcli.World(t, map[string]string{"HUB_DATA_ROOT": t.TempDir()}), args...)
			if got.exit == 0 && len(got.stdout) > 0 {
				printed++
			} else {
				t.Logf("hubcli %s%s: exit %d: %.200q", line, more, got.exit, got.stderr)
			}
			for i, r := range got.stdout + got.stderr {
				if peertext.Hidden(r) {
					all := got.stdout + got.stderr
					t.Errorf("seed %d: hubcli %s%s prints %U: %q", seed, line, more, r, all[max(0, i-60):min(len(all), i+60)])
					break
				}
			}
		}
	}
	if t.Logf("%d commands printed something", printed); printed < 40 {
		t.Errorf("only %d commands printed something", printed)
	}
}

func mustQuote(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	require.NoError(t, err)
	return string(b)
}
