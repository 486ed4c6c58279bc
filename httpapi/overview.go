package httpapi

import (
	"context"
	"encoding/json"
	"time"

	"hubcli/hub"
	"hubcli/internal/answers"
	"hubcli/overview"
)

func overviewHandlers() handlers {
	return handlers{
		"getOverview": getOverview,
	}
}

var _ hub.Overviews = whole{}

// whole is what an overview reads: the services, and the status of the daemon.
type whole struct {
	hub.Service
	status hub.Status
}

// AppStatus returns the status of the daemon.
func (w whole) AppStatus(ctx context.Context) (hub.AppStatus, error) { return w.status.AppStatus(ctx) }

// Agents, Claims and Locks return rows without metadata. An overview reads thousands of them
// and looks at no metadata, which would take hundreds of megabytes.
func (w whole) Agents(ctx context.Context, q hub.AgentsQuery) ([]hub.LiveAgent, hub.Cursor, error) {
	return without(func(a *hub.LiveAgent) *json.RawMessage { return &a.Metadata })(w.Service.Agents(ctx, q))
}

// Claims is as Agents.
func (w whole) Claims(ctx context.Context, q hub.LeasesQuery) ([]hub.Claim, hub.Cursor, error) {
	return without(func(c *hub.Claim) *json.RawMessage { return &c.Metadata })(w.Service.Claims(ctx, q))
}

// Locks is as Agents.
func (w whole) Locks(ctx context.Context, q hub.LeasesQuery) ([]hub.Lock, hub.Cursor, error) {
	return without(func(l *hub.Lock) *json.RawMessage { return &l.Metadata })(w.Service.Locks(ctx, q))
}

// without takes the metadata out of the rows of a page.
func without[Row any](metadata func(*Row) *json.RawMessage) func([]Row, hub.Cursor, error) ([]Row, hub.Cursor, error) {
	return func(rows []Row, next hub.Cursor, err error) ([]Row, hub.Cursor, error) {
		for i := range rows {
			*metadata(&rows[i]) = nil
		}
		return rows, next, err
	}
}

// Overview derives what follows from all lists. Their rows are in the order of their weight, so
// the last ones are left out where they are too many bytes.
func (w whole) Overview(ctx context.Context) (hub.Overview, error) {
	s, err := overview.Gather(ctx, overview.Source{Hub: w}, hub.TimeOf(time.Now()))
	if err != nil {
		return hub.Overview{}, err
	}
	o := hub.Overview{At: s.At, Cut: list(s.Cut)}
	o.Trouble = first(&o.More, "trouble", s.Trouble)
	o.Waits = first(&o.More, "waits", s.Waits)
	o.Circles = first(&o.More, "circles", s.Circles)
	return o, nil
}

// first returns the first rows of a list, as many as fit into a third of an answer. No call has
// the others: they are derived.
func first[Row any](more *hub.More, name string, rows []Row) []Row {
	rows, all := answers.First(rows, answers.Rows/3)
	if !all {
		more.Add(name, "hubcli status --json")
	}
	return list(rows)
}

func getOverview(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	return oneRow(whole{c.service(), c.server.config.Status}.Overview(c.context()))
}
