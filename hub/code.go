package hub

import "net/http"

// Code names an error for programs. Codes are only ever added.
//
// API: Append-only.
type Code string

// CodeInfo is everything that depends on the code alone. The message belongs to
// each error.
type CodeInfo struct {
	Code   Code
	Status int    // the usual HTTP status
	Local  bool   // a client or a forwarder makes the error; no hub sends it
	Exit   int    // exit code of a command that fails with it; 0 means 1
	Repeat Repeat // whether the same call may succeed when it is sent again
	// Operator says that only the operator can solve the problem: a model
	// passes the hub's words on to its user.
	Operator bool
	// What to do next, for a program that speaks HTTP, for a person at the
	// command line and for a model that calls tools. FixFor chooses among these
	// and the fix of the error itself.
	HTTP, CLI, Model string
}

// Repeat says whether a call that failed may be sent again as it is.
type Repeat uint8

// When to send a failed call again.
const (
	RepeatAsTold Repeat = iota // after RetryAfter, if the answer has one and is 503
	RepeatAlways               // soon, whatever the answer says
	RepeatNever                // not automatically: an agent or a person has to act first
)

const exitUnreachable = 3 // the exit code of a command that got no answer

// Ways out that many codes share.
const (
	otherVersion    = "the hub may be of another version: compare hubcli --version with hubcli app status, and restart it with hubcli stop and hubcli ensure"
	tryAgain        = "try again in a moment with the same idempotency_key; then go on without the hub and tell your user"
	changeArguments = "change the arguments: hub_describe_tool says what the tool takes"
)

// rows holds the row of each code, in the order of the source. It has room for more codes
// than there are, so that a start of the program allocates nothing for them.
var (
	rows     [160]CodeInfo
	rowCount int
)

// define enters a row.
func define(info CodeInfo) Code {
	if info.Exit == 0 {
		info.Exit = 1
	}
	rows[rowCount] = info
	rowCount++
	return info.Code
}

// The codes of the contract, one row each. A row holds everything that the Go
// code knows about a code. The codes are variables so that name and row stand
// together; no code changes them.
var (
	// CodeInvalid: the value of one field is not allowed; detail.field names
	// the field.
	CodeInvalid     = define(CodeInfo{Code: "invalid", Status: http.StatusBadRequest})
	CodeInvalidJSON = define(CodeInfo{
		Code: "invalid_json", Status: http.StatusBadRequest,
		Model: changeArguments,
	})
	CodeInvalidAgentID   = define(CodeInfo{Code: "invalid_agent_id", Status: http.StatusBadRequest})
	CodeReservedAgent    = define(CodeInfo{Code: "reserved_agent", Status: http.StatusForbidden})
	CodeReservedName     = define(CodeInfo{Code: "reserved_name", Status: http.StatusForbidden})
	CodeReservedMetadata = define(CodeInfo{Code: "reserved_metadata", Status: http.StatusBadRequest})
	CodeUnknownKind      = define(CodeInfo{Code: "unknown_kind", Status: http.StatusBadRequest})
	CodeBodyTooLarge     = define(CodeInfo{
		Code: "body_too_large", Status: http.StatusBadRequest,
		CLI:   "keep the text with hubcli artifact add --file FILE and post its id, or post less",
		Model: "put the text into hub_add_artifact and post its id, or post less",
	})
	CodeAttachmentTooLarge = define(CodeInfo{
		Code: "attachment_too_large", Status: http.StatusBadRequest,
		Model: "put the content into hub_add_artifact and post its id",
	})
	CodeTooManyAttachments = define(CodeInfo{
		Code: "too_many_attachments", Status: http.StatusBadRequest,
		Model: "put the content into hub_add_artifact and post its id",
	})
	CodeMetadataTooLarge = define(CodeInfo{Code: "metadata_too_large", Status: http.StatusBadRequest})
	CodeMetadataTooDeep  = define(CodeInfo{Code: "metadata_too_deep", Status: http.StatusBadRequest})
	CodeReplyNotFound    = define(CodeInfo{
		Code: "reply_not_found", Status: http.StatusBadRequest,
		CLI:   "give the number that hubcli poll shows after the #",
		Model: "check the id; hub_poll_messages shows ids",
	})
	CodeReplyRequired = define(CodeInfo{
		Code: "reply_required", Status: http.StatusBadRequest,
		CLI:   "name the task or task_request that this result belongs to with --reply-to",
		Model: "set reply_to to the task or request that this result belongs to; hub_list_tasks shows ids",
	})
	CodeParentNotFound = define(CodeInfo{
		Code: "parent_not_found", Status: http.StatusBadRequest,
		Model: "check the id; hub_list_tasks shows ids",
	})
	// CodeChannelNotFound has status 400 if a post names the channel: such a
	// call sets Error.Status itself.
	CodeChannelNotFound = define(CodeInfo{
		Code: "channel_not_found", Status: http.StatusNotFound,
		HTTP:  "create it with POST /v1/channels, or use general",
		CLI:   "use general, or leave --channel out for the room's own",
		Model: "make it with hub_create_channel, or leave channel out for your room's",
	})
	CodeRoomNotFound = define(CodeInfo{
		Code: "room_not_found", Status: http.StatusNotFound,
		HTTP:  "name a room by its id; GET /v1/rooms lists the rooms",
		CLI:   "name it by its id, by its slug or as project/slug; see: hubcli project show <project>",
		Model: "hub_list_rooms shows the rooms, with their ids and as project/room",
	})
	CodePathNotFound = define(CodeInfo{Code: "path_not_found", Status: http.StatusBadRequest})
	CodeNotBound     = define(CodeInfo{
		Code: "not_bound", Status: http.StatusNotFound,
		CLI:   "bind a folder on the hub's machine: hubcli room bind <room> <path>",
		Model: "name the room with room_id; hub_list_rooms shows them",
	})
	CodeMessageNotFound = define(CodeInfo{
		Code: "message_not_found", Status: http.StatusNotFound,
		HTTP:  "find the id with GET /v1/events or GET /v1/messages; only its two parties see a direct message",
		CLI:   "give the number that hubcli poll shows after the #; only its two parties see a direct message",
		Model: "check the id; only its two parties see a direct message",
	})
	CodeThreadNotFound = define(CodeInfo{
		Code: "thread_not_found", Status: http.StatusNotFound,
		Model: "check the name; hub_search finds messages and their threads",
	})
	CodeTaskNotFound = define(CodeInfo{
		Code: "task_not_found", Status: http.StatusNotFound,
		CLI:   "a task has the number of the message that opened it; only the parties of a direct message see its task",
		Model: "hub_list_tasks shows the tasks that you may see",
	})
	CodeProjectNotFound = define(CodeInfo{
		Code: "project_not_found", Status: http.StatusNotFound,
		HTTP:  "name a project by its id, slug or name; GET /v1/projects lists them",
		CLI:   "hubcli project list lists the projects",
		Model: "hub_list_rooms shows the projects; hub_create_project makes one",
	})
	CodeRunNotFound = define(CodeInfo{
		Code: "run_not_found", Status: http.StatusNotFound,
		HTTP:  "list the runs with GET /v1/runs, or make one with POST /v1/runs",
		CLI:   "hubcli app runs lists the runs that are not over, with --status any all of them",
		Model: "check the run_id; hub_room_status shows the runs of a room",
	})
	CodeSessionNotFound = define(CodeInfo{
		Code: "session_not_found", Status: http.StatusNotFound,
		HTTP:  "name an agent as GET /v1/agents or the status of the room shows it",
		CLI:   "name an agent as hubcli agents shows it",
		Model: "hub_list_agents shows the live agents, hub_room_status those of a room",
	})
	CodeAgentUnclear = define(CodeInfo{
		Code: "agent_unclear", Status: http.StatusConflict,
		HTTP:  "name the agent that detail.did_you_mean says, or leave unless_near out if this one is still to come",
		CLI:   "name the agent that is meant, or add --new if this one is still to come",
		Model: "name the agent that is meant, or repeat the call with new true if this one is still to come",
	})
	CodeSessionInvalid = define(CodeInfo{
		Code: "session_invalid", Status: http.StatusUnauthorized,
		HTTP:  "register the agent and send the session_id of the answer",
		CLI:   "run the command again, which registers the agent anew",
		Model: "call hub_whoami, which registers you again",
	})
	CodeSessionRequired = define(CodeInfo{
		Code: "session_required", Status: http.StatusUnauthorized,
		HTTP:  "have the operator register the agent, then send X-Hub-Session with its session_id",
		CLI:   "run the command on the machine of the hub: hubcli sends no session from another one",
		Model: "ask your user to have the operator register you: this hub is on another machine",
	})
	CodeSessionEnded = define(CodeInfo{
		Code: "session_ended", Status: http.StatusUnauthorized, Repeat: RepeatNever,
		HTTP:  "stop, or register the agent again if the operator's words allow it",
		CLI:   "run the command again if the operator's words allow it: it registers the agent anew",
		Model: "end your turn and tell your user these words; only if they allow it, come back with hub_join and your agent_id",
	})
	CodeSessionReplaced = define(CodeInfo{Code: "session_replaced", Status: http.StatusConflict})
	CodeSessionConflict = define(CodeInfo{
		Code: "session_conflict", Status: http.StatusConflict,
		CLI: "use another agent id, or name this one with --agent if its session may be displaced",
	})
	CodeAgentMismatch = define(CodeInfo{
		Code: "agent_mismatch", Status: http.StatusForbidden,
		HTTP:  "name the session's agent, or leave out X-Hub-Session",
		CLI:   "act as the agent whose session it is",
		Model: "act as yourself: leave out the argument that names another agent",
	})
	CodeResumeDenied = define(CodeInfo{Code: "resume_denied", Status: http.StatusUnauthorized})
	CodeNotHolder    = define(CodeInfo{Code: "not_holder", Status: http.StatusNotFound})
	CodeStaleFence   = define(CodeInfo{
		Code: "stale_fence", Status: http.StatusConflict,
		Model: "another agent had it meanwhile: look at what changed, and take it again if it is free",
	})
	CodeTaskClosed = define(CodeInfo{
		Code: "task_closed", Status: http.StatusConflict,
		Model: "the task has ended: post a new one if there is more to do",
	})
	CodeTaskTooDeep = define(CodeInfo{
		Code: "task_too_deep", Status: http.StatusBadRequest,
		Model: "leave parent_task_id out, or name a task nearer to the top",
	})
	CodeTaskTaken = define(CodeInfo{
		Code: "task_taken", Status: http.StatusConflict,
		Model: "do not work on it: ask its assignee with hub_dm, or take another task from hub_list_tasks with ready",
	})
	CodeBlocked = define(CodeInfo{
		Code: "blocked", Status: http.StatusConflict,
		HTTP:  "wait until these tasks have ended (the agent that can begin gets a notice), or send force if the work need not wait",
		CLI:   "wait until these tasks have ended, or repeat with --force if the work need not wait",
		Model: "take another task: hub_take without task_id. If this one need not wait: hub_update_task with status working and force",
	})
	// CodeUndecided: the task waited for one that has failed or was cancelled, and its creator or the
	// operator has not said that it goes on.
	CodeUndecided = define(CodeInfo{
		Code: "undecided", Status: http.StatusConflict,
		HTTP:  "do something else: detail.decides, the creator of the task, sets blocked_by anew if it goes on, or cancels it",
		CLI:   "do something else: the creator of the task, or the operator, sets what it waits for anew if it goes on, or cancels it",
		Model: "take another task: hub_take without task_id. If this one is urgent, ask its creator with hub_dm: it sets blocked_by to [] if the task goes on",
	})
	CodeNotOffered = define(CodeInfo{
		Code: "not_offered", Status: http.StatusConflict,
		Model: "hub_list_tasks shows the agent that a task is offered to and the agent that has it",
	})
	CodeVersionConflict = define(CodeInfo{
		Code: "version_conflict", Status: http.StatusConflict,
		HTTP:  "read the row again and decide again",
		Model: "read it again with hub_list_tasks and decide again",
	})
	// CodeNotGone: the agent that is to be retired is there.
	CodeNotGone = define(CodeInfo{
		Code: "not_gone", Status: http.StatusConflict, Operator: true,
		HTTP: "retire an agent that is gone; POST /v1/sessions/{agent_id}/end ends the session of one that is there",
		CLI:  "retire an agent that is gone; hubcli app end ends the session of one that is there",
	})
	// CodeArchived: a post is for a channel that the operator has archived, or a room is to be made
	// in, or come back without, its archived project.
	CodeArchived = define(CodeInfo{
		Code: "archived", Status: http.StatusConflict,
		HTTP:  "post elsewhere; the operator takes it back with PUT /v1/rooms/{room_id}/archived, /v1/projects/{project}/archived or /v1/channels/archived",
		CLI:   "post elsewhere, or take it back as the operator, with unarchive of hubcli room, hubcli project or hubcli app",
		Model: "post elsewhere, such as to a room or channel that is listed; only the operator takes it back",
	})
	// CodePaused: the operator has paused the agent; detail.pause is the pause.
	CodePaused = define(CodeInfo{
		Code: "paused", Status: http.StatusConflict, Repeat: RepeatNever,
		HTTP:  "end the turn and wait for messages until the operator resumes; reads, renewals, releases and the end of what the agent holds go on",
		CLI:   "end the turn: you get a message when you are resumed; reads, releases and the end of what you hold go on",
		Model: "end your turn and tell your user these words; you can still read, release what you hold and complete your own tasks. You get a message when you are resumed",
	})
	CodeNotPaused = define(CodeInfo{
		Code: "not_paused", Status: http.StatusNotFound, Operator: true,
		HTTP: "GET /v1/pauses lists what is paused",
		CLI:  "hubcli app pauses shows what is paused",
	})
	CodeNotMuted = define(CodeInfo{
		Code: "not_muted", Status: http.StatusNotFound, Operator: true,
		HTTP: "GET /v1/mutes lists who is muted",
		CLI:  "hubcli app mutes shows who is muted",
	})
	CodeProjectExists = define(CodeInfo{
		Code: "project_exists", Status: http.StatusConflict,
		Model: "use that one, or choose another name; hub_list_rooms shows the projects",
	})
	CodeSimilarRoomExists = define(CodeInfo{
		Code: "similar_room_exists", Status: http.StatusConflict,
		CLI: "use one of these rooms; or, if a sibling is needed, repeat with --force --force-reason <why>",
	})
	CodeAlreadyBound = define(CodeInfo{
		Code: "already_bound", Status: http.StatusConflict,
		CLI: "use that room, or unbind the folder first: hubcli room unbind <path>",
	})
	CodeLimitReached = define(CodeInfo{
		Code: "limit_reached", Status: http.StatusConflict,
		HTTP:  "end or release something that is not needed, then repeat the call",
		CLI:   "end or release something that is not needed; the operator makes room in bulk, see: hubcli app clear --help",
		Model: "make room first: end tasks that are done (hub_list_tasks), release your locks and claims, or ask your user",
	})
	CodeDecisionNotFound = define(CodeInfo{
		Code: "decision_not_found", Status: http.StatusNotFound,
		HTTP:  "GET /v1/decisions?room_id= lists the decisions of a room with their ids",
		CLI:   "list the decisions of a room with their ids: hubcli decision list --room <room_id>",
		Model: "call hub_list_decisions to list those of the room",
	})
	CodeArtifactNotFound = define(CodeInfo{
		Code: "artifact_not_found", Status: http.StatusNotFound,
		HTTP:  "GET /v1/artifacts?room_id= lists the artifacts of a room with their ids",
		CLI:   "list the artifacts of a room with their ids: hubcli artifact list --room <room_id>",
		Model: "call hub_get_artifact without an id to list those of the room",
	})
	CodeArtifactTooLarge = define(CodeInfo{
		Code: "artifact_too_large", Status: http.StatusBadRequest,
		Model: "store it in parts, or store the name of a file that holds the rest",
	})
	CodeInviteNotFound = define(CodeInfo{
		Code: "invite_not_found", Status: http.StatusNotFound,
		Model: "ask the agent or person that invited you for a new code",
	})
	CodeInviteExpired = define(CodeInfo{
		Code: "invite_expired", Status: http.StatusGone,
		Model: "ask the agent or person that invited you for a new code",
	})
	CodeInviteExhausted = define(CodeInfo{
		Code: "invite_exhausted", Status: http.StatusGone,
		Model: "ask the agent or person that invited you for a new code",
	})
	CodeInviteRevoked = define(CodeInfo{
		Code: "invite_revoked", Status: http.StatusGone,
		Model: "ask the agent or person that invited you for a new code",
	})
	CodeRoomFull = define(CodeInfo{
		Code: "room_full", Status: http.StatusConflict,
		Model: "ask in another room (hub_list_rooms), or ask your user",
	})
	CodeTooManyAttempts = define(CodeInfo{
		Code: "too_many_attempts", Status: http.StatusTooManyRequests,
		HTTP:  "check the code, and send it again after the time in Retry-After",
		CLI:   "check the code, and run the command again",
		Model: "wait as long as retry_after says; then check the code with the agent or person that invited you",
	})
	CodeWatchReplaced       = define(CodeInfo{Code: "watch_replaced", Status: http.StatusConflict})
	CodeIdempotencyConflict = define(CodeInfo{
		Code: "idempotency_conflict", Status: http.StatusUnprocessableEntity,
		Model: "the idempotency_key was used with other arguments: leave it out, or choose another",
	})
	CodeInProgress = define(CodeInfo{
		Code: "in_progress", Status: http.StatusConflict, Repeat: RepeatAlways,
		Model: "the same call is under way: call again in a moment with the same idempotency_key",
	})
	CodeStoreChanged     = define(CodeInfo{Code: "store_changed", Status: http.StatusConflict})
	CodeOperatorRequired = define(CodeInfo{
		Code: "operator_required", Status: http.StatusForbidden,
		HTTP:  "send X-Hub-Operator with the content of operator.token in the store's folder",
		CLI:   "run the command on the machine of the hub, as the user who started it",
		Model: "only your user can do this: ask your user",
	})
	CodeForbiddenHost = define(CodeInfo{
		Code: "forbidden_host", Status: http.StatusForbidden,
		Model: changeArguments,
	})
	CodeForbiddenOrigin = define(CodeInfo{
		Code: "forbidden_origin", Status: http.StatusForbidden,
		Model: changeArguments,
	})
	CodeForbiddenRelay = define(CodeInfo{
		Code: "forbidden_relay", Status: http.StatusForbidden,
		Model: changeArguments,
	})
	CodeNotFound = define(CodeInfo{
		Code: "not_found", Status: http.StatusNotFound,
		HTTP:  "GET /v1/openapi.json lists all paths",
		CLI:   otherVersion,
		Model: changeArguments,
	})
	CodeMethodNotAllowed = define(CodeInfo{
		Code: "method_not_allowed", Status: http.StatusMethodNotAllowed,
		CLI:   otherVersion,
		Model: changeArguments,
	})
	CodeRequestTooLarge = define(CodeInfo{
		Code: "request_too_large", Status: http.StatusRequestEntityTooLarge,
		HTTP:  "send less in one call",
		CLI:   "give less to one command: keep long text with hubcli artifact add --file FILE",
		Model: "send less at once: store long text in parts with hub_add_artifact",
	})
	CodeUnsupportedMedia = define(CodeInfo{
		Code: "unsupported_media_type", Status: http.StatusUnsupportedMediaType,
		HTTP:  "send the header Content-Type: application/json",
		CLI:   otherVersion,
		Model: changeArguments,
	})
	CodeTooManyPolls = define(CodeInfo{
		Code: "too_many_polls", Status: http.StatusTooManyRequests,
		Model: "too many of your calls are waiting: let one end",
	})
	CodeOverloaded = define(CodeInfo{
		Code: "overloaded", Status: http.StatusServiceUnavailable,
		HTTP:  "repeat the call after the time in Retry-After",
		CLI:   "run the command again",
		Model: tryAgain,
	})
	CodeTimedOut = define(CodeInfo{
		Code: "timed_out", Status: http.StatusServiceUnavailable,
		HTTP:  "repeat the call after the time in Retry-After",
		CLI:   "run the command again",
		Model: tryAgain,
	})
	CodeQuarantined = define(CodeInfo{
		Code: "quarantined", Status: http.StatusServiceUnavailable,
		HTTP: "everything else works; report this with the hub's log, and see app status",
		CLI:  "everything else works; report this with the hub's log, and see hubcli app status",
	})
	CodeStopping = define(CodeInfo{
		Code: "stopping", Status: http.StatusServiceUnavailable, Repeat: RepeatNever,
		HTTP:  "wait until the hub is started again, then repeat the call",
		CLI:   "start it again with: hubcli ensure",
		Model: "the hub restarts: call again in a moment with the same idempotency_key",
	})
	CodeStorageFull       = define(CodeInfo{Code: "storage_full", Status: http.StatusInsufficientStorage})
	CodeStoreFailed       = define(CodeInfo{Code: "store_failed", Status: http.StatusServiceUnavailable})
	CodeStoreGone         = define(CodeInfo{Code: "store_gone", Status: http.StatusServiceUnavailable})
	CodeCorruptRecord     = define(CodeInfo{Code: "corrupt_record", Status: http.StatusInternalServerError})
	CodeSearchUnavailable = define(CodeInfo{
		Code: "search_unavailable", Status: http.StatusServiceUnavailable,
		HTTP:  "repeat the call after the time in Retry-After; if the error persists, see the hub's log. Everything else works",
		CLI:   "run the command again; if the error persists, see the hub's log. Everything else works",
		Model: "try again in a minute; until then hub_poll_messages with since_id 0 and hub_list_decisions read in order",
	})
	CodeMemoryNotFound = define(CodeInfo{
		Code: "memory_not_found", Status: http.StatusNotFound,
		Model: "call hub_recall without memory_id to list what is remembered",
	})
	CodeTextTooLarge    = define(CodeInfo{Code: "text_too_large", Status: http.StatusBadRequest})
	CodeSpawnNotAllowed = define(CodeInfo{Code: "spawn_not_allowed", Status: http.StatusForbidden, Operator: true})
	CodeSpawnNotFound   = define(CodeInfo{
		Code: "spawn_not_found", Status: http.StatusNotFound,
		HTTP:  "GET /v1/spawn?room_id= lists the spawns of a room with their ids",
		CLI:   "hubcli app spawns lists the spawns that have not ended, with --status any all of them",
		Model: "check the spawn_id in the answer of hub_spawn; hub_room_status shows the agents in the room",
	})
	CodeSlowed = define(CodeInfo{
		Code: "slowed", Status: http.StatusTooManyRequests,
		HTTP:  "if there is work, open a task; if it is settled, record a decision or end here; else post again after the time in Retry-After",
		CLI:   "if there is work, open a task; if it is settled, record a decision or end here; else post again later",
		Model: "if there is work, open a task: hub_post_message with kind task; if it is settled, use hub_record_decision or end here; else post again after retry_after seconds",
	})
	CodeLoopStopped = define(CodeInfo{
		Code: "loop_stopped", Status: http.StatusConflict,
		HTTP:  "go on with other work; a post that opens or ends a task passes, and so does a question to the operator; a direct message tells when the operator has decided",
		CLI:   "go on with other work; hubcli status shows the operator the question, and the answer that lets them go on; in a room, hubcli room guard ROOM default refuses no more",
		Model: "go on with other work or end your turn; a message that opens or ends a task passes, and so does hub_ask_human; the operator decides about the rest",
	})
	CodeSpawnUnavailable = define(CodeInfo{
		Code: "spawn_unavailable", Status: http.StatusServiceUnavailable,
		Model: "this hub starts no agents: ask your user, or ask a live agent with hub_rpc_call",
	})
	CodeBadExecutable   = define(CodeInfo{Code: "bad_executable", Status: http.StatusConflict, Operator: true})
	CodeAdapterNotFound = define(CodeInfo{
		Code: "adapter_not_found", Status: http.StatusNotFound, Operator: true,
		HTTP: "use one that GET /v1/adapters lists; generic is for every other MCP client",
		CLI:  "use one that hubcli adapter list shows; generic is for every other MCP client",
	})
	CodeAdapterConflict = define(CodeInfo{Code: "adapter_conflict", Status: http.StatusConflict, Operator: true})
	CodeAdapterRefused  = define(CodeInfo{Code: "adapter_refused", Status: http.StatusConflict, Operator: true})
	CodeAdapterBusy     = define(CodeInfo{Code: "adapter_busy", Status: http.StatusConflict, Operator: true})
	CodeConfirmRequired = define(CodeInfo{Code: "confirmation_required", Status: http.StatusConflict, Operator: true})
	CodePlanNotFound    = define(CodeInfo{Code: "plan_not_found", Status: http.StatusNotFound, Operator: true})
	CodeTargetExists    = define(CodeInfo{Code: "target_exists", Status: http.StatusConflict, Operator: true})
	CodePlanChanged     = define(CodeInfo{Code: "plan_changed", Status: http.StatusConflict, Operator: true})
	CodeInternal        = define(CodeInfo{
		Code: "internal", Status: http.StatusInternalServerError,
		HTTP: "report it, with the lines of the hub's log",
	})
)
