package main

// sharedQuery are the parameters of queries that several operations take, as rows write them.
const sharedQuery = `
  - agent_id (as AgentID): The agent that calls; that of the session or the spool if left out.
  - viewer=agent_id (as AgentID): Whose view it is; the agent of the session or the spool if left out.
    Without any, direct messages stay hidden.
  - search_path (..4096 runes): The caller's PATH: absolute folders in which harnesses are looked for before
    those of the hub's own PATH. It counts for programs of the hub's user on its machine alone.
  - channel (as Name)
  - channels_of=channel repeated (each as Name): Public messages of this channel only. May be repeated. Excludes
    room_id.
  - room_id (as Name)
  - thread_id (as ThreadID)
  - since_id (as CursorText): Only rows with a higher id; next_since_id of the last answer.
  - exclude_self (as Flag): Leaves out what the agent posted itself.
  - cursor (as PlaceText): Where the page begins; next_cursor of the answer before. Left out, the first
    page.
  - list_limit=limit (as CountText): Rows of one answer; clamped to 1000, 1000 if left out.
  - owner_agent_id (as AgentID): Only what this agent holds, or held last.
  - lease_room=room_id (as Name): Only what an agent with a seat in the room holds, or held last, and claims
    on open tasks of the room that the caller may see: what counts on the room's page.
  - limit (as CountText): Rows of one answer; clamped to 1000, 100 if left out.
  - peek (as Flag): Leaves the seen cursor where it is: since_id does not say that the agent has seen all up
    to it. What an agent reads only to look something up is read so.
  - timeout (as SecondsText): Seconds to wait; clamped to 60, 0 if left out.
  - tail (as Flag): Without since_id, the last rows instead of the first.
  - active_only (as Flag): Leaves out what is released or expired.
  - before: The id of a row; only older ones are listed. The last row of an answer names where the next one
    goes on.
`

// sharedPath are the parameters of paths. A row with another one, or with other words for it, has
// a paragraph Path.
const sharedPath = `
  - agent_id (as AgentID)
  - session_id (1.. runes)
  - message_id (as IDText)
  - harness (1..200 runes): A harness by its id or another name of it.
  - task_id (as IDText)
  - plan_id (1.. runes): The plan.
  - project (as Name): Its id, else its slug, else its name without regard to case, which must not hold a
    slash here.
  - room_id (as Name): Its id.
  - run_id (1.. runes)
  - connection (as Name): A connection, by its id, its label or the beginning of its id.
  - pass_id (as Name): A pass.
  - ask_id (as Name): A question to the operator.
  - spawn_id (as Name): A spawn.
  - decision_id (1.. runes)
  - artifact_id (1.. runes)
  - code (1.. runes)
`
