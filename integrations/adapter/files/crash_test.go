package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const victimEnv = "HUBCLI_FILES_VICTIM"

// victim is the process that kills itself at a given step of the work that its
// variable names.
func victim() {
	parts := strings.Split(os.Getenv(victimEnv), "\n")
	what, home, dir := parts[0], parts[1], parts[2]
	at, _ := strconv.Atoi(parts[3])
	ctx := context.Background()
	s, err := Open(ctx, dir, "1.0")
	exitOn(err)
	n := 0
	p := &place{home: home, store: s}
	var plan *Plan
	if what == "install" {
		plan, err = s.PlanInstall(ctx, p.entries(), Keep)
	} else {
		plan, err = s.PlanUninstall(ctx, claude, Keep)
	}
	exitOn(err)
	s.step = func(string, string) error {
		if n++; n == at {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {} // until the kill arrives
		}
		return nil
	}
	_, err = s.Apply(ctx, plan)
	exitOn(err)
	os.Exit(0)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// kill runs the victim and reports whether it died at the step.
func (p *place) kill(what string, at int) (killed bool) {
	p.t.Helper()
	exe, err := os.Executable()
	p.must(err)
	cmd := exec.CommandContext(p.t.Context(), exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), victimEnv+"="+strings.Join([]string{what, p.home, p.store.dir, strconv.Itoa(at)}, "\n"))
	out, err := cmd.CombinedOutput()
	if ee, ok := errors.AsType[*exec.ExitError](err); ok && ee.ExitCode() != 3 && ee.ExitCode() != 2 {
		return true
	}
	if err != nil {
		p.t.Fatalf("%s killed at step %d: %v\n%s", what, at, err, out)
	}
	return false
}

// whole checks that every file is the old one or the new one, and that all
// other files belong to the transaction.
func (p *place) whole(before, after map[string]string, settled bool) (all map[string]string) {
	p.t.Helper()
	now := p.tree()
	for name, content := range now {
		old, wasThere := before[name]
		next, isThere := after[name]
		if wasThere && content == old || isThere && content == next {
			continue
		}
		if !settled && strings.HasSuffix(name, nameTemp) {
			continue
		}
		p.t.Errorf("%s is neither the old nor the new one: %q", name, content)
	}
	return now
}

// begin makes a place for the given work and returns the files before and after
// it.
func begin(t *testing.T, what string) (p *place, before, after map[string]string) {
	p = newPlace(t)
	p.seed()
	without := p.tree()
	p.must(p.install(p.entries(), Keep))
	with := p.tree()
	if what == "uninstall" {
		return p, with, without
	}
	p.must(p.uninstall(claude, Keep))
	return p, without, with
}

// save keeps a copy of home and store, so that each step begins from the same
// state without the flushes of making it.
func (p *place) save() map[string]string { return treeOf(p.t, filepath.Dir(p.home)) }

func (p *place) load(saved map[string]string) {
	p.t.Helper()
	base := filepath.Dir(p.home)
	entries, err := os.ReadDir(base)
	p.must(err)
	for _, e := range entries {
		p.must(os.RemoveAll(filepath.Join(base, e.Name())))
	}
	folder := fs.ModeDir.String()
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		if saved[name] == folder {
			p.must(os.MkdirAll(filepath.Join(base, name), 0o700))
		} else {
			p.must(os.WriteFile(filepath.Join(base, name), []byte(saved[name]), 0o600))
		}
	}
}

// TestKilledAtEveryStep: a process killed before any step leaves each file old
// or new, and the next start makes all of them old or all of them new.
func TestKilledAtEveryStep(t *testing.T) {
	for _, what := range []string{"install", "uninstall"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p, before, after := begin(t, what)
			without := before
			if what == "uninstall" {
				without = after
			}
			start := p.save()
			steps := 0
			for at := 1; ; at++ {
				p.load(start)
				killed := p.kill(what, at)
				p.whole(before, after, false)
				if _, err := Open(t.Context(), p.store.dir, "1.0"); err != nil {
					t.Fatalf("killed at step %d: %v", at, err)
				}
				now := p.whole(before, after, true)
				if !same(now, before) && !same(now, after) {
					t.Fatalf("killed at step %d, the next start leaves %v", at, now)
				}
				if p.store.interrupted() {
					t.Errorf("killed at step %d, the journal is still there", at)
				}
				wantState := "installed"
				if same(now, without) {
					wantState = "absent"
				}
				if got := p.states(p.entries()[:1]); got != wantState {
					t.Errorf("killed at step %d, the ledger takes it for %s, not %s", at, got, wantState)
				}
				p.must(p.uninstall(claude, Keep))
				if got := p.tree(); !same(got, without) {
					t.Fatalf("killed at step %d, an uninstall later leaves %v", at, got)
				}
				if !killed {
					break
				}
				steps++
			}
			if steps < 20 {
				t.Errorf("only %d steps were tried", steps)
			}
		})
	}
}

// TestFailingAtEveryStep: a disk that fails at any step, once or always, leaves
// all files old or all new, and everything works again after it.
func TestFailingAtEveryStep(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		for _, what := range []string{"install", "uninstall"} {
			t.Run(fmt.Sprintf("%s, lasting %v", what, lasting), func(t *testing.T) {
				t.Parallel()
				failEveryStep(t, lasting, what)
			})
		}
	}
}

func failEveryStep(t *testing.T, lasting bool, what string) {
	p, before, after := begin(t, what)
	without := before
	if what == "uninstall" {
		without = after
	}
	start := p.save()
	faults := []error{syscall.ENOSPC, syscall.EROFS, syscall.EACCES, syscall.EIO}
	failed := 0
	for at := 1; ; at++ {
		fault := faults[at%len(faults)]
		p.load(start)
		n, broke := 0, false
		p.store.step = func(op, name string) error {
			if n++; n == at || lasting && n > at {
				broke = true
				return &os.PathError{Op: op, Path: name, Err: fault}
			}
			return nil
		}
		var err error
		if what == "install" {
			err = p.install(p.entries(), Keep)
		} else {
			err = p.uninstall(claude, Keep)
		}
		p.store.step = func(string, string) error { return nil }
		if !broke {
			p.must(err)
			break
		}
		now := p.whole(before, after, !lasting)
		if !lasting && err != nil && !same(now, before) && !p.store.interrupted() {
			t.Fatalf("step %d failed (%v), and left %v", at, err, now)
		}
		if err != nil && !errors.Is(err, fault) {
			t.Errorf("step %d failed, and the error does not say why: %v", at, err)
		}
		if err == nil && !same(now, after) {
			t.Errorf("step %d failed and nobody says so: %v", at, now)
		}
		if _, rerr := Open(t.Context(), p.store.dir, "1.0"); rerr != nil {
			t.Fatalf("step %d failed, and later: %v", at, rerr)
		}
		now = p.whole(before, after, true)
		if !same(now, before) && !same(now, after) {
			t.Fatalf("step %d failed (%v), and the next start leaves %v", at, err, now)
		}
		if err != nil {
			failed++
		}
		p.must(p.uninstall(claude, Keep))
		if got := p.tree(); !same(got, without) {
			t.Fatalf("step %d failed (%v), and an uninstall later leaves %v", at, err, got)
		}
	}
	if failed < 15 {
		t.Errorf("only %d steps have failed", failed)
	}
}

// TestInterruptedFor: files that the journal names may be gone or changed when
// a start finishes the transaction.
func TestInterruptedFor(t *testing.T) {
	p := newPlace(t)
	p.seed()
	p.must(os.WriteFile(filepath.Join(p.store.dir, nameJournal), []byte("{"), 0o600))
	before := p.tree()
	if _, err := Open(t.Context(), p.store.dir, "1.0"); ReasonOf(err) != Interrupted {
		t.Errorf("a journal that cannot be read: %v", err)
	}
	if err := p.install(p.entries(), Keep); ReasonOf(err) != Interrupted {
		t.Errorf("installed beside a journal that cannot be read: %v", err)
	}
	if !same(before, p.tree()) {
		t.Error("something was written")
	}
}
