package folders

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/gitdir"
)

const (
	// patience is the time limit of one query; callers have two seconds.
	patience = 1500 * time.Millisecond
	// maxHanging is the largest number of queries under way, so that a hanging
	// network file system blocks only that many goroutines.
	maxHanging = 16
)

// Folders answers queries about folders. It satisfies actors.Folders.
type Folders struct {
	patience time.Duration
	slots    chan struct{}
}

// New returns a Folders of this machine.
func New() *Folders { return &Folders{patience: patience, slots: make(chan struct{}, maxHanging)} }

// Chain returns the folder at an absolute path and all above it, the nearest
// first. With exact the path must name a folder that exists; otherwise the
// chain begins at the nearest existing folder at or above the path. Errors:
// invalid, path_not_found, timed_out.
func (f *Folders) Chain(ctx context.Context, path string, exact bool) ([]core.Level, error) {
	if err := check(path); err != nil {
		return nil, err
	}
	return ask(ctx, f, func() ([]core.Level, error) { return chain(filepath.Clean(path), exact) })
}

// Same reports whether two paths name one folder, for example on a file system
// that ignores case. Errors: timed_out.
func (f *Folders) Same(ctx context.Context, a, b string) (bool, error) {
	return ask(ctx, f, func() (bool, error) {
		x, err := os.Stat(a)
		if err != nil {
			return false, nil //nolint:nilerr // an unreadable folder counts as different
		}
		y, err := os.Stat(b)
		return err == nil && os.SameFile(x, y), nil
	})
}

// check returns an error if path is not an absolute path.
func check(path string) error {
	fix := "give the whole path of a folder on the hub's machine"
	switch {
	case path == "":
		return hub.Invalid("path", "path is missing").WithFix(fix)
	case len(path) > hub.MaxPathBytes:
		return hub.Invalid("path", "path is too long").With("limit", hub.MaxPathBytes).With("size", len(path)).WithFix(fix)
	case !utf8.ValidString(path):
		return hub.Invalid("path", "path is not valid UTF-8").WithFix("rename the folder, or bind one above it")
	case strings.ContainsFunc(path, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return hub.Invalid("path", "path has a control character").WithFix("rename the folder, or bind one above it")
	case !filepath.IsAbs(path):
		return hub.Invalid("path", "path is not absolute").WithFix(fix)
	}
	return nil
}

// chain finds the folder and builds the levels from it to the root.
func chain(path string, exact bool) ([]core.Level, error) {
	folder, err := realFolder(path)
	for err != nil && !exact && filepath.Dir(path) != path {
		path = filepath.Dir(path)
		folder, err = realFolder(path)
	}
	if err != nil {
		return nil, err
	}
	var levels []core.Level
	first := 0 // the first level whose work tree is not known yet
	for {
		levels = append(levels, core.Level{Plain: folder})
		if common, ok := gitdir.WorkTree(folder); ok {
			for i := first; i < len(levels); i++ {
				levels[i].Root, levels[i].Common = folder, common
				if rel, err := filepath.Rel(folder, levels[i].Plain); err == nil {
					levels[i].Rel = filepath.ToSlash(rel)
				}
			}
			first = len(levels)
		}
		above := filepath.Dir(folder)
		if above == folder {
			return levels, nil
		}
		folder = above
	}
}

// realFolder returns the path of an existing folder without symbolic links.
// Errors: path_not_found.
func realFolder(path string) (string, error) {
	notFound := func(why string) error {
		return hub.NewError(hub.CodePathNotFound, why).With("path", path).
			WithFix("give the path of a folder that exists on the hub's machine")
	}
	folder, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", notFound("there is no such folder")
	}
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return "", notFound("there is no such folder")
	case !info.IsDir():
		return "", notFound("the path names no folder")
	case !utf8.ValidString(folder):
		return "", notFound("the folder's real path is not valid UTF-8")
	}
	return folder, nil
}

// ask runs a query of the file system. If the query hangs, ask returns
// timed_out, and the query keeps its slot until it ends.
func ask[T any](ctx context.Context, f *Folders, question func() (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	var none T
	timeout := time.NewTimer(f.patience)
	defer timeout.Stop()
	select {
	case f.slots <- struct{}{}:
	case <-timeout.C:
		return none, errHangs()
	case <-ctx.Done():
		return none, errHangs()
	}
	done := make(chan answer, 1)
	go func() {
		defer func() { <-f.slots }()
		v, err := question()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-timeout.C:
		return none, errHangs()
	case <-ctx.Done():
		return none, errHangs()
	}
}

func errHangs() error {
	return hub.NewError(hub.CodeTimedOut, "the file system did not say in time what lies at the path").WithRetryAfter(1).
		WithFix("see whether the folder's disk or network mount answers, then repeat the call")
}
