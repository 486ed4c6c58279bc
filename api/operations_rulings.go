package api

import "hubcli/hub"

// rulingsOperations are the calls about what the operator is asked and rules.
var rulingsOperations = func() []Operation {
	return []Operation{
		// Lists questions to the operator, newest first.
		//
		// An agent is shown its own questions, the operator those of all agents.
		//
		// Query:
		//   - viewer
		//   - state (as AskState): Only questions in this state.
		//   - room_id
		//   - cursor
		//   - limit
		//
		// Answer: Questions.
		{
			ID: "listAsks", Method: "GET", Path: "/v1/asks", Agent: "agent_id",
			Answer: pages[hub.Ask](), Errors: "room_not_found",
		},
		// Asks the operator, a human.
		//
		// The question is a direct message to the agent operator, and the answer a direct message to the agent, in
		// reply to it. So a poll brings it, and a watch for answered:<message_id> waits for it. With a deadline the
		// default is taken when nobody has answered in time, and system says so. A direct message to operator that
		// opens no task is a question, too.
		//
		// Answer: The question.
		{
			ID: "ask", Method: "POST", Path: "/v1/asks", Agent: "agent_id", Body: small[hub.AskInput](),
			Answer: row[hub.Ask](), Makes: MakesRow, Errors: "room_not_found task_not_found artifact_not_found limit_reached archived",
		},
		// One question to the operator.
		//
		// Query: viewer
		//
		// Answer: The question.
		{
			ID: "getAsk", Method: "GET", Path: "/v1/asks/{ask_id}", Agent: "agent_id",
			Answer: row[hub.Ask](), Errors: "ask_not_found",
		},
		// Answers a question.
		//
		// The first answer counts. A later one is ask_closed, and the error says who answered what. One is taken: "let
		// them go on", while an earlier answer keeps agents apart. With digest the answer is for the question that has
		// it, and every other one refuses it with ask_changed. With unless_near a word that is nearly a choice is
		// answer_unclear, and the error says which is meant.
		//
		// Answer: The question.
		{
			ID: "answerAsk", Method: "POST", Path: "/v1/asks/{ask_id}/answer", Plane: PlaneOperator, Body: small[hub.AskAnswerInput](),
			Answer: row[hub.Ask](), Errors: "ask_not_found ask_closed ask_changed answer_unclear",
		},
		// Takes the answer to a question back.
		//
		// For a minute after the answer, while no agent has been shown it: by a poll, a watch, a hook, a search or the
		// question itself. The question is open again, for a minute or more if it has a deadline, and no agent is shown
		// the message with the answer any more. Else it is not_taken_back, and detail.reason is read, late, restarted
		// (the hub was started since the answer), has_effect (of a permission prompt, and of a question of the hub
		// itself), open or closed.
		//
		// Answer: The question.
		{
			ID: "takeBackAnswer", Method: "POST", Path: "/v1/asks/{ask_id}/take-back", Plane: PlaneOperator, Body: small[hub.AskTakeBackInput](),
			Answer: row[hub.Ask](), Errors: "ask_not_found not_taken_back limit_reached",
		},
		// Closes a question without an answer.
		//
		// The agent that asked it and the operator may. If the operator does, the agent is told.
		//
		// Answer: The question.
		{
			ID: "withdrawAsk", Method: "POST", Path: "/v1/asks/{ask_id}/withdraw", Agent: "agent_id", Body: small[hub.AskWithdrawInput](),
			Answer: row[hub.Ask](), Errors: "ask_not_found ask_closed ask_changed",
		},
		// How much agents may be given to read in an hour.
		//
		// Answer: Budgets.
		//
		// Bounded: There are at most 200 budgets.
		{
			ID: "listBudgets", Method: "GET", Path: "/v1/budgets",
			Answer: rows[hub.Budget](200),
		},
		// Bounds what an agent is given to read in an hour, or each agent with a seat in a room.
		//
		// Beyond the budget polls, the inbox and streams answer digests: the beginning of the body, its size and the
		// way to the whole, which truncated names too. Watches and hooks show less of each body. What the operator and
		// the hub say is always whole, and so is a task_request to the agent. An agent's own budget counts before
		// those of rooms, and of rooms the smallest. What was given is counted in memory, from the start of the hub
		// on.
		//
		// Answer: The budget.
		{
			ID: "setBudget", Method: "PUT", Path: "/v1/budgets", Plane: PlaneOperator, Body: small[hub.BudgetInput](),
			Answer: row[hub.Budget](), Errors: "room_not_found limit_reached",
		},
		// Agents that post to each other without progress.
		//
		// Those of which the agents were told, whose posts are slowed where they come fast or repeat what was said,
		// and those that are stopped, where the operator wants that; the furthest first.
		//
		// Answer: Loops.
		//
		// Bounded: At most the 100 furthest loops are listed.
		{
			ID: "listLoops", Method: "GET", Path: "/v1/loops", Plane: PlaneOperator,
			Answer: rows[hub.Loop](100),
		},
		// Whom the operator has muted.
		//
		// Answer: Mutes.
		//
		// Bounded: At most 1,000 mutes are in force.
		{
			ID: "listMutes", Method: "GET", Path: "/v1/mutes",
			Answer: rows[hub.Mute](1000),
		},
		// Mutes an agent, everywhere or in one room, or all agents in a room.
		//
		// What a muted agent posts is kept, listed and searched, and wakes nobody: no hook shows it, it fulfills no
		// condition of a watch, and it ends no wait of a poll. An agent that reads gets it. The mark is a part of the
		// message and stays when the mute has ended. Tasks that the agent opens are tasks like any other, and its
		// questions reach the operator. The answer to its post says muted. A mute of a muted target changes the reason
		// and the end.
		//
		// Answer: The mute.
		{
			ID: "mute", Method: "POST", Path: "/v1/mutes", Plane: PlaneOperator, Body: small[hub.MuteInput](),
			Answer: row[hub.Mute](), Errors: "room_not_found limit_reached agent_unclear",
		},
		// Ends the mute of exactly this target.
		//
		// The answer is the mute that was in force. It wakes nobody.
		//
		// Answer: The mute.
		{
			ID: "endMute", Method: "POST", Path: "/v1/mutes/end", Plane: PlaneOperator, Body: small[hub.MuteEndInput](),
			Answer: row[hub.Mute](), Errors: "not_muted",
		},
		// The passes in force, the latest first.
		//
		// Answer: Passes.
		//
		// Bounded: At most 32 passes are in force.
		{
			ID: "listPasses", Method: "GET", Path: "/v1/passes", Plane: PlaneOperator,
			Answer: rows[hub.Pass](32),
		},
		// Exchanges a code for a pass.
		//
		// A pass stands for the operator's token in X-Hub-Operator, for a time and until the operator ends it. The
		// answer alone has its secret. A code is good once and for two minutes, and ends with the process of the hub.
		// A wrong code is operator_required. If 32 passes are in force, the earliest ends.
		//
		// Answer: The pass with its secret.
		{
			ID: "createPass", Method: "POST", Path: "/v1/passes", Plane: PlaneOpen, Auth: AuthNone, Body: small[hub.PassInput](), OwnUser: standsForOwner, NotRelayed: operatorsSecret,
			Answer: row[hub.IssuedPass](), Makes: MakesRow, Errors: "too_many_attempts",
		},
		// Makes a code that is exchanged for a pass.
		//
		// Only with the operator's own token: a pass makes no codes. At most 16 codes wait to be exchanged; then the
		// earliest is void. Each call makes another code, also with the same idempotency key.
		//
		// Answer: The code.
		{
			ID: "createPassCode", Method: "POST", Path: "/v1/passes/codes", Plane: PlaneOperator, Body: small[hub.PassCodeInput](),
			Answer: row[hub.PassCode](),
		},
		// Ends a pass.
		//
		// Answer: The pass.
		{
			ID: "endPass", Method: "POST", Path: "/v1/passes/{pass_id}/end", Plane: PlaneOperator, Body: small[struct{}](),
			Answer: row[hub.Pass](), Errors: "pass_not_found",
		},
		// Proves to a page that this hub has issued its pass.
		//
		// A page keeps acting on an address, whatever program has it by now. So it asks for this proof before it sends
		// anything else, and signs its calls instead of sending its pass. Both ends make the key HMAC-SHA256(pass,
		// "hub-pass-run-1" LF run). proof is HMAC-SHA256 under it, in hexadecimal, of these lines, joined by a line
		// feed: hub-pass-proof-1, the nonce, the address of the connection as host:port with an IP address, run,
		// ended. X-Hub-Operator of a signed call has six words, with a blank between them: "signed", pass_id, a name of
		// the page, a counter, the SHA-256 of the body in hexadecimal, and a signature. The page makes its name of 16
		// to 64 letters, digits, - and _, anew when it is loaded. The counter is used once, from 1 on. The signature is
		// the HMAC-SHA256, under the same key, of these lines: hub-pass-call-1, pass_id, the page, the counter, the
		// method, path and query as they are sent, the hash of the body. If this call is signed with the pass, the answer has the pass too, sealed: base64url of 12
		// bytes of nonce and of the output of AES-256-GCM under HMAC-SHA256(key, "hub-pass-seal-1").
		//
		// Query:
		//   - nonce required (like ^[A-Za-z0-9_-]{16,64}$): A new random text.
		//
		// Answer: The proof.
		{
			ID: "provePass", Method: "GET", Path: "/v1/passes/{pass_id}/proof", Plane: PlaneOpen, Auth: AuthNone, NotRelayed: operatorsSecret,
			Answer: row[hub.PassProof](),
		},
		// What the operator has paused.
		//
		// Answer: Pauses.
		//
		// Bounded: At most 1,000 pauses are in force.
		{
			ID: "listPauses", Method: "GET", Path: "/v1/pauses",
			Answer: rows[hub.Pause](1000),
		},
		// Pauses an agent, a room or everything.
		//
		// A paused agent posts nothing and takes no work: such calls are refused with paused and the words. It may
		// read, and renew, release or complete what it holds. No watch wakes it. The operator is never paused. A pause
		// of a room stops the agents that joined it last, and whatever anybody does there. A pause of a paused target
		// changes the words. Those whom it concerns get a notice of the operator.
		//
		// Answer: The pause.
		{
			ID: "pause", Method: "POST", Path: "/v1/pauses", Plane: PlaneOperator, Body: small[hub.PauseInput](),
			Answer: row[hub.Pause](), Errors: "room_not_found limit_reached agent_unclear",
		},
		// Ends the pause of exactly this target.
		//
		// The answer is the pause that was in force. Those whom it concerned get a notice of the operator, which wakes
		// them.
		//
		// Answer: The pause.
		{
			ID: "endPause", Method: "POST", Path: "/v1/pauses/resume", Plane: PlaneOperator, Body: small[hub.PauseEndInput](),
			Answer: row[hub.Pause](), Errors: "not_paused room_not_found",
		},
		// What becomes of permission prompts of harnesses.
		//
		// Answer: The policy.
		{
			ID: "getPermissions", Method: "GET", Path: "/v1/permissions", Plane: PlaneOperator,
			Answer: row[hub.PermissionPolicy](),
		},
		// Replaces what becomes of permission prompts.
		//
		// version is that of the policy that this one was made from; another one is version_conflict. The first rule
		// that is about a prompt decides. Without one the operator is asked.
		//
		// Answer: The policy.
		{
			ID: "setPermissions", Method: "PUT", Path: "/v1/permissions", Plane: PlaneOperator, Body: small[hub.PermissionPolicyInput](),
			Answer: row[hub.PermissionPolicy](), Errors: "version_conflict",
		},
		// Asks whether a tool may run, for the hook of a harness that is about to ask its user.
		//
		// A rule decides at once, or a question to the operator is open for wait_sec seconds. The verdict none says
		// that the hub decides nothing.
		//
		// Answer: What was decided.
		{
			ID: "requestPermission", Method: "POST", Path: "/v1/permissions/requests", Agent: "agent_id", Body: small[hub.PermissionInput](), OwnUser: asksOwner, NotRelayed: asksHarness,
			Answer: row[hub.Permission](), Errors: "limit_reached",
		},
		// Waits for the operator's answer to a permission prompt.
		//
		// When the caller leaves, or wait_sec is over, the question is withdrawn, and the verdict is none.
		//
		// Answer: What was decided.
		{
			ID: "awaitPermission", Method: "POST", Path: "/v1/permissions/requests/{ask_id}/await", Agent: "agent_id", Body: small[hub.PermissionWaitInput](), Wait: Wait{By: WaitSec}, OwnUser: asksOwner, NotRelayed: asksHarness,
			Answer: row[hub.Permission](), Errors: "ask_not_found",
		},
	}
}
