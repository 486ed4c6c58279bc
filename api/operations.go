package api

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"hubcli/hub"
)

// Plane is the group of callers that may make a call.
type Plane uint8

// The planes.
const (
	PlaneAgent    Plane = iota // an agent that the call names or that a session proves
	PlaneOpen                  // any caller on loopback
	PlaneOperator              // only the operator, by the token
)

// Auth says how a call uses X-Hub-Session.
type Auth uint8

// The ways to treat a session.
const (
	AuthSession  Auth = iota // a session that is sent is proved; a peer on another machine must send one
	AuthRemote               // the same for peers on other machines; on loopback it is ignored
	AuthNone                 // it is ignored, from anywhere
	AuthRegister             // it is ignored; a peer on another machine needs the operator token
	AuthOptional             // a session that is sent is proved; no caller must send one
)

// Bound is the largest size of a body.
type Bound uint8

// The bounds of bodies.
const (
	BoundSmall    Bound = iota // 1 MiB
	BoundMessage               // a message within the hub's limits, see BodyCap
	BoundArtifact              // an artifact, see ArtifactBodyCap
)

// Body describes what a call sends.
type Body struct {
	Type  reflect.Type // the struct that the body is decoded into; nil: the call has no body
	Bound Bound
}

func small[T any]() Body    { return Body{Type: reflect.TypeFor[T]()} }
func large[T any]() Body    { return Body{Type: reflect.TypeFor[T](), Bound: BoundMessage} }
func artifact[T any]() Body { return Body{Type: reflect.TypeFor[T](), Bound: BoundArtifact} }

// WaitBy says how a call asks the hub to wait before it answers.
type WaitBy uint8

// The ways to ask for a wait.
const (
	WaitNever   WaitBy = iota
	WaitTimeout        // by the parameter timeout of the query, in seconds
	WaitSec            // by the member wait_sec of the body, in seconds
	WaitFixed          // the call cannot ask for a wait, but the work itself may take Default
)

// Wait describes how long an answer may take.
type Wait struct {
	By      WaitBy
	Default time.Duration // how long the hub waits if the call does not say
}

// Operation is one call of the contract.
type Operation struct {
	ID     string // the operationId in openapi.yaml
	Method string
	// Path has at most one parameter. {name} stands for one segment that is not
	// empty, {name...} at the end for the rest of the path, slashes included.
	Path  string
	Plane Plane
	Auth  Auth
	// Agent is the parameter or the member of the body that names the agent the
	// call acts as, or a session of that agent. Empty: the call names no agent,
	// and its answer is the same for all callers.
	Agent string
	Body  Body
	Wait  Wait
	// Polls says that the call asks for news: its agent listens and does not
	// work.
	Polls bool
	// Secret says that the path may hold a secret: the log shows Path instead.
	Secret bool
	// AnyUser says that the answer tells nothing of the hub's user: any user of the machine may
	// call.
	AnyUser bool
	// OwnUser says why another user of the machine may not call, even one who is let in. Empty:
	// such a user may. The operator's calls are never another user's.
	OwnUser string
	// NotRelayed says why no relay carries the call. Empty: relays carry it.
	NotRelayed string
}

// Changes reports whether the call may change something. Such calls are logged
// and take an idempotency key.
func (o *Operation) Changes() bool { return o.Method != http.MethodGet }

// Why relays do not carry some calls.
const (
	operatorsSecret = "a spool is no place for the operator's secret"
	watchesHub      = "it serves programs that watch the hub, and they speak HTTP"
	setsUpMachine   = "it is about the machine of the hub, which a sandbox does not set up"
	bindsOutside    = "its paths are those of the hub's machine, which a sandbox does not see"
	asksHarness     = "the harness that asks its user runs where its user is, and its hook speaks HTTP"
	runsOutside     = "spawned processes run outside of every sandbox; the status of a room shows them"
)

// Why other users of the machine may not make some calls, even those who are let in.
const (
	startsAsOwner  = "what it starts runs as the hub's user"
	looksAtFolders = "it tells what folders there are"
	drivesAsOwner  = "its browser runs as the hub's user"
	asksOwner      = "its answer is about what the hub's user lets programs do"
	standsForOwner = "what it gives stands for the operator"
)

// notifyTimeout bounds each of the two ways of a notification.
const notifyTimeout = 10 * time.Second

var licenseCall = Wait{By: WaitFixed, Default: hub.MaxLicenseCall}

var adapterChange = Wait{By: WaitFixed, Default: hub.MaxAdapterChange}

// operations is the one table of calls, sorted by path and method. The routes,
// the Go client, the relay and the tests take what they need from it, and
// openapi.yaml is held against it. CONTRIBUTING.md says how to add one.
var operations = sync.OnceValue(func() []Operation {
	return []Operation{
		{ID: "getHealth", Method: "GET", Path: "/healthz", Plane: PlaneOpen, Auth: AuthNone, AnyUser: true, NotRelayed: watchesHub},
		{ID: "getMetrics", Method: "GET", Path: "/metrics", Plane: PlaneOpen, Auth: AuthRemote, NotRelayed: watchesHub},
		{ID: "getReadiness", Method: "GET", Path: "/readyz", Plane: PlaneOpen, Auth: AuthRemote, AnyUser: true, NotRelayed: watchesHub},
		{ID: "listAdapters", Method: "GET", Path: "/v1/adapters", Plane: PlaneOpen, Auth: AuthRemote, OwnUser: looksAtFolders, NotRelayed: setsUpMachine},
		{ID: "getAdapter", Method: "GET", Path: "/v1/adapters/{harness}", Plane: PlaneOpen, Auth: AuthRemote, OwnUser: looksAtFolders, NotRelayed: setsUpMachine},
		{ID: "installAdapter", Method: "POST", Path: "/v1/adapters/{harness}/install", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: adapterChange, NotRelayed: operatorsSecret},
		{ID: "previewAdapter", Method: "POST", Path: "/v1/adapters/{harness}/preview", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: adapterChange, NotRelayed: operatorsSecret},
		{ID: "previewAdapterUninstall", Method: "POST", Path: "/v1/adapters/{harness}/preview-uninstall", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: adapterChange, NotRelayed: operatorsSecret},
		{ID: "repairAdapter", Method: "POST", Path: "/v1/adapters/{harness}/repair", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: adapterChange, NotRelayed: operatorsSecret},
		{ID: "uninstallAdapter", Method: "POST", Path: "/v1/adapters/{harness}/uninstall", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: adapterChange, NotRelayed: operatorsSecret},
		{ID: "verifyAdapter", Method: "POST", Path: "/v1/adapters/{harness}/verify", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: Wait{By: WaitFixed, Default: hub.MaxAdapterVerify}, NotRelayed: operatorsSecret},
		{ID: "listAgents", Method: "GET", Path: "/v1/agents", Agent: "as"},
		{ID: "listIdleAgents", Method: "GET", Path: "/v1/agents/idle", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "getRecipient", Method: "GET", Path: "/v1/agents/{agent_id}", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "retireAgent", Method: "POST", Path: "/v1/agents/{agent_id}/retire", Plane: PlaneOperator, Body: small[hub.RetireInput](), NotRelayed: operatorsSecret},
		{ID: "backup", Method: "GET", Path: "/v1/app/backup", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "debug", Method: "GET", Path: "/v1/app/debug", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "getAppStatus", Method: "GET", Path: "/v1/app/status", Plane: PlaneOpen, Auth: AuthRemote, NotRelayed: watchesHub},
		{ID: "followHub", Method: "GET", Path: "/v1/app/stream", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "listArtifacts", Method: "GET", Path: "/v1/artifacts", Agent: "agent_id"},
		{ID: "addArtifact", Method: "POST", Path: "/v1/artifacts", Agent: "by", Body: artifact[hub.ArtifactInput]()},
		{ID: "getArtifact", Method: "GET", Path: "/v1/artifacts/{artifact_id}", Agent: "agent_id"},
		{ID: "getArtifactContent", Method: "GET", Path: "/v1/artifacts/{artifact_id}/content", Agent: "agent_id"},
		{ID: "listAsks", Method: "GET", Path: "/v1/asks", Agent: "agent_id"},
		{ID: "ask", Method: "POST", Path: "/v1/asks", Agent: "agent_id", Body: small[hub.AskInput]()},
		{ID: "getAsk", Method: "GET", Path: "/v1/asks/{ask_id}", Agent: "agent_id"},
		{ID: "answerAsk", Method: "POST", Path: "/v1/asks/{ask_id}/answer", Plane: PlaneOperator, Body: small[hub.AskAnswerInput](), NotRelayed: operatorsSecret},
		{ID: "takeBackAnswer", Method: "POST", Path: "/v1/asks/{ask_id}/take-back", Plane: PlaneOperator, Body: small[hub.AskTakeBackInput](), NotRelayed: operatorsSecret},
		{ID: "withdrawAsk", Method: "POST", Path: "/v1/asks/{ask_id}/withdraw", Agent: "agent_id", Body: small[hub.AskWithdrawInput]()},
		{ID: "getAttention", Method: "GET", Path: "/v1/attention", Agent: "agent_id", Polls: true},
		{ID: "tellAgent", Method: "POST", Path: "/v1/attention", Agent: "agent_id", Body: small[hub.ToldInput]()},
		{ID: "getAttentionLedger", Method: "GET", Path: "/v1/attention/ledger", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "getBootstrap", Method: "GET", Path: "/v1/bootstrap", Agent: "agent_id"},
		{ID: "listBrowserEngines", Method: "GET", Path: "/v1/browser/engines", Plane: PlaneOperator, Wait: Wait{By: WaitFixed, Default: hub.MaxBrowserLook}, NotRelayed: operatorsSecret},
		{ID: "listBudgets", Method: "GET", Path: "/v1/budgets"},
		{ID: "setBudget", Method: "PUT", Path: "/v1/budgets", Plane: PlaneOperator, Body: small[hub.BudgetInput](), NotRelayed: operatorsSecret},
		{ID: "planExport", Method: "POST", Path: "/v1/capsules/export", Plane: PlaneOperator, Body: small[hub.CapsuleExportInput](), Wait: Wait{By: WaitFixed, Default: hub.CapsulePlanAnswer}, NotRelayed: operatorsSecret},
		{ID: "cancelExport", Method: "DELETE", Path: "/v1/capsules/export/{plan_id}", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "getExport", Method: "GET", Path: "/v1/capsules/export/{plan_id}", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "confirmExport", Method: "POST", Path: "/v1/capsules/export/{plan_id}/confirm", Plane: PlaneOperator, Body: small[hub.CapsuleConfirmInput](), Wait: Wait{By: WaitFixed, Default: hub.MaxCapsuleConfirm}, NotRelayed: operatorsSecret},
		{ID: "planImport", Method: "POST", Path: "/v1/capsules/import", Plane: PlaneOperator, Body: small[hub.CapsuleImportInput](), Wait: Wait{By: WaitFixed, Default: hub.CapsulePlanAnswer}, NotRelayed: operatorsSecret},
		{ID: "cancelImport", Method: "DELETE", Path: "/v1/capsules/import/{plan_id}", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "getImport", Method: "GET", Path: "/v1/capsules/import/{plan_id}", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "confirmImport", Method: "POST", Path: "/v1/capsules/import/{plan_id}/confirm", Plane: PlaneOperator, Body: small[hub.CapsuleConfirmInput](), Wait: Wait{By: WaitFixed, Default: hub.CapsulePlanAnswer}, NotRelayed: operatorsSecret},
		{ID: "inspectCapsule", Method: "POST", Path: "/v1/capsules/inspect", Plane: PlaneOperator, Body: small[hub.CapsuleInspectInput](), Wait: Wait{By: WaitFixed, Default: hub.MaxCapsuleInspect}, NotRelayed: operatorsSecret},
		{ID: "listChannels", Method: "GET", Path: "/v1/channels"},
		{ID: "createChannel", Method: "POST", Path: "/v1/channels", Agent: "created_by", Body: small[hub.ChannelInput]()},
		{ID: "archiveChannel", Method: "PUT", Path: "/v1/channels/archived", Plane: PlaneOperator, Body: small[hub.ChannelArchiveInput](), NotRelayed: operatorsSecret},
		{ID: "listClaims", Method: "GET", Path: "/v1/claims", Agent: "agent_id"},
		{ID: "claim", Method: "POST", Path: "/v1/claims", Agent: "owner_agent_id", Body: small[hub.ClaimInput](), Wait: Wait{By: WaitSec}},
		{ID: "breakClaim", Method: "POST", Path: "/v1/claims/break", Plane: PlaneOperator, Body: small[hub.ClaimBreakInput](), NotRelayed: operatorsSecret},
		{ID: "refreshClaim", Method: "POST", Path: "/v1/claims/refresh", Agent: "owner_agent_id", Body: small[hub.ClaimHoldInput]()},
		{ID: "releaseClaim", Method: "POST", Path: "/v1/claims/release", Agent: "agent_id", Body: small[hub.ClaimHoldInput]()},
		{ID: "clear", Method: "POST", Path: "/v1/clear", Plane: PlaneOperator, Body: small[hub.ClearConfirmInput](), Wait: Wait{By: WaitFixed, Default: hub.MaxClearAnswer}, NotRelayed: operatorsSecret},
		{ID: "planClear", Method: "POST", Path: "/v1/clear/plan", Plane: PlaneOperator, Body: small[hub.ClearInput](), Wait: Wait{By: WaitFixed, Default: hub.MaxClearAnswer}, NotRelayed: operatorsSecret},
		{ID: "listConnections", Method: "GET", Path: "/v1/connections", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "createConnection", Method: "POST", Path: "/v1/connections", Plane: PlaneOperator, Body: small[hub.ConnectionInput](), NotRelayed: operatorsSecret},
		{ID: "deleteConnection", Method: "DELETE", Path: "/v1/connections/{connection}", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "updateConnection", Method: "POST", Path: "/v1/connections/{connection}", Plane: PlaneOperator, Body: small[hub.ConnectionUpdate](), NotRelayed: operatorsSecret},
		{ID: "setConnectionKey", Method: "POST", Path: "/v1/connections/{connection}/key", Plane: PlaneOperator, Body: small[hub.ConnectionKeyInput](), NotRelayed: operatorsSecret},
		{ID: "getConnectionModels", Method: "GET", Path: "/v1/connections/{connection}/models", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "verifyConnection", Method: "POST", Path: "/v1/connections/{connection}/verify", Plane: PlaneOperator, Wait: Wait{By: WaitFixed, Default: hub.VerifyWait}, NotRelayed: operatorsSecret},
		{ID: "listDecisions", Method: "GET", Path: "/v1/decisions", Agent: "agent_id"},
		{ID: "addDecision", Method: "POST", Path: "/v1/decisions", Agent: "by", Body: small[hub.DecisionInput]()},
		{ID: "getDecision", Method: "GET", Path: "/v1/decisions/{decision_id}", Agent: "agent_id"},
		{ID: "pollEvents", Method: "GET", Path: "/v1/events", Agent: "agent_id", Wait: Wait{By: WaitTimeout, Default: 30 * time.Second}, Polls: true},
		{ID: "getHubInfo", Method: "GET", Path: "/v1/hub-info", Plane: PlaneOpen, Auth: AuthNone},
		{ID: "getInbox", Method: "GET", Path: "/v1/inbox/{agent_id}", Agent: "agent_id", Polls: true},
		{ID: "listInvites", Method: "GET", Path: "/v1/invites", Agent: "agent_id"},
		{ID: "createInvite", Method: "POST", Path: "/v1/invites", Agent: "by", Body: small[hub.InviteInput]()},
		{ID: "previewInvite", Method: "GET", Path: "/v1/invites/{code}", Auth: AuthOptional, Secret: true},
		{ID: "acceptInvite", Method: "POST", Path: "/v1/invites/{code}/accept", Auth: AuthOptional, Agent: "agent_id", Body: small[hub.AcceptInput](), Secret: true},
		{ID: "revokeInvite", Method: "POST", Path: "/v1/invites/{code}/revoke", Body: small[struct{}](), Secret: true},
		{ID: "getLicense", Method: "GET", Path: "/v1/license", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "activateLicense", Method: "POST", Path: "/v1/license/activate", Plane: PlaneOperator, Body: small[hub.LicenseActivateInput](), Wait: licenseCall, NotRelayed: operatorsSecret},
		{ID: "deactivateLicense", Method: "POST", Path: "/v1/license/deactivate", Plane: PlaneOperator, Body: small[hub.LicenseDeactivateInput](), Wait: licenseCall, NotRelayed: operatorsSecret},
		{ID: "verifyLicense", Method: "POST", Path: "/v1/license/verify", Plane: PlaneOperator, Wait: licenseCall, NotRelayed: operatorsSecret},
		{ID: "listLocks", Method: "GET", Path: "/v1/locks", Agent: "agent_id"},
		{ID: "lock", Method: "POST", Path: "/v1/locks", Agent: "agent_id", Body: small[hub.LockInput](), Wait: Wait{By: WaitSec}},
		{ID: "breakLock", Method: "POST", Path: "/v1/locks/break", Plane: PlaneOperator, Body: small[hub.LockBreakInput](), NotRelayed: operatorsSecret},
		{ID: "refreshLock", Method: "POST", Path: "/v1/locks/refresh", Agent: "agent_id", Body: small[hub.LockHoldInput]()},
		{ID: "releaseLock", Method: "POST", Path: "/v1/locks/release", Agent: "agent_id", Body: small[hub.LockHoldInput]()},
		{ID: "readLog", Method: "GET", Path: "/v1/log", Wait: Wait{By: WaitTimeout}, NotRelayed: watchesHub},
		{ID: "listLoops", Method: "GET", Path: "/v1/loops", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "recall", Method: "GET", Path: "/v1/memory"},
		{ID: "remember", Method: "POST", Path: "/v1/memory", Agent: "by", Body: small[hub.MemoryInput]()},
		{ID: "listMessages", Method: "GET", Path: "/v1/messages", Agent: "agent_id", Wait: Wait{By: WaitTimeout}, Polls: true},
		{ID: "postMessage", Method: "POST", Path: "/v1/messages", Agent: "from_agent", Body: large[hub.PostInput]()},
		{ID: "getMessage", Method: "GET", Path: "/v1/messages/{message_id}", Agent: "agent_id"},
		{ID: "getReceipt", Method: "GET", Path: "/v1/messages/{message_id}/receipt", Agent: "agent_id"},
		{ID: "listMutes", Method: "GET", Path: "/v1/mutes"},
		{ID: "mute", Method: "POST", Path: "/v1/mutes", Plane: PlaneOperator, Body: small[hub.MuteInput](), NotRelayed: operatorsSecret},
		{ID: "endMute", Method: "POST", Path: "/v1/mutes/end", Plane: PlaneOperator, Body: small[hub.MuteEndInput](), NotRelayed: operatorsSecret},
		{ID: "getNotify", Method: "GET", Path: "/v1/notify", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "setNotify", Method: "PUT", Path: "/v1/notify", Plane: PlaneOperator, Body: small[hub.NotifyInput](), NotRelayed: operatorsSecret},
		{ID: "testNotify", Method: "POST", Path: "/v1/notify/test", Plane: PlaneOperator, Wait: Wait{By: WaitFixed, Default: 2 * notifyTimeout}, NotRelayed: operatorsSecret},
		{ID: "getOpenAPI", Method: "GET", Path: "/v1/openapi.json", Plane: PlaneOpen, Auth: AuthRemote, NotRelayed: "its answer has no envelope"},
		{ID: "getOverview", Method: "GET", Path: "/v1/overview", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "listPasses", Method: "GET", Path: "/v1/passes", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "createPass", Method: "POST", Path: "/v1/passes", Plane: PlaneOpen, Auth: AuthNone, Body: small[hub.PassInput](), OwnUser: standsForOwner, NotRelayed: operatorsSecret},
		{ID: "createPassCode", Method: "POST", Path: "/v1/passes/codes", Plane: PlaneOperator, Body: small[hub.PassCodeInput](), NotRelayed: operatorsSecret},
		{ID: "endPass", Method: "POST", Path: "/v1/passes/{pass_id}/end", Plane: PlaneOperator, Body: small[struct{}](), NotRelayed: operatorsSecret},
		{ID: "provePass", Method: "GET", Path: "/v1/passes/{pass_id}/proof", Plane: PlaneOpen, Auth: AuthNone, NotRelayed: operatorsSecret},
		{ID: "listPauses", Method: "GET", Path: "/v1/pauses"},
		{ID: "pause", Method: "POST", Path: "/v1/pauses", Plane: PlaneOperator, Body: small[hub.PauseInput](), NotRelayed: operatorsSecret},
		{ID: "endPause", Method: "POST", Path: "/v1/pauses/resume", Plane: PlaneOperator, Body: small[hub.PauseEndInput](), NotRelayed: operatorsSecret},
		{ID: "getPermissions", Method: "GET", Path: "/v1/permissions", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "setPermissions", Method: "PUT", Path: "/v1/permissions", Plane: PlaneOperator, Body: small[hub.PermissionPolicyInput](), NotRelayed: operatorsSecret},
		{ID: "requestPermission", Method: "POST", Path: "/v1/permissions/requests", Agent: "agent_id", Body: small[hub.PermissionInput](), OwnUser: asksOwner, NotRelayed: asksHarness},
		{ID: "awaitPermission", Method: "POST", Path: "/v1/permissions/requests/{ask_id}/await", Agent: "agent_id", Body: small[hub.PermissionWaitInput](), Wait: Wait{By: WaitSec}, OwnUser: asksOwner, NotRelayed: asksHarness},
		{ID: "listProjects", Method: "GET", Path: "/v1/projects"},
		{ID: "createProject", Method: "POST", Path: "/v1/projects", Agent: "created_by", Body: small[hub.ProjectInput]()},
		{ID: "getProject", Method: "GET", Path: "/v1/projects/{project}"},
		{ID: "archiveProject", Method: "PUT", Path: "/v1/projects/{project}/archived", Plane: PlaneOperator, Body: small[hub.ArchiveInput](), NotRelayed: operatorsSecret},
		{ID: "exportProject", Method: "GET", Path: "/v1/projects/{project}/export", Plane: PlaneOperator, Wait: Wait{By: WaitFixed, Default: hub.CapsulePlanAnswer}, NotRelayed: operatorsSecret},
		{ID: "renameProject", Method: "PUT", Path: "/v1/projects/{project}/name", Plane: PlaneOperator, Body: small[hub.RenamedInput](), NotRelayed: operatorsSecret},
		{ID: "listProviders", Method: "GET", Path: "/v1/providers", Plane: PlaneOpen, Auth: AuthRemote, NotRelayed: setsUpMachine},
		{ID: "resolve", Method: "GET", Path: "/v1/resolve", OwnUser: looksAtFolders},
		{ID: "listRooms", Method: "GET", Path: "/v1/rooms"},
		{ID: "createRoom", Method: "POST", Path: "/v1/rooms", Agent: "created_by", Body: small[hub.RoomInput]()},
		{ID: "getRoom", Method: "GET", Path: "/v1/rooms/{room_id}"},
		{ID: "archiveRoom", Method: "PUT", Path: "/v1/rooms/{room_id}/archived", Plane: PlaneOperator, Body: small[hub.ArchiveInput](), NotRelayed: operatorsSecret},
		{ID: "getRoomMoment", Method: "GET", Path: "/v1/rooms/{room_id}/at", Agent: "agent_id"},
		{ID: "unbindRoom", Method: "DELETE", Path: "/v1/rooms/{room_id}/binding", Agent: "agent_id", Body: small[hub.BindingInput](), OwnUser: looksAtFolders, NotRelayed: bindsOutside},
		{ID: "bindRoom", Method: "PUT", Path: "/v1/rooms/{room_id}/binding", Agent: "agent_id", Body: small[hub.BindingInput](), OwnUser: looksAtFolders, NotRelayed: bindsOutside},
		{ID: "browse", Method: "POST", Path: "/v1/rooms/{room_id}/browser", Agent: "agent_id", Body: small[hub.BrowseInput](), Wait: Wait{By: WaitFixed, Default: hub.BrowseStepMax}, OwnUser: drivesAsOwner},
		{ID: "setRoomGuard", Method: "PUT", Path: "/v1/rooms/{room_id}/guard", Plane: PlaneOperator, Body: small[hub.GuardInput](), NotRelayed: operatorsSecret},
		{ID: "allowHost", Method: "PUT", Path: "/v1/rooms/{room_id}/hosts", Plane: PlaneOperator, Body: small[hub.AllowHostInput](), NotRelayed: operatorsSecret},
		{ID: "setRoomLocks", Method: "PUT", Path: "/v1/rooms/{room_id}/locks", Agent: "agent_id", Body: small[hub.LockPolicyInput]()},
		{ID: "renameRoom", Method: "PUT", Path: "/v1/rooms/{room_id}/name", Plane: PlaneOperator, Body: small[hub.RenamedInput](), NotRelayed: operatorsSecret},
		{ID: "sit", Method: "POST", Path: "/v1/rooms/{room_id}/seats", Agent: "agent_id", Body: small[hub.SitInput]()},
		{ID: "getRoomStatus", Method: "GET", Path: "/v1/rooms/{room_id}/status", Agent: "agent_id"},
		{ID: "listRuns", Method: "GET", Path: "/v1/runs", Agent: "agent_id"},
		{ID: "createRun", Method: "POST", Path: "/v1/runs", Agent: "created_by", Body: large[hub.RunInput]()},
		{ID: "getRun", Method: "GET", Path: "/v1/runs/{run_id}", Agent: "agent_id"},
		{ID: "addRunTasks", Method: "POST", Path: "/v1/runs/{run_id}/tasks", Agent: "agent_id", Body: small[hub.RunTasksInput]()},
		{ID: "search", Method: "GET", Path: "/v1/search", Agent: "agent_id"},
		{ID: "register", Method: "POST", Path: "/v1/sessions", Auth: AuthRegister, Agent: "agent_id", Body: small[hub.RegisterInput]()},
		{ID: "resumeSession", Method: "POST", Path: "/v1/sessions/resume", Auth: AuthNone, Agent: "prior_session_id", Body: small[hub.ResumeInput]()},
		{ID: "endSession", Method: "POST", Path: "/v1/sessions/{agent_id}/end", Plane: PlaneOperator, Body: small[hub.SessionEndInput](), NotRelayed: operatorsSecret},
		{ID: "renameSession", Method: "POST", Path: "/v1/sessions/{agent_id}/rename", Agent: "agent_id", Body: small[hub.RenameInput]()},
		{ID: "closeSession", Method: "DELETE", Path: "/v1/sessions/{session_id}", Auth: AuthRemote, Agent: "session_id", Secret: true},
		{ID: "getShutdown", Method: "GET", Path: "/v1/shutdown", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "shutdown", Method: "POST", Path: "/v1/shutdown", Plane: PlaneOperator, Body: small[hub.ShutdownInput](), NotRelayed: operatorsSecret},
		{ID: "cancelShutdown", Method: "POST", Path: "/v1/shutdown/cancel", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "listSpawns", Method: "GET", Path: "/v1/spawn", OwnUser: startsAsOwner, NotRelayed: runsOutside},
		{ID: "spawn", Method: "POST", Path: "/v1/spawn", Agent: "by", Body: small[hub.SpawnInput](), OwnUser: startsAsOwner, NotRelayed: runsOutside},
		{ID: "getSpawnPolicy", Method: "GET", Path: "/v1/spawn/policy", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "setSpawnPolicy", Method: "PUT", Path: "/v1/spawn/policy", Plane: PlaneOperator, Body: small[hub.SpawnPolicyInput](), NotRelayed: operatorsSecret},
		{ID: "getSpawn", Method: "GET", Path: "/v1/spawn/{spawn_id}", OwnUser: startsAsOwner, NotRelayed: runsOutside},
		{ID: "stopSpawn", Method: "POST", Path: "/v1/spawn/{spawn_id}/stop", Agent: "agent_id", Body: small[hub.SpawnStopInput](), OwnUser: startsAsOwner, NotRelayed: runsOutside},
		{ID: "streamEvents", Method: "GET", Path: "/v1/stream", Agent: "agent_id", Polls: true, NotRelayed: "an answer is one file, and a stream has no end"},
		{ID: "listTasks", Method: "GET", Path: "/v1/tasks", Agent: "agent_id"},
		{ID: "getTask", Method: "GET", Path: "/v1/tasks/{task_id}", Agent: "agent_id"},
		{ID: "updateTask", Method: "POST", Path: "/v1/tasks/{task_id}", Agent: "agent_id", Body: small[hub.TaskUpdateInput]()},
		{ID: "acceptTask", Method: "POST", Path: "/v1/tasks/{task_id}/accept", Agent: "agent_id", Body: large[hub.OfferInput]()},
		{ID: "completeTask", Method: "POST", Path: "/v1/tasks/{task_id}/complete", Agent: "agent_id", Body: large[hub.CompleteInput]()},
		{ID: "declineTask", Method: "POST", Path: "/v1/tasks/{task_id}/decline", Agent: "agent_id", Body: large[hub.OfferInput]()},
		{ID: "handoffTask", Method: "POST", Path: "/v1/tasks/{task_id}/handoff", Agent: "agent_id", Body: large[hub.HandoffInput]()},
		{ID: "listThreads", Method: "GET", Path: "/v1/threads", Agent: "agent_id"},
		{ID: "getThread", Method: "GET", Path: "/v1/threads/{thread_id...}", Agent: "agent_id"},
		{ID: "getToolSurface", Method: "GET", Path: "/v1/tool-surface", Plane: PlaneOpen, Auth: AuthRemote, NotRelayed: "only bridges ask for it, and they speak HTTP"},
		{ID: "setToolSurface", Method: "PUT", Path: "/v1/tool-surface", Plane: PlaneOperator, Body: small[hub.ToolSurfaceInput](), NotRelayed: operatorsSecret},
		{ID: "noteTurn", Method: "POST", Path: "/v1/turns", Agent: "agent_id", Body: small[hub.TurnInput]()},
		{ID: "listUndelivered", Method: "GET", Path: "/v1/undelivered", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "listUsers", Method: "GET", Path: "/v1/users", Plane: PlaneOperator, NotRelayed: operatorsSecret},
		{ID: "allowUser", Method: "POST", Path: "/v1/users", Plane: PlaneOperator, Body: small[hub.UserInput](), NotRelayed: operatorsSecret},
		{ID: "refuseUser", Method: "POST", Path: "/v1/users/refuse", Plane: PlaneOperator, Body: small[hub.UserInput](), NotRelayed: operatorsSecret},
		{ID: "watch", Method: "GET", Path: "/v1/watch", Agent: "agent_id", Wait: Wait{By: WaitTimeout, Default: hub.MaxWatchWait}, Polls: true},
	}
})

// Operations returns the table. It is shared and must not be changed.
func Operations() []Operation { return operations() }

// OperationByID returns the operation of that id. It panics if there is none,
// which is a mistake in the code that names it.
func OperationByID(id string) *Operation {
	table := operations()
	i := slices.IndexFunc(table, func(o Operation) bool { return o.ID == id })
	if i < 0 {
		panic(fmt.Sprintf("api: the code names the operation %q: add its row to api/operations.go", id))
	}
	return &table[i]
}

// PathFor returns the path of a call whose parameter has this value, escaped.
// The value is ignored where the path has no parameter.
func (o *Operation) PathFor(value string) string {
	before, rest, found := strings.Cut(o.Path, "{")
	if !found {
		return o.Path
	}
	_, after, _ := strings.Cut(rest, "}")
	return before + url.PathEscape(value) + after
}
