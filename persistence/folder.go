package persistence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"hubcli/persistence/storedir"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// heldFolder is the folder of an open store. The store is the folder, and its path is only how
// the hub got there: while the hub runs the folder may be renamed or deleted, and another
// one may stand at the path. Then nothing may be written at the path, and what is written
// to open files may be lost. So it holds the folder open, which keeps its number from
// being given to another one, and compares.
type heldFolder struct {
	dir    string
	handle *os.File // of the store's lock
	mine   []held
}

// held is a folder that has to stay where it is.
type held struct {
	path string
	info fs.FileInfo
}

// folderLook is how often a store that nobody writes to is looked at.
const folderLook = 5 * time.Second

// hold adds a folder to those that have to stay.
func (h *heldFolder) hold(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		h.mine = append(h.mine, held{path, info})
	}
	return err
}

// check reports an error if another folder, or none, stands at a path of the store. It
// takes a stat for each folder.
func (h *heldFolder) check() error {
	for i := range h.mine {
		now, err := os.Stat(h.mine[i].path)
		switch {
		case err == nil && os.SameFile(now, h.mine[i].info):
		case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return h.gone(h.mine[i].path, err)
		default:
			return fmt.Errorf("looking at the store's folder: %w", err)
		}
	}
	return nil
}

// gone says what has become of the folder.
func (h *heldFolder) gone(path string, err error) error {
	e := &goneError{dir: h.dir}
	switch {
	case path != h.dir:
		e.how = "the database in the store's folder " + h.dir + " was moved, exchanged or deleted while the hub ran"
	case storedir.Deleted(h.handle):
		e.how, e.deleted = "the store's folder "+h.dir+" was deleted while the hub ran", true
	case err != nil:
		e.how = "the store's folder was moved away while the hub ran: there is no " + h.dir + " any more"
	default:
		e.how = "the store's folder was moved or exchanged while the hub ran: " + h.dir + " is another folder now"
	}
	return e
}

// goneError says that the store's folder is not at its path any more.
type goneError struct {
	dir, how string
	deleted  bool
}

func (e *goneError) Error() string { return e.how }

// told is what callers hear.
func (e *goneError) told() *hub.Error {
	out := "the hub ends with exit code 70 and writes nothing any more: put the folder back to " + e.dir + ", or restore a backup, then start the hub again"
	if e.deleted {
		out = "the hub ends with exit code 70 and writes nothing any more: restore a backup with `hubcli app restore FILE`, or start with an empty store with `hubcli ensure`"
	}
	return hub.NewError(hub.CodeStoreGone, e.how+"; whether the last writes were kept is unknown").WithFix(out)
}

// Check reports whether the store can be written to. If its folder was moved, exchanged or
// deleted, the store has failed from then on; see Failed. It is cheap enough for any call.
func (s *Store) Check() error {
	if err := s.Err(); err != nil {
		return err
	}
	if err := s.folder.check(); err != nil {
		return s.fail(err)
	}
	return nil
}

// ready is Check for a call that writes.
func (s *Store) ready() error {
	if s.start != nil {
		return errNotBegun
	}
	return s.Check()
}

// holdFolder holds the folder of a store that is being opened.
func (s *Store) holdFolder() (err error) {
	s.folder = &heldFolder{dir: s.dir, handle: s.lock.Folder}
	if err := s.folder.hold(s.dir); err != nil {
		return storedir.IOError("looking at the store's folder", err)
	}
	s.space.gone = func() bool { return s.Check() != nil }
	return nil
}

// watchFolder looks at the folder of a store that nobody writes to, until the store is
// closed or has failed.
func (s *Store) watchFolder() {
	tick := time.NewTicker(folderLook)
	defer tick.Stop()
	var seen time.Time
	for {
		select {
		case <-tick.C:
			if s.Check() == nil {
				seen = s.protectDatabase(seen)
			}
		case <-s.failed:
			return
		case <-s.closing:
			return
		}
	}
}

// protectDatabase takes the rights of others on the database's files away. Badger makes its
// files as the umask of the process has it, so that only the store's folder would protect them.
// It looks at the files if the folder has changed since the given time, and returns the time of
// the folder.
func (s *Store) protectDatabase(seen time.Time) time.Time {
	dir := s.folder.bound(storedir.NameBadger)
	info, err := os.Stat(dir)
	if err != nil || info.ModTime().Equal(seen) {
		return seen
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		now, ierr := e.Info()
		if ierr != nil || !now.Mode().IsRegular() || osfile.Permissions(now)&0o077 == 0 {
			continue // it is gone, or as it should be
		}
		if perr := osfile.Protect(filepath.Join(dir, e.Name()), 0o600); perr != nil && !errors.Is(perr, fs.ErrNotExist) {
			err = perr
		}
	}
	if err != nil {
		s.log.Warn("files of the database can be read by others as far as the store's folder lets them", "cause", err)
	}
	return info.ModTime()
}
