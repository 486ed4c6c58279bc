package supervisor

import (
	"bytes"
	"context"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"time"

	"hubcli/hub"
)

// maxStacks bounds the text of all stacks, in bytes.
const maxStacks = 1 << 20

// Debug answers app/debug: what the actors do, and the figures of the process.
// Nothing in it stops the world for longer than a goroutine profile does, and that
// only for q.Stacks.
func (t *Tree) Debug(_ context.Context, q hub.DebugQuery) (hub.Debug, error) {
	out := t.Hub.Debug()
	out.Goroutines, out.Heap = runtime.NumGoroutine(), heapFigures()
	if q.Stacks {
		var b bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil { // as text, equal stacks together
			return out, err
		}
		b.Truncate(min(b.Len(), maxStacks))
		out.Stacks = b.String()
	}
	return out, nil
}

// heapFigures reads the runtime's metrics. runtime.ReadMemStats has the same, but
// stops the world.
func heapFigures() (f hub.HeapFigures) {
	into := []*int64{&f.LiveBytes, &f.Objects, &f.GoalBytes, &f.TotalBytes, &f.GCCycles}
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/objects:objects"},
		{Name: "/gc/heap/goal:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(samples)
	for i := range samples {
		if samples[i].Value.Kind() == metrics.KindUint64 {
			*into[i] = int64(samples[i].Value.Uint64())
		}
	}
	return f
}

// Profile takes a profile of the process. Only one is taken at a time.
func (t *Tree) Profile(ctx context.Context, q hub.ProfileQuery) ([]byte, error) {
	if !t.profiles.TryLock() {
		return nil, errProfiling()
	}
	defer t.profiles.Unlock()
	var b bytes.Buffer
	if q.Kind != hub.ProfileCPU {
		err := pprof.Lookup(string(q.Kind)).WriteTo(&b, 0)
		return b.Bytes(), err
	}
	if pprof.StartCPUProfile(&b) != nil { // another part of the process profiles
		return nil, errProfiling()
	}
	over := time.NewTimer(min(q.For, hub.MaxProfileTime))
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	case <-t.Hub.Ending():
	}
	pprof.StopCPUProfile()
	return b.Bytes(), nil
}

func errProfiling() error {
	return hub.NewError(hub.CodeLimitReached, "another profile of the hub is being taken").
		With("limit", 1).WithFix("repeat the call when it has ended")
}
