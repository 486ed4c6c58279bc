package osfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// What ReadSmall refuses.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrExchanged  = errors.New("file was exchanged while it was opened")
	ErrTooLong    = errors.New("file is too long")
)

// ReadSmall reads a regular file of at most limit bytes. Anything else under the
// name (a link, a device, a pipe that would hang the reader) is ErrNotRegular and
// is not opened.
func ReadSmall(name string, limit int64) ([]byte, error) {
	return readSmall(name, limit, os.Lstat, func() (*os.File, error) { return os.OpenFile(name, Cautious, 0) })
}

// ReadSmallIn is ReadSmall of a file below root.
func ReadSmallIn(root *os.Root, name string, limit int64) ([]byte, error) {
	return readSmall(name, limit, root.Lstat, func() (*os.File, error) { return root.OpenFile(name, Cautious, 0) })
}

// ReadSmallLinked is ReadSmall of what a link leads to.
func ReadSmallLinked(name string, limit int64) ([]byte, error) {
	return readSmall(name, limit, os.Stat, func() (*os.File, error) { return os.OpenFile(name, os.O_RDONLY|NoWait, 0) })
}

// readSmall looks before it opens, because opening a device can have effects, and
// looks again at what it has opened, because somebody may have exchanged the file
// in between.
func readSmall(name string, limit int64, look func(string) (fs.FileInfo, error), open func() (*os.File, error)) ([]byte, error) {
	before, err := look(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrNotRegular}
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(before, now) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrExchanged}
	}
	return ReadAll(f, name, limit)
}

// ReadAll reads at most limit bytes; more are ErrTooLong. name is for the error.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(b)) > limit:
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrTooLong}
	}
	return b, nil
}
