package hub

import (
	"context"
	"time"
)

// AskID names one question to the operator.
type AskID string

// AskState is the state of a question.
//
// API: open, answered, withdrawn (by the agent, or closed by the operator without an answer), or expired: nobody
// answered in time, and the default is the answer, if there is one.
type AskState string

// The states of a question. All but open are final, but for an answer that is taken back.
const (
	AskOpen      AskState = "open"
	AskAnswered  AskState = "answered"
	AskWithdrawn AskState = "withdrawn" // by the agent, or closed by the operator without an answer
	AskExpired   AskState = "expired"   // nobody answered in time; the answer is the default, if there is one
)

// AskStates lists the states.
func AskStates() []AskState { return []AskState{AskOpen, AskAnswered, AskWithdrawn, AskExpired} }

// Limits of questions.
const (
	MaxAskChars       = 4_000 // characters of a question in its row; its message has all of them
	MaxAskOptions     = 20
	MaxAskOptionChars = 200
	MaxAnswerChars    = 16_000
	MaxAskDeadlineSec = 30 * 24 * 3600
	MaxOpenAsks       = 1_000 // in the whole hub
	MaxAgentAsks      = 50    // open ones of one agent
	MaxHumanChars     = 100   // of the name of the human who answers
)

// AskInput asks the operator. Question is required. Default is the answer if nobody
// answers within DeadlineSec; it needs a deadline. Without a deadline the question stays
// open until it is answered or withdrawn.
type AskInput struct {
	AgentID     AgentID    `json:"agent_id" bounds:"from session"` // That asks. Needed unless the session names it.
	Question    string     `json:"question" bounds:"text 1..MaxAskChars"`
	Options     []string   `json:"options,omitempty" bounds:"..MaxAskOptions items; each 1..MaxAskOptionChars runes"` // Suggested answers; the human may say something else.
	Default     string     `json:"default,omitempty" bounds:"text ..MaxAskOptionChars"`                               // The answer if nobody answers in time; needs deadline_sec.
	DeadlineSec int        `json:"deadline_sec,omitempty" bounds:"1..MaxAskDeadlineSec"`                              // How long the question is open; left out: until it is answered.
	RoomID      RoomID     `json:"room_id,omitempty" bounds:"name ..MaxNameChars"`
	Blocks      TaskID     `json:"blocks,omitempty" bounds:"as integer"`               // The task that waits for the answer.
	ArtifactID  ArtifactID `json:"artifact_id,omitempty" bounds:"name ..MaxNameChars"` // What the human should look at.
}

// AskAnswerInput answers a question. By is the name of the human, for others to read.
type AskAnswerInput struct {
	Answer string `json:"answer" bounds:"text 1..MaxAnswerChars"`     // One of the options, or any other text.
	By     string `json:"by,omitempty" bounds:"name ..MaxHumanChars"` // The name of the human.
	// Of the question that the human was shown. Left out: whichever question has this id.
	Digest string `json:"digest,omitempty" bounds:"like ^[0-9a-f]{64}$"`
	// Refuses a word that is nearly one of the choices, or its number, and is none of them; a choice with space
	// around it is taken as the choice. For what a human has typed.
	UnlessNear bool `json:"unless_near,omitempty"`
}

// AskWithdrawInput closes a question without an answer. The agent that asked and the
// operator may do so.
type AskWithdrawInput struct {
	// That asked; needed unless a session or the operator token says who calls.
	AgentID AgentID `json:"agent_id,omitempty"`
	Reason  string  `json:"reason,omitempty" bounds:"text ..MaxAskChars"`
	By      string  `json:"by,omitempty" bounds:"name ..MaxHumanChars"` // The name of the human.
	// Of the question that is meant. Left out: whichever question has this id.
	Digest string `json:"digest,omitempty" bounds:"like ^[0-9a-f]{64}$"`
}

// TakeBackFor is how long after an answer the operator may take it back.
const TakeBackFor = time.Minute

// MaxTakenBack bounds the answers that a hub ever takes back: it knows all of them.
const MaxTakenBack = 10_000

// AskTakeBackInput takes the answer to a question back.
type AskTakeBackInput struct {
	By string `json:"by,omitempty" bounds:"name ..MaxHumanChars"` // The name of the human.
}

// Ask is a question to the operator. Its question and its answer are direct messages,
// which only the agent and the operator may read, and so is the row.
type Ask struct {
	AskID   AskID    `json:"ask_id" bounds:"like ^ask_[0-9a-z]+$"`
	State   AskState `json:"state"`
	AgentID AgentID  `json:"agent_id"` // That asked.
	// Of a direct message its first characters; the message has all. May be empty, if a message has attachments
	// only.
	Question string   `json:"question" bounds:"..4000 runes"`
	Options  []string `json:"options" bounds:"..20 items"` // Suggested answers.
	Default  *string  `json:"default"`                     // Taken as the answer if nobody answers in time.
	// Of an open question. The time while the hub does not run does not count.
	DeadlineAt *Time       `json:"deadline_at"`
	RoomID     *RoomID     `json:"room_id" bounds:"as Name"`
	Blocks     *TaskID     `json:"blocks"`      // The task that waits for the answer.
	ArtifactID *ArtifactID `json:"artifact_id"` // What the question is about.
	// The direct message with the question; 0 for a permission prompt, which has none.
	MessageID       MessageID  `json:"message_id" bounds:"as Cursor"`
	Answer          *string    `json:"answer"`
	AnswerMessageID *MessageID `json:"answer_message_id"` // The direct message that tells the agent how the question ended.
	// The name that the human gave, or the agent that withdrew it; may be empty.
	ClosedBy string `json:"closed_by"`
	Reason   string `json:"reason"` // Why it was withdrawn; may be empty.
	// Of a permission prompt of a harness. It takes only the answers allow, deny, and deny: with a reason, and its
	// agent gets no message.
	Permission *PermissionPrompt `json:"permission"`
	User       string            `json:"local_user,omitempty" bounds:"1..256 runes"` // The other user of the machine whose program asks; absent: none.
	CreatedAt  Time              `json:"created_at"`
	ClosedAt   *Time             `json:"closed_at"`
	// Names what was asked: who asked what and when, with which options, for which tool in which folder. An answer
	// sends it back.
	Digest string `json:"digest,omitempty" bounds:"like ^[0-9a-f]{64}$"`
}

// AsksQuery selects questions, newest first; zero fields do not select. An agent is
// shown its own only.
type AsksQuery struct {
	AgentID AgentID
	State   AskState
	RoomID  RoomID
	Cursor  Cursor
	Limit   int
}

// Asks takes questions to the operator. A direct message to the operator that opens no
// task is a question, too.
type Asks interface {
	// Ask asks the operator. Errors: room_not_found, task_not_found (also if the agent
	// may not see the task), artifact_not_found, limit_reached.
	Ask(ctx context.Context, in AskInput) (Outcome[Ask], error)
	// AnswerAsk answers an open question and tells the agent. Operator only. The first
	// answer counts. A permission prompt takes only allow, deny, or deny: and a reason.
	// Errors: ask_not_found, ask_closed, ask_changed, answer_unclear, invalid.
	AnswerAsk(ctx context.Context, id AskID, in AskAnswerInput) (Outcome[Ask], error)
	// TakeBackAnswer takes an answer back: the question is open again, and has a minute or
	// more until its deadline. Operator only, within TakeBackFor of the answer, while no agent
	// has been shown it. Errors: ask_not_found, not_taken_back, limit_reached.
	TakeBackAnswer(ctx context.Context, id AskID, in AskTakeBackInput) (Outcome[Ask], error)
	// WithdrawAsk closes an open question without an answer. If the operator closes it,
	// the agent is told. Errors: ask_not_found (also if another agent asked it),
	// ask_closed, ask_changed.
	WithdrawAsk(ctx context.Context, id AskID, in AskWithdrawInput) (Outcome[Ask], error)
	// Asks lists questions. Errors: room_not_found.
	Asks(ctx context.Context, q AsksQuery) ([]Ask, Cursor, error)
	// AskByID returns one question. Errors: ask_not_found, also if viewer may not see it.
	AskByID(ctx context.Context, id AskID, viewer AgentID) (Ask, error)
}
