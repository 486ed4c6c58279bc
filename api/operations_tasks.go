package api

import "hubcli/hub"

// tasksOperations are the calls about tasks and runs.
var tasksOperations = func() []Operation {
	return []Operation{
		// Lists runs, newest first.
		//
		// Query:
		//   - status (one of active running complete failed cancelled): A state, or active for all that are running.
		//   - room_id
		//   - viewer
		//   - cursor
		//   - limit
		//
		// Answer: Runs.
		{
			ID: "listRuns", Method: "GET", Path: "/v1/runs", Agent: "agent_id",
			Answer: pages[hub.Run](), Errors: "room_not_found",
		},
		// Makes a run, a named batch of tasks.
		//
		// A task is in one run at most. A task that is posted with metadata.run_id joins that run, and a child that of
		// its parent. A run ends when all its tasks have ended: failed if one failed, else cancelled if one was
		// cancelled, else complete; system says so in the run's room, else to its maker, with metadata.run. A later
		// task makes it running again. A plan in tasks opens its tasks and the run in one step, or nothing.
		//
		// Answer: The run.
		{
			ID: "createRun", Method: "POST", Path: "/v1/runs", Agent: "created_by", Body: large[hub.RunInput](),
			Answer: row[hub.Run](), Makes: MakesRow, Errors: "room_not_found task_not_found task_closed limit_reached archived paused agent_unclear",
		},
		// One run.
		//
		// Titles and counts are everybody's; task_ids holds those that the caller may see.
		//
		// Query: viewer
		//
		// Answer: The run.
		{
			ID: "getRun", Method: "GET", Path: "/v1/runs/{run_id}", Agent: "agent_id",
			Answer: row[hub.Run](), Errors: "run_not_found",
		},
		// Adds tasks to a run, which reopens one that has ended.
		//
		// Tasks that are in it already stay; their children do not follow.
		//
		// Answer: The run.
		{
			ID: "addRunTasks", Method: "POST", Path: "/v1/runs/{run_id}/tasks", Agent: "agent_id", Body: small[hub.RunTasksInput](),
			Answer: row[hub.Run](), Errors: "run_not_found task_not_found task_closed limit_reached paused archived",
		},
		// Lists tasks, newest first.
		//
		// Query:
		//   - status (one of active open working in_progress input_required done completed failed cancelled): A state,
		//     or active for all that have not ended.
		//   - parent_id (as IDText): Only the children of this task.
		//   - channel (as Name): Only tasks whose message was posted there.
		//   - thread_id
		//   - room_id
		//   - run_id (as string): Only the tasks of this run.
		//   - ready (as Flag): Only tasks that wait for nothing, or only those that do.
		//   - assignee (as AgentID): Only tasks that this agent has.
		//   - created_by (as AgentID): Only tasks that this agent gave.
		//   - concerns (as AgentID): Only tasks that this agent has, is offered or gave.
		//   - viewer
		//   - cursor
		//   - limit
		//
		// Answer: Tasks.
		{
			ID: "listTasks", Method: "GET", Path: "/v1/tasks", Agent: "agent_id",
			Answer: pages[hub.Task](), Errors: "room_not_found run_not_found",
		},
		// One task.
		//
		// Query: viewer
		//
		// Answer: The task.
		{
			ID: "getTask", Method: "GET", Path: "/v1/tasks/{task_id}", Agent: "agent_id",
			Answer: row[hub.Task](), Errors: "task_not_found",
		},
		// Changes a task.
		//
		// An agent that may see a task may change its status and what it waits for. The assignee of a task that somebody has is
		// changed by that agent, by the giver of the task and by the operator only (task_taken); one that nobody has may
		// be taken, or given, by anybody. The new assignee and the former one get a direct notice each, but for the agent
		// that changes it, and an offer ends. An agent that sets the status of a task without assignee to working becomes
		// the assignee. A task that waits for others does not become working or done without force (blocked).
		//
		// Answer: The task.
		{
			ID: "updateTask", Method: "POST", Path: "/v1/tasks/{task_id}", Agent: "agent_id", Body: small[hub.TaskUpdateInput](),
			Answer: row[hub.Task](), Errors: "task_not_found task_closed version_conflict task_taken blocked undecided paused agent_unclear",
		},
		// Takes over a task that is offered to the agent.
		//
		// The agent becomes the assignee; the former assignee, the agent that offered it and the giver get a direct notice. The
		// claims and locks for the task pass to the assignee.
		//
		// Answer: The task.
		{
			ID: "acceptTask", Method: "POST", Path: "/v1/tasks/{task_id}/accept", Agent: "agent_id", Body: large[hub.OfferInput](),
			Answer: row[hub.Task](), Errors: "task_not_found task_closed not_offered paused",
		},
		// Ends a task as done.
		//
		// Parents whose children are all done become done too. A task that is done is answered as it is.
		//
		// Answer: The task.
		{
			ID: "completeTask", Method: "POST", Path: "/v1/tasks/{task_id}/complete", Agent: "agent_id", Body: large[hub.CompleteInput](),
			Answer: row[hub.Task](), Errors: "task_not_found task_closed blocked undecided paused",
		},
		// Ends the offer of a task; its assignee stays.
		//
		// Whom it is offered to declines it; who offered it, or the operator, takes it back. The other side gets a
		// direct notice.
		//
		// Answer: The task.
		{
			ID: "declineTask", Method: "POST", Path: "/v1/tasks/{task_id}/decline", Agent: "agent_id", Body: large[hub.OfferInput](),
			Answer: row[hub.Task](), Errors: "task_not_found task_closed not_offered",
		},
		// Offers a task to another agent.
		//
		// The assignee stays until the other accepts. Its assignee, its giver and the operator may offer it, and
		// anybody while nobody has it. A later offer takes the place of this one; an update of the assignee and the
		// end of the task end it. The agent gets a direct message of kind handoff with the note, metadata.handoff and,
		// where it cannot read what the task asks for, that as attachments; what one message cannot hold comes in
		// notices behind it.
		//
		// Answer: The task.
		{
			ID: "handoffTask", Method: "POST", Path: "/v1/tasks/{task_id}/handoff", Agent: "agent_id", Body: large[hub.HandoffInput](),
			Answer: row[hub.Task](), Errors: "task_not_found task_closed task_taken paused agent_unclear",
		},
		// What is held for a task.
		//
		// The claims on it, and the claims and locks that its assignee holds for it: those that name the task, or whose
		// metadata has task_id.
		//
		// Query: viewer
		//
		// Answer: The claims and locks.
		{
			ID: "getTaskLeases", Method: "GET", Path: "/v1/tasks/{task_id}/leases", Agent: "agent_id",
			Answer: row[hub.TaskLeases](), Errors: "task_not_found",
		},
	}
}
