package persistence

import (
	"io"
	"os"
	"path/filepath"

	"hubcli/internal/osfile"
)

// fsys is the part of a file system that the writers of HEAD, FORMAT and the
// checkpoints need. Tests replace it with one that fails or crashes at any
// step.
type fsys interface {
	osfile.FS
	ReadDir(name string) ([]string, error) // names, sorted
}

type file = osfile.File

// diskFS is the real file system.
type diskFS struct{ osfile.Disk }

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
	return osfile.ReadAll(f, name, limit)
}

// replaceFile calls osfile.Replace with a temporary file, which the next start
// deletes if a crash leaves it.
func replaceFile(fsy fsys, name string, write func(io.Writer) error, check func(io.Reader) error) error {
	return osfile.Replace(fsy, name, osfile.Content{Write: write, Check: check, Temp: filepath.Base(name) + tempSuffix})
}

// tempSuffix ends the names of files that are not complete yet.
const tempSuffix = ".tmp"
