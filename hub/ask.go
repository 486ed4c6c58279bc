package hub

import (
	"context"
	"time"
)

// AskID names one question to the operator.
type AskID string

// AskState is the state of a question.
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
	AgentID     AgentID    `json:"agent_id"`
	Question    string     `json:"question"`
	Options     []string   `json:"options,omitempty"` // suggested answers; others are taken, too
	Default     string     `json:"default,omitempty"`
	DeadlineSec int        `json:"deadline_sec,omitempty"` // 1 to MaxAskDeadlineSec; 0: none
	RoomID      RoomID     `json:"room_id,omitempty"`
	Blocks      TaskID     `json:"blocks,omitempty"` // the task that waits for the answer
	ArtifactID  ArtifactID `json:"artifact_id,omitempty"`
}

// AskAnswerInput answers a question. By is the name of the human, for others to read.
type AskAnswerInput struct {
	Answer string `json:"answer"`
	By     string `json:"by,omitempty"`
	// Digest is Ask.Digest of the question that the human was shown. Another question, or a
	// changed one, takes no answer to it. Empty: the caller does not say.
	Digest string `json:"digest,omitempty"`
	// UnlessNear refuses a word that is nearly one of the choices, and is none of them; see
	// Ask.Near. Callers set it for what a human has typed.
	UnlessNear bool `json:"unless_near,omitempty"`
}

// AskWithdrawInput closes a question without an answer. The agent that asked and the
// operator may do so.
type AskWithdrawInput struct {
	AgentID AgentID `json:"agent_id,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	By      string  `json:"by,omitempty"`     // the name of the human, if the operator closes it
	Digest  string  `json:"digest,omitempty"` // as in AskAnswerInput
}

// TakeBackFor is how long after an answer the operator may take it back.
const TakeBackFor = time.Minute

// MaxTakenBack bounds the answers that a hub ever takes back: it knows all of them.
const MaxTakenBack = 10_000

// AskTakeBackInput takes the answer to a question back.
type AskTakeBackInput struct {
	By string `json:"by,omitempty"` // the name of the human
}

// Ask is a question to the operator. Its question and its answer are direct messages,
// which only the agent and the operator may read, and so is the row.
type Ask struct {
	AskID           AskID       `json:"ask_id"`
	State           AskState    `json:"state"`
	AgentID         AgentID     `json:"agent_id"` // that asked
	Question        string      `json:"question"`
	Options         []string    `json:"options"`
	Default         *string     `json:"default"`
	DeadlineAt      *Time       `json:"deadline_at"` // of an open question; null: none
	RoomID          *RoomID     `json:"room_id"`
	Blocks          *TaskID     `json:"blocks"`
	ArtifactID      *ArtifactID `json:"artifact_id"`
	MessageID       MessageID   `json:"message_id"` // the question; answered:<message_id> waits for the answer. 0: a permission prompt, which has none
	Answer          *string     `json:"answer"`
	AnswerMessageID *MessageID  `json:"answer_message_id"` // what told the agent how the question ended
	ClosedBy        string      `json:"closed_by"`         // the human, or the agent that withdrew it; empty: nobody, or open
	Reason          string      `json:"reason"`            // why it was withdrawn
	// Permission is set if the question is a permission prompt of a harness. Its agent is
	// told nothing: the hook that waits answers the harness.
	Permission *PermissionPrompt `json:"permission"`
	User       string            `json:"local_user,omitempty"` // the other user of the machine whose program asked
	CreatedAt  Time              `json:"created_at"`
	ClosedAt   *Time             `json:"closed_at"`
	// Digest names what was asked; see DigestOf. The store does not keep it.
	Digest string `json:"digest,omitempty"`
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
