package disks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hubcli/internal/pause"
)

// readOnly takes the right to write away from a disk: before a start, or under a hub.
func readOnly(ctx context.Context, s *step) (string, error) {
	switch kind := s.random.IntN(3); {
	case kind == 0 || !s.loop:
		return s.startReadOnly(ctx)
	case kind == 1:
		return s.breakDisk(ctx, "became read-only", (*disk).abort)
	default:
		return s.breakDisk(ctx, "pulled out", (*disk).shutdown)
	}
}

// startReadOnly starts a hub on a store that may not be written to.
func (s *step) startReadOnly(ctx context.Context) (string, error) {
	d, err := s.inMemory(300*mib, manyInodes)
	if err != nil {
		return "", err
	}
	if err := s.work(ctx, d, 200); err != nil {
		return "", err
	}
	if s.random.IntN(2) == 0 {
		if err := s.hub.Stop(); err != nil {
			return "", err
		}
		s.tell("stopped")
	} else {
		s.hub.Kill()
		s.tell("killed")
	}
	if err := unix.Mount("", d.path, "", unix.MS_REMOUNT|unix.MS_RDONLY, d.options()); err != nil {
		return "", err
	}
	s.tell("read-only")
	started, err := s.start(ctx, d)
	if err != nil {
		return "", err
	}
	if started {
		return "", errors.New("the hub starts on a store that may not be written to")
	}
	if err := d.grow(0, 0); err != nil { // it may be written to again
		return "", err
	}
	if err := s.mustStart(ctx, d); err != nil {
		return "", err
	}
	return "refused", s.survive(ctx, d)
}

// work starts a hub and lets agents work until there are some answers.
func (s *step) work(ctx context.Context, d *disk, answers int) error {
	if err := s.mustStart(ctx, d); err != nil {
		return err
	}
	stop := s.load.start(ctx, s.hub.Addr)
	defer stop()
	return s.wait(ctx, answerWait, "answers", func() bool { return s.load.count("") >= answers })
}

// breakDisk breaks a disk under a hub that works.
func (s *step) breakDisk(ctx context.Context, name string, how func(*disk) error) (string, error) {
	d, err := onLoop(ctx, s.path("disk"), 512*mib)
	if err != nil {
		return "", err
	}
	s.finally(d.close)
	if err := s.mustStart(ctx, d); err != nil {
		return "", err
	}
	stop := s.load.start(ctx, s.hub.Addr)
	defer stop()
	many := 50 + s.random.IntN(400)
	if err := s.wait(ctx, callWait, "answers", func() bool { return s.load.count("") >= many }); err != nil {
		return "", err
	}
	s.load.allow(failed, lost, "stopping")
	if err := how(d); err != nil {
		return "", err
	}
	s.tell("%s", name)
	if err := s.ends(ctx); err != nil {
		return "", err
	}
	stop()
	if err := d.again(ctx); err != nil {
		return "", err
	}
	if err := s.mustStart(ctx, d); err != nil {
		return "", err
	}
	return name, s.survive(ctx, d)
}

// ends waits for the end of a hub whose disk has failed, and looks at it.
func (s *step) ends(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endWait)
	defer cancel()
	select {
	case <-s.hub.Ended():
		s.tell("ended")
		return endedClearly(s.hub.Exit(), s.hub.Output())
	case <-ctx.Done():
		return fmt.Errorf("the hub did not end within %v", endWait)
	}
}

// The calls that strace makes fail, and with what.
var (
	failCalls  = []string{"msync", "fsync", "fdatasync", "pwrite64", "ftruncate", "fallocate", "renameat", "openat"}
	failErrors = []string{"EIO", "EROFS", "ENOSPC", "EDQUOT"}
)

// failingCalls makes one call of the system fail.
func failingCalls(ctx context.Context, s *step) (string, error) {
	call, with := failCalls[s.random.IntN(len(failCalls))], failErrors[s.random.IntN(len(failErrors))]
	when := 1 + s.random.IntN(4)
	if call == "msync" || call == "openat" { // these are made often
		when = 1 + s.random.IntN(60)
	}
	var only []string
	if s.random.IntN(3) == 0 { // the list of tables: what it says then is unknown
		call, when = []string{"write", "fsync"}[s.random.IntN(2)], 1+s.random.IntN(3)
		only = []string{"-P", filepath.Join(s.path("disk"), "store", "badger", "MANIFEST")}
	}
	s.tell("%s number %d %v fails with %s", call, when, only, with)
	d, err := s.inMemory(600*mib, manyInodes)
	if err != nil {
		return "", err
	}
	if s.random.IntN(3) > 0 { // a start on a store that was there
		if err := s.work(ctx, d, 300); err != nil {
			return "", err
		}
		s.hub.Kill()
	}
	trace := s.path("trace")
	s.finally(func() error { return ignoreMissing(os.Remove(trace)) })
	s.load.allow(failed, lost, "stopping")
	s.load.forget()
	under := append([]string{s.strace, "-D", "-f", "-qq", "-y", "--seccomp-bpf", "-o", trace}, only...)
	under = append(under, "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d", call, with, when))
	started, err := s.start(ctx, d, under...)
	if err != nil {
		return "", err
	}
	outcome := "refused to start"
	if started {
		outcome, err = s.underTrace(ctx, trace)
		if err != nil {
			return "", err
		}
		s.hub.Kill() // one that went on
	}
	if err := s.mustStart(ctx, d); err != nil {
		return "", err
	}
	return outcome, s.survive(ctx, d)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// underTrace lets agents work on a hub until a call has failed and the hub has ended, or
// has gone on for a while.
func (s *step) underTrace(ctx context.Context, trace string) (string, error) {
	stop := s.load.start(ctx, s.hub.Addr)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	goneOn := -1 // acknowledged posts when the failure was seen
	for {
		line, err := injected(trace)
		if err != nil {
			return "", err
		}
		select {
		case <-s.hub.Ended():
			s.tell("ended")
			if line == "" {
				return "", fmt.Errorf("the hub ended by itself: %w", s.hub.Exit())
			}
			return "ended", endedClearly(s.hub.Exit(), s.hub.Output())
		case <-ctx.Done():
			return "", fmt.Errorf("posts are not answered after %q", line)
		case <-time.After(5 * time.Millisecond):
		}
		acknowledged := s.load.count("")
		switch {
		case line != "" && goneOn < 0:
			goneOn = acknowledged
			s.tell("failed: %s", line)
		case line != "" && acknowledged >= goneOn+200:
			return "went on", s.mayGoOn(line)
		case line == "" && acknowledged >= 3000:
			return "never came to it", nil
		}
	}
}

// injected returns the line of the call that failed, or "".
func injected(trace string) (string, error) {
	b, err := os.ReadFile(trace)
	if err != nil {
		return "", ignoreMissing(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, "(INJECTED)") {
			return strings.TrimSpace(line), nil
		}
	}
	return "", nil
}

// mayGoOn refuses to have a hub go on after a failed sync of its journal.
func (s *step) mayGoOn(line string) error {
	if strings.Contains(line, "msync(") || strings.Contains(line, "sync(") && strings.Contains(line, "/badger/") {
		return fmt.Errorf("the hub goes on after %s", line)
	}
	return nil
}

// Syncs last this long in a step with slow syncs. A read takes less than a half of it:
// it does not wait for one.
const (
	slowSync = 2 * time.Second
	slowTime = 9 * time.Second // how long they are slow
	slowPost = 30 * time.Second
)

// slowSyncs makes all syncs of a hub slow for a while.
func slowSyncs(ctx context.Context, s *step) (string, error) {
	d, err := s.inMemory(600*mib, manyInodes)
	if err != nil {
		return "", err
	}
	if err := s.mustStart(ctx, d); err != nil {
		return "", err
	}
	stop := s.load.start(ctx, s.hub.Addr)
	defer stop()
	if err := s.wait(ctx, answerWait, "answers", func() bool { return s.load.count("") >= 200 }); err != nil {
		return "", err
	}
	tracer, err := s.attach(ctx, fmt.Sprintf("inject=msync,fsync,fdatasync:delay_enter=%d", slowSync/time.Microsecond))
	if err != nil {
		return "", err
	}
	pause.For(ctx, slowSync) // posts of before have their answers
	s.load.forget()
	s.tell("syncs last %v", slowSync)
	pause.For(ctx, slowTime)
	read, post := s.load.slowest()
	answered := s.load.count("")
	switch {
	case s.load.count(full, failed, lost) > 0 || answered < posters/2:
		err = errors.New("posts are not taken while syncs are slow")
	case read > slowSync/2:
		err = fmt.Errorf("a read took %v while syncs last %v", read, slowSync)
	case post > slowPost:
		err = fmt.Errorf("a post took %v while syncs last %v", post, slowSync)
	}
	if err != nil {
		return "", errors.Join(err, tracer())
	}
	outcome := "went on"
	if s.random.IntN(2) == 0 {
		outcome = "stopped"
		stop()
		if err := s.hub.Stop(); err != nil {
			return "", fmt.Errorf("a stop while syncs are slow: %w", err)
		}
		s.tell("stopped")
		if err := s.mustStart(ctx, d); err != nil {
			return "", err
		}
		stop = s.load.start(ctx, s.hub.Addr)
	}
	if err := tracer(); err != nil {
		return "", err
	}
	s.load.forget()
	if err := s.wait(ctx, resumeWait, "posts at the usual speed", func() bool { return s.load.count("") >= 100 }); err != nil {
		return "", err
	}
	stop()
	return fmt.Sprintf("%s (%d posts, a read took at most %d ms, a post %.1f s)", outcome, answered, read.Milliseconds(), post.Seconds()), s.survive(ctx, d)
}

// attach has strace act on the calls of the hub until detach is called, or the hub ends.
func (s *step) attach(ctx context.Context, inject string) (detach func() error, err error) {
	cmd := exec.CommandContext(ctx, s.strace, "-f", "-p", fmt.Sprint(s.hub.PID()), "-o", "/dev/null", "-e", "trace=msync,fsync,fdatasync", "-e", inject)
	said := &hubLog{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	detach = func() error {
		_ = cmd.Process.Signal(unix.SIGTERM) // it has ended if the hub has
		<-ended
		return nil
	}
	s.finally(detach)
	return detach, s.wait(ctx, answerWait, "strace", func() bool { return said.has("attached") })
}
