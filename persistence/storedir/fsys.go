package storedir

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"hubcli/internal/osfile"
)

// Fsys is the part of a file system that the writers of HEAD, FORMAT and the
// checkpoints need. Tests replace it with one that fails or crashes at any
// step.
type Fsys interface {
	osfile.FS
	ReadDir(name string) ([]string, error) // names, sorted
}

// File is an open file.
type File = osfile.File

// DiskFS is the real file system.
type DiskFS struct{ osfile.Disk }

// ReadDir implements Fsys.
func (DiskFS) ReadDir(name string) ([]string, error) {
	entries, err := os.ReadDir(name)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// ReadFile reads at most limit bytes of a file; a longer one is an error. A store may have
// come from others: a link is not followed, and nothing but a plain file is waited for.
func ReadFile(fsy Fsys, name string, limit int64) ([]byte, error) {
	f, err := fsy.OpenFile(name, osfile.Cautious, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if real, ok := f.(*os.File); ok { // not one of a disk that a test makes up
		if info, err := real.Stat(); err != nil {
			return nil, err
		} else if !info.Mode().IsRegular() {
			return nil, &fs.PathError{Op: "read", Path: name, Err: osfile.ErrNotRegular}
		}
	}
	return osfile.ReadAll(f, name, limit)
}

// ReplaceFile calls osfile.Replace with a temporary file, which the next start
// deletes if a crash leaves it.
func ReplaceFile(fsy Fsys, name string, write func(io.Writer) error, check func(io.Reader) error) error {
	return osfile.Replace(fsy, name, osfile.Content{Write: write, Check: check, Temp: filepath.Base(name) + TempSuffix})
}

// TempSuffix ends the names of files that are not complete yet.
const TempSuffix = ".tmp"
