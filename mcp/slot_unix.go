//go:build unix

package mcp

import (
	"errors"
	"os"
)

// syncFolder makes a rename last.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
