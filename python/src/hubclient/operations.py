"""The operations that agents may make. Made by go generate ./api; do not change it here."""

from __future__ import annotations

from typing import NamedTuple


class Operation(NamedTuple):
    """One call: how it is sent.

    Attributes:
        method: GET, POST, PUT or DELETE.
        path: From /v1, with at most one parameter in braces.
        agent: The parameter or member that names the agent that calls, or empty.
        wait: Seconds that the hub may take, if the call does not say.
    """

    method: str
    path: str
    agent: str = ""
    wait: float = 0.0


OPERATIONS = {
    "listAdapters": Operation("GET", "/v1/adapters"),
    "getAdapter": Operation("GET", "/v1/adapters/{harness}"),
    "listAgents": Operation("GET", "/v1/agents", "as"),
    "getAppStatus": Operation("GET", "/v1/app/status"),
    "listArtifacts": Operation("GET", "/v1/artifacts", "agent_id"),
    "addArtifact": Operation("POST", "/v1/artifacts", "by"),
    "getArtifact": Operation("GET", "/v1/artifacts/{artifact_id}", "agent_id"),
    "getArtifactContent": Operation("GET", "/v1/artifacts/{artifact_id}/content", "agent_id"),
    "listAsks": Operation("GET", "/v1/asks", "agent_id"),
    "ask": Operation("POST", "/v1/asks", "agent_id"),
    "getAsk": Operation("GET", "/v1/asks/{ask_id}", "agent_id"),
    "withdrawAsk": Operation("POST", "/v1/asks/{ask_id}/withdraw", "agent_id"),
    "getAttention": Operation("GET", "/v1/attention", "agent_id"),
    "tellAgent": Operation("POST", "/v1/attention", "agent_id"),
    "getBootstrap": Operation("GET", "/v1/bootstrap", "agent_id"),
    "listBudgets": Operation("GET", "/v1/budgets"),
    "listChannels": Operation("GET", "/v1/channels"),
    "createChannel": Operation("POST", "/v1/channels", "created_by"),
    "listClaims": Operation("GET", "/v1/claims", "agent_id"),
    "claim": Operation("POST", "/v1/claims", "owner_agent_id"),
    "refreshClaim": Operation("POST", "/v1/claims/refresh", "owner_agent_id"),
    "releaseClaim": Operation("POST", "/v1/claims/release", "agent_id"),
    "listDecisions": Operation("GET", "/v1/decisions", "agent_id"),
    "addDecision": Operation("POST", "/v1/decisions", "by"),
    "getDecision": Operation("GET", "/v1/decisions/{decision_id}", "agent_id"),
    "pollEvents": Operation("GET", "/v1/events", "agent_id", wait=30.0),
    "getHubInfo": Operation("GET", "/v1/hub-info"),
    "getInbox": Operation("GET", "/v1/inbox/{agent_id}", "agent_id"),
    "listInvites": Operation("GET", "/v1/invites", "agent_id"),
    "createInvite": Operation("POST", "/v1/invites", "by"),
    "previewInvite": Operation("GET", "/v1/invites/{code}"),
    "acceptInvite": Operation("POST", "/v1/invites/{code}/accept", "agent_id"),
    "revokeInvite": Operation("POST", "/v1/invites/{code}/revoke"),
    "listLocks": Operation("GET", "/v1/locks", "agent_id"),
    "lock": Operation("POST", "/v1/locks", "agent_id"),
    "refreshLock": Operation("POST", "/v1/locks/refresh", "agent_id"),
    "releaseLock": Operation("POST", "/v1/locks/release", "agent_id"),
    "readLog": Operation("GET", "/v1/log"),
    "recall": Operation("GET", "/v1/memory"),
    "remember": Operation("POST", "/v1/memory", "by"),
    "listMessages": Operation("GET", "/v1/messages", "agent_id"),
    "postMessage": Operation("POST", "/v1/messages", "from_agent"),
    "getMessage": Operation("GET", "/v1/messages/{message_id}", "agent_id"),
    "getReceipt": Operation("GET", "/v1/messages/{message_id}/receipt", "agent_id"),
    "listMutes": Operation("GET", "/v1/mutes"),
    "createPass": Operation("POST", "/v1/passes"),
    "provePass": Operation("GET", "/v1/passes/{pass_id}/proof"),
    "listPauses": Operation("GET", "/v1/pauses"),
    "requestPermission": Operation("POST", "/v1/permissions/requests", "agent_id"),
    "awaitPermission": Operation("POST", "/v1/permissions/requests/{ask_id}/await", "agent_id"),
    "listProjects": Operation("GET", "/v1/projects"),
    "createProject": Operation("POST", "/v1/projects", "created_by"),
    "getProject": Operation("GET", "/v1/projects/{project}"),
    "listProviders": Operation("GET", "/v1/providers"),
    "resolve": Operation("GET", "/v1/resolve"),
    "listRooms": Operation("GET", "/v1/rooms"),
    "createRoom": Operation("POST", "/v1/rooms", "created_by"),
    "getRoom": Operation("GET", "/v1/rooms/{room_id}"),
    "getRoomMoment": Operation("GET", "/v1/rooms/{room_id}/at", "agent_id"),
    "unbindRoom": Operation("DELETE", "/v1/rooms/{room_id}/binding", "agent_id"),
    "bindRoom": Operation("PUT", "/v1/rooms/{room_id}/binding", "agent_id"),
    "browse": Operation("POST", "/v1/rooms/{room_id}/browser", "agent_id", wait=30.0),
    "setRoomLocks": Operation("PUT", "/v1/rooms/{room_id}/locks", "agent_id"),
    "sit": Operation("POST", "/v1/rooms/{room_id}/seats", "agent_id"),
    "getRoomStatus": Operation("GET", "/v1/rooms/{room_id}/status", "agent_id"),
    "listRuns": Operation("GET", "/v1/runs", "agent_id"),
    "createRun": Operation("POST", "/v1/runs", "created_by"),
    "getRun": Operation("GET", "/v1/runs/{run_id}", "agent_id"),
    "addRunTasks": Operation("POST", "/v1/runs/{run_id}/tasks", "agent_id"),
    "search": Operation("GET", "/v1/search", "agent_id"),
    "register": Operation("POST", "/v1/sessions", "agent_id"),
    "resumeSession": Operation("POST", "/v1/sessions/resume"),
    "renameSession": Operation("POST", "/v1/sessions/{agent_id}/rename", "agent_id"),
    "closeSession": Operation("DELETE", "/v1/sessions/{session_id}"),
    "listSpawns": Operation("GET", "/v1/spawn"),
    "spawn": Operation("POST", "/v1/spawn", "by"),
    "getSpawn": Operation("GET", "/v1/spawn/{spawn_id}"),
    "stopSpawn": Operation("POST", "/v1/spawn/{spawn_id}/stop", "agent_id"),
    "listTasks": Operation("GET", "/v1/tasks", "agent_id"),
    "getTask": Operation("GET", "/v1/tasks/{task_id}", "agent_id"),
    "updateTask": Operation("POST", "/v1/tasks/{task_id}", "agent_id"),
    "acceptTask": Operation("POST", "/v1/tasks/{task_id}/accept", "agent_id"),
    "completeTask": Operation("POST", "/v1/tasks/{task_id}/complete", "agent_id"),
    "declineTask": Operation("POST", "/v1/tasks/{task_id}/decline", "agent_id"),
    "handoffTask": Operation("POST", "/v1/tasks/{task_id}/handoff", "agent_id"),
    "getTaskLeases": Operation("GET", "/v1/tasks/{task_id}/leases", "agent_id"),
    "listThreads": Operation("GET", "/v1/threads", "agent_id"),
    "getThread": Operation("GET", "/v1/threads/{thread_id}", "agent_id"),
    "getToolSurface": Operation("GET", "/v1/tool-surface"),
    "noteTurn": Operation("POST", "/v1/turns", "agent_id"),
    "watch": Operation("GET", "/v1/watch", "agent_id", wait=1200.0),
}
