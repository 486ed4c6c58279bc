package api

import (
	"time"

	"hubcli/hub"
)

// messagesOperations are the calls about messages and channels.
var messagesOperations = func() []Operation {
	return []Operation{
		// Lists channels by name.
		//
		// Query:
		//   - prefix (as Name): Only names that begin so.
		//   - created_by (as AgentID): Only channels that this agent made.
		//   - archived (as Flag): Archived channels too.
		//   - cursor
		//   - list_limit
		//
		// Answer: All channels.
		{
			ID: "listChannels", Method: "GET", Path: "/v1/channels",
			Answer: pages[hub.Channel](),
		},
		// Makes a channel.
		//
		// An existing channel of that name is returned unchanged, with 200. Names that begin with room- are refused.
		//
		// Answer: The channel.
		{
			ID: "createChannel", Method: "POST", Path: "/v1/channels", Agent: "created_by", Body: small[hub.ChannelInput](),
			Answer: row[hub.Channel](), Makes: MakesOrFinds, Errors: "reserved_name metadata_too_large metadata_too_deep paused",
		},
		// Takes a channel out of lists, or back into them.
		//
		// Nothing is deleted. A list of channels has it only with archived, a poll that names no channel, thread or
		// room leaves out what is posted there, and posts to it are refused with archived. The channel of a room is
		// archived with the room. general and direct cannot be archived.
		//
		// Answer: The channel.
		{
			ID: "archiveChannel", Method: "PUT", Path: "/v1/channels/archived", Plane: PlaneOperator, Body: small[hub.ChannelArchiveInput](),
			Answer: row[hub.Channel](), Errors: "channel_not_found",
		},
		// Waits for messages.
		//
		// Public messages and the direct messages to the agent, rising. Answers as soon as there is a row, and with
		// none when the time is over, the hub stops or nothing came. A call that waits counts as presence.
		//
		// Query:
		//   - agent_id
		//   - channels_of
		//   - room_id
		//   - thread_id
		//   - since_id
		//   - exclude_self
		//   - peek
		//   - limit
		//   - max_chars (as CountText): Budget of body characters. The newest rows stay whole; an older body becomes a
		//     notice, and truncated says how to fetch it. There is at least one row per answer.
		//   - awaits (as Cursor): The id of a message of the agent, for whose answer the call waits. Others see that
		//     the agent waits, and a call that would close a circle of agents that wait for each other does not wait:
		//     its answer has the agents in circle.
		//   - timeout (as SecondsText): Seconds to wait; clamped to 60, 30 if left out.
		//
		// Answer: Messages, rising, and where the next call begins.
		{
			ID: "pollEvents", Method: "GET", Path: "/v1/events", Agent: "agent_id", Wait: Wait{By: WaitTimeout, Default: 30 * time.Second}, Polls: true,
			Answer: messages(FormFeed), Errors: "channel_not_found room_not_found message_not_found too_many_polls",
		},
		// Public messages of a channel or thread.
		//
		// Needs channel or thread_id. Direct messages are left out.
		//
		// Query: channel, thread_id, since_id, limit, tail, timeout, viewer
		//
		// Answer: Messages, rising, and where the next call begins.
		{
			ID: "listMessages", Method: "GET", Path: "/v1/messages", Agent: "agent_id", Wait: Wait{By: WaitTimeout}, Polls: true,
			Answer: messages(FormFeed), Errors: "channel_not_found too_many_polls",
		},
		// Posts a message.
		//
		// A body or attachments are needed. task and task_request open a task, which is part of the run that
		// metadata.run_id names, else of its parent's; a task_result whose reply_to names an open one completes it.
		//
		// Answer: The message.
		{
			ID: "postMessage", Method: "POST", Path: "/v1/messages", Agent: "from_agent", Body: large[hub.PostInput](),
			Answer: messages(FormPosted), Makes: MakesRow, Errors: "unknown_kind body_too_large attachment_too_large too_many_attachments metadata_too_large metadata_too_deep reserved_metadata reply_required reply_not_found parent_not_found channel_not_found run_not_found limit_reached task_closed task_too_deep blocked undecided archived paused slowed loop_stopped agent_unclear",
		},
		// One whole message.
		//
		// Query: viewer
		//
		// Answer: The message.
		{
			ID: "getMessage", Method: "GET", Path: "/v1/messages/{message_id}", Agent: "agent_id",
			Answer: row[hub.Message](), Errors: "message_not_found",
		},
		// What has become of a direct message.
		//
		// For its sender, its recipient and the operator. A public message has no receipt (invalid). The call marks
		// nothing as seen.
		//
		// Query: viewer
		//
		// Answer: The receipt.
		{
			ID: "getReceipt", Method: "GET", Path: "/v1/messages/{message_id}/receipt", Agent: "agent_id",
			Answer: row[hub.Receipt](), Errors: "message_not_found",
		},
		// Finds messages, decisions, artifacts and memories by their words, the best first.
		//
		// q is words, "phrases in quotes" and -words that must not occur; there is no other syntax. All words must
		// occur; if no row holds them all, the last may be the beginning of a longer one, and else any word will do.
		// Case and accents do not count. Rows that the caller may not see change neither rows nor scores. The call
		// waits up to half a second until all that was acknowledged before it is in the index; behind says how many
		// rows were not.
		//
		// Query:
		//   - q required: What to look for, at most 1000 characters.
		//   - viewer
		//   - room_id (as Name): Only what is in this room, its messages, decisions, artifacts and memories, and its
		//     project's memory.
		//   - channel (as Name): Only messages with this channel.
		//   - from_agent (as AgentID): Only what this agent wrote.
		//   - kind (as Name): Only messages or artifacts of this kind.
		//   - type repeated (each as FoundType): Only rows of this type; may be repeated.
		//   - since: Only what was written at this time or later, RFC 3339.
		//   - limit (as CountText): Rows of one answer; clamped to 100, 20 if left out.
		//
		// Answer: What was found, the best first.
		//
		// Bounded: The best rows, at most limit.
		{
			ID: "search", Method: "GET", Path: "/v1/search", Agent: "agent_id",
			Answer: found(), Errors: "room_not_found channel_not_found search_unavailable",
		},
		// Messages as server-sent events.
		//
		// Each event has the id of its message and the row as data. Every 15 seconds without a message an id alone
		// moves Last-Event-ID to what has been examined. An error ends the stream as an event of type error whose data
		// is an Error.
		//
		// Header: Last-Event-ID (as CursorText): Where the stream resumes; it stands before since_id.
		//
		// Query:
		//   - agent_id
		//   - channels_of
		//   - channels: The same, as one list with commas.
		//   - since_id
		//   - exclude_self
		//   - peek
		//
		// Answer: Events without end.
		{
			ID: "streamEvents", Method: "GET", Path: "/v1/stream", Agent: "agent_id", Polls: true, NotRelayed: "an answer is one file, and a stream has no end",
			Media: "text/event-stream", Errors: "channel_not_found too_many_polls",
		},
		// Summaries of threads, latest first.
		//
		// While a walk lasts, each thread stands where it stood when the walk began, with its summary as it is now.
		//
		// Query: viewer, cursor, limit
		//
		// Answer: Threads.
		{
			ID: "listThreads", Method: "GET", Path: "/v1/threads", Agent: "agent_id",
			Answer: pages[hub.ThreadSummary](),
		},
		// One thread with its rows.
		//
		// A long list is cut, and then more names it. The counts of the summary are of all rows.
		//
		// Path: thread_id (as ThreadID): May hold slashes.
		//
		// Query: viewer
		//
		// Answer: The thread.
		{
			ID: "getThread", Method: "GET", Path: "/v1/threads/{thread_id...}", Agent: "agent_id",
			Answer: row[hub.Thread](), Errors: "thread_not_found",
		},
	}
}
