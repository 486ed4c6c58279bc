package mcp

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

var callHint = regexp.MustCompile(`(hub_[a-z_]+) (\{[^}]*\})`)

// TestHintsLeadToTheRest follows every call that an answer names, to the letter,
// until nothing is left: then body, attachments and metadata have been read whole.
func TestHintsLeadToTheRest(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	body := strings.Repeat("body ", 5_000)
	content := strings.Repeat("attached ", 4_000)
	metadata, _ := json.Marshal(map[string]string{"note": strings.Repeat("kept ", 5_000)})
	from := bridgeTo(t, h, in(dir, "you"))
	from.must("hub_post_message", args{
		"body": body, "to_agent": "me", "metadata": string(metadata), "attachments": mustJSON(t, []args{{"type": "text", "content": content}}),
	}, nil)
	from.must("hub_post_message", args{"body": "small", "to_agent": "me", "metadata": string(metadata)}, nil)
	note := strings.Repeat("why ", 7_000)
	me.must("hub_record_decision", args{"title": "so", "note": note}, nil)
	me.must("hub_remember", args{"text": note}, nil)
	artifact := strings.Repeat("artifact ", 6_000)
	me.must("hub_add_artifact", args{"title": "plan", "kind": "plan", "body": artifact}, nil)

	read := map[string]string{} // tool and part: what came
	asked := map[string]bool{}
	follow := func(name string, a args) {}
	follow = func(name string, a args) {
		key := name + mustJSON(t, a)
		if asked[key] {
			t.Fatalf("%s leads in a circle", key)
		}
		asked[key] = true
		res := me.try(name, verbosely(a))
		if res.IsError {
			t.Fatalf("%s: %s", key, text(res))
		}
		data := mustJSON(t, res.StructuredContent)
		var s struct {
			Part, Next string
			Text       peerText
		}
		require.NoError(t, json.Unmarshal([]byte(data), &s))
		if s.Part != "" && s.Text == "" {
			t.Errorf("%s leads to nothing", key)
		}
		read[s.Part] += string(s.Text)
		read["all"] += data
		seen := map[string]bool{}
		for _, hint := range callHint.FindAllStringSubmatch(strings.ReplaceAll(data, `\"`, `"`), -1) {
			if seen[hint[0]] {
				continue
			}
			seen[hint[0]] = true
			var next args
			if err := json.Unmarshal([]byte(hint[2]), &next); err != nil {
				t.Fatalf("%s names %s: %v", key, hint[0], err)
			}
			follow(hint[1], next)
		}
	}
	follow("hub_poll_messages", args{"since_id": 0, "timeout_seconds": 0, "room_id": room})
	if !strings.Contains(read["attachments"], content) {
		t.Errorf("of the attachments %d characters are read", len(read["attachments"]))
	}
	if strings.Count(read["metadata"], string(metadata)) != 2 && !strings.Contains(read["all"], string(metadata)) {
		t.Errorf("of the metadata %d characters are read", len(read["metadata"]))
	}
	if n := strings.Count(read["all"], "body "); n < 5_000 {
		t.Errorf("of the body %d of 5000 words are read", n)
	}
	for _, c := range []struct {
		tool, word string
		args       args
		want       int
	}{{"hub_list_decisions", "why ", nil, 7_000}, {"hub_recall", "why ", nil, 7_000}, {"hub_get_artifact", "artifact ", args{"title": "plan"}, 6_000}} {
		read["all"] = ""
		follow(c.tool, c.args)
		if n := strings.Count(read["all"], c.word); n < c.want {
			t.Errorf("%s and what it names give %d of %d words", c.tool, n, c.want)
		}
	}
}

// TestPollNamesTheNextCall: a poll with since_id is told the next since_id, and
// following these calls reads every message.
func TestPollNamesTheNextCall(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	for range 50 {
		if _, err := me.hub.Post(t.Context(), hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil) // another place in the feed
	a, got := args{"since_id": 0}, map[hub.MessageID]bool{}
	for range 5 {
		var p polled
		res := me.try("hub_poll_messages", verbosely(a))
		if err := json.Unmarshal([]byte(mustJSON(t, res.StructuredContent)), &p); err != nil || res.IsError {
			t.Fatal(err, text(res))
		}
		for _, m := range p.Messages {
			if got[m.ID] {
				t.Errorf("#%d comes twice", m.ID)
			}
			got[m.ID] = true
		}
		if !p.Truncated {
			break
		}
		hint := callHint.FindStringSubmatch(text(res))
		if a = nil; hint == nil || json.Unmarshal([]byte(hint[2]), &a) != nil || a["since_id"] == nil {
			t.Fatalf("the answer says %.200q", text(res))
		}
	}
	if len(got) != 51 { // with the notice that the maker of the room joined
		t.Errorf("%d of 51 messages are read", len(got))
	}
}
