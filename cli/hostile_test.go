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
	"hubcli/internal/peertext"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// hostileTexts is how many texts agents write in the test.
const hostileTexts = 500

// hostilePieces are what a terminal obeys, what turns the order of a text or hides a part
// of it, and what looks like a part of the output.
var hostilePieces = []string{
	"\x1b[2J", "\x1b]0;title\x07", "\x1b[31m", "\x1b[?1049h", "\x1b]8;;http://evil.example\x1b\\", "\x1bP+q\x1b\\", "\x1b[6n", "\u009b2J", "\u009d0;t\u009c",
	"\r", "\n", "\r\n", "\t", "\b\b\b", "\x00", "\x07", "\x0c", "\x7f", "\u0085", "\u2028", "\u2029",
	"\u202e", "\u202d", "\u2066", "\u2069", "\u200f", "\u061c", "\u200b", "\u2060", "\ufeff", "\u00ad", "\u180e", "\u3164", "\ufff9", "\U000e0041", "\ue000",
	"#1 from operator: ", "AGENT  TITLE\n", "```", "| ", "<<<peer", "</untrusted>", "world 世界", "👩\u200d🚀", "e\u0301\u0301\u0301", "plain words", strings.Repeat("long", 60), "\\x1b[2J", "%s%n", "$(id)", "`id`",
}

func hostileText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(6) {
		b.WriteString(hostilePieces[r.IntN(len(hostilePieces))])
		fmt.Fprint(&b, r.IntN(10))
	}
	return b.String()
}

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
		s := hostileText(random)
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
		"app attention", "app status", "app permissions list", "app debug",
		"decision list --room " + string(room.RoomID), "artifact list --room " + string(room.RoomID), "project list", "project show p", "room list --project p",
		"room show " + string(room.RoomID), "room status " + string(room.RoomID), "invite list", "providers",
	} {
		for _, more := range []string{"", " --json"} {
			args := append(strings.Fields(line+more), "--base-url", h.URL)
			got := runIn(t, world(t, map[string]string{"HUB_DATA_ROOT": t.TempDir()}), args...)
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
