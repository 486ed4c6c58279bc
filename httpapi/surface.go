package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

var surfaceHandlers = handlers{
	"getToolSurface": getToolSurface,
	"setToolSurface": putToolSurface,
}

func getToolSurface(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	harness := hub.Harness(query.Name("harness", hub.MaxNameChars))
	if harness != "" {
		query.Keep(api.ValidateHarness("harness", &harness))
	}
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	rows, err := c.server.config.Service.ToolSurfaces(c.context(), harness)
	return reply{result: list(rows)}, err
}

func putToolSurface(c *call) (reply, error) {
	var in hub.ToolSurfaceInput
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := api.ValidateToolSurface(&in); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.SetToolSurface(c.context(), in)
	return created(out, false), err
}
