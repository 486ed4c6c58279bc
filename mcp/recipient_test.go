package mcp

import (
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// TestUnheardIsSaid: an agent that writes to itself, to system, or to an agent
// that is unknown or not live learns this at once.
func TestUnheardIsSaid(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	you := bridgeTo(t, h, in(dir, "you"))
	you.must("hub_whoami", nil, nil)
	for to, want := range map[string]string{"me": "That is you", "system": "reads no messages", "nobody-x": "There has never been an agent"} {
		if said := text(me.try("hub_dm", args{"to_agent": to, "body": "hello"})); !strings.Contains(said, want) {
			t.Errorf("to %s: %q, want %q", to, said, want)
		}
	}
	if said := text(me.try("hub_dm", args{"to_agent": "you", "body": "hello"})); strings.Contains(said, "obody") || strings.Contains(said, "not live") {
		t.Errorf("to a live agent: %q", said)
	}
	for _, to := range []string{"me", "system"} {
		if said := me.refused("hub_rpc_call", args{"to_agent": to, "body": "work", "timeout_seconds": 0}); !strings.Contains(said, "answers no request") {
			t.Errorf("a request to %s: %q", to, said)
		}
	}
	if said := text(me.try("hub_rpc_call", args{"to_agent": "nobody-y", "body": "work", "timeout_seconds": 0})); !strings.Contains(said, "There has never been an agent") {
		t.Errorf("a request to nobody: %q", said)
	}
	you.end()
	if said := text(me.try("hub_dm", args{"to_agent": "you", "body": "hello"})); !strings.Contains(said, "not live") {
		t.Errorf("to one that has gone: %q", said)
	}
}

// TestMutedIsSaid: a muted agent reads with the answer to its post that it wakes nobody.
func TestMutedIsSaid(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	me.must("hub_whoami", nil, nil)
	_, err := h.Hub.Mute(t.Context(), hub.MuteInput{AgentID: "me", Reason: "too \x1b[31mloud"})
	require.NoError(t, err)
	if said := text(me.try("hub_post_message", args{"body": "hello"})); !strings.Contains(said, "The operator has muted you since 2") || !strings.Contains(said, "wakes nobody") || strings.Contains(said, "\x1b") {
		t.Errorf("the answer is %q", said)
	}
}

// TestReceiptOfAMessage: an agent that reads a direct message of its own learns
// what has become of it; nobody else is told.
func TestReceiptOfAMessage(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me, you := bridgeTo(t, h, in(dir, "me")), bridgeTo(t, h, in(dir, "you"))
	bound(t, me, dir)
	you.must("hub_whoami", nil, nil)
	var p posted
	me.must("hub_dm", args{"to_agent": "you", "body": "hello"}, &p)
	read := func(r *rig) string { return text(r.try("hub_get_message", args{"message_id": p.ID})) }
	if said := read(me); !strings.Contains(said, "you has not been told of it yet.") {
		t.Errorf("to its sender: %q", said)
	}
	if said := read(you); strings.Contains(said, "been told of it") {
		t.Errorf("to its recipient: %q", said)
	}
	you.must("hub_dm", args{"to_agent": "me", "body": "hi", "reply_to": p.ID}, nil)
	if said := read(me); !strings.Contains(said, "you has seen it.") {
		t.Errorf("after the answer: %q", said)
	}
}

// TestMistypedAgentsAreAskedAbout: the tools refuse an agent that never registered while ids like it
// are known, and name the argument with which it is meant. No schema holds that argument.
func TestMistypedAgentsAreAskedAbout(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me, you := bridgeTo(t, h, in(dir, "lead")), bridgeTo(t, h, in(dir, "reviewer"))
	bound(t, me, dir)
	you.must("hub_whoami", nil, nil)
	var p posted
	me.must("hub_post_message", args{"body": "mend it", "kind": "task"}, &p)
	for tool, a := range map[string]args{
		"hub_dm":           {"to_agent": "reviewr", "body": "hello"},
		"hub_post_message": {"to_agent": "reviewr", "body": "hello"},
		"hub_rpc_call":     {"to_agent": "reviewr", "body": "work", "timeout_seconds": 0},
		"hub_update_task":  {"task_id": p.ID, "assignee": "reviewr"},
	} {
		said := me.refused(tool, a)
		for _, want := range []string{"did you mean reviewer?", "new true"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s says %q, want %q", tool, said, want)
			}
		}
		a["new"] = true
		me.must(tool, a, nil)
		row, _ := find(tool)
		if row.form().input.Properties["new"] != nil || row.property("new") == nil {
			t.Errorf("%s: the schema has new, or the tool does not take it", tool)
		}
	}
	if said := me.refused("hub_update_task", args{"task_id": p.ID, "offer_to": "human"}); !strings.Contains(said, "operator") {
		t.Errorf("to the person: %q", said)
	}
}
