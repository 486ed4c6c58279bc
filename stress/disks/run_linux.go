package disks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hubcli/stress/target"
)

// Bounds of waiting.
const (
	callWait   = time.Minute      // for the answer of a call
	answerWait = 30 * time.Second // for what agents are answered
	resumeWait = 10 * time.Second // for posts when there is room again
	endWait    = 30 * time.Second // for the end of a hub whose disk has failed
)

// exitStore is the exit code of a hub that refuses its store, or whose store has failed.
const exitStore = 70

// scenario is a kind of disk: what a step with it does, and how that ended.
type scenario struct {
	name string
	run  func(context.Context, *step) (outcome string, err error)
}

func scenarios() []scenario {
	return []scenario{{"full", fullDisk}, {"inodes", noInodes}, {"readonly", readOnly}, {"errors", failingCalls}, {"slow", slowSyncs}}
}

// Run tries disks, of one scenario after the other. It leaves no process, mount or file
// behind. What was broken is said with the seed.
func Run(ctx context.Context, o Options) (summary *Summary, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "hubcli-disks-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d, err := inMemory(filepath.Join(dir, "try"), mib, 16)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrCannotMount, err), os.Remove(filepath.Join(dir, "try")))
	}
	if err := d.close(); err != nil {
		return nil, err
	}
	r := &run{Options: o, dir: dir, exe: target.Executable{Path: o.Executable}, summary: &Summary{Outcomes: map[string]map[string]int{}}}
	if r.exe.Path == "" {
		fmt.Fprintln(o.Progress, "building the hub")
		if r.exe, err = target.Build(ctx, dir); err != nil {
			return nil, err
		}
	}
	r.look(ctx)
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	return r.summary, nil
}

// run is a run of the disks.
type run struct {
	Options
	dir     string
	exe     target.Executable
	summary *Summary
	strace  string // empty: it is not there
	loop    bool   // file systems can be mounted from files
}

// look finds out what this machine can do, and says loudly what it cannot.
func (r *run) look(ctx context.Context) {
	var err error
	if r.strace, err = exec.LookPath("strace"); err != nil {
		r.skip("failing calls and slow syncs: strace is not installed")
	}
	d, err := onLoop(ctx, r.path("try"), 16*mib)
	if r.loop = err == nil; r.loop {
		err = d.close()
	}
	if err != nil {
		r.skip("disks that become read-only or are pulled out: " + strings.Join(strings.Fields(err.Error()), " "))
	}
}

func (r *run) skip(why string) {
	r.summary.Skipped = append(r.summary.Skipped, why)
	fmt.Fprintln(r.Progress, "SKIPPED:", why)
}

func (r *run) path(name string) string { return filepath.Join(r.dir, name) }

// all does the steps, one scenario after the other.
func (r *run) all(ctx context.Context) error {
	var turns []scenario
	for _, s := range scenarios() {
		wanted := len(r.Scenarios) == 0 || slices.Contains(r.Scenarios, s.name)
		if wanted && (r.strace != "" || s.name != "errors" && s.name != "slow") {
			turns = append(turns, s)
		}
	}
	if len(turns) == 0 {
		return errors.New("nothing that was asked for can be done on this machine")
	}
	for n := range r.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := turns[n%len(turns)]
		began := time.Now()
		outcome, err := r.step(ctx, n, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("disk %d, %s: %w\nseed %d", n+1, s.name, err, r.Seed)
		}
		fmt.Fprintf(r.Progress, "%d of %d: %s: %s, %.1f s\n", n+1, r.Steps, s.name, outcome, time.Since(began).Seconds())
		outcome, _, _ = strings.Cut(outcome, " (") // without its figures
		if r.summary.Outcomes[s.name] == nil {
			r.summary.Outcomes[s.name] = map[string]int{}
		}
		r.summary.Outcomes[s.name][outcome]++
		r.summary.Steps++
	}
	return nil
}

// step is one disk with its hub and its agents.
type step struct {
	*run
	load   *load
	random *rand.Rand
	log    *hubLog
	story  []string // what was done, for the report of a failure
	hub    *target.Process
	said   string         // by the last hub that refused to start
	undo   []func() error // at the end, the last first
}

func (r *run) step(ctx context.Context, n int, s scenario) (outcome string, err error) {
	st := &step{run: r, load: newLoad(), log: &hubLog{}, random: rand.New(rand.NewPCG(r.Seed, uint64(n)))}
	defer func() {
		if st.hub != nil {
			st.hub.Kill()
		}
		for _, undo := range slices.Backward(st.undo) {
			err = errors.Join(err, undo())
		}
	}()
	outcome, err = s.run(ctx, st)
	if broken := st.load.broken(); broken != nil {
		err = errors.Join(broken, err)
	}
	if err = errors.Join(err, st.log.check()); err != nil {
		if st.hub != nil {
			err = fmt.Errorf("%w\n%s", err, st.hub.Output())
		}
		return "", fmt.Errorf("%w\nafter: %s; posts: %s", err, strings.Join(st.story, ", "), st.load)
	}
	r.summary.Kept += len(st.load.kept)
	r.summary.Refused += len(st.load.refused)
	r.summary.Reads += st.load.reads
	return outcome, nil
}

func (s *step) tell(format string, args ...any) {
	s.story = append(s.story, fmt.Sprintf(format, args...))
}

// finally has something undone at the end of the step.
func (s *step) finally(undo func() error) { s.undo = append(s.undo, undo) }

// inMemory mounts a disk for the step.
func (s *step) inMemory(size, inodes int64) (*disk, error) {
	d, err := inMemory(s.path("disk"), size, inodes)
	if err == nil {
		s.finally(d.close)
	}
	return d, err
}

// start starts a hub on the store of a disk. err is nil too if the hub refused clearly:
// then started is false.
func (s *step) start(ctx context.Context, d *disk, under ...string) (started bool, err error) {
	exe := s.exe
	exe.Log, exe.Under, exe.Alive = s.log, under, true
	s.hub, err = exe.Start(ctx, filepath.Join(d.path, "store"))
	if err == nil {
		s.tell("started")
		return true, nil
	}
	s.tell("start refused")
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false, err
	}
	s.said = err.Error()
	return false, endedClearly(exit, s.said)
}

// endedClearly looks at how a hub has ended.
func endedClearly(end error, output string) error {
	var exit *exec.ExitError
	switch {
	case !errors.As(end, &exit) || exit.ExitCode() != exitStore:
		return fmt.Errorf("the hub ended with %w, not with exit code %d\n%s", end, exitStore, output)
	case !strings.Contains(output, "hubcli: ") || !strings.Contains(output, "fix: "):
		return fmt.Errorf("the hub ended without a reason or a way out\n%s", output)
	}
	return nil
}

// mustStart starts a hub that has no reason to refuse.
func (s *step) mustStart(ctx context.Context, d *disk) error {
	started, err := s.start(ctx, d)
	if err == nil && !started {
		err = fmt.Errorf("the hub refuses a disk that has room: %s", s.said)
	}
	return err
}

// wait waits until something holds. It ends early if the hub has ended or an agent was
// answered what must not be.
func (s *step) wait(ctx context.Context, most time.Duration, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for !holds() {
		if err := s.load.broken(); err != nil {
			return err
		}
		select {
		case <-s.hub.Ended():
			if holds() {
				return nil
			}
			return fmt.Errorf("the hub ended by itself: %w", s.hub.Exit())
		case <-ctx.Done():
			return fmt.Errorf("%s did not come within %v", what, most)
		case <-time.After(time.Millisecond):
		}
	}
	return s.load.broken()
}

// survive kills the hub, starts it again and compares what it has with what it has
// acknowledged.
func (s *step) survive(ctx context.Context, d *disk) error {
	s.hub.Kill()
	s.tell("killed")
	if err := s.mustStart(ctx, d); err != nil {
		return err
	}
	err := s.load.verify(ctx, s.hub.Addr)
	s.hub.Kill()
	return err
}
