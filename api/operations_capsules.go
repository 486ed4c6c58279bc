package api

import "hubcli/hub"

// capsulesOperations are the calls about capsules.
var capsulesOperations = func() []Operation {
	return []Operation{
		// Plans the export of a project to a file.
		//
		// The hub writes the capsule where nobody sees it, and says exactly what it holds. The answer comes when that
		// is done or after a second; then the plan is asked for until its state is ready. Nothing is at the target
		// before the plan is confirmed. A plan ends by itself after 15 minutes. Paths are those of the hub's machine;
		// a caller on another machine is refused. Direct messages are in the capsule only with full_history.
		//
		// Answer: The plan.
		{
			ID: "planExport", Method: "POST", Path: "/v1/capsules/export", Plane: PlaneOperator, Body: small[hub.CapsuleExportInput](), Wait: Wait{By: WaitFixed, Default: hub.CapsulePlanAnswer},
			Answer: row[hub.CapsulePlan](), Errors: "project_not_found room_not_found target_exists limit_reached plan_not_found capsule_too_large not_found",
		},
		// Cancels the plan of an export.
		//
		// A capsule that is at its target stays there. The answer is the plan as it was.
		//
		// Answer: The plan.
		{
			ID: "cancelExport", Method: "DELETE", Path: "/v1/capsules/export/{plan_id}", Plane: PlaneOperator,
			Answer: row[hub.CapsulePlan](), Errors: "plan_not_found not_found",
		},
		// The plan of an export, and how far it is.
		//
		// Answer: The plan.
		{
			ID: "getExport", Method: "GET", Path: "/v1/capsules/export/{plan_id}", Plane: PlaneOperator,
			Answer: row[hub.CapsulePlan](), Errors: "plan_not_found not_found",
		},
		// Puts the file of a plan at its target.
		//
		// No file is ever replaced. If the project has changed since, nothing is written: plan_changed, with a new
		// plan in detail.plan. A plan that is done is answered as it is.
		//
		// Answer: The plan.
		{
			ID: "confirmExport", Method: "POST", Path: "/v1/capsules/export/{plan_id}/confirm", Plane: PlaneOperator, Body: small[hub.CapsuleConfirmInput](), Wait: Wait{By: WaitFixed, Default: hub.MaxCapsuleConfirm},
			Answer: row[hub.CapsulePlan](), Errors: "plan_not_found confirmation_required plan_changed target_exists project_not_found limit_reached not_found",
		},
		// Plans the import of a capsule as a new project.
		//
		// The hub reads and checks the whole capsule, changes nothing, and says exactly what an import makes. The
		// answer comes when that is done or after a second; then the plan is asked for until its state is ready. A
		// plan ends by itself after 15 minutes. Paths are those of the hub's machine; a caller on another machine is
		// refused.
		//
		// Answer: The plan.
		{
			ID: "planImport", Method: "POST", Path: "/v1/capsules/import", Plane: PlaneOperator, Body: small[hub.CapsuleImportInput](), Wait: Wait{By: WaitFixed, Default: hub.CapsulePlanAnswer},
			Answer: row[hub.CapsuleImportPlan](), Errors: "path_not_found capsule_invalid capsule_too_new capsule_too_large capsule_encrypted signature_invalid limit_reached plan_not_found not_found",
		},
		// Cancels the plan of an import.
		//
		// Of an import that is under way nothing stays; a project that is there stays. The answer is the plan as it
		// was.
		//
		// Answer: The plan.
		{
			ID: "cancelImport", Method: "DELETE", Path: "/v1/capsules/import/{plan_id}", Plane: PlaneOperator,
			Answer: row[hub.CapsuleImportPlan](), Errors: "plan_not_found not_found",
		},
		// The plan of an import, and how far it is.
		//
		// Answer: The plan.
		{
			ID: "getImport", Method: "GET", Path: "/v1/capsules/import/{plan_id}", Plane: PlaneOperator,
			Answer: row[hub.CapsuleImportPlan](), Errors: "plan_not_found not_found",
		},
		// Imports what was planned.
		//
		// The project is there as a whole or not at all. The answer comes when that is done or after a second; then
		// the plan is asked for until its state is done or failed. If the file or the names in the hub have changed
		// since, nothing happens: plan_changed, with the new plan in detail.plan. A plan that is under way or done is
		// answered as it is.
		//
		// Answer: The plan.
		{
			ID: "confirmImport", Method: "POST", Path: "/v1/capsules/import/{plan_id}/confirm", Plane: PlaneOperator, Body: small[hub.CapsuleConfirmInput](), Wait: Wait{By: WaitFixed, Default: hub.CapsulePlanAnswer},
			Answer: row[hub.CapsuleImportPlan](), Errors: "plan_not_found confirmation_required plan_changed path_not_found capsule_invalid capsule_too_new capsule_too_large capsule_encrypted limit_reached not_found",
		},
		// Checks a capsule and says what it holds.
		//
		// The whole file is read and checked, and nothing is changed. The path is one of the hub's machine; a caller
		// on another machine is refused.
		//
		// Answer: The capsule.
		{
			ID: "inspectCapsule", Method: "POST", Path: "/v1/capsules/inspect", Plane: PlaneOperator, Body: small[hub.CapsuleInspectInput](), Wait: Wait{By: WaitFixed, Default: hub.MaxCapsuleInspect},
			Answer: row[hub.CapsuleSummary](), Errors: "path_not_found capsule_invalid capsule_too_new capsule_too_large capsule_encrypted signature_invalid not_found",
		},
	}
}
