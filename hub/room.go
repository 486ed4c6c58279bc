package hub

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Decision is something that a room agreed on.
type Decision struct {
	DecisionID DecisionID      `json:"decision_id" bounds:"like ^d_[0-9a-z]+$"`
	RoomID     RoomID          `json:"room_id" bounds:"like ^r_[0-9a-z]+$"`
	Title      string          `json:"title" bounds:"1..300 runes"`
	Note       string          `json:"note" bounds:"..32000 runes"`
	By         AgentID         `json:"by" bounds:"or empty"`                       // Empty if the call named nobody.
	User       string          `json:"local_user,omitempty" bounds:"1..256 runes"` // The other user of the machine whose program wrote it; absent: none.
	Metadata   json.RawMessage `json:"metadata"`
	CreatedAt  Time            `json:"created_at"`
}

// Artifact is one version of a text or file that a room keeps. Versions of the
// same title are numbered from 1.
type Artifact struct {
	ArtifactID  ArtifactID `json:"artifact_id" bounds:"like ^a_[0-9a-z]+$"`
	RoomID      RoomID     `json:"room_id" bounds:"like ^r_[0-9a-z]+$"`
	Title       string     `json:"title" bounds:"1..300 runes"`
	Kind        string     `json:"kind" bounds:"as Name"`
	By          AgentID    `json:"by" bounds:"or empty"`                       // Empty if the call named nobody.
	User        string     `json:"local_user,omitempty" bounds:"1..256 runes"` // The other user of the machine whose program wrote it; absent: none.
	Version     int64      `json:"version" bounds:"1.."`                       // Of the title in the room, from 1.
	Size        int64      `json:"size" bounds:"0..4194304"`                   // Bytes.
	SHA256      string     `json:"sha256" bounds:"like ^[0-9a-f]{64}$"`        // Lower case hexadecimal, of the content.
	ContentType string     `json:"content_type" bounds:"1.. runes"`
	CreatedAt   Time       `json:"created_at"`
	LeftOut     string     `json:"left_out,omitempty"` // Why a capsule brought it without its bytes: binary or too_large.
}

// DecisionInput describes a new decision.
type DecisionInput struct {
	RoomID RoomID  `json:"room_id" bounds:"name 1..MaxNameChars"`
	Title  string  `json:"title" bounds:"name 1..MaxTitleChars"`
	Note   string  `json:"note,omitempty" bounds:"text ..MaxNoteChars"`
	By     AgentID `json:"by,omitempty"` // The agent of the session or the spool if left out.
	// At most 64 KiB of compact JSON and 4 levels; the object itself is the first.
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// ArtifactInput describes a new artifact. Exactly one of Body and ContentBase64
// is not nil; it may be empty.
//
// API: With exactly one of body and content_base64.
type ArtifactInput struct {
	RoomID        RoomID  `json:"room_id" bounds:"name 1..MaxNameChars"`
	Title         string  `json:"title" bounds:"name 1..MaxTitleChars"`
	Kind          string  `json:"kind" bounds:"name 1..MaxNameChars"`
	By            AgentID `json:"by,omitempty"`                                // The agent of the session or the spool if left out.
	Body          *string `json:"body,omitempty"`                              // At most 4194304 bytes in UTF-8.
	ContentBase64 *string `json:"content_base64,omitempty" bounds:"as base64"` // At most 4194304 bytes; padded, without line ends.
	ContentType   string  `json:"content_type,omitempty" bounds:"..200 runes"` // Found from the content if left out.
}

// Content returns the bytes of the artifact, never nil. Errors: invalid if not
// exactly one of Body and ContentBase64 is set or the latter is not canonical
// base 64, artifact_too_large beyond MaxArtifactBytes.
func (in *ArtifactInput) Content() ([]byte, error) {
	switch {
	case (in.Body == nil) == (in.ContentBase64 == nil):
		return nil, Invalid("body", "an artifact needs exactly one of body and content_base64").
			WithFix("send a text as body, or any bytes as content_base64")
	case in.Body != nil:
		return []byte(*in.Body), CheckArtifactSize(int64(len(*in.Body)))
	}
	text := *in.ContentBase64
	if err := CheckArtifactSize(int64(base64.StdEncoding.DecodedLen(len(text))) - 2); err != nil {
		return nil, err
	}
	// Even the strict decoder skips line ends.
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, Invalid("content_base64", "content_base64 is not base 64").
			WithFix("encode the bytes as RFC 4648 section 4 says, padded and without line ends")
	}
	return data, CheckArtifactSize(int64(len(data)))
}

// CheckArtifactSize refuses an artifact of more than MaxArtifactBytes bytes.
// Errors: artifact_too_large.
func CheckArtifactSize(size int64) error {
	if size <= MaxArtifactBytes {
		return nil
	}
	return NewError(CodeArtifactTooLarge, "the artifact is too large").
		With("limit", MaxArtifactBytes).With("size", size).
		WithFix("keep it in a file, and add an artifact that says where it is")
}

// DecisionsQuery selects decisions, latest first.
type DecisionsQuery struct {
	RoomID RoomID
	Before DecisionID // only those that are older than this one; empty: from the latest on
	Cursor Cursor
	Limit  int
}

// ArtifactsQuery selects artifacts, latest first; zero fields do not select.
type ArtifactsQuery struct {
	RoomID  RoomID
	Title   string
	Kind    string
	Version int64
	Latest  bool       // only the latest version of each title
	Before  ArtifactID // only those that are older than this one
	Cursor  Cursor
	Limit   int
}

// Content holds the bytes of an artifact. On the wire it is the artifact's row
// with the bytes in base 64, or the bytes alone.
type Content struct {
	Artifact Artifact `json:"artifact"`
	Data     []byte   `json:"content_base64"`
}

// Records stores the decisions and artifacts of rooms. They are never changed
// or deleted.
type Records interface {
	// AddDecision records a decision and posts a notice in the room's channel.
	// Errors: room_not_found.
	AddDecision(ctx context.Context, in DecisionInput) (Outcome[Decision], error)
	// Decisions lists decisions. Errors: room_not_found.
	Decisions(ctx context.Context, q DecisionsQuery) ([]Decision, Cursor, error)
	// Decision returns one decision. Errors: decision_not_found.
	Decision(ctx context.Context, id DecisionID) (Decision, error)
	// AddArtifact stores the next version of its title and posts a notice in
	// the room's channel. Errors: room_not_found, artifact_too_large,
	// room_full.
	AddArtifact(ctx context.Context, in ArtifactInput) (Outcome[Artifact], error)
	// Artifacts lists artifacts without content. Errors: room_not_found.
	Artifacts(ctx context.Context, q ArtifactsQuery) ([]Artifact, Cursor, error)
	// Artifact returns one artifact without content. Errors:
	// artifact_not_found.
	Artifact(ctx context.Context, id ArtifactID) (Artifact, error)
	// ArtifactContent returns one artifact with its bytes. Errors:
	// artifact_not_found.
	ArtifactContent(ctx context.Context, id ArtifactID) (Content, error)
}
