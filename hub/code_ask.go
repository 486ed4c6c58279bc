package hub

import "net/http"

// The codes of questions to the operator.
var (
	CodeAskNotFound = define(CodeInfo{
		Code: "ask_not_found", Status: http.StatusNotFound,
		HTTP:  "GET /v1/asks lists the questions with their ids",
		CLI:   "hubcli inbox lists the questions with their ids",
		Model: "check the ask_id in the answer of hub_ask_human",
	})
	CodeAskClosed = define(CodeInfo{
		Code: "ask_closed", Status: http.StatusConflict,
		HTTP:  "the first answer counts; post a direct message to the agent to say more",
		CLI:   "the first answer counts; hubcli say --to AGENT says more",
		Model: "read the answer among your messages; ask again if you need another one",
	})
	CodeAskChanged = define(CodeInfo{
		Code: "ask_changed", Status: http.StatusConflict,
		HTTP:  "read the question again, and send its digest",
		CLI:   "look at the question again: hubcli inbox lists the open ones",
		Model: "check the ask_id in the answer of hub_ask_human",
	})
	CodeNotTakenBack = define(CodeInfo{
		Code: "not_taken_back", Status: http.StatusConflict, Operator: true,
		HTTP: "detail.reason says why; post a direct message to the agent to correct the answer",
		CLI:  "hubcli say --to AGENT corrects the answer",
	})
	CodeAnswerUnclear = define(CodeInfo{
		Code: "answer_unclear", Status: http.StatusConflict, Operator: true,
		HTTP: "answer with the choice that detail.did_you_mean names, or leave unless_near out to send the words as they are",
		CLI:  "give the choice itself, or add --text to send the words as they are",
	})
)
