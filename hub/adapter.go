package hub

import "context"

// AdapterScope is for whom a harness is configured.
type AdapterScope string

// The scopes. Not every harness has both.
const (
	AdapterGlobal  AdapterScope = "global"  // for the user, in every folder
	AdapterProject AdapterScope = "project" // for who works in one folder
)

// AdapterPartName names what an adapter sets up.
type AdapterPartName string

// The parts of an adapter, in the order in which they are shown.
const (
	PartMCP          AdapterPartName = "mcp"          // the entry that starts the bridge
	PartHooks        AdapterPartName = "hooks"        // commands of the harness's events
	PartInstructions AdapterPartName = "instructions" // a short text for the agent
)

// AdapterState says how a part stands.
type AdapterState string

// The states of a part.
const (
	AdapterAbsent      AdapterState = "absent"      // not installed
	AdapterInstalled   AdapterState = "installed"   // as the hub has written it
	AdapterDrifted     AdapterState = "drifted"     // somebody has changed or removed what the hub wrote
	AdapterConflict    AdapterState = "conflict"    // an entry of the same name is somebody else's
	AdapterUnreadable  AdapterState = "unreadable"  // the file cannot be read or parsed
	AdapterUnsupported AdapterState = "unsupported" // the harness has no such part in this scope
)

// AdapterPart is one part of an adapter in one scope.
type AdapterPart struct {
	Part  AdapterPartName `json:"part"`
	State AdapterState    `json:"state"`
	// Files are those that hold the part, or would.
	Files []string `json:"files"`
	// Outdated: it stands as the hub wrote it, but the hub would write something
	// else today, because its executable or address has moved.
	Outdated bool `json:"outdated"`
	// Reason says why, of every state but absent and installed.
	Reason string `json:"reason"`
}

// AdapterPlace is an adapter in one scope: for the user, or in one folder.
type AdapterPlace struct {
	Scope AdapterScope  `json:"scope"`
	Path  string        `json:"path"` // the project's folder; empty in the global scope
	Gone  bool          `json:"gone"` // the folder is not there any more
	Parts []AdapterPart `json:"parts"`
}

// Adapter is how the hub is set up in one harness.
type Adapter struct {
	Harness  Harness `json:"harness"`
	Title    string  `json:"title"`
	Detected bool    `json:"detected"`
	// DetectedBy names the executables and folders by which it was detected.
	DetectedBy []string       `json:"detected_by"`
	Scopes     []AdapterScope `json:"scopes"` // that the harness has
	// Places are the global scope, if there is one, and the projects in which the
	// hub has installed something.
	Places []AdapterPlace `json:"places"`
	// Verified is the last verification since the hub started, or the one under way.
	Verified *AdapterVerification `json:"verified"`
}

// AdapterInput says where an adapter is to be changed. Scope empty is the global
// one, or the project's where the harness has no other. Path is the project's
// folder, absolute. Confirm is the digest of the plan that the operator has seen.
type AdapterInput struct {
	Scope   AdapterScope `json:"scope,omitempty"`
	Path    string       `json:"path,omitempty"`
	Confirm string       `json:"confirm,omitempty"`
}

// AdapterAction is what a plan does.
type AdapterAction string

// The actions.
const (
	AdapterInstall   AdapterAction = "install"
	AdapterUninstall AdapterAction = "uninstall"
	AdapterRepair    AdapterAction = "repair"
)

// AdapterChange is what happens to a file.
type AdapterChange string

// The changes.
const (
	FileCreated AdapterChange = "create"
	FileEdited  AdapterChange = "edit"
	FileRemoved AdapterChange = "remove"
)

// AdapterFile is one file that a plan changes.
type AdapterFile struct {
	File   string        `json:"file"`
	Change AdapterChange `json:"change"`
}

// AdapterPlan is exactly what an action would do; it changes nothing.
type AdapterPlan struct {
	Harness Harness       `json:"harness"`
	Action  AdapterAction `json:"action"`
	Scope   AdapterScope  `json:"scope"`
	Path    string        `json:"path"`
	Files   []AdapterFile `json:"files"` // empty: there is nothing to do
	// Diff is the unified diff of all files, with secrets masked.
	Diff string `json:"diff"`
	// Warnings are what the operator should know first.
	Warnings []string `json:"warnings"`
	// FollowUps are what the user has to do afterwards.
	FollowUps []string `json:"follow_ups"`
	// Prompt is what the operator is asked, word for word.
	Prompt string `json:"prompt"`
	// Digest names the plan: the same files with the same bytes before and after.
	Digest string `json:"digest"`
}

// AdapterResult is what an action has done.
type AdapterResult struct {
	Changed   bool          `json:"changed"`
	Files     []AdapterFile `json:"files"`
	Backups   []string      `json:"backups"` // copies of the files as they were before the hub's first change
	FollowUps []string      `json:"follow_ups"`
	Place     AdapterPlace  `json:"place"` // as it stands now
}

// CheckStatus is how a check of a verification ended.
type CheckStatus string

// The statuses of a check. Pending is what only the user can see or do.
const (
	CheckPassed  CheckStatus = "passed"
	CheckFailed  CheckStatus = "failed"
	CheckSkipped CheckStatus = "skipped"
	CheckPending CheckStatus = "pending"
)

// AdapterCheck is one check of a verification.
type AdapterCheck struct {
	Scope  AdapterScope `json:"scope"`
	Path   string       `json:"path"`
	Check  string       `json:"check"`
	Status CheckStatus  `json:"status"`
	Detail string       `json:"detail"`
	Fix    string       `json:"fix"`
	MS     float64      `json:"ms"` // what was measured, in milliseconds; 0: nothing was
}

// AdapterVerification is a verification, whole or under way.
type AdapterVerification struct {
	Harness   Harness        `json:"harness"`
	Running   bool           `json:"running"`
	OK        bool           `json:"ok"` // it is over and no check failed
	StartedAt Time           `json:"started_at"`
	EndedAt   *Time          `json:"ended_at"`
	Checks    []AdapterCheck `json:"checks"`
}

// Adapters sets the hub up in harnesses. Reading is open on loopback, the rest is
// the operator's. No method touches a file whose content it does not understand.
type Adapters interface {
	// Adapters lists all harnesses in the order of Harnesses.
	Adapters(ctx context.Context) ([]Adapter, error)
	// Adapter returns one. adapter_not_found.
	Adapter(ctx context.Context, harness Harness) (Adapter, error)
	// PreviewAdapter says what an action would do. adapter_not_found,
	// adapter_scope, path_not_found, adapter_conflict, adapter_refused.
	PreviewAdapter(ctx context.Context, harness Harness, action AdapterAction, in AdapterInput) (AdapterPlan, error)
	// ChangeAdapter does it. confirmation_required without in.Confirm, with prompt
	// and digest in the detail; plan_changed if in.Confirm is another plan's; else
	// as PreviewAdapter. Where nothing is to be done nothing needs confirming.
	ChangeAdapter(ctx context.Context, harness Harness, action AdapterAction, in AdapterInput) (AdapterResult, error)
	// VerifyAdapter tries what is installed, in the scope and folder of in or
	// everywhere. It takes at most MaxAdapterVerify. adapter_not_found,
	// adapter_busy.
	VerifyAdapter(ctx context.Context, harness Harness, in AdapterInput) (AdapterVerification, error)
}
