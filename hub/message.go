package hub

import (
	"encoding/json"
	"slices"
	"strings"
)

// Kind is the purpose of a message.
type Kind string

// The nine kinds of the contract.
const (
	KindArtifact    Kind = "artifact"
	KindChat        Kind = "chat"
	KindClaim       Kind = "claim"
	KindHandoff     Kind = "handoff"
	KindNotice      Kind = "notice"
	KindRelease     Kind = "release"
	KindTask        Kind = "task"
	KindTaskRequest Kind = "task_request"
	KindTaskResult  Kind = "task_result"
)

// Kinds lists them all, sorted.
func Kinds() []Kind {
	return []Kind{
		KindArtifact, KindChat, KindClaim, KindHandoff, KindNotice, KindRelease,
		KindTask, KindTaskRequest, KindTaskResult,
	}
}

// ParseKind folds case; the empty string is chat.
func ParseKind(s string) (Kind, error) {
	if s == "" {
		return KindChat, nil
	}
	k := Kind(strings.ToLower(s))
	if !slices.Contains(Kinds(), k) {
		return "", NewError(CodeUnknownKind, "unknown message kind").
			With("field", "kind").With("kinds", Kinds()).
			WithFix("use one of artifact, chat, claim, handoff, notice, release, task, task_request, task_result")
	}
	return k, nil
}

// OpensTask reports whether posting this kind opens a tracked task.
func (k Kind) OpensTask() bool { return k == KindTask || k == KindTaskRequest }

// Authority says on whose behalf a message speaks.
type Authority string

// Assurance says how the hub knows who the sender is.
type Assurance string

// Authorities and assurances of the contract.
const (
	AuthorityAgent    Authority = "agent"
	AuthorityOperator Authority = "operator"
	AuthoritySystem   Authority = "system"

	AssuranceAsserted Assurance = "asserted" // the call named the agent, no proof
	AssuranceSession  Assurance = "session"  // the call proved a live session
	AssuranceOperator Assurance = "operator" // the call carried the operator token
	AssuranceRelay    Assurance = "relay"    // the call came through the file spool
)

// Message is one stored message. Rows are never changed and never deleted.
type Message struct {
	ID           MessageID       `json:"id"`
	TS           Time            `json:"ts"`
	FromAgent    AgentID         `json:"from_agent"`
	ToAgent      *AgentID        `json:"to_agent"` // Set: a direct message.
	Channel      ChannelName     `json:"channel" bounds:"as Name"`
	Kind         Kind            `json:"kind"`
	Body         string          `json:"body"`
	Truncated    *Truncated      `json:"truncated"`
	Attachments  []Attachment    `json:"attachments"`
	ReplyTo      *MessageID      `json:"reply_to"`
	ThreadID     *ThreadID       `json:"thread_id" bounds:"as string"`
	Metadata     json.RawMessage `json:"metadata"`
	RoomID       *RoomID         `json:"room_id"`
	ParentTaskID *TaskID         `json:"parent_task_id"`
	Authority    Authority       `json:"authority"`
	Assurance    Assurance       `json:"assurance"` // How the hub knows the sender.
	// The other user of the machine whose program sent the message. Absent: the hub's own user, or not of this
	// machine.
	User string `json:"local_user,omitempty" bounds:"1..256 runes"`
	// Only of a message that a capsule brought: what it was there. It speaks for nobody here.
	Imported *ImportedAs `json:"imported,omitempty"`
}

// ImportedAs says what an imported message was in the hub that it comes from.
type ImportedAs struct {
	Authority Authority `json:"authority"`
	Assurance Assurance `json:"assurance"`
}

// Truncated is set in a row whose body was cut to the poll's character budget.
type Truncated struct {
	Chars int    `json:"chars" bounds:"1.."` // Characters of the stored body.
	Fetch string `json:"fetch"`              // The call that returns the whole row.
}

// AttachmentType says which fields of an Attachment are used.
type AttachmentType string

// The attachment types of the contract.
const (
	AttachmentText    AttachmentType = "text"
	AttachmentJSON    AttachmentType = "json"
	AttachmentCode    AttachmentType = "code"
	AttachmentFileRef AttachmentType = "file_ref"
	AttachmentDiffRef AttachmentType = "diff_ref"
)

// Attachment is content (text, json, code) or a reference (file_ref, diff_ref)
// of a message.
//
// API: text, json and code have content, file_ref and diff_ref a path.
type Attachment struct {
	Type        AttachmentType  `json:"type"`
	Content     json.RawMessage `json:"content,omitempty" bounds:"as any"`      // A string for text and code, any JSON for json.
	Language    string          `json:"language,omitempty" bounds:"..64 runes"` // Of code.
	Path        string          `json:"path,omitempty" bounds:"..1024 runes"`   // Of file_ref and diff_ref.
	Description string          `json:"description,omitempty" bounds:"..4096 runes"`
	StartLine   int             `json:"start_line,omitempty" bounds:"1.."`
	EndLine     int             `json:"end_line,omitempty" bounds:"1.."`
	Base        string          `json:"base,omitempty" bounds:"..200 runes"`
	Head        string          `json:"head,omitempty" bounds:"..200 runes"`
}

// EncodedMessage is the exact JSON of one message row. It is encoded once, when
// the message is decided, and then shared: its bytes must never change.
type EncodedMessage []byte

// Decode returns the row.
func (m EncodedMessage) Decode() (Message, error) {
	var row Message
	err := json.Unmarshal(m, &row)
	return row, err
}

// MarshalJSON returns the bytes as they are.
func (m EncodedMessage) MarshalJSON() ([]byte, error) { return m, nil }

// UnmarshalJSON keeps a copy of the bytes.
func (m *EncodedMessage) UnmarshalJSON(b []byte) error {
	*m = append((*m)[:0], b...)
	return nil
}

// Page is part of a feed. NextSinceID is the highest id that was examined,
// filtered rows included, and the next poll begins there.
type Page struct {
	Rows        []EncodedMessage
	NextSinceID MessageID
	// Circle is set where a call did not wait for an answer because agents would wait for each
	// other: the caller, the agent that it asked, and so on; the last one waits for the caller.
	Circle []AgentID
}
