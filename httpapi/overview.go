package httpapi

import (
	"context"
	"time"

	"hubcli/hub"
	"hubcli/overview"
)

var overviewHandlers = handlers{
	"getOverview": getOverview,
}

var _ hub.Overviews = whole{}

// whole is what an overview reads: the services, and the status of the daemon.
type whole struct {
	hub.Service
	status hub.Status
}

// AppStatus returns the status of the daemon.
func (w whole) AppStatus(ctx context.Context) (hub.AppStatus, error) { return w.status.AppStatus(ctx) }

// Overview derives what follows from all lists.
func (w whole) Overview(ctx context.Context) (hub.Overview, error) {
	s, err := overview.Gather(ctx, overview.Source{Hub: w}, hub.TimeOf(time.Now()))
	if err != nil {
		return hub.Overview{}, err
	}
	return hub.Overview{At: s.At, Trouble: list(s.Trouble), Waits: list(s.Waits), Circles: list(s.Circles), Cut: list(s.Cut)}, nil
}

func getOverview(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	return oneRow(whole{c.service(), c.server.config.Status}.Overview(c.context()))
}
