package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/internal/require"
	"hubcli/internal/testprogram"
	"hubcli/stress/crowd"
	"hubcli/stress/disks"
	"hubcli/stress/peers"
	"hubcli/stress/power"
	"hubcli/stress/target"
)

// executable is the built hub that the tests drive.
var executable string

// TestMain lets the test binary stand in for the command, which starts itself
// again as the ceiling and as the first process of a machine.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (strings.HasPrefix(os.Args[1], "ceiling") || os.Args[1] == power.Command || os.Args[1] == crowd.Command) {
		main()
		return
	}
	flag.Parse()
	os.Exit(withHub(m))
}

func withHub(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hubcli-stress-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	exe, err := target.Build(context.Background(), dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	executable = exe.Path
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// The figures are small here: what is proved is that hub and ceiling answer what
// the loads expect, and that no key ever has two holders. Whether they are fast
// is no matter for a test on a shared machine.
func TestBenchMeasuresTheHub(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc, from which memory and processor time are read")
	}
	var out strings.Builder
	args := []string{
		"bench", "--hub", executable, "--dir", t.TempDir(), "--rounds", "2", "--round", "60ms", "--agents", "16",
		"--waiters", "40", "--parked", "60", "--bridges", "3", "--messages", "2000", "--things", "200", "--settle", "0s", "--idle", "1s", "--idempotency",
	}
	if err := run(t.Context(), args, &out, progress{t}); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"posts, 16 agents", "post latency", "claim + release", "wake of 40", "per parked poll", "2000 messages", "200 claims, memory of one", "20 seats", "all of these, start after SIGKILL", "idle hub", "hub_post_message over stdio", "wake of one of 3 bridges", "anonymous memory of a bridge",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "double holders") && strings.Contains(line, "short") {
			t.Error(strings.TrimSpace(line))
		}
	}
	t.Log(out.String())
}

func TestHubKeepsItsPromisesAcrossKills(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	args := []string{"kill", "--hub", executable, "--dir", dir, "--cycles", "3", "--agents", "12", "--answers", "400"}
	require.NoError(t, run(t.Context(), args, &out, progress{t}))
	if !strings.HasPrefix(out.String(), "3 kills survived") {
		t.Errorf("summary %q", out.String())
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestKillsAmongTables: a hub that writes and merges tables all the time starts
// after each kill. `stress kill --small-tables --cycles 500` is the long run.
func TestKillsAmongTables(t *testing.T) {
	var out strings.Builder
	args := []string{"kill", "--small-tables", "--dir", t.TempDir(), "--cycles", "5", "--agents", "8", "--keepers", "8", "--pollers", "4", "--answers", "400"}
	require.NoError(t, run(t.Context(), args, &out, progress{t}))
	if !strings.HasPrefix(out.String(), "5 kills survived") || strings.Contains(out.String(), " 0 tables") {
		t.Errorf("summary %q", out.String())
	}
	t.Log(out.String())
}

// TestHistoriesAreLinear does harm to the hub and expects an order of all calls that
// explains all answers, and followers that miss nothing. `stress linear --cycles 1000` is
// the long run; with --clock it sets the wall clock too.
func TestHistoriesAreLinear(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	args := []string{"linear", "--hub", executable, "--dir", dir, "--cycles", "36", "--seed", "5", "--answers", "250"}
	require.NoError(t, run(t.Context(), args, &out, progress{t}))
	t.Log(out.String())
	var kills int
	if _, err := fmt.Sscanf(out.String(), "%d kills survived", &kills); err != nil || kills < 30 {
		t.Errorf("summary %q", out.String())
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestDamageIsToldOfByTheExecutable is a small run of `stress damage`; the long one is
// `stress damage --count 2000`. HUBCLI_TEST_DAMAGES says how many damages it does.
func TestDamageIsToldOfByTheExecutable(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a cp that knows --sparse")
	}
	var out strings.Builder
	count := cmp.Or(os.Getenv("HUBCLI_TEST_DAMAGES"), "14")
	args := []string{"damage", "--hub", executable, "--dir", t.TempDir(), "--records", "2000", "--count", count, "--salvages", "2"}
	require.NoError(t, run(t.Context(), args, &out, progress{t}))
	if !strings.Contains(out.String(), count+" damages of ") {
		t.Errorf("summary %q", out.String())
	}
	t.Log(out.String())
}

// TestCrowdsDisturbNobody is a small run of `stress crowd`: whatever the crowd does, the
// pair beside it loses no post. How long its calls take is no matter for a test.
func TestCrowdsDisturbNobody(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc, from which memory and open files are read")
	}
	dir := t.TempDir()
	var out strings.Builder
	args := []string{
		"crowd", "--hub", executable, "--dir", dir, "--quiet", "500ms", "--duration", "2s", "--agents", "60", "--channels", "10", "--pace", "1s",
		"--sessions", "40", "--slow", "60", "--greedy", "48",
	}
	require.NoError(t, run(t.Context(), args, &out, progress{t}))
	for _, want := range []string{"4 crowds: every post", "60 agents said", "sessions began", "clients said nothing", "of its calls refused"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	t.Log(out.String())
}

// TestDisksAreSurvived is a small run of `stress disks`; the long one is
// `stress disks --steps 300`.
func TestDisksAreSurvived(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	args := []string{"disks", "--hub", executable, "--dir", dir, "--steps", "12", "--seed", "3", "--scenarios", "full,inodes,readonly,errors"}
	err := run(t.Context(), args, &out, progress{t})
	if errors.Is(err, disks.ErrCannotMount) {
		t.Skip("needs leave to mount disks, as root has it: ", err)
	}
	require.NoError(t, err)
	if !strings.Contains(out.String(), "12 disks survived") {
		t.Errorf("summary %q", out.String())
	}
	t.Log(out.String())
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestPowerCutsLoseNothing is a small run of `stress power`; the long one is
// `stress power --cuts 200`, which has a control besides.
func TestPowerCutsLoseNothing(t *testing.T) {
	testprogram.Need(t, "linux.uml", "mkfs.ext4")
	dir := t.TempDir()
	var out strings.Builder
	args := []string{"power", "--hub", executable, "--dir", dir, "--cuts", "3", "--control", "0", "--seed", "4"}
	err := run(t.Context(), args, &out, progress{t})
	if errors.Is(err, power.ErrNoMachine) {
		t.Skip("needs a machine of user-mode Linux: ", err)
	}
	require.NoError(t, err)
	if !strings.Contains(out.String(), "3 power cuts survived") {
		t.Errorf("summary %q", out.String())
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestPeersDoTheSameWork is a small run of `stress peers`: the hub, and another program that
// speaks its protocol, which is the hub again. Other servers are measured where they are.
func TestPeersDoTheSameWork(t *testing.T) {
	dir := t.TempDir()
	o := peers.DefaultOptions()
	o.Executable, o.Other, o.Dir, o.Progress = executable, executable, dir, progress{t}
	o.Rounds, o.Round, o.Agents, o.Waiters = 2, 50*time.Millisecond, 4, 4
	report, err := peers.Run(t.Context(), o)
	require.NoError(t, err)
	if len(report.Peers) < 2 || !strings.Contains(report.String(), "claim and release pairs") {
		t.Errorf("report %s", report)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestInterruptedBenchLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopAtFirstRound := writerFunc(func(b []byte) (int, error) {
		if strings.Contains(string(b), "ceiling ") {
			cancel()
		}
		return len(b), nil
	})
	err := run(ctx, []string{"bench", "--itself", "--dir", dir, "--figures", "posts", "--round", "60ms"}, io.Discard, stopAtFirstRound)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the interruption", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestArgumentsAreRefusedWithAReason(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "which program"},
		{"drive", `no program "drive"`},
		{"bench --figures posts,speed", `no figure "speed"`},
		{"bench --rounds 0", "rounds must be"},
		{"bench --round 2h", "a round must take"},
		{"bench --parked 100000", "parked polls must be"},
		{"bench --bridges 0", "bridges must be"},
		{"bench --messages 0", "messages must be"},
		{"bench now", `unexpected argument "now"`},
		{"damage --count 0", "count must be"},
		{"damage --records 1", "records must be"},
		{"damage --salvages 0", "salvages must be"},
		{"kill --cycles 0", "cycles must be"},
		{"kill --agents 0", "agents must be"},
		{"kill --answers 0", "answers must be"},
		{"kill --keepers -1", "keepers must be"},
		{"kill --pollers -1", "pollers must be"},
		{"linear --cycles 0", "cycles must be"},
		{"linear --clients 7", "clients must be"},
		{"linear --followers 2", "followers must be"},
		{"linear --answers 0", "answers must be"},
		{"linear --clock --hub ./hubcli", "a clock takes a hub"},
		{"kill --small-tables --hub ./hubcli", "small tables take a hub"},
	} {
		err := run(t.Context(), strings.Fields(c.args), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("stress %s: error %v, want %q", c.args, err, c.want)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// progress shows what goes on in the test's log.
type progress struct{ t *testing.T }

func (p progress) Write(b []byte) (int, error) {
	p.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}
