package httpapi

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/hub"
)

// metrics counts calls; one call costs some atomic additions.
type metrics struct {
	status    hub.Status
	bodyBytes *atomic.Int64 // of the buffers of all request bodies being read

	mu    sync.RWMutex
	calls map[outcome]*atomic.Uint64
	times map[string]*histogram // by operation
}

// outcome is what calls are counted by: the operation, and its error code or ok.
type outcome struct{ operation, code string }

// noOperation labels requests that were refused before they were routed.
const noOperation = "none"

func newMetrics(s *Server) *metrics {
	return &metrics{
		status: s.config.Status, bodyBytes: &s.bodyBytes,
		calls: map[outcome]*atomic.Uint64{}, times: map[string]*histogram{},
	}
}

// counter returns the counter of an outcome, which it makes if need be.
func (m *metrics) counter(o outcome) *atomic.Uint64 {
	m.mu.RLock()
	c := m.calls[o]
	m.mu.RUnlock()
	if c != nil {
		return c
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c = m.calls[o]; c == nil {
		c = &atomic.Uint64{}
		m.calls[o] = c
	}
	return c
}

// counted is an outcome with its count.
type counted struct {
	outcome
	count uint64
}

// outcomes returns all counters, sorted by their labels.
func (m *metrics) outcomes() []counted {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := make([]counted, 0, len(m.calls))
	for o, c := range m.calls {
		all = append(all, counted{o, c.Load()})
	}
	slices.SortFunc(all, func(a, b counted) int {
		if a.code != b.code {
			return strings.Compare(a.code, b.code)
		}
		return strings.Compare(a.operation, b.operation)
	})
	return all
}

// observed holds the counters of one route's successes.
type observed struct {
	calls   *atomic.Uint64
	seconds *histogram
}

// of makes the counters of a route, before the server serves.
func (m *metrics) of(operation string) observed {
	h := &histogram{}
	m.mu.Lock()
	m.times[operation] = h
	m.mu.Unlock()
	return observed{m.counter(outcome{operation, "ok"}), h}
}

func (o observed) succeeded(began time.Time) {
	o.calls.Add(1)
	o.seconds.add(time.Since(began).Seconds())
}

func (m *metrics) failed(rt *route, code hub.Code) { m.counter(outcome{rt.ID, string(code)}).Add(1) }

func (m *metrics) refused(code hub.Code) { m.counter(outcome{noOperation, string(code)}).Add(1) }

// steps are the upper bounds of a histogram's buckets, in seconds. The last bucket has none.
var steps = [...]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5, 30}

// histogram counts times.
type histogram struct {
	buckets [len(steps) + 1]atomic.Uint64
	sum     atomic.Uint64 // the bits of a float64, in seconds
}

func (h *histogram) add(seconds float64) {
	i := 0
	for i < len(steps) && seconds > steps[i] {
		i++
	}
	h.buckets[i].Add(1)
	for {
		old := h.sum.Load()
		if h.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+seconds)) {
			return
		}
	}
}
