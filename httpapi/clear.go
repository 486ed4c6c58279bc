package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func clearHandlers() handlers {
	return handlers{
		"planClear": planClear,
		"clear":     clearThings,
	}
}

func planClear(c *call) (reply, error) {
	var in hub.ClearInput
	return writeRow(c, &in, nil, anyone(api.ValidateClear), c.service().PlanClear, plain)
}

func clearThings(c *call) (reply, error) {
	var in hub.ClearConfirmInput
	return writeRow(c, &in, nil, anyone(api.ValidateClearConfirm), c.service().Clear, plain)
}
