package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func surfaceHandlers() handlers {
	return handlers{
		"getToolSurface": getToolSurface,
		"setToolSurface": putToolSurface,
	}
}

func getToolSurface(c *call) (reply, error) {
	query := c.query()
	harness := hub.Harness(query.Name("harness", hub.MaxNameChars))
	if harness != "" {
		query.Keep(api.ValidateHarness("harness", &harness))
	}
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	rows, err := c.service().ToolSurfaces(c.context(), harness)
	return reply{result: list(rows)}, err
}

func putToolSurface(c *call) (reply, error) {
	var in hub.ToolSurfaceInput
	return writeRow(c, &in, nil, anyone(api.ValidateToolSurface), c.service().SetToolSurface, changed)
}
