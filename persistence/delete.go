package persistence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/persistence/storedir"

	"hubcli/internal/osfile"
)

// Kept says that Delete has removed the store but left things in its folder that
// are not the store's.
type Kept struct {
	Dir   string   // where they are now
	Names []string // what they are
}

func (k *Kept) Error() string {
	return fmt.Sprintf("the store is deleted; what was not the store's is kept in %s: %s", k.Dir, strings.Join(k.Names, ", "))
}

// Delete removes the store in dir for good. It touches only a folder that carries
// a store's marker, is no symbolic link, no home folder, no root and no
// repository, and whose lock is free. The store disappears at once, by a rename;
// then its own files are deleted, and what earlier calls left that were killed. A
// *Kept error says that the store is gone but other files were in its folder and
// are kept; ErrNoStore, ErrNotAStore, ErrNewerFormat and ErrLocked say that nothing
// was touched.
func Delete(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return storedir.IOError("resolving the path", err)
	}
	left := HalfDeleted(dir)
	err = deleteWhole(dir)
	if errors.Is(err, storedir.ErrNoStore) && len(left) > 0 {
		err = nil
	}
	var kept *Kept
	if err != nil && !errors.As(err, &kept) {
		return err
	}
	for _, trash := range left {
		if lerr := deleteRest(trash); lerr != nil && err == nil {
			err = lerr
		}
	}
	return err
}

// trashTime is the time of a Delete in the name of the folder that it makes.
const trashTime = "20060102T150405.000000000"

// HalfDeleted returns the folders with what a killed Delete has left of stores in dir. They
// have a store's marker or nothing but a store's files: what a Delete that came to its end
// has kept is none of them.
func HalfDeleted(dir string) (left []string) {
	names, _ := storedir.DiskFS{}.ReadDir(filepath.Dir(dir)) // absent: none
	for _, name := range names {
		at, ok := strings.CutPrefix(name, filepath.Base(dir)+".trash-")
		if _, err := time.Parse(trashTime, at); !ok || err != nil {
			continue
		}
		trash := filepath.Join(filepath.Dir(dir), name)
		if _, err := storedir.Inspect(trash); err == nil || errors.Is(err, storedir.ErrNoStore) {
			left = append(left, trash)
		}
	}
	return left
}

// deleteRest deletes a folder that HalfDeleted has returned, unless its Delete is still at
// work.
func deleteRest(trash string) error {
	lock, err := storedir.TakeLock(trash, "")
	if errors.Is(err, storedir.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if !storedir.RenameLocked { // there no file that is open can be deleted
		_ = lock.Close()
	}
	return removeStore(trash)
}

func deleteWhole(dir string) error {
	if err := deletable(dir); err != nil {
		return err
	}
	if _, err := storedir.Inspect(dir); err != nil {
		return err
	}
	lock, err := storedir.TakeLock(dir, "")
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := storedir.Inspect(dir); err != nil { // again, now that no other process can change it
		lock.Unsay()
		return err
	}
	if !storedir.RenameLocked {
		_ = lock.Close()
	}
	trash := fmt.Sprintf("%s.trash-%s", dir, time.Now().UTC().Format(trashTime))
	if err := os.Rename(dir, trash); err != nil {
		if storedir.RenameLocked {
			lock.Unsay()
		}
		return storedir.IOError("moving the store away", err)
	}
	if err := osfile.SyncDir(filepath.Dir(dir)); err != nil {
		return storedir.IOError("moving the store away", err)
	}
	return removeStore(trash)
}

// deletable refuses folders that a user would only name by mistake.
func deletable(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return storedir.ErrNoStore
	}
	if err != nil {
		return storedir.IOError("looking at the folder", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return storedir.NotAStore(dir + " is a symbolic link; name the folder itself")
	}
	if !info.IsDir() {
		return storedir.NotAStore(dir + " is a file; a store is a folder")
	}
	if filepath.Dir(dir) == dir {
		return storedir.NotAStore(dir + " is the root of a file system")
	}
	if home, err := os.UserHomeDir(); err == nil {
		if there, err := os.Stat(home); err == nil && os.SameFile(info, there) {
			return storedir.NotAStore(dir + " is a home folder")
		}
	}
	for _, name := range []string{".git", ".hg", ".svn", ".jj"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return storedir.NotAStore(dir + " is a repository: it holds " + name)
		}
	}
	return nil
}

// removeStore deletes the store's own files in dir and then dir, unless others
// are left. The marker goes last: a folder without it has nothing of the store.
func removeStore(dir string) error {
	names, err := storedir.DiskFS{}.ReadDir(dir)
	if err != nil {
		return storedir.IOError("deleting the store", err)
	}
	var kept []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		switch {
		case name == storedir.NameBadger:
			err = os.RemoveAll(path) // does not follow links
		case name == storedir.NameCheckpoints:
			err = removeCheckpoints(path)
		case name == storedir.NameSearch && isIndex(path), name == storedir.NamePlans:
			err = os.RemoveAll(path)
		case name == storedir.NameFormat:
		case storedir.OwnedName(name):
			err = os.Remove(path)
		default:
			kept = append(kept, name)
		}
		if err != nil {
			return storedir.IOError("deleting "+name, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, storedir.NameFormat)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storedir.IOError("deleting "+storedir.NameFormat, err)
	}
	if len(kept) > 0 {
		return &Kept{Dir: dir, Names: kept}
	}
	if err := os.Remove(dir); err != nil {
		if left, lerr := (storedir.DiskFS{}).ReadDir(dir); lerr == nil && len(left) > 0 {
			return &Kept{Dir: dir, Names: left}
		}
		return storedir.IOError("deleting the folder", err)
	}
	return nil
}

// indexMark begins the file VERSION in the folder of a search index; package
// search writes it.
const indexMark = "hubcli search index\n"

// isIndex reports whether path is the folder of a search index, which can always
// be made anew; whatever else stands there is kept.
func isIndex(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	b, err := storedir.ReadFile(storedir.DiskFS{}, filepath.Join(path, "VERSION"), 4096)
	return err == nil && strings.HasPrefix(string(b), indexMark)
}

// SearchDir returns the folder of the store's search index, which may not exist
// yet. The index is derived data: the store does not need it. The path leads to the folder
// that the store has open, and not to another one that may stand at the path of the store
// meanwhile.
func (s *Store) SearchDir() string { return s.folder.bound(storedir.NameSearch) }

// PlansDir returns the folder of the files of exports that are planned, which may not exist
// yet. The store does not look into it; its files go with the hub's process.
func (s *Store) PlansDir() string { return filepath.Join(s.dir, storedir.NamePlans) }

// removeCheckpoints deletes the checkpoints; the folder stays if it holds more.
func removeCheckpoints(dir string) error {
	names, err := storedir.DiskFS{}.ReadDir(dir)
	if err != nil {
		return err
	}
	others := false
	for _, name := range names {
		if _, ok := checkpointSeq(strings.TrimSuffix(name, storedir.TempSuffix)); !ok {
			others = true
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if others {
		return nil
	}
	return os.Remove(dir)
}
