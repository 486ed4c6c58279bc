package api

import "hubcli/hub"

// agentsOperations are the calls about agents and their sessions.
var agentsOperations = func() []Operation {
	return []Operation{
		// Lists the live sessions by agent id.
		//
		// Sessions of watchers (agent ids that end in .watch) are left out.
		//
		// Query:
		//   - capability: Only sessions with this capability.
		//   - prefix (as Name): Only agent ids that begin so.
		//   - room_id (as Name): Only agents with a seat in the room.
		//   - details (as Flag): Says of each agent also where it is and what waits for it.
		//   - as (as AgentID): The agent that asks, as a sign of life.
		//   - cursor
		//   - list_limit
		//
		// Answer: Live sessions, with what their agents do.
		{
			ID: "listAgents", Method: "GET", Path: "/v1/agents", Agent: "as",
			Answer: pages[hub.LiveAgent](), Errors: "room_not_found",
		},
		// The agents that are not there and have done nothing for a time.
		//
		// Those that have a session, a seat, a lease, a task, an offer or unread messages, the longest idle first,
		// with what retiring them takes from them.
		//
		// Query:
		//   - idle_sec (as CountText): For how many seconds; a day if left out.
		//
		// Answer: The agents.
		{
			ID: "listIdleAgents", Method: "GET", Path: "/v1/agents/idle", Plane: PlaneOperator,
			Answer: row[hub.IdleAgents](),
		},
		// Whether an agent would notice a message now.
		//
		// As the answer to a post says it of its recipient.
		//
		// Answer: The agent as a recipient of messages.
		{
			ID: "getRecipient", Method: "GET", Path: "/v1/agents/{agent_id}", Plane: PlaneOperator,
			Answer: row[hub.Recipient](),
		},
		// Takes an agent for gone.
		//
		// Ends its session and its seats, releases its claims and locks, and gives its tasks and offers back; those
		// who gave them are told. Its messages and its name stay. It comes back by itself with its next call that does
		// more than wait. The answer says what was taken from it. To retire a retired agent takes what it was given
		// since.
		//
		// Answer: The agent, and what was taken from it.
		{
			ID: "retireAgent", Method: "POST", Path: "/v1/agents/{agent_id}/retire", Plane: PlaneOperator, Body: small[hub.RetireInput](),
			Answer: row[hub.RetiredAgent](), Errors: "session_not_found not_gone",
		},
		// What an agent has not seen.
		//
		// Unread is what came after the agent's seen cursors: the highest since_id that it has polled with, in that
		// channel, for its inbox or for all, or the head at its bootstrap. Its own messages and wake notices do not
		// count. The call changes nothing.
		//
		// Query: agent_id, room_id
		//
		// Answer: What the agent has not seen.
		{
			ID: "getAttention", Method: "GET", Path: "/v1/attention", Agent: "agent_id", Polls: true,
			Answer: row[hub.Attention](), Errors: "room_not_found",
		},
		// Moves the mark of what an agent has been told of.
		//
		// Of several calls with the same told_id one has moved true: of two hooks that run for one event one speaks. A
		// repetition with the same idempotency key moves it too, also after a crash. A mark beyond the latest message
		// counts as that. It moves back with the state lost alone, to where the state proved was.
		//
		// Answer: Where the mark stands.
		{
			ID: "tellAgent", Method: "POST", Path: "/v1/attention", Agent: "agent_id", Body: small[hub.ToldInput](),
			Answer: row[hub.Told](),
		},
		// What took the attention of agents since the hub has started.
		//
		// For each agent, sender and path it has the number of messages and the characters of their bodies. What the
		// hub has not changed for the longest time is left out beyond 1000 rows, and nothing is stored.
		//
		// Answer: What took the attention of agents.
		{
			ID: "getAttentionLedger", Method: "GET", Path: "/v1/attention/ledger", Plane: PlaneOperator,
			Answer: row[hub.Ledger](),
		},
		// What an agent needs to begin.
		//
		// Query: agent_id
		//
		// Answer: What the agent needs.
		{
			ID: "getBootstrap", Method: "GET", Path: "/v1/bootstrap", Agent: "agent_id",
			Answer: row[hub.Bootstrap](),
		},
		// Direct messages to an agent.
		//
		// The inboxes of operator, hub and system, and with as_operator that of any agent, are shown to the operator
		// only, and the call is logged.
		//
		// Query:
		//   - since_id
		//   - limit
		//   - tail
		//   - as_operator (as Flag): Reads another's inbox as the operator.
		//   - peek
		//
		// Answer: Messages, rising, and where the next call begins.
		{
			ID: "getInbox", Method: "GET", Path: "/v1/inbox/{agent_id}", Agent: "agent_id", Polls: true,
			Answer: messages(FormFeed),
		},
		// Registers an agent.
		//
		// A live session of the agent ends, unless replace is false. From another machine it needs the operator token.
		// X-Hub-Session is ignored.
		//
		// Answer: The session with its secrets.
		{
			ID: "register", Method: "POST", Path: "/v1/sessions", Auth: AuthRegister, Agent: "agent_id", Body: small[hub.RegisterInput](),
			Answer: row[hub.Registered](), Makes: MakesRow, Errors: "session_conflict metadata_too_large metadata_too_deep",
		},
		// Trades a resume key for a new session.
		//
		// The new session is of the same agent. The old key stays good until the first call of the new session. Needs
		// no session from anywhere. A session that the operator has ended is not resumed: the answer is session_ended
		// with the operator's words.
		//
		// Answer: The session with its secrets.
		{
			ID: "resumeSession", Method: "POST", Path: "/v1/sessions/resume", Auth: AuthNone, Agent: "prior_session_id", Body: small[hub.ResumeInput](),
			Answer: row[hub.Registered](), Makes: MakesRow, Errors: "resume_denied session_ended",
		},
		// Ends the live session of an agent.
		//
		// The agent gets a notice of the operator with the reason, and the next call that proves the session is
		// refused with session_ended and the reason. Claims, locks and tasks of the agent stay.
		//
		// Answer: The session has ended.
		{
			ID: "endSession", Method: "POST", Path: "/v1/sessions/{agent_id}/end", Plane: PlaneOperator, Body: small[hub.SessionEndInput](),
			Answer: row[hub.ClosedSession](), Errors: "session_not_found",
		},
		// Changes the display name.
		//
		// Answer: The session.
		{
			ID: "renameSession", Method: "POST", Path: "/v1/sessions/{agent_id}/rename", Agent: "agent_id", Body: small[hub.RenameInput](),
			Answer: row[hub.Session](), Errors: "session_not_found",
		},
		// Ends a session.
		//
		// Takes the full form of the id; with the operator token the public one too. X-Hub-Session counts from other
		// machines only. An agent that goes on under another id names it as its successor: until the agent begins a
		// session again, messages and tasks for it go to the successor.
		//
		// Query:
		//   - successor (as AgentID): The id under which the agent of the session goes on.
		//
		// Answer: The session has ended.
		{
			ID: "closeSession", Method: "DELETE", Path: "/v1/sessions/{session_id}", Auth: AuthRemote, Agent: "session_id", Secret: true,
			Answer: row[hub.ClosedSession](), Errors: "session_not_found",
		},
		// Notes how far an agent is with its turn.
		//
		// Hooks call it. It is kept in memory, until the session of the agent ends.
		//
		// Answer: Whether it is noted.
		{
			ID: "noteTurn", Method: "POST", Path: "/v1/turns", Agent: "agent_id", Body: small[hub.TurnInput](),
			Answer: row[hub.TurnNoted](),
		},
		// Mail that nobody is expected to read, by its recipient.
		//
		// Direct messages to ids that never registered, and to agents that are gone for long. A row goes when its id
		// registers, which then reads its mail, or when the agent comes back.
		//
		// Query: cursor, limit
		//
		// Answer: The mail.
		{
			ID: "listUndelivered", Method: "GET", Path: "/v1/undelivered", Plane: PlaneOperator,
			Answer: pages[hub.Undelivered](),
		},
		// Waits until all conditions hold at once.
		//
		// Conditions are looked at whenever something that was committed changes one, on one state of the hub. What
		// holds at once is answered at once; when the time is over or the hub stops the answer says met false, and the
		// next call goes on: for-me and message-from count from the agent's seen cursors. While the call waits the
		// agent has a session <agent_id>.watch beside its own. A watch of the agent with the same label that began
		// later ends this one. If it had to wait, system also leaves a wake notice in the agent's inbox before it is
		// answered.
		//
		// Query:
		//   - agent_id
		//   - room_id (as Name): The room whose channel for-me, message-from and answered hear, and whose tasks
		//     task-ready means. Left out, they hear all that is public, and task-ready names its room.
		//   - until required repeated (each as ConditionText; ..32 items): A condition: for-me (an unread message asks
		//     something of the agent or answers it), task-ready or task-ready:<room_id> (the room has a task that the
		//     agent could take), answered:<message id> (an agent has replied), tasks-complete:<id[,id...]>,
		//     run-complete:<run_id> (both hold however they ended), message-from:<agent> (one is unread) or
		//     seat-idle:<agent>. May be repeated, up to 32 times.
		//   - timeout (as SecondsText): Seconds to wait; clamped to 1200, 1200 if left out, 0 looks once.
		//   - label (..80 runes): What the watch is for, in at most 80 characters; shown in the room's status.
		//   - began (as date-time): When who waits has begun to; a watch that takes several calls sends the same in
		//     each. Of the watches of one label the one that began last stays, whichever call comes last. Left out it
		//     is now.
		//   - stream (as Flag): The call is one of many that show events beside the work of the agent. One condition
		//     that holds is enough, no wake notice is left, and seat-idle does not take the agent for asleep.
		//   - after_id (as CursorText): Messages up to it do not count as unread.
		//
		// Answer: How the watch ended.
		{
			ID: "watch", Method: "GET", Path: "/v1/watch", Agent: "agent_id", Wait: Wait{By: WaitTimeout, Default: hub.MaxWatchWait}, Polls: true,
			Answer: row[hub.Watched](), Errors: "room_not_found task_not_found run_not_found message_not_found session_not_found watch_replaced too_many_polls",
		},
	}
}
