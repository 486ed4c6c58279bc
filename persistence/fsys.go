package persistence

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fsys is what the writers of HEAD, FORMAT and the checkpoints need of a file
// system. Tests put one in its place that fails or crashes at any step.
type fsys interface {
	OpenFile(name string, flag int, perm fs.FileMode) (file, error)
	Rename(from, to string) error
	Remove(name string) error
	ReadDir(name string) ([]string, error) // names, sorted
	SyncDir(name string) error             // makes creations and renames in it durable
}

type file interface {
	io.Reader
	io.Writer
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
}

// diskFS is the real file system.
type diskFS struct{}

func (diskFS) OpenFile(name string, flag int, perm fs.FileMode) (file, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return f, nil
}

func (diskFS) Rename(from, to string) error { return os.Rename(from, to) }
func (diskFS) Remove(name string) error     { return os.Remove(name) }
func (diskFS) SyncDir(name string) error    { return syncDir(name) }

func (diskFS) ReadDir(name string) ([]string, error) {
	entries, err := os.ReadDir(name)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// readFile reads at most limit bytes of a file; a longer one is an error.
func readFile(fsy fsys, name string, limit int64) ([]byte, error) {
	f, err := fsy.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = &fs.PathError{Op: "read", Path: name, Err: errTooLong}
	}
	return b, err
}

// replaceFile puts content under name so that, whatever happens, name holds
// either what it held before or all of content. write fills the temporary file;
// check reads it back before it takes the name.
func replaceFile(fsy fsys, name string, write func(io.Writer) error, check func(io.Reader) error) (err error) {
	temp := name + tempSuffix
	f, err := fsy.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = fsy.Remove(temp) // an orphan is swept at the next start
		}
	}()
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err == nil && check != nil {
		err = check(io.NewSectionReader(f, 0, 1<<62))
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err = fsy.Rename(temp, name); err != nil {
		return err
	}
	return fsy.SyncDir(filepath.Dir(name))
}

// tempSuffix ends the names of files that are not complete yet.
const tempSuffix = ".tmp"
