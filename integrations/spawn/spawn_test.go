//go:build unix

package spawn

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/hub"
	"hubcli/internal/require"
)

// keeperArg makes this test program a keeper.
const keeperArg = "spawn-keeper"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == keeperArg {
		os.Exit(Keep(os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m)
}

const patience = 45 * time.Second

// testRunner gives a process that ignores SIGTERM a short grace. A test that needs
// SIGTERM to work sets a longer one.
func testRunner() *Runner {
	return &Runner{Keeper: []string{os.Args[0], keeperArg}, Grace: 300 * time.Millisecond}
}

// script returns the plan that runs a shell script; $1 is the folder of the
// test.
func script(t *testing.T, text string) *hub.SpawnPlan {
	dir := t.TempDir()
	return &hub.SpawnPlan{Args: []string{"/bin/sh", "-c", text, "sh", dir}, Dir: dir}
}

// started is a command that runs.
type started struct {
	hub.SpawnControl
	t    *testing.T
	ends chan hub.SpawnEnd
}

func begin(t *testing.T, r *Runner, plan *hub.SpawnPlan) *started {
	t.Helper()
	ends := make(chan hub.SpawnEnd, 1)
	c, err := r.Start(plan, func(e hub.SpawnEnd) { ends <- e })
	require.NoError(t, err)
	return &started{c, t, ends}
}

func (s *started) end() hub.SpawnEnd {
	s.t.Helper()
	select {
	case e := <-s.ends:
		return e
	case <-time.After(patience):
		s.t.Fatal("the command does not end")
		return hub.SpawnEnd{}
	}
}

// pidIn reads the process id that a script has written.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	var pid int
	require.Eventually(t, file+" is written", func() bool {
		text, err := os.ReadFile(file)
		_, scanErr := fmt.Sscan(string(text), &pid)
		return err == nil && scanErr == nil && strings.HasSuffix(string(text), "\n")
	})
	t.Cleanup(func() { // only a failed test leaves a process
		if t.Failed() && alive(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return pid
}

// alive reports whether the process runs; a zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !bytes.Contains(stat, []byte(") Z "))
}

func code(e hub.SpawnEnd) int {
	if e.ExitCode == nil {
		return -1
	}
	return *e.ExitCode
}

func TestExit(t *testing.T) {
	e := begin(t, testRunner(), script(t, "echo out; echo err >&2; exit 7")).end()
	if code(e) != 7 || e.Signal != "" || e.Stopped != "" || string(e.Output) != "out\nerr\n" {
		t.Errorf("the end is %+v %q", e, e.Output)
	}
	e = begin(t, testRunner(), script(t, "kill -KILL $$")).end()
	if e.ExitCode != nil || e.Signal != "SIGKILL" || e.Stopped != "" {
		t.Errorf("the end by a signal is %+v", e)
	}
}

// TestEnvironment: the command gets the variables that every command gets,
// those that Env names and those in Vars, but no others. It runs in the plan's
// folder with an empty stdin.
func TestEnvironment(t *testing.T) {
	r := testRunner()
	r.Environ = func() []string {
		return []string{"PATH=/usr/bin:/bin", "HOME=/h", "LC_ALL=C", "SECRET=s", "NAMED=n", "HUB_AGENT=liar", "HUB_TOKEN=t"}
	}
	plan := script(t, "env | sort; pwd; cat; echo end")
	plan.Env, plan.Vars = []string{"NAMED", "MISSING"}, map[string]string{"HUB_AGENT": "a", "HUB_ROOM": "r_1"}
	out := string(begin(t, r, plan).end().Output)
	var names []string
	for line := range strings.Lines(out) {
		if name, _, ok := strings.Cut(line, "="); ok && name != "PWD" && name != "_" && name != "SHLVL" && name != "OLDPWD" {
			names = append(names, strings.TrimSpace(line))
		}
	}
	if want := []string{"HOME=/h", "HUB_AGENT=a", "HUB_ROOM=r_1", "LC_ALL=C", "NAMED=n", "PATH=/usr/bin:/bin"}; !slices.Equal(names, want) {
		t.Errorf("the environment is %q, want %q", names, want)
	}
	if real, _ := filepath.EvalSymlinks(plan.Dir); !strings.HasSuffix(out, real+"\nend\n") && !strings.HasSuffix(out, plan.Dir+"\nend\n") {
		t.Errorf("the output ends with %q", out)
	}
}

// TestArgumentsAreNoShellLine: every argument reaches the command unchanged.
func TestArgumentsAreNoShellLine(t *testing.T) {
	odd := "$(touch x); `id` 'q' \"d\" \\ * \n & | > f"
	plan := &hub.SpawnPlan{Args: []string{"/usr/bin/printf", "%s", odd}, Dir: t.TempDir()}
	if e := begin(t, testRunner(), plan).end(); string(e.Output) != odd {
		t.Errorf("the command got %q", e.Output)
	}
}

// TestStopEndsTheGroup: a stop ends the command and all processes that it
// started, even those that ignore SIGTERM.
func TestStopEndsTheGroup(t *testing.T) {
	for name, text := range map[string]string{
		"obeys SIGTERM":   `sleep 600 & echo $! >$1/pid; wait`,
		"ignores SIGTERM": `trap "" TERM; sleep 600 & echo $! >$1/pid; while :; do sleep 600; done`,
		"grandchildren":   `sh -c 'sh -c "trap \"\" TERM; echo \$\$ >$0/pid; while :; do sleep 600; done"' $1 & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			plan := script(t, text)
			s := begin(t, testRunner(), plan)
			pid := pidIn(t, plan.Dir+"/pid")
			if !alive(pid) || !alive(s.PID) {
				t.Fatal("the group does not run")
			}
			s.Stop("the test wants it")
			s.Stop("again")
			e := s.end()
			if e.Stopped != "the test wants it" || e.ExitCode == nil && e.Signal == "" {
				t.Errorf("the end is %+v", e)
			}
			if alive(pid) || alive(s.PID) {
				t.Error("a process is left")
			}
		})
	}
}

// TestEndOfTheCommandEndsTheGroup: when the command has ended, none of its
// processes runs on.
func TestEndOfTheCommandEndsTheGroup(t *testing.T) {
	plan := script(t, `sleep 600 & echo $! >$1/pid; exit 4`)
	e := begin(t, testRunner(), plan).end()
	if pid := pidIn(t, plan.Dir+"/pid"); code(e) != 4 || alive(pid) {
		t.Errorf("the end is %+v, the child lives: %v", e, alive(pid))
	}
}

func TestTimeLimit(t *testing.T) {
	plan := script(t, `exec sleep 600`)
	plan.Timeout = time.Millisecond
	r := testRunner()
	r.Grace = patience // a busy machine may need long to end the command
	if e := begin(t, r, plan).end(); !strings.Contains(e.Stopped, "time limit") || e.Signal != "SIGTERM" {
		t.Errorf("the end is %+v", e)
	}
}

// TestKeeperKilled: the group ends with its keeper, and the hub learns of it.
func TestKeeperKilled(t *testing.T) {
	plan := script(t, `sleep 600 & echo $! >$1/pid; wait`)
	s := begin(t, testRunner(), plan)
	pid := pidIn(t, plan.Dir+"/pid")
	require.NoError(t, syscall.Kill(parentOf(t, s.PID), syscall.SIGKILL))
	if e := s.end(); e.Stopped != "its keeper was killed" {
		t.Errorf("the end is %+v", e)
	}
	require.Eventually(t, "the group ends", func() bool { return !alive(pid) && !alive(s.PID) })
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip("needs /proc")
	}
	var parent int
	var state string
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent); err != nil {
		t.Fatal(err)
	}
	return parent
}

// TestOutputIsBounded: the beginning and the end of a huge output are kept.
func TestOutputIsBounded(t *testing.T) {
	e := begin(t, testRunner(), script(t, `echo first; head -c 9000000 /dev/zero | tr '\0' x; echo; echo last`)).end()
	if n := len(e.Output); n > hub.MaxSpawnOutput || n < hub.MaxSpawnOutput-lineRoom {
		t.Errorf("%d bytes are kept", n)
	}
	if !bytes.HasPrefix(e.Output, []byte("first\n")) || !bytes.HasSuffix(e.Output, []byte("\nlast\n")) || !bytes.Contains(e.Output, []byte("bytes left out here")) {
		t.Errorf("the output begins with %.20q", e.Output)
	}
}

// TestOutputParts: the first and the last part are kept, in whatever pieces
// they are written. A line between them says how much is left out.
func TestOutputParts(t *testing.T) {
	for _, total := range []int{0, 1, keptHead, keptHead + 1, hub.MaxSpawnOutput, hub.MaxSpawnOutput + 1, 3*hub.MaxSpawnOutput + 17} {
		for _, piece := range []int{1 << 10, 4099, hub.MaxSpawnOutput + 5} {
			all := make([]byte, total)
			for i := range all {
				all[i] = byte('a' + i%23)
			}
			var o output
			for chunk := range slices.Chunk(all, piece) {
				if n, err := o.Write(chunk); n != len(chunk) || err != nil {
					t.Fatal(n, err)
				}
			}
			want := all
			if total > hub.MaxSpawnOutput {
				tail := all[total-keptTail+lineRoom:]
				want = fmt.Appendf(slices.Clone(all[:keptHead]), "\n[%d bytes left out here]\n", total-keptHead-len(tail))
				want = append(want, tail...)
			}
			if len(want) > hub.MaxSpawnOutput {
				t.Fatalf("the test wants %d bytes, which is over the limit", len(want))
			}
			if !bytes.Equal(o.bytes(), want) {
				t.Errorf("%d bytes in pieces of %d: the wrong bytes are kept", total, piece)
			}
		}
	}
}

// TestNothingIsInherited: the command has three open files, even if the hub and
// its parent have others. A run leaves no file open in the hub.
func TestNothingIsInherited(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("needs /proc")
	}
	handed, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer handed.Close()
	if _, _, e := syscall.Syscall(syscall.SYS_FCNTL, handed.Fd(), syscall.F_SETFD, 0); e != 0 {
		t.Fatal(e) // every child inherits it now, unless the hub prevents that
	}
	before := openFiles(t)
	out := string(begin(t, testRunner(), script(t, "ls /proc/$$/fd; :")).end().Output)
	if out != "0\n1\n2\n" {
		t.Errorf("the command has the files %q", out)
	}
	require.Eventually(t, "the hub closes its files", func() bool { return openFiles(t) <= before })
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, []byte("x"), 0o600))
	for _, c := range []struct {
		exe, dir, want string
	}{
		{"/bin/sh", dir, ""},
		{"/nowhere/x", dir, "no such file"},
		{dir, dir, "is no file"},
		{plain, dir, "may not be executed"},
		{"/bin/sh", dir + "/none", "cannot run in"},
		{"/bin/sh", plain, "is no folder"},
	} {
		err := testRunner().Check(&hub.SpawnPlan{Args: []string{c.exe}, Dir: c.dir})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in %s: %v", c.exe, c.dir, err)
		}
	}
	// Some mistakes show only at the start.
	require.NoError(t, os.WriteFile(plain, []byte("no program"), 0o700))
	require.NoError(t, os.Chmod(plain, 0o700))
	if _, err := testRunner().Start(&hub.SpawnPlan{Args: []string{plain}, Dir: dir}, nil); err == nil || !strings.Contains(err.Error(), "does not start") {
		t.Errorf("a file that is no program: %v", err)
	}
	if _, err := (&Runner{Keeper: []string{"/bin/false"}}).Start(&hub.SpawnPlan{Args: []string{"/bin/sh"}, Dir: dir}, nil); err == nil {
		t.Error("a program that is no keeper was accepted")
	}
}

// TestGroupEndsWithTheHub: the keeper's stdin closes in whatever way the hub
// ends. Then the group ends, even processes that ignore SIGTERM.
func TestGroupEndsWithTheHub(t *testing.T) {
	plan := script(t, `trap "" TERM; sleep 600 & echo $! >$1/pid; while :; do sleep 600; done`)
	w := &run{heard: make(chan struct{}), grace: 300 * time.Millisecond}
	require.NoError(t, w.launch(testRunner().Keeper))
	first, err := w.begin(&job{Args: plan.Args, Env: []string{"PATH=/usr/bin:/bin"}, Dir: plan.Dir, GraceMS: 300})
	require.NoError(t, err)
	w.pid = first.Started
	pid := pidIn(t, plan.Dir+"/pid")
	_ = w.orders.Close()
	gone := make(chan hub.SpawnEnd, 1)
	go func() { gone <- w.wait() }()
	select {
	case e := <-gone:
		if e.Signal != "SIGKILL" || alive(pid) || alive(w.pid) {
			t.Errorf("the end is %+v, the child lives: %v", e, alive(pid))
		}
	case <-time.After(patience):
		t.Error("the group goes on without the hub")
		_ = w.keeper.Process.Kill() // wait then kills the group
		<-gone
	}
}
