package mcp

import (
	"net/http"
	"regexp"
	"strings"

	"hubcli/api/client"
	"hubcli/hub"
)

// ways are the ways out of the hub's errors in the words of the tools. They count
// before the hub's own, which names addresses and commands that a model has not.
var ways = map[hub.Code]string{
	hub.CodeMessageNotFound:     "check the id; a direct message is shown to its two parties alone",
	hub.CodeChannelNotFound:     "make it with hub_create_channel, or leave channel out for your room's",
	hub.CodeRoomNotFound:        "hub_list_rooms shows the rooms, with their ids and as project/room",
	hub.CodeProjectNotFound:     "hub_list_rooms shows the projects; hub_create_project makes one",
	hub.CodeProjectExists:       "use that one, or choose another name; hub_list_rooms shows the projects",
	hub.CodeThreadNotFound:      "check the name; hub_search finds messages and their threads",
	hub.CodeTaskNotFound:        "hub_list_tasks shows the tasks that you may see",
	hub.CodeRunNotFound:         "check the run_id; hub_room_status shows the runs of a room",
	hub.CodeReplyNotFound:       "check the id; hub_poll_messages shows ids",
	hub.CodeReplyRequired:       "name in reply_to the task or request that this is the result of; hub_list_tasks shows ids",
	hub.CodeParentNotFound:      "check the id; hub_list_tasks shows ids",
	hub.CodeArtifactNotFound:    "call hub_get_artifact without an id to list those of the room",
	hub.CodeMemoryNotFound:      "call hub_recall without memory_id to list what is remembered",
	hub.CodeSpawnNotFound:       "check the spawn_id: hub_spawn has answered it; hub_room_status shows who is in the room",
	hub.CodeInviteNotFound:      "ask who invited you for a new code",
	hub.CodeInviteExpired:       "ask who invited you for a new code",
	hub.CodeInviteExhausted:     "ask who invited you for a new code",
	hub.CodeInviteRevoked:       "ask who invited you for a new code",
	hub.CodeRoomFull:            "ask in another room (hub_list_rooms), or ask your user",
	hub.CodeTooManyAttempts:     "wait as long as retry_after says; then check the code with who invited you",
	hub.CodeTaskClosed:          "the task has ended: post a new one if there is more to do",
	hub.CodeTaskTaken:           "do not work on it: ask who has it with hub_dm, or take another of hub_list_tasks with ready",
	hub.CodeTaskTooDeep:         "leave parent_task_id out, or name a task nearer to the top",
	hub.CodeNotOffered:          "hub_list_tasks shows to whom a task is offered and who has it",
	hub.CodeVersionConflict:     "read it again with hub_list_tasks and decide anew",
	hub.CodeStaleFence:          "somebody had it in between: look at what was done, and take it anew if it is free",
	hub.CodeLimitReached:        "make room first: end tasks that are done (hub_list_tasks), give back what you hold, or ask your user",
	hub.CodeBodyTooLarge:        "put the text into hub_add_artifact and post its id, or post less",
	hub.CodeAttachmentTooLarge:  "put the content into hub_add_artifact and post its id",
	hub.CodeTooManyAttachments:  "put the content into hub_add_artifact and post its id",
	hub.CodeArtifactTooLarge:    "store it in parts, or name in it the file that holds the rest",
	hub.CodeRequestTooLarge:     "send less at once: store long text in parts with hub_add_artifact",
	hub.CodeTooManyPolls:        "you wait in too many calls at once: let one end",
	hub.CodeInProgress:          "the same call is under way: call again in a moment with the same idempotency_key",
	hub.CodeIdempotencyConflict: "the idempotency_key was used with other arguments: leave it out, or choose another",
	hub.CodeSearchUnavailable:   "try again in a minute; until then hub_poll_messages with since_id 0 and hub_list_decisions read in order",
	hub.CodeNotBound:            "name the room with room_id; hub_list_rooms shows them",
	hub.CodeSessionNotFound:     "hub_list_agents shows the agents that are live, hub_room_status those of a room",
	hub.CodeOperatorRequired:    "this is your user's to do: ask for it",
	hub.CodeSpawnUnavailable:    "this hub starts no agents: ask your user, or ask an agent that is live with hub_rpc_call",
	hub.CodeStopping:            "the hub restarts: call again in a moment with the same idempotency_key",
}

// foreign is what only other clients of the hub can follow.
var foreign = regexp.MustCompile(`\b(GET|POST|PUT|PATCH|DELETE) /|/v1/|\bhubcli |Idempotency-Key|X-Hub-`)

// users are the codes whose way out is a command or an address of the operator's,
// which a model passes on to its user.
var users = map[hub.Code]bool{
	hub.CodeSpawnNotAllowed: true, hub.CodeBadExecutable: true, client.CodeUnreachable: true, client.CodeNoAnswer: true,
}

// wayOut says what to do about an error: what a tool has said of it itself, else
// what the table says, else what the hub says if a model can follow that.
func wayOut(e *hub.Error) string {
	switch {
	case strings.Contains(e.Fix, prefix):
		return e.Fix
	case ways[e.Code] != "":
		return ways[e.Code]
	case e.Fix != "" && (users[e.Code] || !foreign.MatchString(e.Fix)):
		return e.Fix
	case e.Status >= http.StatusInternalServerError || e.Status == 0:
		return "try again in a moment with the same idempotency_key; then go on without the hub and tell your user"
	}
	return "change the arguments: hub_describe_tool says what the tool takes"
}
