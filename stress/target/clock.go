package target

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// clockEnv holds the seconds by which the wall clock of a hub with a clock of its
// own is off when it starts. Each line of its input is another number of seconds.
const clockEnv = "HUB_STRESS_CLOCK"

// The places of the standard library's time.go that the build with a clock
// changes. The wall clock of the whole process is off then, and its monotonic
// clock goes on, as when the clock of a machine is set.
const (
	clockReads  = "sec, nsec, mono := runtimeNow()\n"
	clockOff    = clockReads + "\tsec += wallOff.Load()\n"
	clockImport = "import (\n"
	clockAtomic = clockImport + "\t\"sync/atomic\"\n"
	clockSetter = `
var wallOff atomic.Int64

// SetWallOff puts the wall clock of this process off.
func SetWallOff(seconds int64) { wallOff.Store(seconds) }
`
)

// clockSource is added to the main package of a hub with a clock of its own.
const clockSource = `package main

import (
	"bufio"
	"os"
	"strconv"
	"time"
)

func init() {
	off, err := strconv.ParseInt(os.Getenv("` + clockEnv + `"), 10, 64)
	if err != nil {
		return
	}
	time.SetWallOff(off)
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			if off, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
				time.SetWallOff(off)
			}
		}
	}()
}
`

// BuildClock builds a hub whose wall clock SetClock sets while it runs. The clock
// of the machine belongs to all programs, and Go asks the system for the time in
// a way that nothing can stand between. So this build replaces the standard
// library's time.Now. Nothing of the delivered executable can ask for that.
func BuildClock(ctx context.Context, dir string) (Executable, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return Executable{}, err
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return Executable{}, fmt.Errorf("go env GOROOT: %w", err)
	}
	name := filepath.Join(strings.TrimSpace(string(goroot)), "src", "time", "time.go")
	b, err := os.ReadFile(name)
	if err != nil {
		return Executable{}, err
	}
	source := string(b)
	if strings.Count(source, clockReads) != 1 || strings.Count(source, clockImport) != 1 {
		return Executable{}, fmt.Errorf("%s reads the time in another way than this program knows", name)
	}
	source = strings.Replace(source, clockReads, clockOff, 1)
	source = strings.Replace(source, clockImport, clockAtomic, 1) + clockSetter
	exe, err := buildOver(ctx, dir, map[string]string{
		name: source,
		filepath.Join(root, "cmd", "hubcli", "clock_of_this_build.go"): clockSource,
	})
	exe.Clock = new(time.Duration)
	return exe, err
}

// SetClock puts the wall clock of the process and of those that are started after
// it off by d, to the second. The hub must be built with a clock.
func (p *Process) SetClock(d time.Duration) error {
	*p.off = d
	_, err := fmt.Fprintln(p.clock, int64(d/time.Second))
	return err
}
