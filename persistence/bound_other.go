//go:build !linux

package persistence

import "path/filepath"

// bound returns the path of a folder in the held one; see the file for Linux.
func (h *heldFolder) bound(name string) string { return filepath.Join(h.dir, name) }
