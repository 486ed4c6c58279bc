package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

var importHandlers = handlers{
	"planImport":    planImport,
	"getImport":     getImport,
	"confirmImport": confirmImport,
	"cancelImport":  cancelImport,
}

func planImport(c *call) (reply, error) {
	var in hub.CapsuleImportInput
	if err := c.onThisMachine(); err != nil {
		return reply{}, err
	}
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := api.ValidateCapsuleImport(&in); err != nil {
		return reply{}, err
	}
	c.parks(hub.CapsulePlanAnswer)
	return oneRow(c.server.config.Imports.PlanImport(c.context(), in))
}

func getImport(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	return oneRow(c.server.config.Imports.ImportPlan(c.context(), c.param))
}

func confirmImport(c *call) (reply, error) {
	var in hub.CapsuleConfirmInput
	if err := c.onThisMachine(); err != nil {
		return reply{}, err
	}
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := api.ValidateCapsuleConfirm(&in); err != nil {
		return reply{}, err
	}
	c.parks(hub.CapsulePlanAnswer)
	return oneRow(c.server.config.Imports.ConfirmImport(c.context(), c.param, in))
}

func cancelImport(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	return oneRow(c.server.config.Imports.CancelImport(c.context(), c.param))
}
