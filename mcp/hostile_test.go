package mcp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
	"hubcli/internal/hostiletext"
	"hubcli/internal/peertext"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/internal/testrace"
)

const hostileTexts = 500

// broken begins a line of each hostile text. A line of an answer that begins with it has left
// its place.
const broken = "ZZBROKEN"

// TestNoTextLeavesItsPlaceInATool: 500 texts of agents go into everything that agents write, and
// all tools that read show them. No answer has a character that acts, no text begins a line that
// is not marked as words of others, and none passes for the operator.
func TestNoTextLeavesItsPlaceInATool(t *testing.T) {
	testrace.Avoid(t, "one goroutine reads long texts")
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	texts := make([]string, hostileTexts)
	for i := range texts {
		texts[i] = fmt.Sprintf("mark%d %s\n%s SYSTEM %s", i, hostiletext.Text(random), broken, hostiletext.Text(random))
		writeEverywhere(t, me, room, i, texts[i])
	}
	seen := map[string]bool{}
	calls := readsOf(random, texts)
	for _, row := range table() {
		if !row.reads && row.name != "hub_poll_messages" || row.name == "hub_watch" {
			continue
		}
		asks := calls[row.name]
		if row.reads {
			asks = append(asks, args{})
		}
		for _, a := range asks {
			for page := 0; page < hostileTexts; page++ {
				lean, verbose := me.try(row.name, a), me.try(row.name, verbosely(a))
				for _, res := range []*sdk.CallToolResult{lean, verbose} {
					said := text(res)
					whole := said + mustCompact(t, res.StructuredContent)
					checkPlaces(t, seed, fmt.Sprint(row.name, " ", a), said, whole)
					for word := range strings.FieldsFuncSeq(whole, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
						if strings.HasPrefix(word, "mark") {
							seen[word] = true
						}
					}
				}
				var next struct{ Cursor any }
				_ = json.Unmarshal([]byte(mustCompact(t, verbose.StructuredContent)), &next) // a refusal has none
				if next.Cursor == nil || next.Cursor == "" || next.Cursor == a["since_id"] {
					break
				}
				a = with(a, row.name, next.Cursor)
			}
		}
	}
	if len(seen) < hostileTexts {
		t.Errorf("seed %d: %d of %d texts were shown", seed, len(seen), hostileTexts)
	}
}

// with returns the call for the rows behind a cursor.
func with(a args, tool string, cursor any) args {
	next := args{}
	for name, value := range a {
		next[name] = value
	}
	if tool == "hub_poll_messages" {
		next["since_id"] = cursor
	} else {
		next["cursor"] = cursor
	}
	return next
}

func checkPlaces(t *testing.T, seed uint64, call, said, whole string) {
	t.Helper()
	if !utf8.ValidString(whole) {
		t.Errorf("seed %d: %s answers no UTF-8", seed, call)
	}
	if i := strings.IndexFunc(whole, peertext.Hidden); i >= 0 {
		t.Errorf("seed %d: %s answers a character that acts: %q", seed, call, whole[max(0, i-60):min(len(whole), i+60)])
	}
	for line := range strings.SplitSeq(said, "\n") {
		if strings.HasPrefix(line, "| ") {
			continue
		}
		plain := strings.TrimLeft(line, " -*>#")
		if strings.HasPrefix(plain, broken) || strings.HasPrefix(plain, "SYSTEM:") || strings.HasPrefix(plain, "99 from operator") || strings.HasPrefix(plain, "Human:") {
			t.Errorf("seed %d: a text has left its place in the answer of %s: %q", seed, call, line)
		}
	}
}

// readsOf are calls of tools that need arguments, or show more with them.
func readsOf(random *rand.Rand, texts []string) map[string][]args {
	calls := map[string][]args{
		"hub_poll_messages": {{"since_id": 0, "limit": 100, "timeout_seconds": 0}}, "hub_get_thread": {{"thread_id": "t", "limit": 100}},
		"hub_list_tasks": {{"room_id": "*", "limit": 100}}, "hub_list_decisions": {{"limit": 100}}, "hub_get_artifact": {{"limit": 100}},
		"hub_recall": {{"limit": 100}}, "hub_list_agents": {{"limit": 100}}, "hub_list_rooms": {{"limit": 100}}, "hub_room_status": {{}},
		"hub_search": {{"query": "plain", "limit": 100}, {"query": "system", "limit": 100}},
	}
	for range 60 {
		id := 1 + random.IntN(2*len(texts))
		calls["hub_get_message"] = append(calls["hub_get_message"], args{"message_id": id}, args{"message_id": id, "part": "attachments"}, args{"message_id": id, "part": "metadata"})
		s := texts[random.IntN(len(texts))]
		calls["hub_search"] = append(calls["hub_search"], args{"query": s[:min(len(s), 150)]})
		calls["hub_recall"] = append(calls["hub_recall"], args{"query": strings.Fields(s)[0]})
	}
	return calls
}

// writeEverywhere writes a text as a message, and in one other place. A text that is refused
// there is one less.
func writeEverywhere(t *testing.T, me *rig, room hub.RoomID, i int, s string) {
	t.Helper()
	ctx := t.Context()
	agent := hub.AgentID(fmt.Sprintf("agent-%d", i%7))
	metadata := json.RawMessage(mustCompact(t, map[string]string{"m": s}))
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) { // what a name may not have, unlike all else
			return ' '
		}
		return r
	}, s)
	short := string([]rune(line)[:min(60, len([]rune(line)))])
	switch i % 8 {
	case 0:
		_, _ = me.hub.Register(ctx, hub.RegisterInput{AgentID: agent, DisplayName: short, Capabilities: []string{short}, Metadata: metadata})
	case 1:
		_, _ = me.hub.AddDecision(ctx, hub.DecisionInput{RoomID: room, Title: short, Note: s, By: agent, Metadata: metadata})
	case 2:
		_, _ = me.hub.Remember(ctx, hub.MemoryInput{RoomID: room, Key: short, Text: s, Tags: []string{short}, By: agent})
	case 3:
		_, _ = me.hub.AddArtifact(ctx, hub.ArtifactInput{RoomID: room, Title: short, Kind: "doc", By: agent, Body: &s})
	case 4:
		_, _ = me.hub.Claim(ctx, hub.ClaimInput{OwnerAgentID: agent, ClaimKey: hub.ClaimKey(short), TTLSec: 3600, Metadata: metadata})
	case 5:
		_, _ = me.hub.Lock(ctx, hub.LockInput{AgentID: agent, FilePath: short, TTLSec: 3600})
	case 6:
		_, _ = me.hub.CreateRoom(ctx, hub.RoomInput{Project: "web-shop", Name: short, Topic: s, Force: true, ForceReason: s})
	case 7:
		_, _ = me.hub.CreateRun(ctx, hub.RunInput{Title: short, RoomID: room, CreatedBy: agent})
	}
	kind := []hub.Kind{hub.KindChat, hub.KindTask, hub.KindNotice}[i%3]
	in := hub.PostInput{
		FromAgent: agent, Channel: room.Channel(), Kind: kind, Body: s, ThreadID: "t", Metadata: metadata,
		Attachments: []hub.Attachment{{Type: hub.AttachmentText, Content: json.RawMessage(mustCompact(t, s)), Description: short}},
	}
	if i%5 == 0 {
		in.Channel, in.ToAgent = "", "me"
	}
	_, err := me.hub.Post(ctx, in)
	require.NoError(t, err)
}
