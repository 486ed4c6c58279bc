package pause

import (
	"runtime/debug"
	"sync"
)

// rarely is the percentage of growth after which the garbage collector runs while long work
// goes on. A collection takes a processor from the calls that come meanwhile: with Go's own
// percentage, 100, and a small heap there are several in a second of such work. The price is
// memory: six tenths of the live heap more.
const rarely = 160

var collector struct {
	mu     sync.Mutex
	users  int
	before int // the percentage without long work
}

// CollectRarely has the garbage collector of the process run less often until end is called,
// for work that allocates much and keeps little. The limit of memory that the process has set
// stays. Calls may overlap, from any goroutine; each end counts once.
func CollectRarely() (end func()) {
	c := &collector
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users++; c.users == 1 {
		c.before = debug.SetGCPercent(rarely)
		if c.before < 0 || c.before > rarely { // the process was started with a wish of its own
			debug.SetGCPercent(c.before)
		}
	}
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.users--; c.users == 0 {
			debug.SetGCPercent(c.before)
		}
	})
}
