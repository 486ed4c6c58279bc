package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hubcli/internal/osfile"
)

// maxFile is the largest file that is read, in bytes. edit has its own limits
// for each format, none of them larger.
const maxFile = 16 << 20

// target is a file to be changed, after all links were followed. Its folder is
// held open, so nobody can replace it.
type target struct {
	file string // path as the entry names it
	real string
	base string // the scope's folder with links followed
	root string // the folder from which the file is reached: base, or the root of the file system for a file outside of it
	link string // the first link on the way; empty: there is none
	dir  *os.Root
	name string // within dir
	// missing are the missing folders between dir, the deepest one that exists,
	// and the file; outermost first.
	missing []string
}

func (t *target) close() {
	if t.dir != nil {
		_ = t.dir.Close()
	}
}

// openTarget follows the links of file and opens its folder. Every folder from
// the root on must belong to the user and must not be writable for others. A link
// may lead out of the root if the file is the user's own and not one of a project,
// in which others may have put the link; see follow.
func openTarget(root, file string, scope Scope) (*target, error) {
	if !filepath.IsAbs(file) || !filepath.IsAbs(root) {
		return nil, refuse(LeavesRoot, file, "", "the path is not absolute")
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, failed(root, "the folder cannot be opened", err)
	}
	rel, err := filepath.Rel(root, file)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return nil, refuse(LeavesRoot, file, "", "the file is not below %s", root)
	}
	t := &target{file: file, base: realRoot, root: realRoot}
	at := realRoot
	parts := strings.Split(rel, string(filepath.Separator))
	for i, part := range parts {
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			t.missing, t.name = parts[i:len(parts)-1], parts[len(parts)-1]
			t.real = filepath.Join(append([]string{at}, parts[i:]...)...)
			break
		}
		if err != nil {
			return nil, failed(file, "the path cannot be followed", err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if next, err = t.follow(next, scope); err != nil {
				return nil, err
			}
		}
		if i == len(parts)-1 {
			at, t.name, t.real = filepath.Dir(next), filepath.Base(next), next
			break
		}
		at = next
	}
	if err := t.open(at); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// open opens the folder of the file from the root down. os.Root follows no link
// out of the root, so a link that somebody puts there meanwhile is refused too.
func (t *target) open(folder string) error {
	rel, err := filepath.Rel(t.root, folder)
	if err != nil {
		return failed(t.file, "the path cannot be followed", err)
	}
	if t.dir, err = os.OpenRoot(t.root); err != nil {
		return failed(t.file, "the folder cannot be opened", err)
	}
	if err := t.checkFolder(t.root); err != nil {
		return err
	}
	if rel == "." {
		return nil
	}
	at := t.root
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := t.dir.Lstat(part)
		if err != nil {
			return failed(t.file, "the folder cannot be opened", err)
		}
		if !info.IsDir() {
			return refuse(NotRegular, t.file, "", "%s is not a folder", at)
		}
		below, err := t.dir.OpenRoot(part)
		if err != nil {
			return failed(t.file, "the folder cannot be opened", err)
		}
		_ = t.dir.Close()
		t.dir = below
		if err := t.checkFolder(at); err != nil {
			return err
		}
	}
	return nil
}

func (t *target) checkFolder(folder string) error {
	info, err := t.dir.Stat(".")
	if err != nil {
		return failed(t.file, "the folder cannot be read", err)
	}
	if why := osfile.ForeignFolder(info); why != "" {
		return refuse(Foreign, t.file, "make "+folder+" yours, writable for you alone", "the folder %s %s%s", folder, why, t.led())
	}
	return nil
}

// read returns the content of the file; nil if there is none. A file that is
// replaced meanwhile is read again.
func (t *target) read() (b []byte, info fs.FileInfo, err error) {
	for range reads {
		if b, info, err = t.readOnce(); ReasonOf(err) != PlanChanged {
			break
		}
	}
	return b, info, err
}

// reads bounds how often a file that is replaced meanwhile is read.
const reads = 10

func (t *target) readOnce() ([]byte, fs.FileInfo, error) {
	if len(t.missing) > 0 {
		return nil, nil, nil
	}
	info, err := t.dir.Lstat(t.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, failed(t.file, "the file cannot be read", err)
	}
	if err := t.check(info); err != nil {
		return nil, nil, err
	}
	f, err := t.dir.OpenFile(t.name, os.O_RDONLY|osfile.NoWait, 0)
	if err != nil {
		return nil, nil, failed(t.file, "the file cannot be read", err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, nil, failed(t.file, "the file cannot be read", err)
	}
	if !os.SameFile(info, opened) {
		return nil, nil, refuse(PlanChanged, t.file, "try again", "the file was replaced while it was read")
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, nil, failed(t.file, "the file cannot be read", err)
	}
	if len(b) > maxFile {
		return nil, nil, refuse(TooLarge, t.file, "", "the file has more than %d bytes", maxFile)
	}
	return b, opened, nil
}

// check refuses files that are not plainly the user's own.
func (t *target) check(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return refuse(LeavesRoot, t.file, "try again", "a link has taken the file's place")
	case !info.Mode().IsRegular():
		return refuse(NotRegular, t.file, "take it out of the way", "there is no regular file in that place%s", t.led())
	case info.Size() > maxFile:
		return refuse(TooLarge, t.file, "", "the file has %d bytes, more than %d", info.Size(), maxFile)
	}
	// On Windows the number of names needs an open file and is not checked.
	if n, known := osfile.Links(nil, info); known && n > 1 {
		return refuse(HardLinked, t.file, "replace it by a copy of itself", "the file has %d names (hard links)%s", n, t.led())
	}
	if why := osfile.ForeignFile(info); why != "" {
		return refuse(Foreign, t.file, "make the file yours, writable for you alone", "the file %s%s", why, t.led())
	}
	return nil
}
