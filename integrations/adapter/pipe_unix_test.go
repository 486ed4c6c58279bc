//go:build unix

package adapter

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

func pipe(_ *rig, path string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), syscall.Mkfifo(path, 0o644))
}
