package hub

import "context"

// CapsuleImportInput asks for a plan of an import. Its members are those of
// CapsuleInspectInput.
type CapsuleImportInput struct {
	Path string `json:"path" bounds:"1..MaxPathBytes runes"` // Absolute path on the machine of the hub.
	// Absolute path of a file with identities of age, which open an encrypted capsule.
	Identity string   `json:"identity,omitempty" bounds:"1..4096 runes"`
	Keys     []string `json:"keys,omitempty" bounds:"..MaxCapsuleKeys items; each 1..MaxCapsuleKeyChars runes"` // Public keys of minisign, with which the signature is checked.
	Signed   bool     `json:"signed,omitempty"`                                                                 // Refuse a capsule without a valid signature by one of keys.
}

// CapsuleImporting is a state of the plan of an import, beside planning, ready, done and failed.
const CapsuleImporting CapsulePlanState = "importing" // it was confirmed and is under way

// CapsuleImportPlan says exactly what an import makes. To plan it reads and checks the whole
// capsule and changes nothing. Members below Total are those of a plan that is ready,
// importing or done.
type CapsuleImportPlan struct {
	PlanID    string           `json:"plan_id" bounds:"1.. runes"`
	State     CapsulePlanState `json:"state"`
	Error     string           `json:"error,omitempty"`    // Why it failed.
	Path      string           `json:"path"`               // Absolute path on the machine of the hub.
	ExpiresAt Time             `json:"expires_at"`         // Of a plan that is not confirmed.
	Done      int64            `json:"done" bounds:"0.."`  // Bytes that are checked; while it is imported, rows that are written.
	Total     int64            `json:"total" bounds:"0.."` // Of these; 0 while they are counted.

	Size           int64          `json:"size" bounds:"0.."`             // Bytes of the file.
	ProductVersion string         `json:"product_version"`               // That made the capsule, as it says.
	CreatedAt      Time           `json:"created_at" bounds:"as string"` // When it was made, as it says.
	Scope          CapsuleScope   `json:"scope" bounds:"as string"`
	Privacy        CapsulePrivacy `json:"privacy" bounds:"as string"`
	Counts         CapsuleCounts  `json:"counts"`
	Redactions     map[string]int `json:"redactions" bounds:"each 0.."` // How many places each rule has replaced.
	LeftOut        map[string]int `json:"left_out" bounds:"each 0.."`   // How many things of each kind are left out.
	CapsuleID      string         `json:"capsule_id"`
	ContentDigest  string         `json:"content_digest"`
	FromSlug       string         `json:"from_slug"` // Of the project, in the capsule.
	FromName       string         `json:"from_name"`
	Slug           string         `json:"slug"`    // That the project gets here.
	Name           string         `json:"name"`    // That it gets here.
	Earlier        []ProjectID    `json:"earlier"` // Projects that came from a capsule with the same content.
	// Slugs of its rooms that rooms here have already. By such a slug alone no room is found then; it needs its
	// project.
	SharedRooms []string `json:"shared_rooms"`
	Encrypted   bool     `json:"encrypted"`   // The file is encrypted; the rest is what it holds.
	PlanDigest  string   `json:"plan_digest"` // Names the exact plan.

	Signature CapsuleSignature `json:"signature"`
	Prompt    string           `json:"prompt"` // To be shown word for word.

	Project *Project `json:"project,omitempty"` // That was made; only of a plan that is done.
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
