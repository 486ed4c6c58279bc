package mcp

import (
	"strings"
	"testing"

	"hubcli/internal/testhub"
)

// TestNearArgumentsAreTold: a name that is nearly an argument is refused with the argument that is
// meant, and one that resembles none with the list of those that there are.
func TestNearArgumentsAreTold(t *testing.T) {
	me := bridgeTo(t, testhub.Start(t), nil)
	for _, c := range []struct{ tool, name, want string }{
		{"hub_poll_messages", "roomId", "room_id"},
		{"hub_poll_messages", "room", "room_id"},
		{"hub_poll_messages", "ROOM-ID", "room_id"},
		{"hub_poll_messages", "timeout", "timeout_seconds"},
		{"hub_poll_messages", "timeoutSec", "timeout_seconds"},
		{"hub_poll_messages", "timeout_ms", "timeout_seconds"},
		{"hub_poll_messages", "sinceId", "since_id"},
		{"hub_poll_messages", "chanel", "channel"},
		{"hub_poll_messages", "wait", "timeout_seconds"},
		{"hub_take", "taskid", "task_id"},
		{"hub_take", "task", "task_id"},
		{"hub_take", "file", "files"},
		{"hub_take", "file_paths", "files"},
		{"hub_lock", "file", "file_path"},
		{"hub_lock", "filePath", "file_path"},
		{"hub_lock", "path", "file_path"},
		{"hub_lock", "ttl", "ttl_sec"},
		{"hub_lock", "ttl_seconds", "ttl_sec"},
		{"hub_dm", "to", "to_agent"},
		{"hub_dm", "message", "body"},
		{"hub_dm", "text", "body"},
		{"hub_dm", "replyTo", "reply_to"},
		{"hub_dm", "threadID", "thread_id"},
		{"hub_search", "agent", "from_agent"},
		{"hub_done", "id", "task_id"},
		{"hub_done", "notes", "note"},
		{"hub_update_task", "depends_on", "blocked_by"},
		{"hub_post_message", "idempotencyKey", "idempotency_key"},
		{"hub_post_message", "id", "parent_task_id or thread_id"},
		{"hub_whoami", "Verbose", "verbose"},
	} {
		for _, say := range []string{
			me.refused(c.tool, args{c.name: "x"}),
			me.refused("hub_call_tool", args{"name": c.tool, "arguments": args{c.name: "x"}}),
		} {
			if !strings.Contains(say, "did you mean "+c.want+"?") || !strings.Contains(say, `"`+c.name+`"`) || !strings.Contains(say, "fix: it takes ") && !strings.Contains(say, "no arguments") {
				t.Errorf("%s with %s: %s", c.tool, c.name, say)
			}
		}
	}
	for _, name := range []string{"", "zzz", "__proto__", "\u202eroom", strings.Repeat("room_id", 10_000), "ünknøwn", "constructor"} {
		if say := me.refused("hub_poll_messages", args{name: 1}); strings.Contains(say, "did you mean") && name != "\u202eroom" || strings.Contains(say, "\u202e") || !strings.Contains(say, "there is no argument") || len(say) > 2000 {
			t.Errorf("%.60q: %.2000s", name, say)
		}
	}
}

// TestOtherNamesAreArguments: what other programs call an argument is not what some tool calls it
// itself, and leads to an argument that some tool takes.
func TestOtherNamesAreArguments(t *testing.T) {
	for name, meant := range otherNames() {
		if got := strings.Join(partsOf(name), "_"); got != name {
			t.Errorf("%s is written as %s", name, got)
		}
		for _, of := range meant {
			takes := false
			for _, row := range table() {
				takes = takes || row.property(of) != nil
			}
			if !takes {
				t.Errorf("%s stands for %s, which no tool takes", name, of)
			}
		}
	}
}
