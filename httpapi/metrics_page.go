package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"hubcli/hub"
)

// metricsType is the type of the text format of Prometheus.
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// ServeHTTP answers with all metrics, in the text format of Prometheus.
func (m *metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := &metricsPage{}
	m.writeCalls(p)
	p.one("hub_http_body_bytes", "gauge", "Bytes of the buffers of all request bodies being read.", float64(m.bodyBytes.Load()))
	m.writeStatus(r.Context(), p)
	writeRuntime(p)
	writeProcess(p)
	w.Header().Set("Content-Type", metricsType)
	w.Header().Set("Content-Length", strconv.Itoa(p.Len()))
	_, _ = w.Write(p.Bytes()) // the client may have gone
}

// metricsPage is a page of metrics. The labels' values are ids and codes, which need no escape.
type metricsPage struct{ bytes.Buffer }

// family begins the metrics of one name.
func (p *metricsPage) family(name, kind, help string) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// value adds one metric. The labels are {…} or empty.
func (p *metricsPage) value(name, labels string, v float64) {
	fmt.Fprintf(p, "%s%s %s\n", name, labels, number(v))
}

// one adds a family of one metric without labels.
func (p *metricsPage) one(name, kind, help string, v float64) {
	p.family(name, kind, help)
	p.value(name, "", v)
}

func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// writeCalls adds the counters and the histograms of calls.
func (m *metrics) writeCalls(p *metricsPage) {
	p.family("hub_http_call_seconds", "histogram", "Time of successful calls, waiting included.")
	m.mu.RLock()
	times := maps.Clone(m.times)
	m.mu.RUnlock()
	for _, operation := range slices.Sorted(maps.Keys(times)) {
		h, count := times[operation], uint64(0)
		for i := range h.buckets {
			bound := math.Inf(1)
			if i < len(steps) {
				bound = steps[i]
			}
			count += h.buckets[i].Load()
			p.value("hub_http_call_seconds_bucket", fmt.Sprintf("{operation=%q,le=%q}", operation, number(bound)), float64(count))
		}
		of := fmt.Sprintf("{operation=%q}", operation)
		p.value("hub_http_call_seconds_sum", of, math.Float64frombits(h.sum.Load()))
		p.value("hub_http_call_seconds_count", of, float64(count))
	}
	p.family("hub_http_calls_total", "counter", "Calls by operation and by error code, ok for none.")
	for _, c := range m.outcomes() {
		p.value("hub_http_calls_total", fmt.Sprintf("{code=%q,operation=%q}", c.code, c.operation), float64(c.count))
	}
}

// writeStatus adds the counts of app/status. If the status cannot be read, it adds none.
func (m *metrics) writeStatus(ctx context.Context, p *metricsPage) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	s, err := m.status.AppStatus(ctx)
	if err != nil {
		return
	}
	for _, g := range []struct {
		name, help string
		value      float64
	}{
		{"hub_sessions", "Live sessions.", float64(s.Counts.Sessions)},
		{"hub_channels", "Channels.", float64(s.Counts.Channels)},
		{"hub_messages", "Stored messages.", float64(s.Counts.Messages)},
		{"hub_open_tasks", "Tasks that have not ended.", float64(s.Counts.OpenTasks)},
		{"hub_leases", "Claims and locks that are held.", float64(s.Counts.Leases)},
		{"hub_parked_polls", "Calls that wait.", float64(s.Counts.ParkedPolls)},
		{"hub_spawns", "Spawns that have not ended.", float64(s.Counts.Spawns)},
		{"hub_quarantined_actors", "Owners that are quarantined.", float64(len(s.Quarantined))},
		{"hub_journal_head", "Sequence number of the last record.", float64(s.Journal.Head)},
		{"hub_journal_last_sync_seconds", "Duration of the last synced commit.", s.Journal.LastSyncMS / 1000},
		{"hub_journal_free_bytes", "Free space on the store's disk.", float64(s.Journal.FreeBytes)},
		{"hub_journal_ok", "1 while writes go through.", oneIf(s.Journal.State == hub.JournalOK)},
		{"hub_search_documents", "Rows that the search index holds; 0 while it is not open.", float64(s.Search.Documents)},
		{"hub_search_behind", "Rows that the search index has not taken in yet.", float64(s.Search.Behind)},
		{"hub_search_open", "1 while the hub can search.", oneIf(s.Search.Open)},
	} {
		p.one(g.name, "gauge", g.help, g.value)
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
