//go:build !linux

package program

import (
	"io"
	"os"
)

// Stdout is the standard output. Whether it was closed is known on Linux alone.
func Stdout() io.Writer { return os.Stdout }
