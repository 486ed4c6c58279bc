package session

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/internal/peertext"
)

// Of telling colleagues where the agent works.
const (
	placeWait = 500 * time.Millisecond // for a file system that hangs
	headBytes = 4 << 10                // more than the files have that are read
)

// place returns the name of the folder in which the agent works, and the branch that Git has there.
// Each may be empty. A file system that hangs delays the session no longer than placeWait.
func (l *Link) place() (folder, branch string) {
	type found struct{ folder, branch string }
	looked := make(chan found, 1)
	go func() { // it ends with the process at the latest
		var f found
		if dir := l.project(); dir != "" && dir != filepath.Dir(dir) {
			f.folder = nameOf(filepath.Base(dir))
			if top := workTree(dir); top != "" {
				f.branch = nameOf(branchOf(top))
			}
		}
		looked <- f
	}()
	t := time.NewTimer(placeWait)
	defer t.Stop()
	select {
	case f := <-looked:
		return f.folder, f.branch
	case <-t.C:
		return "", ""
	}
}

// nameOf makes a name that any program can show.
func nameOf(s string) string { return strings.ToValidUTF8(peertext.Plain(s), "") }

// branchOf returns the branch that a work tree of Git is on; empty: on none, or that is not known.
func branchOf(top string) string {
	git := filepath.Join(top, ".git")
	if !isFolder(git) { // the .git of a further work tree names its folder
		to, ok := strings.CutPrefix(small(git), "gitdir: ")
		if !ok {
			return ""
		}
		if git = strings.TrimRight(to, "\r\n"); !filepath.IsAbs(git) {
			git = filepath.Join(top, git)
		}
	}
	branch, ok := strings.CutPrefix(small(filepath.Join(git, "HEAD")), "ref: refs/heads/")
	if !ok {
		return ""
	}
	return strings.TrimSpace(branch)
}

// small reads a small regular file; what is none is empty.
func small(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > headBytes {
		return ""
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}
