package persistence

import (
	"fmt"
	"os"
	"path/filepath"
)

// bound returns a path that leads into the held folder itself, whatever stands at its own
// path meanwhile. The libraries that write beside the commits take paths: they make, rename
// and delete files whenever they like, and so never where another store is. Without /proc
// it is the plain path.
func (h *heldFolder) bound(name string) string {
	through := fmt.Sprintf("/proc/self/fd/%d", h.handle.Fd())
	there, err := os.Stat(through)
	mine, merr := h.handle.Stat()
	if err != nil || merr != nil || !os.SameFile(there, mine) {
		return filepath.Join(h.dir, name)
	}
	return filepath.Join(through, name)
}
