package osfile

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FS is what an atomic write needs of a file system. Disk and In are the real
// ones; tests put one in their place that fails or crashes at any step.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(name string) error // makes creations and renames in the folder durable
}

// File is an open file of an FS.
type File interface {
	io.Reader
	io.Writer
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
}

// Disk is the file system of the machine; names are paths.
type Disk struct{}

// OpenFile is os.OpenFile.
func (Disk) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return opened(os.OpenFile(name, flag, perm))
}

// Rename is os.Rename.
func (Disk) Rename(from, to string) error { return os.Rename(from, to) }

// Remove is os.Remove.
func (Disk) Remove(name string) error { return os.Remove(name) }

// SyncDir is the function SyncDir.
func (Disk) SyncDir(name string) error { return SyncDir(name) }

// In is the file system below a root, which no link leads out of. Names are
// relative to the root.
type In struct{ Root *os.Root }

// OpenFile is OpenFile of the root.
func (in In) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return opened(in.Root.OpenFile(name, flag, perm))
}

// Rename is Rename of the root.
func (in In) Rename(from, to string) error { return in.Root.Rename(from, to) }

// Remove is Remove of the root.
func (in In) Remove(name string) error { return in.Root.Remove(name) }

// SyncDir is the function SyncDirIn.
func (in In) SyncDir(name string) error { return SyncDirIn(in.Root, name) }

// opened keeps a nil *os.File out of the interface.
func opened(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Content is what an atomic write puts under a name, and how.
type Content struct {
	// Write fills the temporary file.
	Write func(io.Writer) error
	// Check reads back what Write has written, after it is on the disk and before it
	// takes the name. An error leaves the name as it was. Nil checks nothing.
	Check func(io.Reader) error
	// Temp is the name of the temporary file in the folder of the file, without that
	// folder. What a crash has left under that name is overwritten. Empty: a new name
	// that begins with Prefix, or with DefaultPrefix.
	Temp, Prefix string
	// Mode is the mode of the file; zero is 0600. The umask applies unless Exactly.
	Mode    fs.FileMode
	Exactly bool
}

// DefaultPrefix begins the names of temporary files. The owner of the folder
// removes files that a crash left there.
const DefaultPrefix = ".new-"

// Bytes is the Write of a Content that is known as a whole.
func Bytes(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// Replace puts content under a name. Whatever happens, also a power cut, the name
// holds either what it held before or all of the content. The content is durable
// when Replace returns nil. A link is replaced and not followed.
func Replace(fsys FS, name string, c Content) error {
	temp, err := c.writeTemp(fsys, name)
	if err != nil {
		return err
	}
	if err := fsys.Rename(temp, name); err != nil {
		return errors.Join(err, removeTemp(fsys, temp))
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// Create is Replace of a file of the disk that must not exist: the error is
// fs.ErrExist if it does, and the file is left alone. Where the file system has no
// hard links, a file that appears at that very moment is replaced.
func Create(name string, c Content) error {
	var disk Disk
	temp, err := c.writeTemp(disk, name)
	if err != nil {
		return err
	}
	err = os.Link(temp, name)
	switch {
	case err == nil:
		err = os.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return errors.Join(err, removeTemp(disk, temp))
	default:
		if err = renameToFree(temp, name); err != nil {
			return errors.Join(err, removeTemp(disk, temp))
		}
	}
	return errors.Join(err, SyncDir(filepath.Dir(name)))
}

// renameToFree renames a file to a name that nothing has.
func renameToFree(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "create", Path: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to)
}

// writeTemp writes the content into the temporary file, syncs it, and returns its
// name. After an error no file is left.
func (c *Content) writeTemp(fsys FS, name string) (temp string, err error) {
	if temp = c.Temp; temp != filepath.Base(temp) && temp != "" {
		return "", fmt.Errorf("osfile: the name of the temporary file, %q, is a path", temp)
	}
	flag := os.O_TRUNC
	if temp == "" {
		temp, flag = cmp.Or(c.Prefix, DefaultPrefix)+rand.Text(), os.O_EXCL
	}
	temp = filepath.Join(filepath.Dir(name), temp)
	mode := c.Mode
	if mode == 0 {
		mode = 0o600
	}
	f, err := fsys.OpenFile(temp, os.O_RDWR|os.O_CREATE|flag, mode)
	if err != nil {
		return "", err
	}
	if err = errors.Join(c.fill(f, mode), f.Close()); err != nil {
		return "", errors.Join(err, removeTemp(fsys, temp))
	}
	return temp, nil
}

func (c *Content) fill(f File, mode fs.FileMode) error {
	if m, ok := f.(interface{ Chmod(fs.FileMode) error }); c.Exactly && ok {
		if err := m.Chmod(mode); err != nil {
			return err
		}
	}
	if err := c.Write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if c.Check != nil {
		return c.Check(io.NewSectionReader(f, 0, 1<<62))
	}
	return nil
}

func removeTemp(fsys FS, temp string) error {
	if err := fsys.Remove(temp); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
