package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/internal/testrace"
)

// heavy are alphabets that cost as much as text can: what is escaped, shown in
// another form, or of many bytes.
var heavy = []string{"a", "\"\\", "\n\tx", "x\x1b", "x\u202e", "世", "😀", "<>&", "</untrusted>`~~~"}

// weigh fills a hub with rows, the texts of some of most characters, names as long as
// they may be.
func weigh(t *testing.T, r *rig, room hub.RoomID, most int) (last hub.MessageID) {
	t.Helper()
	ctx := context.Background()
	text := func(i, n int) string { return string([]rune(strings.Repeat(heavy[i%len(heavy)], n))[:n]) }
	name := func(i, n int) string { // control characters are refused in names
		return strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return '\u202e'
			}
			return r
		}, text(i, n))
	}
	for i := range 27 {
		long := most
		if i >= len(heavy) {
			long = 10_000
		}
		attachments := []hub.Attachment{{Type: hub.AttachmentText, Content: json.RawMessage(mustCompact(t, text(i, long/4)))}}
		out, err := r.hub.Post(ctx, hub.PostInput{
			FromAgent: hub.AgentID(fmt.Sprintf("peer-%d", i%3)), Channel: room.Channel(), Kind: hub.KindTask, Body: text(i, long),
			ThreadID: "heavy", Attachments: attachments, Metadata: json.RawMessage(mustCompact(t, map[string]string{"m": text(i, 5_000)})),
		})
		require.NoError(t, err)
		row, err := out.Row.Decode()
		require.NoError(t, err)
		last = row.ID
		if _, err := r.hub.AddDecision(ctx, hub.DecisionInput{RoomID: room, Title: name(i, 300), Note: text(i, long/4), By: "peer-1"}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.hub.Remember(ctx, hub.MemoryInput{RoomID: room, Key: fmt.Sprint(i) + name(i, 150), Text: text(i, long/4), Tags: []string{name(i, 60)}, By: "peer-1"}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.hub.AddArtifact(ctx, hub.ArtifactInput{RoomID: room, Title: fmt.Sprint(i) + name(i, 290), Kind: "doc", By: "peer-1", Body: new(text(i, long))}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.hub.Claim(ctx, hub.ClaimInput{OwnerAgentID: "peer-1", ClaimKey: hub.ClaimKey(fmt.Sprint(i) + name(i, 190)), ThreadID: "heavy", TTLSec: 3600}); err != nil {
			t.Fatal(err)
		}
		caps := make([]string, 64)
		for k := range caps {
			caps[k] = name(i+k, 64)
		}
		if _, err := r.hub.Register(ctx, hub.RegisterInput{AgentID: hub.AgentID(fmt.Sprintf("crowd-%d", i)), DisplayName: name(i, 64), Capabilities: caps}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.hub.CreateRoom(ctx, hub.RoomInput{Project: "web-shop", Name: fmt.Sprintf("%d ", i) + name(i, 190), Topic: text(i, 1000), Force: true, ForceReason: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

// TestAnswersAreBounded: no answer of any reading tool is longer than the limit,
// whatever the hub holds, and all are valid UTF-8 without a character that acts.
func TestAnswersAreBounded(t *testing.T) {
	testrace.Avoid(t, "one goroutine reads long texts")
	t.Parallel()
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	last := weigh(t, me, room, 128_000)
	calls := map[string][]args{
		"hub_poll_messages": {{"since_id": 0, "limit": 100}, {"since_id": 0, "limit": 1}, {"since_id": last - 1}, {"since_id": 0, "thread_id": "heavy"}},
		"hub_get_message":   {{"message_id": last}, {"message_id": last, "offset": 5}, {"message_id": last, "part": "attachments"}, {"message_id": last, "part": "metadata"}},
		"hub_get_thread":    {{"thread_id": "heavy"}, {"thread_id": "heavy", "limit": 100}},
		"hub_start":         {{}}, "hub_list_agents": {{}, {"limit": 100}}, "hub_whoami": {{}}, "hub_room_status": {{}},
		"hub_list_rooms": {{}, {"limit": 100}}, "hub_list_tasks": {{"limit": 100}, {"room_id": "*", "limit": 100}},
		"hub_list_decisions": {{"limit": 100}, {}}, "hub_get_artifact": {{"limit": 100}, {"title": "0" + strings.Repeat("a", 290)}},
		"hub_recall": {{"limit": 100}, {"query": "a"}}, "hub_search": {{"query": "use aaaa", "limit": 100}, {"query": "a", "limit": 100}},
		"hub_search_tools": {{}, {"query": "room"}}, "hub_describe_tool": {{"name": "hub_post_message"}},
		"hub_claim":       {{"claim_key": "1" + strings.Repeat("\"\\", 95)}},
		"hub_task_leases": {{"task_id": last}},
		"hub_create_room": {{"project": "web-shop", "name": "0 " + strings.Repeat("a", 190)}},
	}
	for _, row := range table() {
		if row.reads && calls[row.name] == nil && row.name != "hub_watch" {
			t.Errorf("%s is not tried", row.name)
		}
		for i, a := range slices.Concat(calls[row.name], calls[row.name]) {
			if i >= len(calls[row.name]) {
				a = verbosely(a)
			}
			res := me.try(row.name, a)
			said := text(res) + mustCompact(t, res.StructuredContent)
			if n := sizeOf(t, res); n > maxAnswer {
				t.Errorf("%s %v answers %d characters, more than %d", row.name, a, n, maxAnswer)
			}
			if !utf8.ValidString(said) || strings.ContainsFunc(said, peertext.Hidden) {
				t.Errorf("%s %v answers characters that act, or no UTF-8", row.name, a)
			}
			if strings.Contains(said, "does not fit the limit") {
				t.Errorf("%s %v has no answer that fits", row.name, a)
			}
			if line := res.Content[0]; strings.Contains(mustJSON(t, line), `\n`) && !res.IsError {
				t.Errorf("%s %v: the line has several: %s", row.name, a, mustJSON(t, line))
			}
		}
	}
}

// TestWholeIsReached: by the calls that cut answers name, every text is read whole,
// and every list to its end with each row once.
func TestWholeIsReached(t *testing.T) {
	testrace.Avoid(t, "one goroutine reads long texts")
	t.Parallel()
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	weigh(t, me, room, 40_000) // several calls each; what they cost grows with the square
	seen := map[string]bool{}
	var since hub.MessageID
	whole := 0
	for more := true; more; {
		var p polled
		me.must("hub_poll_messages", args{"since_id": since, "timeout_seconds": 0}, &p)
		for _, m := range p.Messages {
			if m.ID <= since || seen[fmt.Sprint("m", m.ID)] {
				t.Fatalf("message %d comes again, behind %d", m.ID, since)
			}
			seen[fmt.Sprint("m", m.ID)] = true
			if whole++; m.Kind == hub.KindTask && whole < 8 && m.Truncated != nil {
				wholeMessage(t, me, m)
			}
		}
		if p.Cursor <= since {
			t.Fatalf("the cursor stays at %d", p.Cursor)
		}
		since, more = p.Cursor, p.Truncated
	}
	if len(seen) != 27*3+1 { // tasks, what the room is told of decisions and artifacts, and that its maker joined
		t.Errorf("%d messages are read, want %d", len(seen), 27*3+1)
	}
	for tool, want := range map[string]int{
		"hub_list_tasks": 27, "hub_list_decisions": 27, "hub_get_artifact": 27, "hub_recall": 27, "hub_list_rooms": 28, "hub_list_agents": 28,
		"hub_get_thread": 27,
	} {
		if n := listWhole(t, me, tool); n != want {
			t.Errorf("%s lists %d rows, want %d", tool, n, want)
		}
	}
}

// marks are those of a fence.
var marks = regexp.MustCompile(`<*peer-[a-z2-7]{6}>*`)

// listWhole follows the cursor of a list and counts different rows.
func listWhole(t *testing.T, r *rig, tool string) int {
	t.Helper()
	rows := map[string]bool{}
	a := args{"limit": 4}
	if tool == "hub_get_thread" {
		a["thread_id"] = "heavy"
	}
	for range 200 {
		var l struct {
			Items     []json.RawMessage `json:"items"`
			Messages  []json.RawMessage `json:"messages"`
			Truncated bool              `json:"truncated"`
			Cursor    any               `json:"cursor"`
		}
		r.must(tool, a, &l)
		for _, item := range append(l.Items, l.Messages...) {
			key := marks.ReplaceAllString(string(item), "") // each answer makes up its own
			if rows[key] {
				t.Errorf("%s lists a row twice: %.200s", tool, item)
			}
			rows[key] = true
		}
		if !l.Truncated {
			return len(rows)
		}
		a["cursor"] = l.Cursor
	}
	t.Errorf("%s has no end", tool)
	return len(rows)
}

// wholeMessage reads the body on from where it was cut, and the attachments.
func wholeMessage(t *testing.T, r *rig, m shownMessage) {
	t.Helper()
	enc, err := r.hub.Message(context.Background(), m.ID, "me")
	require.NoError(t, err)
	row, err := enc.Decode()
	require.NoError(t, err)
	if m.Truncated == nil {
		t.Fatalf("message %d of %d characters is not cut", m.ID, chars(row.Body))
	}
	for part, want := range map[string]string{"body": row.Body, "attachments": jsonText(row.Attachments)} {
		got, offset := "", 0
		if part == "body" {
			got, offset = string(m.Body), m.Truncated.Shown
		}
		for range 500 {
			var s slice
			r.must("hub_get_message", args{"message_id": m.ID, "part": part, "offset": offset}, &s)
			if got += string(s.Text); s.Truncated == nil {
				break
			}
			if s.Truncated.Shown <= offset {
				t.Fatalf("the %s of %d does not go on from %d", part, m.ID, offset)
			}
			offset = s.Truncated.Shown
		}
		if got != peertext.Model(want) {
			t.Errorf("the %s of message %d is read as %.60q of %d, want %.60q of %d characters", part, m.ID, got, chars(got), peertext.Model(want), chars(peertext.Model(want)))
		}
	}
}

// TestCleanJSON: cleaning the JSON of a text is the JSON of the cleaned text, for
// however it is escaped.
func TestCleanJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("ab\\\"/\r\n\t\b\f\x00\x1b\x7f\u0085\u00ad\u200b\u200d\u202e\u2028\ufeff\ufe0f\U000e0041\U0001f600世"))).Draw(t, "text")
		plain, err := compact(s)
		require.NoError(t, err)
		var ascii strings.Builder // as an encoder writes it that escapes all it can
		ascii.WriteByte('"')
		for _, r := range s {
			if r >= 0x10000 {
				r -= 0x10000
				fmt.Fprintf(&ascii, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
			} else {
				fmt.Fprintf(&ascii, `\u%04x`, r)
			}
		}
		ascii.WriteByte('"')
		for _, in := range []string{string(plain), ascii.String()} {
			var got string
			if err := json.Unmarshal(peertext.ModelJSON([]byte(in)), &got); err != nil {
				t.Fatalf("%s becomes no JSON: %v", in, err)
			}
			if strings.ContainsFunc(got, peertext.Hidden) {
				t.Fatalf("%s leaves %q", in, got)
			}
			if !strings.Contains(s, "\r") && got != peertext.Model(s) {
				t.Fatalf("%s becomes %q, want %q", in, got, peertext.Model(s))
			}
		}
	})
}

func TestCounted(t *testing.T) {
	for n, want := range []string{"0 rooms", "1 room", "2 rooms"} {
		if got := counted(n, "room"); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// TestClip: what is clipped fits, nothing is lost between two parts, and a part is
// never empty while there is room for a character.
func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("ab\\\"\n\t\x1b\u202e世😀"))).Draw(t, "text")
		room := rapid.IntRange(10, 60).Draw(t, "room")
		var all strings.Builder
		for at := 0; ; {
			part, end, whole := clip(s, at, room)
			if n := size(part) - 2; n > room {
				t.Fatalf("%q takes %d characters, more than %d", part, n, room)
			}
			all.WriteString(part)
			if whole {
				break
			}
			if end <= at {
				t.Fatalf("nothing is taken of %q at %d", s, at)
			}
			at = end
		}
		if all.String() != s {
			t.Fatalf("the parts are %q, want %q", all.String(), s)
		}
	})
}

// TestBothFormsAreNotSentTwice: a harness that hands its model the text and the
// structured content of an answer gets one of them, with all that it says.
func TestBothFormsAreNotSentTwice(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	from := bridgeTo(t, h, in(dir, "you"))
	from.must("hub_post_message", args{"body": "the answer is 42", "to_agent": "me", "new": true}, nil)
	me := bridgeTo(t, h, func(c *Config) { in(dir, "me")(c); c.Harness = string(hub.HarnessQwenCode) })
	got := me.try("hub_poll_messages", args{"timeout_seconds": 0})
	if got.IsError || got.StructuredContent != nil || strings.Count(text(got), "the answer is 42") != 1 {
		t.Errorf("the answer is %s and %v", text(got), got.StructuredContent)
	}
	if got = me.try("hub_update_task", args{"task_id": 999, "status": "done"}); !got.IsError || got.StructuredContent != nil || !strings.Contains(text(got), "task_not_found") {
		t.Errorf("the error is %s and %v", text(got), got.StructuredContent)
	}
	if got = me.try("hub_whoami", args{"verbose": true}); got.IsError || got.StructuredContent == nil {
		t.Errorf("the verbose answer is %s and %v", text(got), got.StructuredContent)
	}
}
