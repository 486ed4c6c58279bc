// Package pause waits: for some time, unless a context ends first, or while something more
// urgent is under way. For is safe for concurrent use; a Beside belongs to one goroutine.
// No timer is left behind.
package pause

import (
	"context"
	"time"
)

// For waits for d and returns true, or returns false as soon as ctx ends.
func For(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}
