//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/testport"
)

// TestMain builds the executable as it is delivered and puts it first in PATH,
// for the scripts. (The test binary itself could be the command, but under the
// race detector each of the hundreds of commands would take a second.)
//
// Hooks have the time of slowHooks instead of theirs where the environment has it.
func TestMain(m *testing.M) { os.Exit(runTests(m)) }

const (
	hookBudgetName = "HUBCLI_TEST_HOOK_BUDGET"

	browserPinsName = "HUBCLI_TEST_BROWSER_PINS"
	slowHooks       = hookBudgetName + "=1m"
	quickHooks      = hookBudgetName + "=" // as delivered

	// No hub of a test finds the keyring of the developer; a test that needs one starts
	// it (testkeyring). On macOS nothing keeps a command away from it.
	busName = "DBUS_SESSION_BUS_ADDRESS"
	noBus   = "unix:path=/nonexistent/bus-of-a-test"
)

func runTests(m *testing.M) int {
	if os.Getenv(fatalChild) != "" {
		return m.Run() // it needs no executable, and will not live to delete one
	}
	// A developer who runs the tests within a harness has these set, and no
	// test expects them.
	for _, name := range []string{hook.EnvBaseURL, hook.EnvAgent} {
		_ = os.Unsetenv(name)
	}
	_ = os.Setenv(busName, noBus)
	dir, err := os.MkdirTemp("", "hubcli-test")
	if err == nil {
		defer os.RemoveAll(dir)
		build := exec.Command("go", "build", "-ldflags", "-X main.hookBudget="+hookBudgetName+" -X main.browserPins="+browserPinsName, "-o", dir, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	if err == nil {
		err = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building hubcli:", err)
		return 1
	}
	// Tests that run under nohup or in the background of a script ignore these
	// signals. The programs that they start must not, because scripts end them
	// by signals.
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	return m.Run()
}

// patience bounds what scripts wait for; all of it takes milliseconds on an idle
// machine.
const patience = 30 * time.Second

// TestScripts runs testdata/script. Each script has a data root and a home of
// its own, and $PORT and $PORT2, on which nothing listens; hubs that it leaves
// behind are ended. The commands beside testscript's own:
//
//	exits <code> <command...>                    run, check the exact exit code
//	ready <port>                                 wait until a hub answers
//	parked <port> <n>                            wait until n polls are parked
//	signalled <INT|TERM|HUP|QUIT> <code> <ready|parked> <port> <command...>
//	                                             run, send the signal then, check the exit code
//	race <n> <command...>                        run n at once, all exit 0; stdout is all of theirs
//	daemons <n>                                  n daemons of this script's are running (Linux)
//	crash <port>                                 kill the hub that answers with SIGKILL
//	foreign <port> <web|silent|drops|banner>     listen there as another program
//	smalldisk <dir> <KiB>                        mount an empty disk of that size
//	fill <dir> <KiB>                             write to the disk until so much is left
//	readonly <dir>                               make dir read-only, for root too
//	appears <file> [regexp]                      wait until the file is there, and has a match
//	terminal <code> <size> <steps> <command...>  run on a terminal, type and look as the file of steps says (Linux)
//	mirror <usual|wrong|cut>                     serve the archive of a browser engine over TLS, and pin it; $MIRROR, $PROXY
//	engines <port> <path> <version>              the hub there prefers this browser engine
//	licenses <verb> …                            a license server: see cmdLicenses
//	vendor <verb> …                              a provider of models: see cmdVendor
//	room <port>                                  make a project and a room; $ROOM is its id, $CHANNEL its channel
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     cmdExits,
			"ready":     cmdReady,
			"parked":    cmdParked,
			"signalled": cmdSignalled,
			"race":      cmdRace,
			"daemons":   cmdDaemons,
			"crash":     cmdCrash,
			"foreign":   cmdForeign,
			"smalldisk": cmdSmallDisk,
			"fill":      cmdFill,
			"readonly":  cmdReadOnly,
			"appears":   cmdAppears,
			"room":      cmdRoom,
			"lock":      cmdLock,
			"licenses":  cmdLicenses,
			"vendor":    cmdVendor,
			"terminal":  cmdTerminal,
			"mirror":    cmdMirror,
			"engines":   cmdEngines,
		},
	})
}

func setup(env *testscript.Env) error {
	env.Setenv("HUB_DATA_ROOT", filepath.Join(env.WorkDir, "data"))
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv(hookBudgetName, "1m")
	env.Setenv(busName, noBus)
	env.Setenv("ADDRESS", testport.Interface())
	for _, name := range []string{"PORT", "PORT2", "PORT3", "PORT4"} {
		port, err := freePort()
		if err != nil {
			return err
		}
		env.Setenv(name, port)
		env.Setenv(strings.Replace(name, "PORT", "URL", 1), "http://127.0.0.1:"+port)
		env.Defer(func() { end(port, env.WorkDir) })
	}
	return nil
}

// freePort returns a port on which nothing listens, and on which nothing of
// another test will: see testport.
func freePort() (string, error) {
	port, err := testport.Take()
	return strconv.Itoa(port), err
}

// end kills the hub that a script has left at port, if its store is the script's.
func end(port, work string) {
	status, err := at(port).AppStatus(context.Background())
	if err != nil && testport.Interface() != "" {
		c := client.New(client.Config{BaseURL: "http://" + net.JoinHostPort(testport.Interface(), port), Timeout: patience / 3})
		defer c.Close()
		status, err = c.AppStatus(context.Background())
	}
	if err == nil && strings.HasPrefix(status.StoragePath, work) {
		_ = syscall.Kill(status.PID, syscall.SIGKILL)
		_ = until(func() bool { return !runs(status.PID) })
	}
}

func at(port string) *client.Client {
	return client.New(client.Config{
		BaseURL: "http://127.0.0.1:" + port, Timeout: patience / 3,
		Transport: &http.Transport{DisableKeepAlives: true},
	})
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// until looks for a condition of other processes until patience is over.
func until(holds func() bool) error {
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("it did not come within %s", patience)
		}
	}
	return nil
}

func need(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

// exitCode is that of a process that has ended; a signal is -1.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -2
}

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
	need(ts, neg, args, 2, "foreign <port> <web|silent|drops|banner>")
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
