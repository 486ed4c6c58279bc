package pause

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Of a process that gives memory back.
const (
	lookEvery = time.Second
	quietly   = 256 << 10 // bytes that a quiet process allocates between two looks, at most
	worthIt   = 16 << 20  // bytes that it has allocated since it gave back memory last, at least
)

// ReturnMemory gives the memory that a burst of work used back to the system when the
// process is quiet again, until ctx ends. Go alone keeps the garbage until as much again is
// allocated, or for two minutes, and the memory for longer. A collection costs a quiet
// process some milliseconds.
func ReturnMemory(ctx context.Context) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	var b burst
	for For(ctx, lookEvery) {
		metrics.Read(sample)
		if b.over(sample[0].Value.Uint64()) {
			runtime.GC() // pools give up in two collections what they keep
			debug.FreeOSMemory()
		}
	}
}

// burst is what a process has allocated since it gave back memory last.
type burst struct {
	from uint64 // bytes that the process had allocated then
	last uint64 // bytes that it had allocated at the last look
}

// over reports whether memory is to be given back now: there was much work, and it has
// ended. allocated is what the process has allocated since its start.
func (b *burst) over(allocated uint64) bool {
	quiet := allocated-b.last <= quietly
	b.last = allocated
	if !quiet || allocated-b.from < worthIt {
		return false
	}
	b.from = allocated
	return true
}
