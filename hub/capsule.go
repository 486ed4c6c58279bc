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
	Project string `json:"project" bounds:"name 1..MaxNameChars"` // Id, slug or name.
	// Absolute path on the machine of the hub, ending with .hubpack, or with .hubpack.age if it is encrypted.
	Out       string         `json:"out" bounds:"1..4096 runes"`
	Scope     CapsuleScope   `json:"scope,omitempty" bounds:"default knowledge"`                                           // Absent: knowledge.
	Rooms     []string       `json:"rooms,omitempty" bounds:"..MaxProjectRooms items; each name 1..MaxNameChars"`          // Ids, slugs or names; with the scope selected_rooms alone.
	Privacy   CapsulePrivacy `json:"privacy,omitempty" bounds:"default share_safe"`                                        // Absent: share_safe.
	Artifacts []ArtifactID   `json:"artifacts,omitempty" bounds:"..MaxCapsuleArtifacts items; each 1..MaxNameChars runes"` // Binary artifacts that share_safe holds all the same.
	// Also write a readable mirror into the one Git work tree that is bound to rooms of the project.
	GitMirror bool `json:"git_mirror,omitempty"`
	// Absolute path of a signing key of minisign without a password. The signature is beside the file, under its
	// name and .minisig.
	SignKey string `json:"sign_key,omitempty" bounds:"1..4096 runes"`
	// Recipients of age (age1…). The file is encrypted to them, and out ends with .hubpack.age.
	To []string `json:"to,omitempty" bounds:"..MaxCapsuleRecipients items; each name 1..MaxCapsuleKeyChars"`
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
//
// API: What the export changes in the mirror of the project in a Git work tree.
type CapsuleMirror struct {
	State   CapsuleMirrorState `json:"state"`
	Reason  string             `json:"reason,omitempty"`     // Why none is written.
	Folder  string             `json:"folder,omitempty"`     // Absolute path on the machine of the hub.
	Write   int                `json:"write" bounds:"0.."`   // New files.
	Replace int                `json:"replace" bounds:"0.."` // Files of an earlier mirror that nobody has changed.
	Remove  int                `json:"remove" bounds:"0.."`  // Such files that the project no longer has.
	Same    int                `json:"same" bounds:"0.."`    // Files that stay as they are.
	// Files that somebody has changed, which stay. The new text is written beside such a file, under its name and
	// .new.
	Kept    int                   `json:"kept" bounds:"0.."`
	Changes []CapsuleMirrorChange `json:"changes" bounds:"..200 items"` // The first files that do not stay as they are, by paths.
}

// CapsuleMirrorChange is one file of a mirror.
type CapsuleMirrorChange struct {
	Path string `json:"path"`                                         // From the folder of the mirror, with slashes.
	Do   string `json:"do" bounds:"one of write replace remove kept"` // Write, replace, remove or kept.
}

// CapsuleConfirmInput confirms a plan by its digest.
type CapsuleConfirmInput struct {
	Confirm string `json:"confirm" bounds:"name 1..MaxNameChars"` // The digest of the plan.
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
	Rooms     int64 `json:"rooms" bounds:"0.."`
	Agents    int64 `json:"agents" bounds:"0.."`
	Decisions int64 `json:"decisions" bounds:"0.."`
	Artifacts int64 `json:"artifacts" bounds:"0.."`
	Memories  int64 `json:"memories" bounds:"0.."`
	Runs      int64 `json:"runs" bounds:"0.."`
	Tasks     int64 `json:"tasks" bounds:"0.."`
	Messages  int64 `json:"messages" bounds:"0.."`
	Direct    int64 `json:"direct" bounds:"0.."`     // Messages of these that are direct.
	BlobBytes int64 `json:"blob_bytes" bounds:"0.."` // Bytes of all artifacts.
}

// MaxLeftOutNames is how many artifacts that are left out a plan names; it counts all.
const MaxLeftOutNames = 20

// CapsuleLeftOut is an artifact whose bytes a share_safe capsule leaves out.
//
// API: An artifact whose bytes are left out.
type CapsuleLeftOut struct {
	ArtifactID ArtifactID `json:"artifact_id"`
	Title      string     `json:"title"`
	Version    int64      `json:"version" bounds:"0.."`
	Reason     string     `json:"reason" bounds:"one of binary encoding"` // encoding: it says that it is a text, and is none in UTF-8.
}

// CapsulePlan says exactly what an export writes. The file exists already, where nobody
// sees it; to confirm the plan puts it at its target. Members below Total are those of a
// plan that is ready or done.
type CapsulePlan struct {
	PlanID    string           `json:"plan_id" bounds:"1.. runes"`
	Form      CapsuleForm      `json:"form"` // One file or a folder.
	State     CapsulePlanState `json:"state" bounds:"one of planning ready done failed"`
	Error     string           `json:"error,omitempty"` // Why it failed.
	Target    string           `json:"target"`          // Absolute path on the machine of the hub.
	Scope     CapsuleScope     `json:"scope"`
	Privacy   CapsulePrivacy   `json:"privacy"`
	Project   Project          `json:"project"`
	ExpiresAt Time             `json:"expires_at"`
	Done      int64            `json:"done" bounds:"0.."`  // Rows that are written.
	Total     int64            `json:"total" bounds:"0.."` // Rows that there are; 0 while they are counted.

	Rooms         []RoomID       `json:"rooms"` // Rooms that were named.
	Counts        CapsuleCounts  `json:"counts"`
	Redactions    map[string]int `json:"redactions" bounds:"each 0.."` // How many places each rule has replaced.
	LeftOut       map[string]int `json:"left_out" bounds:"each 0.."`   // How many things of each kind are left out.
	Size          int64          `json:"size" bounds:"0.."`            // Bytes of the file, or of all files of a bundle.
	Files         int64          `json:"files" bounds:"0.."`           // 1, or the files of a bundle.
	AsOfSeq       Seq            `json:"as_of_seq" bounds:"0.."`       // The last record that the capsule shows.
	AsOfMessage   MessageID      `json:"as_of_message" bounds:"0.."`
	CapsuleID     string         `json:"capsule_id"`
	ContentDigest string         `json:"content_digest"`
	Mirror        *CapsuleMirror `json:"mirror,omitempty"` // Absent if none was asked for.
	// The first artifacts that left_out counts as binary_artifacts; absent if there are none.
	Artifacts  []CapsuleLeftOut `json:"artifacts,omitempty" bounds:"..20 items"`
	Signer     *CapsuleSigner   `json:"signer,omitempty"`     // Absent if no signature was asked for.
	Recipients []string         `json:"recipients,omitempty"` // To whom the file is encrypted; absent if it is not.
	PlanDigest string           `json:"plan_digest"`          // Names the exact plan.
	Prompt     string           `json:"prompt"`               // To be shown word for word.
}

// CapsuleInspectInput names a file on the hub's machine.
type CapsuleInspectInput struct {
	Path string `json:"path" bounds:"1..MaxPathBytes runes"` // Absolute, on the machine of the hub.
	// Absolute path of a file with identities of age, which open an encrypted capsule.
	Identity string   `json:"identity,omitempty" bounds:"1..4096 runes"`
	Keys     []string `json:"keys,omitempty" bounds:"..MaxCapsuleKeys items; each name 1..MaxCapsuleKeyChars"` // Public keys of minisign, with which the signature is checked.
	Signed   bool     `json:"signed,omitempty"`                                                                // Refuse a capsule without a valid signature by one of keys.
}

// CapsuleSummary says what a capsule is that has passed all checks.
type CapsuleSummary struct {
	Path           string         `json:"path" bounds:"1.. runes"`
	Size           int64          `json:"size" bounds:"0.."` // Bytes of the file.
	SchemaMajor    int            `json:"schema_major" bounds:"0.."`
	SchemaMinor    int            `json:"schema_minor" bounds:"0.."`
	ProductVersion string         `json:"product_version"` // Of the hub that wrote it.
	CreatedAt      Time           `json:"created_at"`
	CapsuleID      string         `json:"capsule_id"`
	ContentDigest  string         `json:"content_digest"`
	Scope          CapsuleScope   `json:"scope"`
	Privacy        CapsulePrivacy `json:"privacy"`
	Slug           string         `json:"slug"` // Of the project.
	Name           string         `json:"name"` // Of the project.
	Counts         CapsuleCounts  `json:"counts"`
	Redactions     map[string]int `json:"redactions" bounds:"each 0.."` // Rule: places.
	LeftOut        map[string]int `json:"left_out" bounds:"each 0.."`   // Kind: things.

	Encrypted bool             `json:"encrypted"` // The file is encrypted; the rest is what it holds.
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
