//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"hubcli/api/client"
	"hubcli/hub"
)

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "exits <code> <command...>")
	err := ts.Exec(args[1], args[2:]...)
	if got := exitCode(err); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d (%v), want %s", got, err, args[0])
	}
}

func answers(port string) bool {
	_, err := at(port).Info(context.Background())
	return err == nil
}

func cmdReady(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "ready <port>")
	ts.Check(until(func() bool { return answers(args[0]) }))
}

func parked(port string, n int) bool {
	status, err := at(port).AppStatus(context.Background())
	return err == nil && status.Counts.ParkedPolls >= n
}

func cmdRoom(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "room <port>")
	room, err := makeRoom(at(args[0]))
	ts.Check(err)
	ts.Setenv("ROOM", string(room.RoomID))
	ts.Setenv("CHANNEL", string(room.Channel))
}

// cmdLock locks a file for an agent that works elsewhere.
func cmdLock(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "lock <port> <agent> <file>")
	path, err := filepath.EvalSymlinks(args[2])
	ts.Check(err)
	_, err = at(args[0]).Lock(context.Background(), hub.LockInput{AgentID: hub.AgentID(args[1]), FilePath: path})
	ts.Check(err)
}

func makeRoom(c *client.Client) (hub.Room, error) {
	project, err := c.CreateProject(context.Background(), hub.ProjectInput{Name: "demo"})
	if err != nil {
		return hub.Room{}, err
	}
	room, err := c.CreateRoom(context.Background(), hub.RoomInput{Project: string(project.Row.ProjectID), Name: "ops"})
	return room.Row, err
}

func cmdParked(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "parked <port> <n>")
	n := number(ts, args[1])
	ts.Check(until(func() bool { return parked(args[0], n) }))
}

// command prepares a process in the script's folder and environment.
func command(ts *testscript.TestScript, args []string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = os.Environ()
	for _, name := range []string{"HUB_DATA_ROOT", "HOME", "WORK"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	return cmd, &stdout, &stderr
}

func cmdSignalled(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 5, "signalled <INT|TERM|HUP> <code> <ready|parked> <port> <command...>")
	signal := map[string]os.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT}[args[0]]
	cmd, stdout, stderr := command(ts, args[4:])
	if args[2] == "parked" { // a poll of before would be taken for this one's
		ts.Check(until(func() bool { return !parked(args[3], 1) }))
	}
	ts.Check(cmd.Start())
	err := until(func() bool {
		if args[2] == "parked" {
			return parked(args[3], 1)
		}
		return answers(args[3])
	})
	if err == nil {
		err = cmd.Process.Signal(signal)
	}
	if err != nil {
		_ = cmd.Process.Kill()
	}
	code := exitCode(cmd.Wait())
	fmt.Fprint(ts.Stdout(), stdout)
	fmt.Fprint(ts.Stderr(), stderr)
	ts.Check(err)
	if strconv.Itoa(code) != args[1] {
		ts.Fatalf("exit code %d, want %s\n%s", code, args[1], stderr)
	}
}

func cmdRace(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "race <n> <command...>")
	type runner struct {
		cmd            *exec.Cmd
		stdout, stderr *bytes.Buffer
	}
	runners := make([]runner, number(ts, args[0]))
	for i := range runners {
		cmd, stdout, stderr := command(ts, args[1:])
		runners[i] = runner{cmd, stdout, stderr}
	}
	for _, r := range runners {
		ts.Check(r.cmd.Start())
	}
	failed := 0
	for _, r := range runners {
		if code := exitCode(r.cmd.Wait()); code != 0 {
			failed++
			ts.Logf("exit code %d: %s", code, r.stderr)
		}
		fmt.Fprint(ts.Stdout(), r.stdout)
		fmt.Fprint(ts.Stderr(), r.stderr)
	}
	if failed > 0 {
		ts.Fatalf("%d of %d failed", failed, len(runners))
	}
}

// cmdDaemons counts processes whose arguments name this script's folder and a
// log file, as those of a daemon that ensure has started do.
func cmdDaemons(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "daemons <n>")
	want := number(ts, args[0])
	got := -1
	if err := until(func() bool { got = countDaemons(ts.Getenv("WORK")); return got == want }); err != nil {
		ts.Fatalf("%d daemons are running, want %d", got, want)
	}
}

func countDaemons(work string) int {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	n := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err == nil && bytes.Contains(b, []byte("\x00--log-file\x00"+work)) {
			n++
		}
	}
	return n
}

func cmdCrash(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "crash <port>")
	status, err := at(args[0]).AppStatus(context.Background())
	ts.Check(err)
	ts.Check(syscall.Kill(status.PID, syscall.SIGKILL))
	ts.Check(until(func() bool { return !runs(status.PID) }))
}

func cmdForeign(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "foreign <port> <web|silent|drops|banner|impostor>")
	if args[1] == "impostor" {
		impostor(ts, args[0])
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
	ts.Check(err)
	var open []net.Conn
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				break
			}
			open = append(open, conn)
			switch args[1] {
			case "web":
				_, _ = http.ReadRequest(bufio.NewReader(conn))
				_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<html>")
				_ = conn.Close()
			case "banner":
				_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9.2\r\n")
			case "drops":
				_ = conn.Close()
			}
		}
		for _, conn := range open {
			_ = conn.Close()
		}
	})
	ts.Defer(func() {
		_ = l.Close()
		wg.Wait()
	})
}

func cmdAppears(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "appears <file> [regexp]")
	name := ts.MkAbs(args[0])
	if len(args) == 1 {
		ts.Check(until(func() bool {
			_, err := os.Lstat(name)
			return err == nil
		}))
		return
	}
	want, err := regexp.Compile(args[1])
	ts.Check(err)
	ts.Check(until(func() bool {
		text, err := os.ReadFile(name)
		return err == nil && want.Match(text)
	}))
}

func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "fill <dir> <KiB>")
	f, err := os.Create(filepath.Join(ts.MkAbs(args[0]), "filling"))
	ts.Check(err)
	chunk := bytes.Repeat([]byte("x"), 1<<10)
	size := int64(0)
	for {
		n, err := f.Write(chunk)
		size += int64(n)
		if err != nil {
			break
		}
	}
	ts.Check(f.Truncate(max(0, size-int64(number(ts, args[1]))<<10)))
	ts.Check(f.Close())
}
