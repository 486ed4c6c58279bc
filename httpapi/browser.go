package httpapi

import (
	"context"

	"hubcli/hub"
)

func browserHandlers() handlers {
	return handlers{
		"listBrowserEngines": listBrowserEngines,
	}
}

func listBrowserEngines(c *call) (reply, error) {
	c.parks(hub.MaxBrowserLook)
	ctx, cancel := context.WithTimeout(c.context(), hub.MaxBrowserLook)
	defer cancel()
	rows, err := c.server.config.Browsers.BrowserEngines(ctx)
	return reply{result: list(rows)}, err
}

// noBrowsers serves a hub that looks for no engines.
type noBrowsers struct{}

func (noBrowsers) BrowserEngines(context.Context) ([]hub.BrowserEngine, error) { return nil, nil }
