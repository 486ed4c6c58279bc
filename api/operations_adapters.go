package api

import "hubcli/hub"

// adaptersOperations are the calls about harnesses, connections, spawned processes and browsers.
var adaptersOperations = func() []Operation {
	return []Operation{
		// How the hub is set up in each harness.
		//
		// All harnesses that the hub knows, in one order: whether they are here, and how each part of the adapter
		// stands, for the user and in the folders where the hub has installed something. Files are read, nothing is
		// started.
		//
		// Query: search_path
		//
		// Answer: All adapters.
		//
		// Bounded: The harnesses that the hub knows.
		{
			ID: "listAdapters", Method: "GET", Path: "/v1/adapters", Plane: PlaneOpen, Auth: AuthRemote, OwnUser: looksAtFolders, NotRelayed: setsUpMachine,
			Answer: rows[hub.Adapter](0),
		},
		// How the hub is set up in one harness.
		//
		// Query: search_path
		//
		// Answer: The adapter.
		{
			ID: "getAdapter", Method: "GET", Path: "/v1/adapters/{harness}", Plane: PlaneOpen, Auth: AuthRemote, OwnUser: looksAtFolders, NotRelayed: setsUpMachine,
			Answer: row[hub.Adapter](), Errors: "adapter_not_found",
		},
		// Writes the adapter into the files of a harness.
		//
		// Without confirm, or with the digest of another plan, the answer is 409 with prompt and digest in the detail;
		// the prompt is shown word for word. Where everything stands already nothing is done and nothing need be
		// confirmed, so that the call may be repeated. Taken from the hub's own machine only, as all changes of
		// adapters.
		//
		// Answer: What was done.
		{
			ID: "installAdapter", Method: "POST", Path: "/v1/adapters/{harness}/install", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: adapterChange,
			Answer: row[hub.AdapterResult](), Unkeyed: true, Errors: "adapter_not_found path_not_found adapter_conflict adapter_refused confirmation_required plan_changed adapter_busy",
		},
		// Says what install would write.
		//
		// Nothing is changed; secrets in the files are masked.
		//
		// Answer: What would be done.
		{
			ID: "previewAdapter", Method: "POST", Path: "/v1/adapters/{harness}/preview", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: adapterChange,
			Answer: row[hub.AdapterPlan](), Unkeyed: true, Errors: "adapter_not_found path_not_found adapter_conflict adapter_refused",
		},
		// Says what uninstall would take out.
		//
		// Nothing is changed; secrets in the files are masked.
		//
		// Answer: What would be done.
		{
			ID: "previewAdapterUninstall", Method: "POST", Path: "/v1/adapters/{harness}/preview-uninstall", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: adapterChange,
			Answer: row[hub.AdapterPlan](), Unkeyed: true, Errors: "adapter_not_found path_not_found adapter_conflict adapter_refused",
		},
		// Writes the adapter anew over what stands of it.
		//
		// As install, but what somebody has changed in the hub's own entries is replaced too.
		//
		// Answer: What was done.
		{
			ID: "repairAdapter", Method: "POST", Path: "/v1/adapters/{harness}/repair", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: adapterChange,
			Answer: row[hub.AdapterResult](), Unkeyed: true, Errors: "adapter_not_found path_not_found adapter_conflict adapter_refused confirmation_required plan_changed adapter_busy",
		},
		// Takes the adapter out of the files of a harness.
		//
		// Only what the hub has written goes. A file that nobody else has changed is as it was before, byte for byte.
		// Confirmed as install is.
		//
		// Answer: What was done.
		{
			ID: "uninstallAdapter", Method: "POST", Path: "/v1/adapters/{harness}/uninstall", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: adapterChange,
			Answer: row[hub.AdapterResult](), Unkeyed: true, Errors: "adapter_not_found path_not_found adapter_conflict adapter_refused confirmation_required plan_changed adapter_busy",
		},
		// Tries what is installed.
		//
		// Starts the installed entry as the harness would, asks it for its tools, and measures how long a message
		// takes to wake it; calls the installed hooks with a sample; lists what only the user can do. Without scope
		// and path everything that is installed is tried. Takes up to a minute; GET shows what has been found so far.
		// A check that fails is a result, no error.
		//
		// Answer: What was found.
		{
			ID: "verifyAdapter", Method: "POST", Path: "/v1/adapters/{harness}/verify", Plane: PlaneOperator, Body: small[hub.AdapterInput](), Wait: Wait{By: WaitFixed, Default: hub.MaxAdapterVerify},
			Answer: row[hub.AdapterVerification](), Unkeyed: true, Errors: "adapter_not_found path_not_found adapter_busy",
		},
		// The browser engines of the hub's machine, in the order in which the hub prefers them.
		//
		// Each engine is asked for its version, which takes up to three seconds. The hub uses the first one that is
		// usable, and no other if the operator has named one.
		//
		// Answer: The engines.
		//
		// Bounded: The engines of one machine; of a folder with many versions the five newest.
		{
			ID: "listBrowserEngines", Method: "GET", Path: "/v1/browser/engines", Plane: PlaneOperator, Wait: Wait{By: WaitFixed, Default: hub.MaxBrowserLook},
			Answer: rows[hub.BrowserEngine](0),
		},
		// Lists the connections to hosted providers, the first made first.
		//
		// No answer holds a key.
		//
		// Answer: Connections.
		//
		// Bounded: There are at most 200 connections.
		{
			ID: "listConnections", Method: "GET", Path: "/v1/connections", Plane: PlaneOperator,
			Answer: rows[hub.Connection](200),
		},
		// Makes a connection.
		//
		// key is kept in the credential store of the operating system, and nowhere else. Without a source of the key
		// the hub looks in the credential store under the name of the provider, and then in the variables of the
		// provider. env_credential and key_variable count in the environment of the hub, not of the caller. The key is
		// good for the servers of the provider alone: if these change, it has to be given again.
		//
		// Answer: The connection.
		{
			ID: "createConnection", Method: "POST", Path: "/v1/connections", Plane: PlaneOperator, Body: small[hub.ConnectionInput](),
			Answer: row[hub.Connection](), Makes: MakesRow, Errors: "provider_not_found label_taken limit_reached credential_unresolved credential_store_unavailable",
		},
		// Removes a connection, and its key from the credential store.
		//
		// A key that the hub has not put there itself stays. While the credential store is locked, the connection
		// stays, too.
		//
		// Answer: The connection.
		{
			ID: "deleteConnection", Method: "DELETE", Path: "/v1/connections/{connection}", Plane: PlaneOperator,
			Answer: row[hub.Connection](), Errors: "connection_not_found ambiguous credential_store_unavailable",
		},
		// Changes a connection.
		//
		// If other servers would get the key, it is removed and key_source becomes needed.
		//
		// Answer: The connection.
		{
			ID: "updateConnection", Method: "POST", Path: "/v1/connections/{connection}", Plane: PlaneOperator, Body: small[hub.ConnectionUpdate](),
			Answer: row[hub.Connection](), Errors: "connection_not_found ambiguous label_taken",
		},
		// Gives the key of a connection anew.
		//
		// The earlier key is removed from the credential store if the hub has put it there. What of the key may be
		// given is as with a new connection.
		//
		// Answer: The connection.
		{
			ID: "setConnectionKey", Method: "POST", Path: "/v1/connections/{connection}/key", Plane: PlaneOperator, Body: small[hub.ConnectionKeyInput](),
			Answer: row[hub.Connection](), Errors: "connection_not_found ambiguous credential_unresolved credential_store_unavailable version_conflict",
		},
		// The models that the provider told last.
		//
		// Nobody is asked; age_sec says how old the list is.
		//
		// Answer: Models.
		//
		// Bounded: At most 2,000 models of a connection are kept.
		{
			ID: "getConnectionModels", Method: "GET", Path: "/v1/connections/{connection}/models", Plane: PlaneOperator,
			Answer: row[hub.ConnectionModels](), Errors: "connection_not_found ambiguous",
		},
		// Asks the provider for its models, and proves the key.
		//
		// check.key says whether the key was proved: some providers list their models to everybody. A failure is
		// provider_failed, with the fault in the detail, and leaves the models that are kept as they are; check of the
		// connection says it, too. The answer takes up to 30 seconds.
		//
		// Answer: The connection.
		{
			ID: "verifyConnection", Method: "POST", Path: "/v1/connections/{connection}/verify", Plane: PlaneOperator, Wait: Wait{By: WaitFixed, Default: hub.VerifyWait},
			Answer: row[hub.Connection](), Errors: "connection_not_found ambiguous provider_failed version_conflict",
		},
		// How the operator is told of new questions.
		//
		// Answer: The setting.
		{
			ID: "getNotify", Method: "GET", Path: "/v1/notify", Plane: PlaneOperator,
			Answer: row[hub.Notify](),
		},
		// Replaces how the operator is told of new questions.
		//
		// version is that of the setting that this one was made from; another one is version_conflict. Without command
		// and webhook nothing is told.
		//
		// Answer: The setting.
		{
			ID: "setNotify", Method: "PUT", Path: "/v1/notify", Plane: PlaneOperator, Body: small[hub.NotifyInput](),
			Answer: row[hub.Notify](), Errors: "version_conflict",
		},
		// Sends a notification of a made-up question.
		//
		// Answer: What became of the notification.
		{
			ID: "testNotify", Method: "POST", Path: "/v1/notify/test", Plane: PlaneOperator, Wait: Wait{By: WaitFixed, Default: 2 * notifyTimeout},
			Answer: row[hub.Notified](),
		},
		// Lists the presets of hosted providers.
		//
		// env names the variables in which a key is looked for, the first first. The rows say where they come from,
		// and when that was looked up.
		//
		// Answer: Presets.
		//
		// Bounded: The table of the program has them all.
		{
			ID: "listProviders", Method: "GET", Path: "/v1/providers", Plane: PlaneOpen, Auth: AuthRemote, NotRelayed: setsUpMachine,
			Answer: rows[hub.Provider](100),
		},
		// Lists spawns, newest first.
		//
		// Query:
		//   - room_id
		//   - status (as SpawnStatus): Only those in this state.
		//   - active: Only those that have not ended.
		//   - before
		//   - cursor
		//   - limit
		//
		// Answer: Spawns.
		{
			ID: "listSpawns", Method: "GET", Path: "/v1/spawn", OwnUser: startsAsOwner, NotRelayed: runsOutside,
			Answer: pages[hub.Spawn](), Errors: "room_not_found",
		},
		// Starts a harness in a room, as the operator allows.
		//
		// The command is the operator's, by its harness; prompt, role and title stand in the place of its placeholders
		// and are text, never an option and never a line for a shell. What is asked for stands in no log and no store.
		// The answer comes when there is a process, or none will be: status failed then, and reason says why. When it
		// has ended, what it has printed is an artifact of the room, and system writes to the agent that asked, with
		// metadata.spawn. Calls through a spool are forbidden_relay; calls from other machines need remote in the
		// policy.
		//
		// The key of a connection goes to the child alone, in the variable of the connection. It is in no row, log or
		// answer, and a word stands in its place where the child prints it.
		//
		// Answer: The spawn.
		{
			ID: "spawn", Method: "POST", Path: "/v1/spawn", Agent: "by", Body: small[hub.SpawnInput](), OwnUser: startsAsOwner, NotRelayed: runsOutside,
			Answer: row[hub.Spawn](), Makes: MakesRow, Errors: "room_not_found spawn_not_allowed limit_reached bad_executable not_bound session_conflict spawn_unavailable paused connection_not_found ambiguous credential_unresolved provider_not_found archived",
		},
		// What may be spawned.
		//
		// Answer: The policy.
		{
			ID: "getSpawnPolicy", Method: "GET", Path: "/v1/spawn/policy", Plane: PlaneOperator,
			Answer: row[hub.SpawnPolicy](),
		},
		// Replaces what may be spawned.
		//
		// What runs goes on. version is that of the policy that this one was made from; another one is
		// version_conflict.
		//
		// Answer: The policy.
		{
			ID: "setSpawnPolicy", Method: "PUT", Path: "/v1/spawn/policy", Plane: PlaneOperator, Body: small[hub.SpawnPolicyInput](),
			Answer: row[hub.SpawnPolicy](), Errors: "version_conflict room_not_found connection_not_found ambiguous",
		},
		// One spawn.
		//
		// Answer: The spawn.
		{
			ID: "getSpawn", Method: "GET", Path: "/v1/spawn/{spawn_id}", OwnUser: startsAsOwner, NotRelayed: runsOutside,
			Answer: row[hub.Spawn](), Errors: "spawn_not_found",
		},
		// Asks for the end of a spawn.
		//
		// Who asked for the spawn and the operator may. The process and its group have five seconds, then they are
		// killed. The answer does not wait for that; one that has ended stays as it is.
		//
		// Answer: The spawn.
		{
			ID: "stopSpawn", Method: "POST", Path: "/v1/spawn/{spawn_id}/stop", Agent: "agent_id", Body: small[hub.SpawnStopInput](), OwnUser: startsAsOwner, NotRelayed: runsOutside,
			Answer: row[hub.Spawn](), Errors: "spawn_not_found spawn_not_allowed",
		},
		// How many of the hub's tools each harness is shown.
		//
		// All harnesses in their order, or the one that is named. Nobody has chosen where default is true: then most
		// harnesses get all tools, and those that cut long lists of tools the progressive surface. A bridge asks when
		// it starts.
		//
		// Query:
		//   - harness (as Name): One harness, by its name or another name of it.
		//
		// Answer: Settings.
		//
		// Bounded: The harnesses that the hub knows.
		{
			ID: "getToolSurface", Method: "GET", Path: "/v1/tool-surface", Plane: PlaneOpen, Auth: AuthRemote, NotRelayed: "only bridges ask for it, and they speak HTTP",
			Answer: rows[hub.ToolSurface](0),
		},
		// Chooses the surface of a harness, or gives it back its default.
		//
		// Answer: The setting.
		{
			ID: "setToolSurface", Method: "PUT", Path: "/v1/tool-surface", Plane: PlaneOperator, Body: small[hub.ToolSurfaceInput](),
			Answer: row[hub.ToolSurface](),
		},
	}
}
