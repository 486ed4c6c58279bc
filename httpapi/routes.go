package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"

	"hubcli/hub"
)

// plane says whose a call is.
type plane uint8

const (
	planeOpen     plane = iota // anybody on loopback may call
	planeAgent                 // an agent's, named by the call or proved by a session
	planeOperator              // needs the operator token
)

// auth says what a call does with X-Hub-Session.
type auth uint8

const (
	authSession  auth = iota // proves it if it is sent; a peer on another machine must send it
	authRemote               // the same for peers on other machines, ignores it otherwise
	authNone                 // ignores it: anybody may call from anywhere
	authRegister             // ignores it; a peer on another machine needs the operator token
	authOptional             // proves it if it is sent: anybody may call from anywhere
)

// route is one operation. Path parameters are written as httprouter wants them.
type route struct {
	path      string
	method    string
	operation string // operationId in openapi.yaml
	plane     plane
	auth      auth
	large     bool // the body may carry a message within the limits
	artifact  bool // the body may carry an artifact
	changes   bool // the call changes something: it is logged
	polls     bool // the call asks what is new: its agent listens, and does not work
	secret    bool // the path may hold a secret: the log shows the route's path
	handle    handler
}

type handler func(*call) (reply, error)

// routes is the table of all operations, sorted by path and method.
var routes = []route{
	{path: "/healthz", method: "GET", operation: "getHealth", plane: planeOpen, auth: authNone, handle: getHealth},
	{path: "/metrics", method: "GET", operation: "getMetrics", plane: planeOpen, auth: authRemote, handle: getMetrics},
	{path: "/readyz", method: "GET", operation: "getReadiness", plane: planeOpen, auth: authRemote, handle: getReadiness},
	{path: "/v1/adapters", method: "GET", operation: "listAdapters", plane: planeOpen, auth: authRemote, handle: listAdapters},
	{path: "/v1/adapters/:harness", method: "GET", operation: "getAdapter", plane: planeOpen, auth: authRemote, handle: getAdapter},
	{path: "/v1/adapters/:harness/install", method: "POST", operation: "installAdapter", plane: planeOperator, changes: true, handle: changeAdapter(hub.AdapterInstall)},
	{path: "/v1/adapters/:harness/preview", method: "POST", operation: "previewAdapter", plane: planeOperator, changes: true, handle: previewAdapter(hub.AdapterInstall)},
	{path: "/v1/adapters/:harness/preview-uninstall", method: "POST", operation: "previewAdapterUninstall", plane: planeOperator, changes: true, handle: previewAdapter(hub.AdapterUninstall)},
	{path: "/v1/adapters/:harness/repair", method: "POST", operation: "repairAdapter", plane: planeOperator, changes: true, handle: changeAdapter(hub.AdapterRepair)},
	{path: "/v1/adapters/:harness/uninstall", method: "POST", operation: "uninstallAdapter", plane: planeOperator, changes: true, handle: changeAdapter(hub.AdapterUninstall)},
	{path: "/v1/adapters/:harness/verify", method: "POST", operation: "verifyAdapter", plane: planeOperator, changes: true, handle: verifyAdapter},
	{path: "/v1/agents", method: "GET", operation: "listAgents", plane: planeAgent, handle: listAgents},
	{path: "/v1/app/status", method: "GET", operation: "getAppStatus", plane: planeOpen, auth: authRemote, handle: getAppStatus},
	{path: "/v1/artifacts", method: "GET", operation: "listArtifacts", plane: planeAgent, handle: listArtifacts},
	{path: "/v1/artifacts", method: "POST", operation: "addArtifact", plane: planeAgent, artifact: true, changes: true, handle: addArtifact},
	{path: "/v1/artifacts/:artifact_id", method: "GET", operation: "getArtifact", plane: planeAgent, handle: getArtifact},
	{path: "/v1/artifacts/:artifact_id/content", method: "GET", operation: "getArtifactContent", plane: planeAgent, handle: getArtifactContent},
	{path: "/v1/attention", method: "GET", operation: "getAttention", plane: planeAgent, polls: true, handle: getAttention},
	{path: "/v1/attention", method: "POST", operation: "tellAgent", plane: planeAgent, changes: true, handle: postAttention},
	{path: "/v1/bootstrap", method: "GET", operation: "getBootstrap", plane: planeAgent, handle: getBootstrap},
	{path: "/v1/channels", method: "GET", operation: "listChannels", plane: planeAgent, handle: listChannels},
	{path: "/v1/channels", method: "POST", operation: "createChannel", plane: planeAgent, changes: true, handle: createChannel},
	{path: "/v1/claims", method: "GET", operation: "listClaims", plane: planeAgent, handle: listClaims},
	{path: "/v1/claims", method: "POST", operation: "claim", plane: planeAgent, changes: true, handle: postClaim},
	{path: "/v1/claims/refresh", method: "POST", operation: "refreshClaim", plane: planeAgent, changes: true, handle: refreshClaim},
	{path: "/v1/claims/release", method: "POST", operation: "releaseClaim", plane: planeAgent, changes: true, handle: releaseClaim},
	{path: "/v1/decisions", method: "GET", operation: "listDecisions", plane: planeAgent, handle: listDecisions},
	{path: "/v1/decisions", method: "POST", operation: "addDecision", plane: planeAgent, changes: true, handle: addDecision},
	{path: "/v1/events", method: "GET", operation: "pollEvents", plane: planeAgent, polls: true, handle: pollEvents},
	{path: "/v1/hub-info", method: "GET", operation: "getHubInfo", plane: planeOpen, auth: authNone, handle: getHubInfo},
	{path: "/v1/inbox/:agent_id", method: "GET", operation: "getInbox", plane: planeAgent, polls: true, handle: getInbox},
	{path: "/v1/invites", method: "GET", operation: "listInvites", plane: planeAgent, handle: listInvites},
	{path: "/v1/invites", method: "POST", operation: "createInvite", plane: planeAgent, changes: true, handle: createInvite},
	{path: "/v1/invites/:code", method: "GET", operation: "previewInvite", plane: planeAgent, auth: authOptional, secret: true, handle: previewInvite},
	{path: "/v1/invites/:code/accept", method: "POST", operation: "acceptInvite", plane: planeAgent, auth: authOptional, changes: true, secret: true, handle: acceptInvite},
	{path: "/v1/invites/:code/revoke", method: "POST", operation: "revokeInvite", plane: planeAgent, changes: true, secret: true, handle: revokeInvite},
	{path: "/v1/locks", method: "GET", operation: "listLocks", plane: planeAgent, handle: listLocks},
	{path: "/v1/locks", method: "POST", operation: "lock", plane: planeAgent, changes: true, handle: postLock},
	{path: "/v1/locks/refresh", method: "POST", operation: "refreshLock", plane: planeAgent, changes: true, handle: refreshLock},
	{path: "/v1/locks/release", method: "POST", operation: "releaseLock", plane: planeAgent, changes: true, handle: releaseLock},
	{path: "/v1/memory", method: "GET", operation: "recall", plane: planeAgent, handle: recall},
	{path: "/v1/memory", method: "POST", operation: "remember", plane: planeAgent, changes: true, handle: remember},
	{path: "/v1/messages", method: "GET", operation: "listMessages", plane: planeAgent, polls: true, handle: listMessages},
	{path: "/v1/messages", method: "POST", operation: "postMessage", plane: planeAgent, large: true, changes: true, handle: postMessage},
	{path: "/v1/messages/:message_id", method: "GET", operation: "getMessage", plane: planeAgent, handle: getMessage},
	{path: "/v1/openapi.json", method: "GET", operation: "getOpenAPI", plane: planeOpen, auth: authRemote, handle: getOpenAPI},
	{path: "/v1/projects", method: "GET", operation: "listProjects", plane: planeAgent, handle: listProjects},
	{path: "/v1/projects", method: "POST", operation: "createProject", plane: planeAgent, changes: true, handle: createProject},
	{path: "/v1/projects/:project", method: "GET", operation: "getProject", plane: planeAgent, handle: getProject},
	{path: "/v1/resolve", method: "GET", operation: "resolve", plane: planeAgent, handle: resolve},
	{path: "/v1/rooms", method: "GET", operation: "listRooms", plane: planeAgent, handle: listRooms},
	{path: "/v1/rooms", method: "POST", operation: "createRoom", plane: planeAgent, changes: true, handle: createRoom},
	{path: "/v1/rooms/:room_id", method: "GET", operation: "getRoom", plane: planeAgent, handle: getRoom},
	{path: "/v1/rooms/:room_id/binding", method: "DELETE", operation: "unbindRoom", plane: planeAgent, changes: true, handle: unbindRoom},
	{path: "/v1/rooms/:room_id/binding", method: "PUT", operation: "bindRoom", plane: planeAgent, changes: true, handle: bindRoom},
	{path: "/v1/rooms/:room_id/seats", method: "POST", operation: "sit", plane: planeAgent, changes: true, handle: sit},
	{path: "/v1/rooms/:room_id/status", method: "GET", operation: "getRoomStatus", plane: planeAgent, handle: getRoomStatus},
	{path: "/v1/runs", method: "GET", operation: "listRuns", plane: planeAgent, handle: listRuns},
	{path: "/v1/runs", method: "POST", operation: "createRun", plane: planeAgent, changes: true, handle: createRun},
	{path: "/v1/runs/:run_id", method: "GET", operation: "getRun", plane: planeAgent, handle: getRun},
	{path: "/v1/runs/:run_id/tasks", method: "POST", operation: "addRunTasks", plane: planeAgent, changes: true, handle: addRunTasks},
	{path: "/v1/search", method: "GET", operation: "search", plane: planeAgent, handle: search},
	{path: "/v1/sessions", method: "POST", operation: "register", plane: planeAgent, auth: authRegister, changes: true, handle: register},
	{path: "/v1/sessions/:agent_id/rename", method: "POST", operation: "renameSession", plane: planeAgent, changes: true, handle: renameSession},
	{path: "/v1/sessions/:session_id", method: "DELETE", operation: "closeSession", plane: planeAgent, auth: authRemote, changes: true, secret: true, handle: closeSession},
	{path: "/v1/sessions/resume", method: "POST", operation: "resumeSession", plane: planeAgent, auth: authNone, changes: true, handle: resumeSession},
	{path: "/v1/shutdown", method: "GET", operation: "getShutdown", plane: planeOperator, handle: getShutdown},
	{path: "/v1/shutdown", method: "POST", operation: "shutdown", plane: planeOperator, changes: true, handle: postShutdown},
	{path: "/v1/shutdown/cancel", method: "POST", operation: "cancelShutdown", plane: planeOperator, changes: true, handle: cancelShutdown},
	{path: "/v1/spawn", method: "GET", operation: "listSpawns", plane: planeAgent, handle: listSpawns},
	{path: "/v1/spawn", method: "POST", operation: "spawn", plane: planeAgent, changes: true, handle: postSpawn},
	{path: "/v1/spawn/:spawn_id", method: "GET", operation: "getSpawn", plane: planeAgent, handle: getSpawn},
	{path: "/v1/spawn/:spawn_id/stop", method: "POST", operation: "stopSpawn", plane: planeAgent, changes: true, handle: stopSpawn},
	{path: "/v1/spawn/policy", method: "GET", operation: "getSpawnPolicy", plane: planeOperator, handle: getSpawnPolicy},
	{path: "/v1/spawn/policy", method: "PUT", operation: "setSpawnPolicy", plane: planeOperator, changes: true, handle: putSpawnPolicy},
	{path: "/v1/stream", method: "GET", operation: "streamEvents", plane: planeAgent, polls: true, handle: streamEvents},
	{path: "/v1/tasks", method: "GET", operation: "listTasks", plane: planeAgent, handle: listTasks},
	{path: "/v1/tasks/:task_id", method: "GET", operation: "getTask", plane: planeAgent, handle: getTask},
	{path: "/v1/tasks/:task_id", method: "POST", operation: "updateTask", plane: planeAgent, changes: true, handle: updateTask},
	{path: "/v1/tasks/:task_id/accept", method: "POST", operation: "acceptTask", plane: planeAgent, large: true, changes: true, handle: acceptTask},
	{path: "/v1/tasks/:task_id/complete", method: "POST", operation: "completeTask", plane: planeAgent, large: true, changes: true, handle: completeTask},
	{path: "/v1/tasks/:task_id/decline", method: "POST", operation: "declineTask", plane: planeAgent, large: true, changes: true, handle: declineTask},
	{path: "/v1/tasks/:task_id/handoff", method: "POST", operation: "handoffTask", plane: planeAgent, large: true, changes: true, handle: handoffTask},
	{path: "/v1/threads", method: "GET", operation: "listThreads", plane: planeAgent, handle: listThreads},
	{path: "/v1/threads/*thread_id", method: "GET", operation: "getThread", plane: planeAgent, handle: getThread},
	{path: "/v1/tool-surface", method: "GET", operation: "getToolSurface", plane: planeOpen, auth: authRemote, handle: getToolSurface},
	{path: "/v1/tool-surface", method: "PUT", operation: "setToolSurface", plane: planeOperator, changes: true, handle: putToolSurface},
	{path: "/v1/watch", method: "GET", operation: "watch", plane: planeAgent, polls: true, handle: getWatch},
}

// newRouter registers the table. httprouter allows no constant beside a
// parameter, so that POST /v1/sessions/resume is registered as a parameter that
// must be resume, and GET /v1/spawn/policy as the parameter policy of the other
// GET; and a thread id may hold a slash, hence the catch-all.
func (s *Server) newRouter() *httprouter.Router {
	router := &httprouter.Router{
		HandleMethodNotAllowed: true,
		NotFound:               http.HandlerFunc(s.notFound),
		MethodNotAllowed:       http.HandlerFunc(s.methodNotAllowed),
		PanicHandler:           s.panicked,
	}
	policy := s.handle(routeOf("getSpawnPolicy"))
	for i := range routes {
		rt := &routes[i]
		handle := s.handle(rt)
		switch rt.operation {
		case "getSpawnPolicy":
			continue
		case "getSpawn":
			handle = either("policy", policy, handle)
		}
		if rt.method == http.MethodPost && rt.path == "/v1/sessions/resume" {
			router.Handle(rt.method, "/v1/sessions/:agent_id", s.only("resume", handle))
			continue
		}
		router.Handle(rt.method, rt.path, handle)
		if rt.method == http.MethodGet {
			router.Handle(http.MethodHead, rt.path, handle)
		}
	}
	return router
}

// only lets a call through whose one parameter is word.
func (s *Server) only(word string, handle httprouter.Handle) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		if params[0].Value != word {
			s.methodNotAllowed(w, r)
			return
		}
		handle(w, r, params)
	}
}

// either lets a call whose one parameter is word go the one way, others the other.
func either(word string, one, other httprouter.Handle) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		if params[0].Value == word {
			one(w, r, params)
			return
		}
		other(w, r, params)
	}
}

// routeOf returns the route of an operation, which there is.
func routeOf(operation string) *route {
	i := slices.IndexFunc(routes, func(rt route) bool { return rt.operation == operation })
	return &routes[i]
}

// matches reports whether the path of a request is one of the route's.
func (rt *route) matches(path string) bool {
	want := rt.path
	for {
		next, rest, more := strings.Cut(strings.TrimPrefix(want, "/"), "/")
		got, left, leftMore := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		switch {
		case strings.HasPrefix(next, "*"):
			return true
		case next != got && (!strings.HasPrefix(next, ":") || got == ""):
			return false
		case !more || !leftMore:
			return more == leftMore
		}
		want, path = rest, left
	}
}

// allowed lists the methods of a path, sorted.
func allowed(path string) []string {
	var methods []string
	for i := range routes {
		if routes[i].matches(path) {
			methods = append(methods, routes[i].method)
			if routes[i].method == http.MethodGet {
				methods = append(methods, http.MethodHead)
			}
		}
	}
	return sortedSet(methods)
}
