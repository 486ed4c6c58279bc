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

// whole is what an overview reads: the services, and the status of the daemon.
type whole struct {
	hub.Service
	status hub.Status
}

// AppStatus returns the status of the daemon.
func (w whole) AppStatus(ctx context.Context) (hub.AppStatus, error) { return w.status.AppStatus(ctx) }

func getOverview(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	from := overview.Source{Hub: whole{c.service(), c.server.config.Status}}
	s, err := overview.Gather(c.context(), from, hub.TimeOf(time.Now()))
	if err != nil {
		return reply{}, err
	}
	return reply{result: hub.Overview{At: s.At, Trouble: list(s.Trouble), Waits: list(s.Waits), Circles: list(s.Circles), Cut: list(s.Cut)}}, nil
}
