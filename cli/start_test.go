//go:build unix

package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hubcli/cli/term"
	"hubcli/internal/testcli"
)

// daemonOf makes a program that stands in for the daemon: a shell script.
func daemonOf(t *testing.T, script string) func() (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hubcli")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return func() (string, error) { return path, nil }
}

// TestADaemonThatDoesNotStart: its last words, or the lack of them, are what
// ensure says, and its exit code is ensure's.
func TestADaemonThatDoesNotStart(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		exit         int
		stderr       string
	}{
		{
			"last words", `echo "time=now level=INFO msg=opening" >&2; echo "hubcli: note" >&2
echo "hubcli: the store is damaged" >&2; echo "fix: restore it" >&2; exit 70`,
			70, "hubcli: the store is damaged\nfix: restore it\n",
		},
		{"no fix", `echo "hubcli: no" >&2; exit 2`, 2, "hubcli: no\n"},
		{"no words", `exit 9`, 9, "hubcli: the daemon ended with exit code 9 before it was ready\nfix: run the hub in the foreground to see why: hubcli --host 127.0.0.1 --port "},
		{"killed", `kill -9 $$`, 3, "hubcli: the daemon ended with exit code -1 before it was ready\nfix: "},
		{"left without an error", `exit 0`, 3, "hubcli: the daemon ended with exit code 0 before it was ready\nfix: "},
		{"a flood of words", `i=0; while [ $i -lt 2000 ]; do echo "................................" >&2; i=$((i+1)); done; echo "hubcli: at last" >&2; exit 70`, 70, "hubcli: at last\n"},
		{"words for the terminal", `printf 'hubcli: \033[2Jx\n' >&2; exit 70`, 70, "hubcli: \\x1b[2Jx\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := testcli.World(t, map[string]string{"HUB_DATA_ROOT": t.TempDir()})
			env.Executable = daemonOf(t, tt.script)
			got := runIn(t, env, "ensure", "--port", testcli.FreeTCPPort(t))
			if got.exit != tt.exit || got.stdout != "" || !strings.HasPrefix(got.stderr, tt.stderr) {
				t.Errorf("got %+v, want exit %d and %q", got, tt.exit, tt.stderr)
			}
		})
	}
}

func TestADaemonThatCannotBeRun(t *testing.T) {
	env := testcli.World(t, map[string]string{"HUB_DATA_ROOT": t.TempDir()})
	env.Executable = func() (string, error) { return filepath.Join(t.TempDir(), "gone"), nil }
	got := runIn(t, env, "ensure", "--port", testcli.FreeTCPPort(t))
	if got.exit != term.ExitUnreachable || !strings.HasPrefix(got.stderr, "hubcli: the daemon cannot be started: ") || !strings.Contains(got.stderr, "\nfix: ") {
		t.Errorf("got %+v", got)
	}
}

// TestADaemonThatIsNotReadyInTime goes on starting when ensure gives up.
func TestADaemonThatIsNotReadyInTime(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	env := testcli.World(t, map[string]string{"HUB_DATA_ROOT": t.TempDir()})
	env.Executable = daemonOf(t, fmt.Sprintf("echo $$ >%s.new; mv %s.new %s; exec sleep 60", pidFile, pidFile, pidFile))
	got := runIn(t, env, "ensure", "--port", testcli.FreeTCPPort(t), "--timeout", "0.5")
	if got.exit != term.ExitWaitOver || !strings.HasPrefix(got.stderr, "hubcli: the hub was started but is not ready after 500ms; it goes on starting\nfix: ") {
		t.Errorf("got %+v", got)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, pidFile)))
	if err != nil {
		t.Fatal(err)
	}
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("the daemon is in the session %d (%v), want one of its own", sid, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the daemon has ended: %v", err)
	}
}

// TestADaemonThatDiesBehindASilentPort is reported with its reason: nobody says that
// it goes on starting.
func TestADaemonThatDiesBehindASilentPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().(*net.TCPAddr)
	_ = l.Close()
	env := testcli.World(t, map[string]string{"HUB_DATA_ROOT": t.TempDir()})
	env.Executable = daemonOf(t, `echo "hubcli: the store is damaged" >&2; echo "fix: restore it" >&2; exit 70`)
	start := env.Executable
	env.Executable = func() (string, error) {
		// From now on something has the port and says nothing.
		silent, err := net.ListenTCP("tcp", addr)
		if err != nil {
			return "", err
		}
		t.Cleanup(func() { _ = silent.Close() })
		return start()
	}
	began := time.Now()
	got := runIn(t, env, "ensure", "--port", strconv.Itoa(addr.Port), "--timeout", "30")
	if got != (ran{70, "", "hubcli: the store is damaged\nfix: restore it\n"}) || time.Since(began) > 20*time.Second {
		t.Errorf("got %+v after %s", got, time.Since(began))
	}
}

// TestAnInterruptedEnsure ends at once, whatever it waits for.
func TestAnInterruptedEnsure(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		cancel(term.ErrInterrupted)
		conn.Close()
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	env := testcli.World(t, map[string]string{"HUB_DATA_ROOT": t.TempDir()})
	var stdout, stderr strings.Builder
	env.Stdout, env.Stderr = &stdout, &stderr
	if exit := Run(ctx, env, []string{"ensure", "--port", port}); exit != term.ExitInterrupted || stderr.String() != "hubcli: interrupted\n" {
		t.Errorf("exit %d, stderr %q", exit, stderr.String())
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
