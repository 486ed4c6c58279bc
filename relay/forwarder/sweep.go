package forwarder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"hubcli/relay"
)

// Ages at which the sweep removes files.
const (
	sweepInterval  = time.Minute
	maxResponseAge = time.Hour        // nobody reads it any more
	maxTempAge     = 10 * time.Minute // its writer has died
	maxIdle        = time.Hour        // of an empty agent folder
)

// sweepBeside sweeps the spool in a goroutine of its own, unless a sweep is
// still going on: an agent may have left any number of files.
func (f *Forwarder) sweepBeside() {
	if f.spool == nil || !f.sweeps.CompareAndSwap(false, true) {
		return
	}
	s, ctx := f.spool, f.run
	s.use()
	f.calls.Go(func() {
		defer f.sweeps.Store(false)
		defer s.release()
		defer func() {
			if cause := recover(); cause != nil {
				f.panicked(cause, "doing", "the sweep")
			}
		}()
		f.reject.forget()
		err := errors.Join(
			sweepFolders(ctx, s.responses, maxResponseAge),
			sweepFolders(ctx, s.requests, 0),
			f.reject.trim(ctx, s, manyRemovals),
		)
		if err == nil {
			f.log.end(troubleSweep)
		} else if ctx.Err() == nil {
			f.log.begin(troubleSweep, err)
		}
	})
}

const troubleSweep = "old files cannot be removed"

// sweepFolders removes unfinished files from all folders of parent, files older
// than age unless age is 0, and folders that have been empty and unused for
// long.
func sweepFolders(ctx context.Context, parent *os.Root, age time.Duration) error {
	return eachEntry(ctx, parent, func(e fs.DirEntry) error {
		if !e.IsDir() || !isFolderName(e.Name()) {
			return nil // requests/ has them rejected
		}
		dir, err := openFolder(parent, e.Name())
		if err != nil {
			return relay.IgnoreMissing(err)
		}
		defer dir.Close()
		idle, err := dir.Stat(".")
		if err != nil {
			return err
		}
		empty, err := sweepFolder(ctx, dir, age)
		if err != nil || !empty || time.Since(idle.ModTime()) < maxIdle {
			return err
		}
		// Another process may write to it now; then it is not empty and stays.
		_ = parent.Remove(e.Name())
		return nil
	})
}

// sweepFolder reports whether the folder is empty now.
func sweepFolder(ctx context.Context, dir *os.Root, age time.Duration) (empty bool, err error) {
	empty = true
	err = eachEntry(ctx, dir, func(e fs.DirEntry) error {
		info, err := e.Info() // of the link, if the name is one
		if err != nil {
			return relay.IgnoreMissing(err)
		}
		old := time.Since(info.ModTime())
		unfinished := strings.HasPrefix(e.Name(), relay.TempPrefix)
		if unfinished && old > maxTempAge || !unfinished && age > 0 && old > age && e.Name() != keepName {
			// No client makes a folder here; one that is not empty stays.
			if err := relay.IgnoreMissing(dir.Remove(e.Name())); err == nil || e.IsDir() {
				empty = empty && err == nil
				return nil
			}
		}
		empty = false
		return nil
	})
	return empty, err
}

// eachEntry calls do for each name in the folder. It reads them in batches.
func eachEntry(ctx context.Context, dir *os.Root, do func(fs.DirEntry) error) error {
	list, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer list.Close()
	for ctx.Err() == nil {
		entries, err := list.ReadDir(batch)
		for _, e := range entries {
			if err := do(e); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || err == nil && len(entries) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
