package hub

import (
	"context"
	"time"
)

// CapsuleScope says which parts of a project a capsule holds.
type CapsuleScope string

// CapsulePrivacy says how the texts of a capsule were treated.
type CapsulePrivacy string

// The scopes and the levels of privacy. ShareSafe texts are redacted, and direct messages
// and binary artifacts are left out.
const (
	CapsuleKnowledge     CapsuleScope = "knowledge"      // no messages
	CapsuleComplete      CapsuleScope = "complete"       // the messages of all rooms, too
	CapsuleSelectedRooms CapsuleScope = "selected_rooms" // complete, for the rooms that were named

	CapsuleShareSafe   CapsulePrivacy = "share_safe"
	CapsuleFullHistory CapsulePrivacy = "full_history"
)

// Limits of exports.
const (
	MaxCapsulePlans     = 4                // exports that are planned and not confirmed
	CapsulePlanKept     = 15 * time.Minute // how long a plan can be confirmed
	CapsulePlanAnswer   = time.Second      // how long the first answer waits for the plan
	MaxCapsuleConfirm   = 10 * time.Minute // how long a confirmed file may take to be written
	MaxCapsuleInspect   = 10 * time.Minute // how long a look at a capsule may take
	MaxCapsuleArtifacts = 1_000            // binary artifacts that one export names
)

// CapsuleExportInput asks for a plan of an export.
type CapsuleExportInput struct {
	Project string         `json:"project"`           // id, slug or name
	Out     string         `json:"out"`               // absolute path on the hub's machine, ending with .hubpack
	Scope   CapsuleScope   `json:"scope,omitempty"`   // absent: knowledge
	Rooms   []string       `json:"rooms,omitempty"`   // ids, slugs or names; with the scope selected_rooms alone
	Privacy CapsulePrivacy `json:"privacy,omitempty"` // absent: share_safe
	// Artifacts are binary artifacts that a share_safe capsule holds all the same.
	Artifacts []ArtifactID `json:"artifacts,omitempty"`
	// GitMirror also writes a readable mirror into the one Git work tree that is bound to
	// rooms of the project.
	GitMirror bool `json:"git_mirror,omitempty"`
	// SignKey is the absolute path of a key of minisign without a password, which signs the
	// file. The signature is beside it, under its name and .minisig.
	SignKey string `json:"sign_key,omitempty"`
	// To are recipients of age, which begin with age1. The file is encrypted to them, and
	// its name ends with .hubpack.age.
	To []string `json:"to,omitempty"`
}

// CapsuleForm says what an export writes.
type CapsuleForm string

// The forms.
const (
	CapsuleFile   CapsuleForm = "capsule" // one file, which a hub takes in
	CapsuleBundle CapsuleForm = "bundle"  // a folder that people read
)

// CapsuleMirrorState says what became of a mirror.
type CapsuleMirrorState string

// The states of a mirror.
const (
	MirrorPlanned CapsuleMirrorState = "planned"
	MirrorSkipped CapsuleMirrorState = "skipped" // none is written; Reason says why
	MirrorDone    CapsuleMirrorState = "done"
	MirrorFailed  CapsuleMirrorState = "failed" // Reason says why; the capsule is written all the same
)

// MaxMirrorChanges is how many changes of a mirror a plan lists.
const MaxMirrorChanges = 200

// CapsuleMirror says what an export changes in the mirror of a project.
type CapsuleMirror struct {
	State  CapsuleMirrorState `json:"state"`
	Reason string             `json:"reason,omitempty"`
	Folder string             `json:"folder,omitempty"` // absolute path
	Write  int                `json:"write"`            // new files
	// Replace and Remove count files that an earlier export wrote and nobody has changed.
	Replace int `json:"replace"`
	Remove  int `json:"remove"`
	Same    int `json:"same"` // files that stay as they are
	// Kept counts files that somebody has changed. What would have replaced one is written
	// beside it, under its name and .new.
	Kept int `json:"kept"`
	// Changes are the first MaxMirrorChanges files that do not stay the same, by paths.
	Changes []CapsuleMirrorChange `json:"changes"`
}

// CapsuleMirrorChange is one file of a mirror.
type CapsuleMirrorChange struct {
	Path string `json:"path"` // from the folder of the mirror, with slashes
	Do   string `json:"do"`   // write, replace, remove or kept
}

// CapsuleConfirmInput confirms a plan by its digest.
type CapsuleConfirmInput struct {
	Confirm string `json:"confirm"`
}

// CapsulePlanState says how far an export is.
type CapsulePlanState string

// The states of a plan.
const (
	CapsulePlanning CapsulePlanState = "planning" // the capsule is being written where nobody sees it
	CapsuleReady    CapsulePlanState = "ready"    // the plan can be confirmed
	CapsuleDone     CapsulePlanState = "done"     // the file is at its target
	CapsuleFailed   CapsulePlanState = "failed"   // it could not be planned; Error says why
)

// CapsuleCounts says how many things of each kind a capsule has.
type CapsuleCounts struct {
	Rooms     int64 `json:"rooms"`
	Agents    int64 `json:"agents"`
	Decisions int64 `json:"decisions"`
	Artifacts int64 `json:"artifacts"`
	Memories  int64 `json:"memories"`
	Runs      int64 `json:"runs"`
	Tasks     int64 `json:"tasks"`
	Messages  int64 `json:"messages"`
	Direct    int64 `json:"direct"`     // messages of these that are direct
	BlobBytes int64 `json:"blob_bytes"` // of all artifacts
}

// MaxLeftOutNames is how many artifacts that are left out a plan names; it counts all.
const MaxLeftOutNames = 20

// CapsuleLeftOut is an artifact whose bytes a share_safe capsule leaves out.
type CapsuleLeftOut struct {
	ArtifactID ArtifactID `json:"artifact_id"`
	Title      string     `json:"title"`
	Version    int64      `json:"version"`
	// Reason is binary, or encoding: it says that it is a text, and is none in UTF-8.
	Reason string `json:"reason"`
}

// CapsulePlan says exactly what an export writes. The file exists already, where nobody
// sees it; to confirm the plan puts it at its target. Members below Total are those of a
// plan that is ready or done.
type CapsulePlan struct {
	PlanID    string           `json:"plan_id"`
	Form      CapsuleForm      `json:"form"`
	State     CapsulePlanState `json:"state"`
	Error     string           `json:"error,omitempty"`
	Target    string           `json:"target"`
	Scope     CapsuleScope     `json:"scope"`
	Privacy   CapsulePrivacy   `json:"privacy"`
	Project   Project          `json:"project"`
	ExpiresAt Time             `json:"expires_at"`
	Done      int64            `json:"done"`  // rows that are written
	Total     int64            `json:"total"` // rows that there are; 0: not known yet

	Rooms         []RoomID       `json:"rooms"` // that were named
	Counts        CapsuleCounts  `json:"counts"`
	Redactions    map[string]int `json:"redactions"` // rule: places
	LeftOut       map[string]int `json:"left_out"`   // kind: things
	Size          int64          `json:"size"`       // bytes of the file, or of all files of a bundle
	Files         int64          `json:"files"`      // 1, or the files of a bundle
	AsOfSeq       Seq            `json:"as_of_seq"`  // the last record that the capsule shows
	AsOfMessage   MessageID      `json:"as_of_message"`
	CapsuleID     string         `json:"capsule_id"`
	ContentDigest string         `json:"content_digest"`
	Mirror        *CapsuleMirror `json:"mirror,omitempty"` // if one was asked for
	// Artifacts are the first MaxLeftOutNames artifacts that LeftOut counts as binary_artifacts.
	Artifacts  []CapsuleLeftOut `json:"artifacts,omitempty"`
	Signer     *CapsuleSigner   `json:"signer,omitempty"`     // if a signature was asked for
	Recipients []string         `json:"recipients,omitempty"` // to whom the file is encrypted
	PlanDigest string           `json:"plan_digest"`
	// Prompt is the exact question to ask the operator.
	Prompt string `json:"prompt"`
}

// CapsuleInspectInput names a file on the hub's machine.
type CapsuleInspectInput struct {
	Path string `json:"path"` // absolute
	// Identity is the absolute path of a file with identities of age, which open an
	// encrypted capsule.
	Identity string `json:"identity,omitempty"`
	// Keys are public keys of minisign, with which a signature is checked.
	Keys []string `json:"keys,omitempty"`
	// Signed refuses a capsule without a valid signature by one of Keys.
	Signed bool `json:"signed,omitempty"`
}

// CapsuleSummary says what a capsule is that has passed all checks.
type CapsuleSummary struct {
	Path           string         `json:"path"`
	Size           int64          `json:"size"` // bytes of the file
	SchemaMajor    int            `json:"schema_major"`
	SchemaMinor    int            `json:"schema_minor"`
	ProductVersion string         `json:"product_version"`
	CreatedAt      Time           `json:"created_at"`
	CapsuleID      string         `json:"capsule_id"`
	ContentDigest  string         `json:"content_digest"`
	Scope          CapsuleScope   `json:"scope"`
	Privacy        CapsulePrivacy `json:"privacy"`
	Slug           string         `json:"slug"` // of the project
	Name           string         `json:"name"` // of the project
	Counts         CapsuleCounts  `json:"counts"`
	Redactions     map[string]int `json:"redactions"` // rule: places
	LeftOut        map[string]int `json:"left_out"`   // kind: things

	Encrypted bool             `json:"encrypted"` // the file is; the rest is what it holds
	Signature CapsuleSignature `json:"signature"`
}

// Capsules writes projects to files and looks at such files. All calls
// are the operator's. The paths are those of the hub's machine, and only callers on it may
// name them.
type Capsules interface {
	// PlanExport begins to write a capsule where nobody sees it, and answers when that is
	// done or after CapsulePlanAnswer. Errors: project_not_found, room_not_found, invalid,
	// target_exists, limit_reached beyond MaxCapsulePlans, storage_full.
	PlanExport(ctx context.Context, in CapsuleExportInput) (CapsulePlan, error)
	// PlanBundle is PlanExport of a folder that people read. Out names a folder that does not
	// exist, or is empty. An absent scope is complete; there is no mirror.
	PlanBundle(ctx context.Context, in CapsuleExportInput) (CapsulePlan, error)
	// ExportPlan returns a plan. Errors: plan_not_found.
	ExportPlan(ctx context.Context, id string) (CapsulePlan, error)
	// ConfirmExport puts the file of a plan at its target, never over another file. To
	// confirm a plan again that is done changes nothing. Errors: plan_not_found,
	// plan_changed if the digest is not that of the plan, or if the project has changed
	// since (the detail has the new plan), target_exists, invalid, storage_full.
	ConfirmExport(ctx context.Context, id string, in CapsuleConfirmInput) (CapsulePlan, error)
	// CancelExport ends a plan and deletes its file; a capsule at its target stays.
	// Errors: plan_not_found.
	CancelExport(ctx context.Context, id string) (CapsulePlan, error)
	// InspectCapsule reads a whole capsule and checks all of it. Errors: path_not_found,
	// capsule_invalid, capsule_too_new, capsule_too_large, capsule_encrypted,
	// signature_invalid.
	InspectCapsule(ctx context.Context, in CapsuleInspectInput) (CapsuleSummary, error)
}
