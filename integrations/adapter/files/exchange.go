package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"hubcli/integrations/adapter/edit"
	"hubcli/internal/osfile"
)

// withTarget opens the file of a transaction anew, with all checks, for one
// step. folders says whether missing folders are made.
func (s *Store) withTarget(f *journalFile, folders bool, do func(*target) error) error {
	t, err := openTarget(f.Root, f.Target, Project)
	if err != nil {
		return err
	}
	defer t.close()
	if t.real != f.Target {
		return moved(f.File)
	}
	for folders && len(t.missing) > 0 {
		part := t.missing[0]
		if err := s.step("mkdir", part); err != nil {
			return failed(f.File, "the folder cannot be made", err)
		}
		mode := f.FolderMode
		if mode == 0 {
			mode = 0o755
		}
		if err := t.dir.Mkdir(part, mode); err != nil {
			return failed(f.File, "the folder cannot be made", err)
		}
		if err := t.sync(); err != nil {
			return failed(f.File, "the folder cannot be made", err)
		}
		below, err := t.dir.OpenRoot(part)
		if err != nil {
			return failed(f.File, "the folder cannot be opened", err)
		}
		_ = t.dir.Close()
		t.dir, t.missing = below, t.missing[1:]
	}
	return do(t)
}

func (t *target) sync() error { return osfile.SyncDirIn(t.dir, ".") }

// writeTemp writes the file's replacement beside it, with the mode, the group
// and the attributes of the present file.
func (s *Store) writeTemp(t *target, f *journalFile, content []byte) (err error) {
	defer func() { err = failed(f.File, "the new content cannot be written beside the file", err) }()
	if err := s.step("temp", f.File); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if f.Before == "" {
		mode = f.Mode.Perm() // of a new file, less the umask
	}
	temp, err := t.dir.OpenFile(f.Temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := temp.Close(); err == nil {
			err = cerr
		}
	}()
	if _, err := temp.Write(content); err != nil {
		return err
	}
	if old, err := t.dir.OpenFile(t.name, os.O_RDONLY|osfile.NoWait, 0); err == nil {
		defer old.Close()
		info, err := old.Stat()
		if err != nil {
			return err
		}
		if err := errors.Join(osfile.CopyGroup(temp, info), attributes(old, temp)); err != nil {
			return err
		}
	}
	if f.Before != "" {
		if err := temp.Chmod(f.Mode.Perm()); err != nil {
			return err
		}
	}
	if err := s.step("sync", f.File); err != nil {
		return err
	}
	return temp.Sync()
}

// exchange gives a file its new content. A second call does no harm.
func (s *Store) exchange(t *target, f *journalFile) error {
	now, _, err := t.read()
	if err != nil {
		return err
	}
	if hashOf(now) == f.After || hashOf(now) != f.Before && f.holds(now) {
		return errors.Join(s.removeTemp(t, f), s.leftover(f))
	}
	if hashOf(now) != f.Before {
		return moved(f.File)
	}
	if f.After == "" {
		if err := s.step("delete", f.File); err != nil {
			return failed(f.File, "the file cannot be removed", err)
		}
		if err := t.dir.Remove(t.name); err != nil {
			return failed(f.File, "the file cannot be removed", err)
		}
		return errors.Join(failed(f.File, "the folder cannot be written", t.sync()), s.leftover(f))
	}
	if err := s.wholeTemp(t, f); err != nil {
		return err
	}
	// No system call compares and renames at once. A harness that writes
	// between this check and the rename loses its write, or overwrites ours,
	// which the check after the rename finds. If the harness has read our
	// content and added to it, the entries are still there.
	if now, _, err = t.read(); err != nil || hashOf(now) != f.Before {
		return errors.Join(err, moved(f.File))
	}
	now, err = s.rename(t, f)
	if err == nil && hashOf(now) != f.After && !f.holds(now) {
		err = moved(f.File)
	}
	return err
}

// wholeTemp makes sure that the replacement is there and whole; after a crash
// it may not be.
func (s *Store) wholeTemp(t *target, f *journalFile) error {
	if b, err := t.dir.ReadFile(f.Temp); err == nil && edit.Hash(b) == f.After {
		return nil
	}
	content, err := s.readOwn(filepath.Join(nameStaged, f.Staged))
	if err == nil && edit.Hash(content) != f.After {
		err = errors.New("its hash does not match")
	}
	if err != nil {
		return failed(f.File, "the new content is lost", err)
	}
	if err := s.removeTemp(t, f); err != nil {
		return err
	}
	return s.writeTemp(t, f, content)
}

// rename moves the replacement into the file's place and returns the content of
// the file afterwards.
func (s *Store) rename(t *target, f *journalFile) ([]byte, error) {
	if err := s.step("exchange", f.File); err != nil {
		return nil, failed(f.File, "the file cannot be replaced", err)
	}
	if err := t.dir.Rename(f.Temp, t.name); err != nil {
		return nil, failed(f.File, "the file cannot be replaced", err)
	}
	if err := s.step("folder", f.File); err != nil {
		return nil, failed(f.File, "the folder cannot be written", err)
	}
	if err := t.sync(); err != nil {
		return nil, failed(f.File, "the folder cannot be written", err)
	}
	now, _, err := t.read()
	return now, err
}

// restore gives a file its old content again if it has the new one, and returns
// the content afterwards.
func (s *Store) restore(t *target, f *journalFile) ([]byte, error) {
	if err := s.removeTemp(t, f); err != nil {
		return nil, err
	}
	now, _, err := t.read()
	if err != nil || hashOf(now) != f.After {
		return now, err
	}
	if f.Before == "" {
		if err := s.step("delete", f.File); err != nil {
			return nil, failed(f.File, "the file cannot be removed", err)
		}
		return nil, failed(f.File, "the file cannot be removed", errors.Join(t.dir.Remove(t.name), t.sync()))
	}
	content, err := s.readOwn(filepath.Join(nameBackups, f.Backup))
	if err == nil && edit.Hash(content) != f.Before {
		err = errors.New("its hash does not match")
	}
	if err != nil {
		return nil, failed(f.File, "the backup cannot be read", err)
	}
	err = s.withTarget(f, true, func(t *target) (err error) {
		if err = s.writeTemp(t, f, content); err == nil {
			now, err = s.rename(t, f)
		}
		return err
	})
	return now, err
}

func (s *Store) removeTemp(t *target, f *journalFile) error {
	if len(t.missing) > 0 {
		return nil
	}
	if _, err := t.dir.Lstat(f.Temp); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.step("remove", f.Temp); err != nil {
		return failed(f.File, "a temporary file cannot be removed", err)
	}
	if err := t.dir.Remove(f.Temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed(f.File, "a temporary file cannot be removed", err)
	}
	return nil
}

// leftover removes the folders that were made for a deleted file.
func (s *Store) leftover(f *journalFile) error {
	if f.After != "" {
		return nil
	}
	return s.removeFolders(f.Root, f.Leftover)
}

// removeFolders removes the empty ones of the folders below root, innermost
// first.
func (s *Store) removeFolders(root string, folders []string) error {
	if len(folders) == 0 {
		return nil
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return failed(root, "the folder cannot be opened", err)
	}
	defer r.Close()
	for _, folder := range slices.Backward(folders) {
		rel, err := filepath.Rel(root, folder)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if info, err := r.Lstat(rel); err != nil || !info.IsDir() {
			continue
		}
		if err := s.step("rmdir", folder); err != nil {
			return failed(folder, "the folder cannot be removed", err)
		}
		_ = r.Remove(rel) // a folder that is not empty stays
	}
	return nil
}
