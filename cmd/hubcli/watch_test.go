//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// watched is a hub with a room and the agents a and b.
func watched(t *testing.T) (*testhub.Hub, *client.Client, hub.Room) {
	t.Helper()
	h := testhub.Start(t)
	c := client.New(client.Config{BaseURL: h.URL})
	t.Cleanup(c.Close)
	room, err := makeRoom(c)
	for _, agent := range []hub.AgentID{"a", "b"} {
		if err == nil {
			_, err = c.Register(context.Background(), hub.RegisterInput{AgentID: agent})
		}
	}
	require.NoError(t, err)
	return h, c, room
}

func watchArgs(url string, room hub.RoomID) []string {
	return []string{"watch", "--agent", "a", "--base-url", url, "--room", string(room), "--until", "message-from:b", "--timeout", "1h"}
}

func waitWatches(t *testing.T, c *client.Client, n int) {
	t.Helper()
	err := until(func() bool {
		status, err := c.AppStatus(context.Background())
		return err == nil && status.Counts.ParkedPolls == n
	})
	if err != nil {
		t.Fatalf("%d watches: %v", n, err)
	}
}

// outcomeOf is the outcome in a watch's whole stdout, one line.
func outcomeOf(t *testing.T, stdout string) string {
	t.Helper()
	var line struct{ Outcome, Next string }
	if err := json.Unmarshal([]byte(stdout), &line); err != nil || line.Next == "" || strings.Count(stdout, "\n") != 1 {
		t.Fatalf("stdout is %q: %v", stdout, err)
	}
	return line.Outcome
}

// TestWatchOfADeadParent: the shell between is killed, and the watch notices and
// ends with its outcome in the file that it was given.
func TestWatchOfADeadParent(t *testing.T) {
	h, c, room := watched(t)
	file := filepath.Join(t.TempDir(), "out")
	shell := exec.Command("sh", append([]string{"-c", `"$@" >"$OUT" 2>/dev/null; true`, "sh", "hubcli"}, watchArgs(h.URL, room.RoomID)...)...)
	shell.Env = append(os.Environ(), "OUT="+file)
	require.NoError(t, shell.Start())
	waitWatches(t, c, 1)
	require.NoError(t, shell.Process.Kill())
	_ = shell.Wait()
	waitWatches(t, c, 0)
	var said []byte
	require.NoError(t, until(func() bool { said, _ = os.ReadFile(file); return bytes.HasSuffix(said, []byte("\n")) }))
	if outcomeOf(t, string(said)) != "interrupted" || !strings.Contains(string(said), "the process that started it has ended") {
		t.Errorf("it said %s", said)
	}
}

// TestWatchWithoutReader: nobody reads stdout any more, and the watch says its
// outcome on stderr and ends.
func TestWatchWithoutReader(t *testing.T) {
	h, c, room := watched(t)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd := exec.Command("hubcli", watchArgs(h.URL, room.RoomID)...)
	cmd.Stdout, cmd.Stderr = w, &stderr
	require.NoError(t, cmd.Start())
	w.Close()
	waitWatches(t, c, 1)
	r.Close()
	if code := exitCode(cmd.Wait()); code != 130 || !strings.HasPrefix(stderr.String(), `{"outcome":"interrupted",`) {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
}

// TestWatchLatency logs how long it takes from the answer to a post until the
// watch has ended.
func TestWatchLatency(t *testing.T) {
	h, c, room := watched(t)
	var took []time.Duration
	for range 5 {
		cmd := exec.Command("hubcli", watchArgs(h.URL, room.RoomID)...)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		require.NoError(t, err)
		waitWatches(t, c, 1)
		if _, err := c.Post(context.Background(), hub.PostInput{FromAgent: "b", Channel: room.Channel, Body: "wake"}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		line, err := bufio.NewReader(out).ReadString('\n')
		if werr := cmd.Wait(); werr != nil || err != nil || outcomeOf(t, line) != "matched" {
			t.Fatalf("it said %q: %v, %v", line, err, werr)
		}
		took = append(took, time.Since(began))
		if _, err := c.Bootstrap(context.Background(), "a"); err != nil { // now it has seen it
			t.Fatal(err)
		}
	}
	t.Logf("from the answer to the post until the watch has ended: %v", took)
}

// fullPipe is a pipe whose reader lives and does not read.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err == nil {
		err = w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	}
	require.NoError(t, err)
	if _, err := w.Write(make([]byte, 4<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the pipe is not full: %v", err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return w
}

// ended runs a command that must end by itself, and returns its exit code and how
// long it took.
func ended(t *testing.T, cmd *exec.Cmd) (int, time.Duration) {
	t.Helper()
	began := time.Now()
	require.NoError(t, cmd.Start())
	stuck := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	return exitCode(cmd.Wait()), time.Since(began)
}

// TestWatchWhoseReaderDoesNotRead: full pipes hold up neither the watch nor its
// end.
func TestWatchWhoseReaderDoesNotRead(t *testing.T) {
	h, c, room := watched(t)
	args := append(watchArgs(h.URL, room.RoomID), "--verbose", "--timeout", "0")
	var said bytes.Buffer
	cmd := exec.Command("hubcli", args...)
	cmd.Stdout, cmd.Stderr = fullPipe(t), &said
	if code, took := ended(t, cmd); code != 4 || !strings.Contains(said.String(), `{"outcome":"timeout",`) {
		t.Errorf("of a full stdout: exit code %d after %s, stderr %q", code, took, said.String())
	}
	said.Reset()
	cmd = exec.Command("hubcli", args...)
	cmd.Stdout, cmd.Stderr = &said, fullPipe(t)
	if code, took := ended(t, cmd); code != 4 || outcomeOf(t, said.String()) != "timeout" {
		t.Errorf("of a full stderr: exit code %d after %s", code, took)
	}
	said.Reset()
	cmd = exec.Command("hubcli", append(watchArgs(h.URL, room.RoomID), "--verbose")...)
	cmd.Stdout, cmd.Stderr = &said, fullPipe(t)
	require.NoError(t, cmd.Start())
	waitWatches(t, c, 1)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	stuck := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	if code := exitCode(cmd.Wait()); code != 130 || outcomeOf(t, said.String()) != "interrupted" {
		t.Errorf("after SIGTERM: exit code %d, stdout %q", code, said.String())
	}
}

// TestWatchOfAFrozenHub: a hub that is stopped by a signal answers nothing, and the
// watch ends in its time all the same.
func TestWatchOfAFrozenHub(t *testing.T) {
	port, err := freePort()
	require.NoError(t, err)
	storage := filepath.Join(t.TempDir(), "store")
	daemon := exec.Command("hubcli", "--port", port, "--storage", storage, "--quiet")
	require.NoError(t, daemon.Start())
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	})
	url := "http://127.0.0.1:" + port
	c := client.New(client.Config{BaseURL: url})
	t.Cleanup(c.Close)
	var room hub.Room
	err = until(func() bool { _, err := c.Info(context.Background()); return err == nil })
	if err == nil {
		room, err = makeRoom(c)
	}
	if err == nil {
		_, err = c.Register(context.Background(), hub.RegisterInput{AgentID: "b"})
	}
	require.NoError(t, err)
	var said bytes.Buffer
	waiting := exec.Command("hubcli", append(watchArgs(url, room.RoomID), "--timeout", "3s")...)
	waiting.Stdout = &said
	require.NoError(t, waiting.Start())
	waitWatches(t, c, 1)
	require.NoError(t, daemon.Process.Signal(syscall.SIGSTOP))
	began := time.Now()
	if code := exitCode(waiting.Wait()); code != 4 || time.Since(began) > patience || outcomeOf(t, said.String()) != "timeout" {
		t.Errorf("one that waited: exit code %d after %s, %s", code, time.Since(began), said.String())
	}
	said.Reset()
	look := exec.Command("hubcli", append(watchArgs(url, room.RoomID), "--timeout", "0")...)
	look.Stdout = &said
	if code, took := ended(t, look); code != 3 || took > patience || outcomeOf(t, said.String()) != "error" {
		t.Errorf("one that looks: exit code %d after %s, %s", code, took, said.String())
	}
}
