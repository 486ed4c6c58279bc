package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"hubcli/hub"
)

// metrics counts calls; one call costs two atomic additions.
type metrics struct {
	calls   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	page    http.Handler
}

// noOperation labels requests that were refused before they were routed.
const noOperation = "none"

func newMetrics(s *Server) (*metrics, error) {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hub_http_calls_total", Help: "Calls by operation and by error code, ok for none.",
		}, []string{"operation", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hub_http_call_seconds", Help: "Time of successful calls, waiting included.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5, 30},
		}, []string{"operation"}),
	}
	bodies := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "hub_http_body_bytes", Help: "Bytes of the buffers of all request bodies being read.",
	}, func() float64 { return float64(s.bodyBytes.Load()) })
	registry := s.config.Registry
	for _, c := range []prometheus.Collector{m.calls, m.seconds, bodies, statusCollector{s.config.Status}} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("httpapi: metrics: %w", err)
		}
	}
	// A shared registry may have them already.
	_ = registry.Register(collectors.NewGoCollector())
	_ = registry.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.page = promhttp.HandlerFor(registry, promhttp.HandlerOpts{DisableCompression: true})
	return m, nil
}

// observed holds the counters of one route's successes.
type observed struct {
	calls   prometheus.Counter
	seconds prometheus.Observer
}

func (m *metrics) of(operation string) observed {
	return observed{m.calls.WithLabelValues(operation, "ok"), m.seconds.WithLabelValues(operation)}
}

func (o observed) succeeded(began time.Time) {
	o.calls.Inc()
	o.seconds.Observe(time.Since(began).Seconds())
}

func (m *metrics) failed(rt *route, code hub.Code) {
	m.calls.WithLabelValues(rt.ID, string(code)).Inc()
}

func (m *metrics) refused(code hub.Code) {
	m.calls.WithLabelValues(noOperation, string(code)).Inc()
}

// statusCollector shows the counts of app/status.
type statusCollector struct{ status hub.Status }

var statusGauges = []struct {
	desc  *prometheus.Desc
	value func(*hub.AppStatus) float64
}{
	{gauge("hub_sessions", "Live sessions."), func(s *hub.AppStatus) float64 { return float64(s.Counts.Sessions) }},
	{gauge("hub_channels", "Channels."), func(s *hub.AppStatus) float64 { return float64(s.Counts.Channels) }},
	{gauge("hub_messages", "Stored messages."), func(s *hub.AppStatus) float64 { return float64(s.Counts.Messages) }},
	{gauge("hub_open_tasks", "Tasks that have not ended."), func(s *hub.AppStatus) float64 { return float64(s.Counts.OpenTasks) }},
	{gauge("hub_leases", "Claims and locks that are held."), func(s *hub.AppStatus) float64 { return float64(s.Counts.Leases) }},
	{gauge("hub_parked_polls", "Calls that wait."), func(s *hub.AppStatus) float64 { return float64(s.Counts.ParkedPolls) }},
	{gauge("hub_spawns", "Spawns that have not ended."), func(s *hub.AppStatus) float64 { return float64(s.Counts.Spawns) }},
	{gauge("hub_quarantined_actors", "Owners that are quarantined."), func(s *hub.AppStatus) float64 { return float64(len(s.Quarantined)) }},
	{gauge("hub_journal_head", "Sequence number of the last record."), func(s *hub.AppStatus) float64 { return float64(s.Journal.Head) }},
	{gauge("hub_journal_last_sync_seconds", "Duration of the last synced commit."), func(s *hub.AppStatus) float64 { return s.Journal.LastSyncMS / 1000 }},
	{gauge("hub_journal_free_bytes", "Free space on the store's disk."), func(s *hub.AppStatus) float64 { return float64(s.Journal.FreeBytes) }},
	{gauge("hub_journal_ok", "1 while writes go through."), func(s *hub.AppStatus) float64 {
		if s.Journal.State == hub.JournalOK {
			return 1
		}
		return 0
	}},
	{gauge("hub_search_documents", "Rows that the search index holds; 0 while it is not open."), func(s *hub.AppStatus) float64 { return float64(s.Search.Documents) }},
	{gauge("hub_search_behind", "Rows that the search index has not taken in yet."), func(s *hub.AppStatus) float64 { return float64(s.Search.Behind) }},
	{gauge("hub_search_open", "1 while the hub can search."), func(s *hub.AppStatus) float64 {
		if s.Search.Open {
			return 1
		}
		return 0
	}},
}

func gauge(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }

// Describe implements prometheus.Collector.
func (c statusCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, g := range statusGauges {
		ch <- g.desc
	}
}

// Collect implements prometheus.Collector. If the status cannot be read, it
// sends no metrics.
func (c statusCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	status, err := c.status.AppStatus(ctx)
	if err != nil {
		return
	}
	for _, g := range statusGauges {
		ch <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, g.value(&status))
	}
}
