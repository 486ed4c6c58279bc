package disks

import (
	"context"
	"errors"
	"fmt"
)

// A new disk in a step has room for this many inodes, if they are not what matters.
const manyInodes = 100_000

// fullDisk fills a disk of some size up to some level.
func fullDisk(ctx context.Context, s *step) (string, error) {
	size := (20 + s.random.Int64N(261)) * mib
	left := int64(0)
	if s.random.IntN(2) == 0 {
		left = 1 + s.random.Int64N(140*mib)
	}
	s.tell("a disk of %d MiB, %d KiB of it left by others", size/mib, left>>10)
	d, err := s.inMemory(size, manyInodes)
	if err != nil {
		return "", err
	}
	return s.filled(ctx, d, func() (func() error, error) { return d.fill(left) }, left == 0)
}

// noInodes takes the inodes of a disk that has bytes to spare.
func noInodes(ctx context.Context, s *step) (string, error) {
	inodes := 8 + s.random.Int64N(400)
	left := int64(0)
	if s.random.IntN(3) == 0 {
		left = 1 + s.random.Int64N(40)
	}
	s.tell("a disk of %d inodes, %d of them left by others", inodes, left)
	d, err := s.inMemory(600*mib, inodes)
	if err != nil {
		return "", err
	}
	return s.filled(ctx, d, func() (func() error, error) { return d.fillInodes(left) }, false)
}

// filled runs a hub on a disk that others fill while agents post. refuses says that there
// must be 507 then.
func (s *step) filled(ctx context.Context, d *disk, fill func() (func() error, error), refuses bool) (string, error) {
	outcome := "went on"
	started, err := s.start(ctx, d)
	if err != nil {
		return "", err
	}
	if !started {
		outcome = "too small, refused"
		if err := errors.Join(s.room(d)); err != nil {
			return "", err
		}
		if err := s.mustStart(ctx, d); err != nil {
			return "", err
		}
	}
	stop := s.load.start(ctx, s.hub.Addr)
	defer func() { stop() }()
	if err := s.wait(ctx, answerWait, "answers", func() bool { return s.load.count("", full) >= 50 }); err != nil {
		return "", err
	}
	giveBack, err := fill()
	if err != nil {
		return "", err
	}
	defer func() { _ = giveBack() }() // before the disk goes
	s.tell("filled")
	s.load.forget()
	if err := s.wait(ctx, answerWait, "answers on the full disk", func() bool {
		return s.load.count("", full) >= 200 && (!refuses || s.load.count(full) >= 50)
	}); err != nil {
		return "", err
	}
	how := []string{"", ", started again", ", stopped"}[s.random.IntN(3)]
	if how != "" {
		stop()
		if stop, err = s.startFull(ctx, d, how); err != nil {
			return "", err
		}
	}
	s.load.forget()
	if err := errors.Join(giveBack(), s.room(d)); err != nil {
		return "", err
	}
	s.tell("given back")
	if s.hub == nil {
		how += " with room"
		if err := s.mustStart(ctx, d); err != nil {
			return "", err
		}
		stop = s.load.start(ctx, s.hub.Addr)
	}
	if err := s.wait(ctx, resumeWait, "posts that are taken again", func() bool { return s.load.count("") >= 20 }); err != nil {
		return "", err
	}
	stop()
	return outcome + how, s.survive(ctx, d)
}

// room makes the disk larger.
func (s *step) room(d *disk) error { return d.grow(300*mib, 2_000) }

// startFull ends the hub on a full disk and starts another one there. Afterwards s.hub is
// nil if that one has refused.
func (s *step) startFull(ctx context.Context, d *disk, how string) (stop func(), err error) {
	stop = func() {}
	if how == ", stopped" {
		if err := s.hub.Stop(); err != nil {
			return stop, fmt.Errorf("a stop on a full disk: %w", err)
		}
		s.tell("stopped")
	} else {
		s.hub.Kill()
		s.tell("killed")
	}
	started, err := s.start(ctx, d)
	if err != nil || !started {
		s.hub = nil
		return stop, err
	}
	s.load.forget()
	reads := s.load.answered()
	stop = s.load.start(ctx, s.hub.Addr)
	return stop, s.wait(ctx, answerWait, "reads and posts after the start", func() bool {
		return s.load.count("", full) >= 50 && s.load.answered() > reads+20
	})
}

// answered is how many reads were answered.
func (l *load) answered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reads
}
