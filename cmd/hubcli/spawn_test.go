//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
)

// spawningHub is the real hub on a store, with a room in which shells may be
// spawned.
type spawningHub struct {
	t    *testing.T
	dir  string
	port string
	cmd  *exec.Cmd
	env  []string // more variables
	*client.Client
}

func startSpawningHub(t *testing.T, env ...string) *spawningHub {
	t.Helper()
	port, err := freePort()
	require.NoError(t, err)
	h := &spawningHub{t: t, dir: t.TempDir(), port: port, env: env}
	h.Client = client.New(client.Config{BaseURL: "http://127.0.0.1:" + port, DataRoot: filepath.Join(h.dir, "data")})
	t.Cleanup(h.Close)
	h.start()
	return h
}

// start runs the hub on the store; an earlier hub must have ended.
func (h *spawningHub) start() {
	h.t.Helper()
	h.cmd = exec.Command("hubcli", "--port", h.port, "--storage", filepath.Join(h.dir, "store"), "--spool-dir", filepath.Join(h.dir, "spool"), "--quiet")
	h.cmd.Env = append(append(os.Environ(), h.env...), "HUB_DATA_ROOT="+filepath.Join(h.dir, "data"), "OPENAI_API_KEY=named", "HUB_SECRET=hidden", "OTHER=hidden")
	require.NoError(h.t, h.cmd.Start())
	cmd := h.cmd
	h.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.NoError(h.t, until(func() bool { return answers(h.port) }))
}

// allow makes a room that may spawn script as codex; $1 of the script is the
// hub's folder.
func (h *spawningHub) allow(script string) hub.Room {
	h.t.Helper()
	room, err := makeRoom(h.Client)
	require.NoError(h.t, err)
	_, err = h.SetSpawnPolicy(h.t.Context(), hub.SpawnPolicyInput{
		Commands: []hub.SpawnCommand{{
			Harness: hub.HarnessCodex, Args: []string{"/bin/sh", "-c", script, "sh", h.dir, "--", "{prompt}"},
			Env: []string{"OPENAI_API_KEY"}, Dir: h.dir,
		}},
		Allow:      []hub.SpawnAllowance{{RoomID: room.RoomID, Harness: hub.HarnessCodex, MaxSeats: hub.MaxSpawnRunning}},
		MaxRunning: hub.MaxSpawnRunning, MaxPerHour: hub.MaxSpawnsPerHour,
	})
	require.NoError(h.t, err)
	return room
}

func (h *spawningHub) spawn(room hub.Room) hub.Spawn {
	h.t.Helper()
	out, err := h.Spawn(h.t.Context(), hub.SpawnInput{RoomID: room.RoomID, Harness: hub.HarnessCodex, By: "lead", Prompt: "the secret plan"})
	if err != nil || out.Row.Status != hub.SpawnRunning {
		h.t.Fatalf("%+v: %v", out.Row, err)
	}
	return out.Row
}

// ended waits until a spawn has ended and lead can read of it. The record of the end has the
// message too; a row can be read as soon as it is on the disk, a message a moment later.
func (h *spawningHub) ended(id hub.SpawnID) (row hub.Spawn) {
	h.t.Helper()
	if err := until(func() (over bool) {
		var err error
		row, err = h.SpawnByID(h.t.Context(), id)
		return err == nil && row.Status.Terminal() && h.told(id) > 0
	}); err != nil {
		h.t.Fatalf("the spawn is %+v, lead was told %d times: %v", row, h.told(id), err)
	}
	return row
}

// told counts the messages to lead about a spawn.
func (h *spawningHub) told(id hub.SpawnID) (n int) {
	h.t.Helper()
	page, err := h.Inbox(h.t.Context(), hub.InboxQuery{Agent: "lead", Limit: 100})
	require.NoError(h.t, err)
	for _, row := range page.Rows {
		if strings.Contains(string(row), `"spawn_id":"`+string(id)+`"`) {
			n++
		}
	}
	return n
}

func (h *spawningHub) pid(name string) int {
	h.t.Helper()
	var pid int
	if err := until(func() bool {
		text, err := os.ReadFile(filepath.Join(h.dir, name))
		_, scanErr := fmt.Sscan(string(text), &pid)
		return err == nil && scanErr == nil && strings.HasSuffix(string(text), "\n")
	}); err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	return pid
}

// runs reports whether the process exists and is not a zombie. The first thread of a killed
// process may be one while others still have its files and locks.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux" && alive(pid)
	}
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return !strings.Contains(string(stat), ") Z ") || len(threads) > 1
}

// stubborn ignores SIGTERM. It has a child and a grandchild that ignore it too.
const stubborn = `trap "" TERM; echo $$ >$1/leader
sh -c 'trap "" TERM; echo $$ >$0/child; sh -c "trap \"\" TERM; echo \$\$ >$0/grandchild; while :; do sleep 600; done"; :' $1 &
while :; do sleep 600; done`

// TestSpawnsAfterSIGKILL: when the hub is killed, all processes of its spawns
// end, even those that ignore SIGTERM. The next hub tells the requester once
// that the spawn is lost.
func TestSpawnsAfterSIGKILL(t *testing.T) {
	h := startSpawningHub(t)
	room := h.allow(stubborn)
	row := h.spawn(room)
	pids := []int{h.pid("leader"), h.pid("child"), h.pid("grandchild")}
	if pids[0] != row.PID {
		t.Errorf("the process is %d, the spawn says %d", pids[0], row.PID)
	}
	require.NoError(t, h.cmd.Process.Kill())
	_ = h.cmd.Wait()
	killed := time.Now()
	for _, pid := range pids {
		if err := until(func() bool { return !runs(pid) }); err != nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Errorf("process %d outlives the hub", pid)
		}
	}
	t.Logf("all ended %v after the hub", time.Since(killed))
	for range 2 {
		h.start()
		if got := h.ended(row.SpawnID); got.Status != hub.SpawnLost {
			t.Fatalf("after a start the spawn is %+v", got)
		}
		if n := h.told(row.SpawnID); n > 1 {
			t.Errorf("lead was told %d times", n)
		}
		require.NoError(t, h.cmd.Process.Kill())
		_ = h.cmd.Wait()
	}
}

// TestSpawnsEndWithAStop: a hub that is stopped ends its spawns, keeps their
// output and tells the requester. Neither the store nor the log holds the
// prompt.
func TestSpawnsEndWithAStop(t *testing.T) {
	h := startSpawningHub(t)
	room := h.allow("echo spoken; env | grep -c hidden; env | grep -c OPENAI_API_KEY=named; " + stubborn)
	row := h.spawn(room)
	pids := []int{h.pid("leader"), h.pid("child"), h.pid("grandchild")}
	require.NoError(t, h.cmd.Process.Signal(syscall.SIGTERM))
	_ = h.cmd.Wait()
	for _, pid := range pids {
		if runs(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Errorf("process %d outlives the stop", pid)
		}
	}
	h.start()
	got, err := h.SpawnByID(t.Context(), row.SpawnID)
	if err != nil || got.Status != hub.SpawnStopped || got.ArtifactID == nil || got.Signal != "SIGKILL" {
		t.Fatalf("the spawn is %+v, %v", got, err)
	}
	if n := h.told(row.SpawnID); n != 1 {
		t.Errorf("lead was told %d times", n)
	}
	content, err := h.ArtifactContent(t.Context(), *got.ArtifactID)
	if err != nil || string(content.Data) != "spoken\n0\n1\n" {
		t.Errorf("the spawn has printed %q, %v", content.Data, err)
	}
	require.NoError(t, h.cmd.Process.Kill())
	_ = h.cmd.Wait()
	err = filepath.WalkDir(h.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "the secret plan") {
			t.Errorf("%s holds the prompt", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestKeeperByHand: a user who runs the keeper's command by hand is told that
// it belongs to the hub.
func TestKeeperByHand(t *testing.T) {
	out, err := exec.Command("hubcli", keeperCommand).CombinedOutput()
	if exitCode(err) != 2 || !strings.Contains(string(out), "only the hub runs this command") {
		t.Errorf("exit %d: %s", exitCode(err), out)
	}
}
