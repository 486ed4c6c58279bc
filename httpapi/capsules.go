package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

var capsuleHandlers = handlers{
	"planExport":     planExport,
	"exportProject":  exportProject,
	"getExport":      getExport,
	"confirmExport":  confirmExport,
	"cancelExport":   cancelExport,
	"inspectCapsule": inspectCapsule,
}

func planExport(c *call) (reply, error) {
	var in hub.CapsuleExportInput
	if err := c.onThisMachine(); err != nil {
		return reply{}, err
	}
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := api.ValidateCapsuleExport(&in); err != nil {
		return reply{}, err
	}
	c.parks(hub.CapsulePlanAnswer)
	return oneRow(c.server.config.Capsules.PlanExport(c.context(), in))
}

func exportProject(c *call) (reply, error) {
	if err := c.onThisMachine(); err != nil {
		return reply{}, err
	}
	query := c.query()
	in := hub.CapsuleExportInput{
		Project: c.param, Out: query.Text("out"), Scope: hub.CapsuleScope(query.Text("scope")), Rooms: query.Texts("rooms"),
		Privacy: hub.CapsulePrivacy(query.Text("privacy")),
	}
	for _, id := range query.Texts("artifacts") {
		in.Artifacts = append(in.Artifacts, hub.ArtifactID(id))
	}
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if in.Scope == "" {
		in.Scope = hub.CapsuleComplete
	}
	if err := api.ValidateCapsuleExport(&in); err != nil {
		return reply{}, err
	}
	c.parks(hub.CapsulePlanAnswer)
	return oneRow(c.server.config.Capsules.PlanBundle(c.context(), in))
}

func getExport(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	return oneRow(c.server.config.Capsules.ExportPlan(c.context(), c.param))
}

func confirmExport(c *call) (reply, error) {
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
	c.parks(hub.MaxCapsuleConfirm)
	return oneRow(c.server.config.Capsules.ConfirmExport(c.context(), c.param, in))
}

func cancelExport(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	return oneRow(c.server.config.Capsules.CancelExport(c.context(), c.param))
}

func inspectCapsule(c *call) (reply, error) {
	var in hub.CapsuleInspectInput
	if err := c.onThisMachine(); err != nil {
		return reply{}, err
	}
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := api.ValidateCapsuleInspect(&in); err != nil {
		return reply{}, err
	}
	c.parks(hub.MaxCapsuleInspect)
	return oneRow(c.server.config.Capsules.InspectCapsule(c.context(), in))
}

// onThisMachine refuses callers on other machines: the call names files of the hub's.
func (c *call) onThisMachine() error {
	if c.local {
		return nil
	}
	return hub.NewError(hub.CodeOperatorRequired, "files are named from the hub's own machine only").
		WithFix("make the call on the machine of the hub")
}
