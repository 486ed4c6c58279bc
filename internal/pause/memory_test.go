package pause

import (
	"context"
	"runtime"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"
)

// TestBurstIsOverWhenTheProcessIsQuiet: memory is given back once after much work, and
// never while it goes on.
func TestBurstIsOverWhenTheProcessIsQuiet(t *testing.T) {
	const mega = 1 << 20
	var b burst
	for i, look := range []struct {
		allocates uint64
		over      bool
	}{
		{0, false},              // nothing has happened
		{15 * mega, false},      // too little
		{0, false},              //
		{40 * mega, false},      // it goes on
		{quietly + 1, false},    // still
		{quietly, true},         // now it is quiet
		{0, false},              // once is enough
		{quietly, false},        //
		{100 * mega, false},     // the next burst
		{100 * mega, false},     //
		{0, true},               //
		{worthIt - 1, false},    //
		{1, true},               // little by little it is enough
		{worthIt - mega, false}, //
	} {
		if over := b.over(b.last + look.allocates); over != look.over {
			t.Errorf("look %d: %v, want %v", i, over, look.over)
		}
	}
}

// TestMemoryIsReturned: the garbage of a burst is memory of the system a moment later.
func TestMemoryIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go ReturnMemory(ctx)
		before := inUse()
		const burst = 256 << 20
		if during := allocate(burst); during < before+burst/2 {
			t.Fatalf("the burst took %d bytes", during-before)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if now := inUse(); now > before+burst/8 {
			t.Errorf("%d bytes are still in use, of %d", now-before, burst)
		}
	})
}

// allocate makes garbage and returns what was in use while it was none.
func allocate(bytes int) (during uint64) {
	const block = 1 << 20
	kept := make([][]byte, bytes/block)
	for i := range kept {
		kept[i] = make([]byte, block)
	}
	during = inUse()
	runtime.KeepAlive(kept)
	return during
}

// inUse is what the process has of the system for its heap.
func inUse() uint64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	var sum uint64
	for _, s := range samples {
		sum += s.Value.Uint64()
	}
	return sum
}
