package adapter

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// deletedSuffix is what Linux adds to the path of an executable that was replaced
// while it runs.
const deletedSuffix = " (deleted)"

// errNoExecutable says that the hub's executable has no lasting path.
var errNoExecutable = errors.New("the hub runs from a temporary file")

// Executable returns a path of the hub's executable that stays valid after an
// upgrade. If a command of the same name on PATH is a link to it, this is the
// link. If the file was replaced, it is the path of the new file. A file of "go
// run" has no such path.
func Executable(self string, lookPath func(string) (string, error)) (string, error) {
	path := strings.TrimSuffix(self, deletedSuffix)
	if onPath, err := lookPath(filepath.Base(path)); err == nil {
		if abs, err := filepath.Abs(onPath); err == nil && (sameFile(abs, path) || !runnable(path)) && !temporary(abs) {
			return abs, nil
		}
	}
	if !filepath.IsAbs(path) || !runnable(path) || temporary(path) {
		return "", errNoExecutable
	}
	return path, nil
}

func sameFile(a, b string) bool {
	sa, errA := os.Stat(a)
	sb, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(sa, sb)
}

// runnable reports whether a path is a file that may be executed.
func runnable(path string) bool {
	found, err := exec.LookPath(path)
	return err == nil && found == path
}

// temporary reports whether the go command built the file for one run.
func temporary(path string) bool {
	return strings.Contains(filepath.ToSlash(path), "/go-build")
}
