package mcp

import (
	"fmt"
	"strings"
	"testing"

	"hubcli/internal/testhub"
)

// TestOpenTasksOfAThreadAreFound: a thread with more open tasks than are shown names the tool
// that lists all of them, and that tool lists them whatever room its caller is in.
func TestOpenTasksOfAThreadAreFound(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	lead := bridgeTo(t, h, in(dir, "lead"))
	const open = mostOfThread + 2
	for i := range open {
		lead.must("hub_post_message", args{"body": fmt.Sprint("part ", i), "kind": "task", "thread_id": "cart"}, nil)
	}
	lead.must("hub_post_message", args{"body": "another", "kind": "task", "thread_id": "till"}, nil)
	if said := text(lead.try("hub_get_thread", args{"thread_id": "cart"})); !strings.Contains(said, "All 12 open tasks: hub_list_tasks with this thread_id") {
		t.Errorf("the thread says %q", said)
	}
	bound(t, lead, dir) // the tasks are in no room
	lead.bridge.link.Homes.Bind("", testNow())
	var list listing[shownTask]
	if lead.must("hub_list_tasks", args{"thread_id": "cart"}, &list); len(list.Items) != open {
		t.Errorf("%d tasks of the thread are listed, want %d", len(list.Items), open)
	}
	if said := text(lead.try("hub_get_thread", args{"thread_id": "till"})); strings.Contains(said, "hub_list_tasks") {
		t.Errorf("a thread that is shown whole says %q", said)
	}
}
