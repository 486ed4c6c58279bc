package httpapi

import (
	"context"

	"hubcli/hub"
)

// noCapsules serves a hub that neither exports nor imports projects.
type noCapsules struct{}

func errNoCapsules() error {
	return hub.NewError(hub.CodeNotFound, "this hub was built without capsules").WithFix("use a hubcli that was built with them")
}

func (noCapsules) PlanExport(context.Context, hub.CapsuleExportInput) (hub.CapsulePlan, error) {
	return hub.CapsulePlan{}, errNoCapsules()
}

func (noCapsules) PlanBundle(context.Context, hub.CapsuleExportInput) (hub.CapsulePlan, error) {
	return hub.CapsulePlan{}, errNoCapsules()
}

func (noCapsules) ExportPlan(context.Context, string) (hub.CapsulePlan, error) {
	return hub.CapsulePlan{}, errNoCapsules()
}

func (noCapsules) ConfirmExport(context.Context, string, hub.CapsuleConfirmInput) (hub.CapsulePlan, error) {
	return hub.CapsulePlan{}, errNoCapsules()
}

func (noCapsules) CancelExport(context.Context, string) (hub.CapsulePlan, error) {
	return hub.CapsulePlan{}, errNoCapsules()
}

func (noCapsules) InspectCapsule(context.Context, hub.CapsuleInspectInput) (hub.CapsuleSummary, error) {
	return hub.CapsuleSummary{}, errNoCapsules()
}

func (noCapsules) PlanImport(context.Context, hub.CapsuleImportInput) (hub.CapsuleImportPlan, error) {
	return hub.CapsuleImportPlan{}, errNoCapsules()
}

func (noCapsules) ImportPlan(context.Context, string) (hub.CapsuleImportPlan, error) {
	return hub.CapsuleImportPlan{}, errNoCapsules()
}

func (noCapsules) ConfirmImport(context.Context, string, hub.CapsuleConfirmInput) (hub.CapsuleImportPlan, error) {
	return hub.CapsuleImportPlan{}, errNoCapsules()
}

func (noCapsules) CancelImport(context.Context, string) (hub.CapsuleImportPlan, error) {
	return hub.CapsuleImportPlan{}, errNoCapsules()
}
