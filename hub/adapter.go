package hub

import "context"

// AdapterScope says where an adapter's configuration applies.
type AdapterScope string

// The scopes. Not every harness has both.
const (
	AdapterGlobal  AdapterScope = "global"  // for the user, in every folder
	AdapterProject AdapterScope = "project" // for everybody who works in one folder
)

// AdapterPartName names a part that an adapter sets up.
type AdapterPartName string

// The parts of an adapter, in the order in which they are shown.
const (
	PartMCP          AdapterPartName = "mcp"          // the entry that starts the bridge
	PartHooks        AdapterPartName = "hooks"        // commands of the harness's events
	PartInstructions AdapterPartName = "instructions" // a short text for the agent
	PartPermissions  AdapterPartName = "permissions"  // the hub's tools and hubcli watch, allowed without a question
	PartPlugin       AdapterPartName = "plugin"       // a folder that wakes an idle agent; only if the user asks for it
)

// AdapterState is the state of a part of an adapter.
type AdapterState string

// The states of a part.
const (
	AdapterAbsent      AdapterState = "absent"      // not installed
	AdapterInstalled   AdapterState = "installed"   // as the hub wrote it
	AdapterDrifted     AdapterState = "drifted"     // what the hub wrote was changed or removed
	AdapterConflict    AdapterState = "conflict"    // an entry of the same name was not written by the hub
	AdapterUnreadable  AdapterState = "unreadable"  // the file cannot be read or parsed
	AdapterUnsupported AdapterState = "unsupported" // the harness has no such part in this scope
)

// AdapterPart is one part of an adapter in one scope.
type AdapterPart struct {
	Part  AdapterPartName `json:"part"`
	State AdapterState    `json:"state"`
	Files []string        `json:"files"` // Files that hold the part or would.
	// It stands as the hub wrote it; today the hub would write something else.
	Outdated bool   `json:"outdated"`
	Reason   string `json:"reason"` // Explains the state, except absent and installed.
}

// AdapterPlace is an adapter in one scope: for the user, or in one folder.
type AdapterPlace struct {
	Scope AdapterScope  `json:"scope"`
	Path  string        `json:"path"` // Folder of the project; empty in the global scope.
	Gone  bool          `json:"gone"` // The folder is not there any more; uninstalling forgets it.
	Parts []AdapterPart `json:"parts"`
}

// Adapter describes how the hub is set up in one harness.
type Adapter struct {
	Harness    Harness        `json:"harness" bounds:"1.. runes"`
	Title      string         `json:"title"`
	Detected   bool           `json:"detected"`
	DetectedBy []string       `json:"detected_by"` // Executables and folders.
	Scopes     []AdapterScope `json:"scopes"`      // The scopes that the harness has.
	// Are the global scope, if there is one, and the projects in which the hub has installed something.
	Places   []AdapterPlace       `json:"places"`
	Verified *AdapterVerification `json:"verified"` // The last verification since the hub started, or the one under way.
}

// AdapterInput says where to change an adapter. An empty Scope means the global
// one, or the project's if the harness has no global one. Path is the absolute
// path of the project's folder. Confirm is the digest of the plan that the
// operator has seen. NoPermissions leaves the permissions out, or takes them out
// if they are installed. Plugin writes the plugin or takes it out; nil leaves it
// as it is. If it is false, harnesses that load files of the hub's own get entries in
// their own files all the same.
type AdapterInput struct {
	Scope   AdapterScope `json:"scope,omitempty"`
	Path    string       `json:"path,omitempty" bounds:"..MaxPathBytes runes"`   // Folder of the project, absolute; for the scope project.
	Confirm string       `json:"confirm,omitempty" bounds:"name ..MaxNameChars"` // The digest of the plan.

	// Write no allow list into the harness; one that the hub has written is taken out.
	NoPermissions bool `json:"no_permissions,omitempty"`
	// Write the plugin, or take it out; null leaves it as it is. With false, Gemini CLI and opencode are set up in
	// their own settings files.
	Plugin *bool `json:"plugin,omitempty"`

	// The caller's PATH: absolute folders in which a verification looks for the harness before the hub's own PATH.
	SearchPath string `json:"search_path,omitempty" bounds:"..4096 runes"`
}

// AdapterQuery says how harnesses are looked for.
type AdapterQuery struct {
	SearchPath string // the caller's PATH; the hub's own stands behind it
}

// AdapterAction is the action of a plan.
type AdapterAction string

// The actions.
const (
	AdapterInstall   AdapterAction = "install"
	AdapterUninstall AdapterAction = "uninstall"
	AdapterRepair    AdapterAction = "repair"
)

// AdapterChange says how a plan changes a file.
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

// AdapterPlan says exactly what an action would do. Making a plan changes
// nothing.
type AdapterPlan struct {
	Harness   Harness       `json:"harness" bounds:"1.. runes"`
	Action    AdapterAction `json:"action"`
	Scope     AdapterScope  `json:"scope"`
	Path      string        `json:"path"`
	Files     []AdapterFile `json:"files"`      // Empty: there is nothing to do.
	Diff      string        `json:"diff"`       // Unified; secrets masked.
	Warnings  []string      `json:"warnings"`   // Lists what the operator should know before confirming.
	FollowUps []string      `json:"follow_ups"` // What the user has to do afterwards.
	Prompt    string        `json:"prompt"`     // To be shown word for word.
	Digest    string        `json:"digest"`     // Names the exact plan.
}

// AdapterResult says what an action did.
type AdapterResult struct {
	Changed   bool          `json:"changed"`
	Files     []AdapterFile `json:"files"`
	Backups   []string      `json:"backups"` // Copies of the files from before the first change.
	FollowUps []string      `json:"follow_ups"`
	Place     AdapterPlace  `json:"place"` // As it stands now.
}

// CheckStatus is how a check of a verification ended.
type CheckStatus string

// The statuses of a check. A check is pending if only the user can see or do
// what it asks for.
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
	Check  string       `json:"check" bounds:"1.. runes"`
	Status CheckStatus  `json:"status"` // Pending is what only the user can see or do.
	Detail string       `json:"detail"`
	Fix    string       `json:"fix"`
	MS     float64      `json:"ms" bounds:"0.."` // Milliseconds that were measured; 0: nothing was.
}

// AdapterVerification is a verification that has ended or is under way.
type AdapterVerification struct {
	Harness   Harness        `json:"harness" bounds:"1.. runes"`
	Running   bool           `json:"running"`
	OK        bool           `json:"ok"` // It is over and no check failed.
	StartedAt Time           `json:"started_at"`
	EndedAt   *Time          `json:"ended_at"`
	Checks    []AdapterCheck `json:"checks"`
}

// Adapters sets the hub up in harnesses. Any caller on loopback may read; only
// the operator may do the rest. No method touches a file whose content it does
// not understand.
type Adapters interface {
	// Adapters lists all harnesses in the order of Harnesses.
	Adapters(ctx context.Context, q AdapterQuery) ([]Adapter, error)
	// Adapter returns one adapter. Errors: adapter_not_found.
	Adapter(ctx context.Context, harness Harness, q AdapterQuery) (Adapter, error)
	// PreviewAdapter says what an action would do. Errors: adapter_not_found,
	// adapter_scope, path_not_found, adapter_conflict, adapter_refused.
	PreviewAdapter(ctx context.Context, harness Harness, action AdapterAction, in AdapterInput) (AdapterPlan, error)
	// ChangeAdapter executes an action. If there is nothing to change, it needs
	// no confirmation. Errors: confirmation_required without in.Confirm (the
	// detail holds prompt and digest), plan_changed if in.Confirm is the digest
	// of another plan, and those of PreviewAdapter.
	ChangeAdapter(ctx context.Context, harness Harness, action AdapterAction, in AdapterInput) (AdapterResult, error)
	// VerifyAdapter tries what is installed, in the scope and folder of in or
	// everywhere. It takes at most MaxAdapterVerify. Errors: adapter_not_found,
	// adapter_busy.
	VerifyAdapter(ctx context.Context, harness Harness, in AdapterInput) (AdapterVerification, error)
}
