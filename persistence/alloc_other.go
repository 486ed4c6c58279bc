//go:build !linux

package persistence

import (
	"errors"
	"os"
)

// allocate gives f size bytes of real disk space.
func allocate(f *os.File, size int64) error { return writeNoise(f, size) }

// extendFile would give a file that is being written real disk space; here there
// is no call for it.
func extendFile(string, int64) error { return errors.ErrUnsupported }

func writesInPlace(string) bool { return false }
