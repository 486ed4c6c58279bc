//go:build unix && !linux

package main

import (
	"errors"
	"fmt"
)

var errNoMemoryFile = fmt.Errorf("this system runs no program from memory: %w", errors.ErrUnsupported)

// fromMemory is not possible here.
func fromMemory([]string) error { return errNoMemoryFile }
