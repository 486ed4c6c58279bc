package httpapi

import (
	"context"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

func capsuleHandlers() handlers {
	return handlers{
		"planExport": namesFiles(hub.CapsulePlanAnswer, api.ValidateCapsuleExport, func(c *call, in hub.CapsuleExportInput) (hub.CapsulePlan, error) {
			return c.server.config.Capsules.PlanExport(c.context(), in)
		}),
		"exportProject": exportProject,
		"confirmExport": keepsAnswer(hub.MaxCapsuleConfirm, api.ValidateCapsuleConfirm, func(c *call, in hub.CapsuleConfirmInput) (hub.CapsulePlan, error) {
			return c.server.config.Capsules.ConfirmExport(c.context(), c.param, in)
		}),
		"getExport":    ofPlan(func(c *call) planCall[hub.CapsulePlan] { return c.server.config.Capsules.ExportPlan }),
		"cancelExport": endsPlan(func(c *call) planCall[hub.CapsulePlan] { return c.server.config.Capsules.CancelExport }),
		"inspectCapsule": namesFiles(hub.MaxCapsuleInspect, api.ValidateCapsuleInspect, func(c *call, in hub.CapsuleInspectInput) (hub.CapsuleSummary, error) {
			return c.server.config.Capsules.InspectCapsule(c.context(), in)
		}),

		"planImport": namesFiles(hub.CapsulePlanAnswer, api.ValidateCapsuleImport, func(c *call, in hub.CapsuleImportInput) (hub.CapsuleImportPlan, error) {
			return c.server.config.Imports.PlanImport(c.context(), in)
		}),
		"confirmImport": goesOn(hub.CapsulePlanAnswer, api.ValidateCapsuleConfirm, func(c *call, in hub.CapsuleConfirmInput) (hub.CapsuleImportPlan, error) {
			return c.server.config.Imports.ConfirmImport(c.context(), c.param, in)
		}),
		"getImport":    ofPlan(func(c *call) planCall[hub.CapsuleImportPlan] { return c.server.config.Imports.ImportPlan }),
		"cancelImport": endsPlan(func(c *call) planCall[hub.CapsuleImportPlan] { return c.server.config.Imports.CancelImport }),
	}
}

// namesFiles handles a call whose input names files of the hub's machine, itself or by a plan,
// and whose answer comes within wait. Callers on other machines are refused.
func namesFiles[I, T any](wait time.Duration, validate func(*I) error, do func(*call, I) (T, error)) func(*call) (reply, error) {
	return func(c *call) (reply, error) {
		in, err := fileInput(c, wait, validate)
		if err != nil {
			return reply{}, err
		}
		return oneRow(do(c, in))
	}
}

// keepsAnswer is namesFiles for a write that is done when it is answered.
func keepsAnswer[I, T any](wait time.Duration, validate func(*I) error, do func(*call, I) (T, error)) func(*call) (reply, error) {
	return func(c *call) (reply, error) {
		in, err := fileInput(c, wait, validate)
		if err != nil {
			return reply{}, err
		}
		return once(c, func() (T, error) { return do(c, in) })
	}
}

// goesOn is namesFiles for a write that may go on after it is answered. It keeps its answer when it
// is done.
func goesOn[I, T any](wait time.Duration, validate func(*I) error, do func(*call, I) (T, error)) func(*call) (reply, error) {
	return func(c *call) (reply, error) {
		in, err := fileInput(c, wait, validate)
		if err != nil {
			return reply{}, err
		}
		if rep, replayed, err := c.answeredBefore(); err != nil || replayed {
			return rep, err
		}
		return oneRow(do(c, in))
	}
}

func fileInput[I any](c *call, wait time.Duration, validate func(*I) error) (in I, err error) {
	if err := c.onThisMachine(); err != nil {
		return in, err
	}
	if err := c.decode(&in); err != nil {
		return in, err
	}
	if err := validate(&in); err != nil {
		return in, err
	}
	c.parks(wait)
	return in, nil
}

// A planCall shows or cancels the plan with an id.
type planCall[T any] = func(ctx context.Context, id string) (T, error)

// ofPlan handles a call about the plan that the path names.
func ofPlan[T any](do func(*call) planCall[T]) func(*call) (reply, error) {
	return func(c *call) (reply, error) {
		if err := c.query().Err(); err != nil {
			return reply{}, err
		}
		return oneRow(do(c)(c.context(), c.param))
	}
}

// endsPlan handles the end of a plan.
func endsPlan[T any](do func(*call) planCall[T]) func(*call) (reply, error) {
	return func(c *call) (reply, error) {
		if err := c.query().Err(); err != nil {
			return reply{}, err
		}
		return once(c, func() (T, error) { return do(c)(c.context(), c.param) })
	}
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

// onThisMachine refuses callers on other machines: the call names files of the hub's.
func (c *call) onThisMachine() error {
	if c.local {
		return nil
	}
	return hub.NewError(hub.CodeOperatorRequired, "files are named from the hub's own machine only").
		WithFix("make the call on the machine of the hub")
}
