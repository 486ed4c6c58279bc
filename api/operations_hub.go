package api

import "hubcli/hub"

// hubOperations are the calls about the hub as a whole.
var hubOperations = func() []Operation {
	return []Operation{
		// Says that the process answers.
		//
		// Needs no session from anywhere.
		//
		// Answer: It is.
		{
			ID: "getHealth", Method: "GET", Path: "/healthz", Plane: PlaneOpen, Auth: AuthNone, AnyUser: true, NotRelayed: watchesHub,
			Answer: Answer{Schema: "Health"},
		},
		// Metrics in the Prometheus text format.
		//
		// Answer: Metrics.
		{
			ID: "getMetrics", Method: "GET", Path: "/metrics", Plane: PlaneOpen, Auth: AuthRemote, NotRelayed: watchesHub,
			Media: "text/plain",
		},
		// Says whether the hub takes writes.
		//
		// Answer: It is.
		{
			ID: "getReadiness", Method: "GET", Path: "/readyz", Plane: PlaneOpen, Auth: AuthRemote, AnyUser: true, NotRelayed: watchesHub,
			Answer: Answer{Schema: "Health"}, Errors: "storage_full",
		},
		// Everything that the store holds, for the operator.
		//
		// The state after one commit, as a stream whose format docs/formats.md describes. The hub goes on serving
		// meanwhile. The stream is secret: it holds direct messages and the key of the store. One that does not end
		// with its last part is no backup; the part before tells why, if the hub knew. Only one backup is made at a
		// time. The call is logged.
		//
		// Answer: The backup.
		{
			ID: "backup", Method: "GET", Path: "/v1/app/backup", Plane: PlaneOperator,
			Media: "application/octet-stream", Errors: "limit_reached corrupt_record",
		},
		// What the hub does at this moment, for an operator who looks for what hangs.
		//
		// The answer holds no text of an agent, no key and no secret. Each list is bounded, and the count beside it is
		// of all. It waits for no owner and not for the disk. With profile the answer is that profile of the hub's
		// process, in the form of pprof, and nothing else. Only one profile is taken at a time. The call is logged.
		//
		// Query:
		//   - stacks (as Flag): Adds the stacks of all goroutines.
		//   - profile (as ProfileKind)
		//   - seconds (as integer; 1..30): How long profile=cpu samples; 5 if absent. A hub that stops ends it
		//     earlier.
		//
		// Answer: What the hub does, or a profile.
		{
			ID: "debug", Method: "GET", Path: "/v1/app/debug", Plane: PlaneOperator,
			Answer: row[hub.Debug](), Media: "application/octet-stream", Errors: "limit_reached",
		},
		// What runs, for the operator and their tools.
		//
		// Answer: The state of the hub.
		{
			ID: "getAppStatus", Method: "GET", Path: "/v1/app/status", Plane: PlaneOpen, Auth: AuthRemote, NotRelayed: watchesHub,
			Answer: row[hub.AppStatus](),
		},
		// What happens in the whole hub, as server-sent events.
		//
		// An event of type message has a message as data, of any channel, room or agent. One of type changed has a
		// Changed: what else has changed and is to be read anew. Changes that come within 50 milliseconds are one
		// event, and what a slow reader has not read yet is one event, too. The first event says changed: everything,
		// or to a reader that comes back with the id of its last event what it may have missed. Every event, and a
		// comment every 15 seconds, moves that id. A reader that comes back after more than 5,000 messages is told to
		// read them anew (kind messages). An error ends the stream as an event of type error whose data is an Error.
		//
		// Header: Last-Event-ID (like ^[0-9]{1,16}-[0-9]{1,20}$): Id of the last event that the reader has; left out,
		// the stream begins now.
		//
		// Answer: Events without end. The data of an event of type changed is a Changed.
		{
			ID: "followHub", Method: "GET", Path: "/v1/app/stream", Plane: PlaneOperator,
			Media: "text/event-stream", Errors: "too_many_polls",
		},
		// Closes the things of a plan.
		//
		// Each is closed as if it were closed alone: projects, rooms and channels are archived, questions closed
		// without an answer, invites revoked, seats freed. What is closed already counts as closed, so the call may be
		// repeated. The digest is that of the plan. With delete, projects, rooms and channels that are archived are
		// deleted. One that holds something by then stays, and is among the failed ones with plan_changed.
		//
		// Answer: What has become of the things.
		{
			ID: "clear", Method: "POST", Path: "/v1/clear", Plane: PlaneOperator, Body: small[hub.ClearConfirmInput](), Wait: Wait{By: WaitFixed, Default: hub.MaxClearAnswer},
			Answer: row[hub.Cleared](), Errors: "plan_changed",
		},
		// Lists what the operator may want to be rid of.
		//
		// Changes nothing. At most 1000 things are listed, the oldest first; more says that there are others. The
		// digest is over what the plan shows.
		//
		// Answer: What the selection finds.
		{
			ID: "planClear", Method: "POST", Path: "/v1/clear/plan", Plane: PlaneOperator, Body: small[hub.ClearInput](), Wait: Wait{By: WaitFixed, Default: hub.MaxClearAnswer},
			Answer: row[hub.ClearPlan](), Errors: "project_not_found room_not_found",
		},
		// Which hub this is.
		//
		// Needs no session from anywhere. With a nonce the hub proves that it has the key of its store: proof is the
		// HMAC-SHA256, in hexadecimal digits, of "hub-proof-1", the nonce, the address of the connection at the hub as
		// ip:port, and instance_id, joined by line feeds. The key is the proof_key that the hub notes for programs of
		// its user in hubs/<ip>_<port> of the data root, so that they need not believe the port. Calls through a relay
		// and over the operator's socket get no proof.
		//
		// Query:
		//   - nonce (like ^[A-Za-z0-9_-]{16,64}$): A challenge that is used once.
		//
		// Answer: The hub.
		{
			ID: "getHubInfo", Method: "GET", Path: "/v1/hub-info", Plane: PlaneOpen, Auth: AuthNone,
			Answer: row[hub.Info](),
		},
		// Says what this machine knows of its license.
		//
		// It needs no network: it verifies what the license server has signed. Everything works without a license.
		//
		// Answer: The license of the machine.
		{
			ID: "getLicense", Method: "GET", Path: "/v1/license", Plane: PlaneOperator,
			Answer: row[hub.License](),
		},
		// Activates the license on this machine.
		//
		// Takes one of the places of the license for this machine, and saves the key and a file that the license
		// server has signed. The same key again gets a new file and takes no other place. Without confirm it answers
		// confirmation_required: detail.prompt is the question to show word for word, detail.digest what to send as
		// confirm. Callers on other machines are refused. With detail.state pending the machine may have its place by
		// now, and the call may be repeated.
		//
		// Answer: The license of the machine.
		{
			ID: "activateLicense", Method: "POST", Path: "/v1/license/activate", Plane: PlaneOperator, Body: small[hub.LicenseActivateInput](), Wait: licenseCall,
			Answer: row[hub.License](), Unkeyed: true, Errors: "license_unconfigured license_unreachable license_server_failed license_not_genuine license_unreadable confirmation_required plan_changed license_active license_not_found license_expired license_suspended license_revoked license_machine_limit license_refused license_busy",
		},
		// Gives the place of this machine on its license back.
		//
		// Then it deletes the key and the signed file. Without an answer of the license server everything stays as it
		// is. It asks for a confirmation like activate.
		//
		// Answer: The license of the machine.
		{
			ID: "deactivateLicense", Method: "POST", Path: "/v1/license/deactivate", Plane: PlaneOperator, Body: small[hub.LicenseDeactivateInput](), Wait: licenseCall,
			Answer: row[hub.License](), Unkeyed: true, Errors: "license_unconfigured license_unreachable license_server_failed license_not_genuine license_unreadable confirmation_required plan_changed license_not_active license_expired license_suspended license_refused license_busy",
		},
		// Asks the license server whether the license is still valid.
		//
		// It changes nothing, here or there. A license that is not valid is an answer and no error.
		//
		// Answer: What the license server says.
		{
			ID: "verifyLicense", Method: "POST", Path: "/v1/license/verify", Plane: PlaneOperator, Wait: licenseCall,
			Answer: row[hub.LicenseVerification](), Unkeyed: true, Errors: "license_unconfigured license_unreachable license_server_failed license_not_genuine license_unreadable license_not_active",
		},
		// What was said, for a spectator.
		//
		// Public messages, rising, of everything or of one room, channel or thread. With direct also the direct
		// messages of all agents: only the operator may ask for them, and the call is logged. Nothing becomes seen,
		// and no agent becomes live. At most one of room_id, channel and thread_id is set. With until the call does
		// not wait.
		//
		// Query:
		//   - room_id
		//   - channel
		//   - thread_id
		//   - agent (as AgentID): Only messages that this agent wrote, or that went to it directly.
		//   - direct (as Flag): Direct messages of all agents too; for the operator. With room_id those with the
		//     room's label, to agents with a seat there and to the operator.
		//   - since_id
		//   - before_id (as CursorText): Only rows with a lower id. With tail, the rows right before it.
		//   - since: Only messages of this moment or later, RFC 3339.
		//   - until: Only messages of before this moment, RFC 3339.
		//   - limit
		//   - tail
		//   - timeout
		//
		// Answer: Messages, rising, and where the next call begins.
		{
			ID: "readLog", Method: "GET", Path: "/v1/log", Wait: Wait{By: WaitTimeout}, NotRelayed: watchesHub,
			Answer: messages(FormFeed), Errors: "channel_not_found room_not_found operator_required too_many_polls",
		},
		// This description.
		//
		// Answer: An OpenAPI 3.1 document.
		{
			ID: "getOpenAPI", Method: "GET", Path: "/v1/openapi.json", Plane: PlaneOpen, Auth: AuthRemote, NotRelayed: "its answer has no envelope",
			Answer: Answer{Schema: "OpenAPI", Form: FormBare},
		},
		// What is wrong in the whole hub, and which agent waits for which.
		//
		// It follows from agents, tasks, claims, locks and questions, and has the same words as hubcli status. They
		// are not of one moment: a task may end while the hub looks. It costs as much as reading all these lists, so
		// read it after news alone.
		//
		// Answer: What is wrong, and which agents wait.
		{
			ID: "getOverview", Method: "GET", Path: "/v1/overview", Plane: PlaneOperator,
			Answer: row[hub.Overview](),
		},
		// Whether the hub will stop.
		//
		// Answer: Whether and when the hub stops.
		{
			ID: "getShutdown", Method: "GET", Path: "/v1/shutdown", Plane: PlaneOperator,
			Answer: row[hub.Shutdown](),
		},
		// Stops the hub after a delay.
		//
		// Answer: Whether and when the hub stops.
		{
			ID: "shutdown", Method: "POST", Path: "/v1/shutdown", Plane: PlaneOperator, Body: small[hub.ShutdownInput](),
			Answer: row[hub.Shutdown](), Unkeyed: true,
		},
		// Lets the hub run on.
		//
		// Answer: Whether and when the hub stops.
		{
			ID: "cancelShutdown", Method: "POST", Path: "/v1/shutdown/cancel", Plane: PlaneOperator,
			Answer: row[hub.Shutdown](), Unkeyed: true,
		},
		// Whose calls the hub takes on its own machine, and whom it has refused.
		//
		// Answer: The users.
		{
			ID: "listUsers", Method: "GET", Path: "/v1/users", Plane: PlaneOperator,
			Answer: row[hub.LocalUsers](),
		},
		// Lets another user of the machine in.
		//
		// Programs of that user are agents from then on, like those of the hub's own user. They start no processes,
		// bind no folders and learn of none, are asked for no permission, and are never the operator. What they write
		// is marked with the user. Only with the operator's own token. Naming a user who is let in already has no
		// effect.
		//
		// Answer: The user.
		{
			ID: "allowUser", Method: "POST", Path: "/v1/users", Plane: PlaneOperator, Body: small[hub.UserInput](),
			Answer: row[hub.AllowedUser](), Errors: "user_not_found limit_reached",
		},
		// Takes that back, and ends what the user has open.
		//
		// Answer: The user.
		{
			ID: "refuseUser", Method: "POST", Path: "/v1/users/refuse", Plane: PlaneOperator, Body: small[hub.UserInput](),
			Answer: row[hub.AllowedUser](), Errors: "user_not_found user_not_allowed",
		},
	}
}
