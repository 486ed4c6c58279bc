package core_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestSnapshotFixtures reads states as every version wrote them. A file is never
// rewritten: when the encoding changes, its version rises, a new file joins and
// the old one must still give a state.
func TestSnapshotFixtures(t *testing.T) {
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		return bytes.TrimSpace(data)
	}
	data := read("snapshot_leases_v1.json")
	leases, err := core.RestoreLeases(1, data)
	require.NoError(t, err)
	if again := leases.Snapshot(); !bytes.Equal(again, data) {
		t.Errorf("leases of version 1 are now written as\n%s", again)
	}
	data = read("snapshot_tasks_v1.json")
	tasks, err := core.RestoreTasks(1, data)
	require.NoError(t, err)
	// An older version does not hold the agent asked first: the assignee counts
	// instead. Nor does it say that the direct task 3 is hidden in the
	// blocked_by of the public task 4.
	today := func(data []byte) []byte {
		data = bytes.ReplaceAll(data, []byte(`"direct":true,`), []byte(`"direct":true,"asked":"dev",`))
		return bytes.ReplaceAll(data, []byte(`"direct":false,"depth":2`), []byte(`"direct":false,"veiled":[3],"depth":2`))
	}
	if again := tasks.Snapshot(); !bytes.Equal(again, today(data)) {
		t.Errorf("tasks of version 1 are now written as\n%s", again)
	}
	// Also what is not written but derived is there again: the end of what a task
	// waits for makes it ready.
	r := newTaskRig(t)
	r.live, r.head.Message = tasks, 9
	if r.replica, err = core.RestoreTasks(1, data); err != nil {
		t.Fatal(err)
	}
	if _, err := r.complete(3, "dev", ""); err != nil {
		t.Fatal(err)
	}
	if row := r.rows[4].Task; !row.Ready {
		t.Errorf("the restored task %+v is not ready", row)
	}
	data = read("snapshot_tasks_v2.json")
	if tasks, err = core.RestoreTasks(2, data); err != nil {
		t.Fatal(err)
	}
	if again := tasks.Snapshot(); !bytes.Equal(again, today(data)) {
		t.Errorf("tasks of version 2 are now written as\n%s", again)
	}
	data = read("snapshot_tasks_v3.json")
	if tasks, err = core.RestoreTasks(3, data); err != nil {
		t.Fatal(err)
	}
	if again := tasks.Snapshot(); !bytes.Equal(again, data) {
		t.Errorf("tasks of version 3 are now written as\n%s", again)
	}
	data = read("snapshot_tasks_v4.json")
	if tasks, err = core.RestoreTasks(4, data); err != nil {
		t.Fatal(err)
	}
	if again := tasks.Snapshot(); !bytes.Equal(again, data) {
		t.Errorf("tasks of version 4 are now written as\n%s", again)
	}
	data = read("snapshot_tasks_v5.json")
	if tasks, err = core.RestoreTasks(5, data); err != nil {
		t.Fatal(err)
	}
	if again := tasks.Snapshot(); !bytes.Equal(again, data) {
		t.Errorf("tasks of version 5 are now written as\n%s", again)
	}
	data = read("snapshot_leases_v2.json")
	if leases, err = core.RestoreLeases(2, data); err != nil {
		t.Fatal(err)
	}
	if again := leases.Snapshot(); !bytes.Equal(again, data) {
		t.Errorf("leases of version 2 are now written as\n%s", again)
	}
}

// fixtureStates returns states that use every field.
func fixtureStates(t *testing.T) (*core.Leases, *core.Tasks) {
	leases := newLeaseRig(t)
	leases.acquire(core.AcquireCommand{
		Space: core.SpaceClaim, Key: "ns:k", Agent: "alice", Thread: "th", TaskMessage: 7, TTLSec: 3,
		Metadata: json.RawMessage(`{"a":"<b>"}`),
	})
	leases.acquire(core.AcquireCommand{Space: core.SpaceLock, Key: "a/b", Given: `a\b`, Agent: "bob", TTLSec: 60})
	leases.restart()
	leases.acquire(core.AcquireCommand{Space: core.SpaceClaim, Key: "task-7", Agent: "alice", TTLSec: 3})
	leases.handOver(7, "alice", "bob", 9)
	tasks := newTaskRig(t)
	top := tasks.open(core.MessageDraft{Body: "top", Thread: "th", Room: "room-1"})
	failed := tasks.open(core.MessageDraft{Body: "failed", Parent: top})
	direct := tasks.open(core.MessageDraft{Body: "direct", Parent: top, To: "dev", Channel: hub.DirectChannel})
	waits := tasks.open(core.MessageDraft{Body: "waits", Parent: top})
	if _, err := tasks.setStatus(failed, hub.TaskFailed); err != nil {
		t.Fatal(err)
	}
	if _, err := tasks.blockedBy(waits, failed, direct); err != nil {
		t.Fatal(err)
	}
	run, err := tasks.startRun("lead", hub.RunInput{Title: "batch", RoomID: "r_1", TaskIDs: []hub.TaskID{top, direct}})
	require.NoError(t, err)
	brief, err := tasks.startRun("lead", hub.RunInput{Title: "brief"})
	require.NoError(t, err)
	ended, err := tasks.postInRun(core.MessageDraft{From: "lead", Kind: hub.KindTask, Body: "ended"}, brief.RunID)
	require.NoError(t, err)
	if _, err := tasks.complete(ended.Message, "dev", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := tasks.handoff(direct, "dev", "next", "note"); err != nil || run.Counts.Total != 2 {
		t.Fatalf("%v, %+v", err, run)
	}
	forced := tasks.open(core.MessageDraft{Body: "forced"})
	_, errb := tasks.blockedBy(forced, waits)
	working := hub.TaskWorking
	_, errw := tasks.update(forced, "dev", hub.TaskUpdateInput{Status: &working, Force: true})
	_, errh := tasks.handoff(forced, "dev", "next", "")
	_, erra := tasks.accept(forced, "next", "")
	require.NoError(t, errors.Join(errb, errw, errh, erra))
	return leases.live, tasks.live
}

// The newest fixtures are what the states of today give.
func TestNewestFixtures(t *testing.T) {
	leases, tasks := fixtureStates(t)
	for name, state := range map[string][]byte{
		"snapshot_leases_v2.json": leases.Snapshot(), "snapshot_tasks_v5.json": tasks.Snapshot(),
	} {
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil || !bytes.Equal(bytes.TrimSpace(want), state) {
			t.Errorf("%s should be (%v)\n%s", name, err, state)
		}
	}
}
