package hub

import "context"

// CapsuleImportInput asks for a plan of an import. Its members are those of
// CapsuleInspectInput.
type CapsuleImportInput struct {
	Path     string   `json:"path"`
	Identity string   `json:"identity,omitempty"`
	Keys     []string `json:"keys,omitempty"`
	Signed   bool     `json:"signed,omitempty"`
}

// CapsuleImporting is a state of the plan of an import, beside planning, ready, done and failed.
const CapsuleImporting CapsulePlanState = "importing" // it was confirmed and is under way

// CapsuleImportPlan says exactly what an import makes. To plan it reads and checks the whole
// capsule and changes nothing. Members below Total are those of a plan that is ready,
// importing or done.
type CapsuleImportPlan struct {
	PlanID    string           `json:"plan_id"`
	State     CapsulePlanState `json:"state"`
	Error     string           `json:"error,omitempty"`
	Path      string           `json:"path"`
	ExpiresAt Time             `json:"expires_at"` // of a plan that is not confirmed
	Done      int64            `json:"done"`       // while it plans bytes, then rows
	Total     int64            `json:"total"`      // 0: not known yet

	Size           int64          `json:"size"` // bytes of the file
	ProductVersion string         `json:"product_version"`
	CreatedAt      Time           `json:"created_at"` // when the capsule was made, as it says
	Scope          CapsuleScope   `json:"scope"`
	Privacy        CapsulePrivacy `json:"privacy"`
	Counts         CapsuleCounts  `json:"counts"`
	Redactions     map[string]int `json:"redactions"` // rule: places
	LeftOut        map[string]int `json:"left_out"`   // kind: things
	CapsuleID      string         `json:"capsule_id"`
	ContentDigest  string         `json:"content_digest"`
	FromSlug       string         `json:"from_slug"` // of the project, in the capsule
	FromName       string         `json:"from_name"`
	Slug           string         `json:"slug"`         // that the project gets here
	Name           string         `json:"name"`         // that it gets here
	Earlier        []ProjectID    `json:"earlier"`      // the projects that came from a capsule with the same content
	SharedRooms    []string       `json:"shared_rooms"` // slugs of its rooms that rooms here have already, sorted
	Encrypted      bool           `json:"encrypted"`
	PlanDigest     string         `json:"plan_digest"`

	Signature CapsuleSignature `json:"signature"`
	// Prompt is the exact question to ask the operator.
	Prompt string `json:"prompt"`

	Project *Project `json:"project,omitempty"` // that was made; of a plan that is done
}

// CapsuleImports makes projects of capsules. All calls are the operator's. The paths are
// those of the hub's machine, and only callers on it may name them.
type CapsuleImports interface {
	// PlanImport begins to check a capsule, and answers when that is done or after
	// CapsulePlanAnswer. Errors: invalid,
	// path_not_found, capsule_invalid, capsule_too_new,
	// capsule_too_large, capsule_encrypted, signature_invalid, limit_reached.
	PlanImport(ctx context.Context, in CapsuleImportInput) (CapsuleImportPlan, error)
	// ImportPlan returns a plan. Errors: plan_not_found.
	ImportPlan(ctx context.Context, id string) (CapsuleImportPlan, error)
	// ConfirmImport begins to import what was planned, and answers when that is done or
	// after CapsulePlanAnswer. The project is there as a whole or not at all. To confirm a
	// plan again changes nothing. Errors: plan_not_found; plan_changed if the digest is not
	// that of the plan, or if the file or the names in the hub have changed since (the
	// detail has the new plan); limit_reached, storage_full.
	ConfirmImport(ctx context.Context, id string, in CapsuleConfirmInput) (CapsuleImportPlan, error)
	// CancelImport ends a plan, also while it is carried out: nothing of it stays then. A
	// project that is there stays. Errors: plan_not_found.
	CancelImport(ctx context.Context, id string) (CapsuleImportPlan, error)
}
