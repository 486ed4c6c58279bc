package hub

import "context"

// InviteState says whether an invite can be accepted.
type InviteState string

// The states of an invite; an invite never becomes active again.
const (
	InviteActive    InviteState = "active"
	InviteExhausted InviteState = "exhausted" // accepted MaxUses times
	InviteExpired   InviteState = "expired"
	InviteRevoked   InviteState = "revoked"
)

// Invite lets agents into a room. Code is set in the answer of its creation only.
type Invite struct {
	InviteID  InviteID    `json:"invite_id"`
	Code      string      `json:"code,omitempty"` // XXXX-XXXX
	ProjectID ProjectID   `json:"project_id"`
	RoomID    RoomID      `json:"room_id"`
	Role      string      `json:"role"`    // hint; may be empty
	Handle    AgentID     `json:"handle"`  // suggested agent id; may be empty
	Harness   string      `json:"harness"` // preferred harness; may be empty
	TTLSec    int         `json:"ttl_sec"`
	MaxUses   int         `json:"max_uses"`
	Uses      int         `json:"uses"`
	State     InviteState `json:"state"`
	CreatedAt Time        `json:"created_at"`
	ExpiresAt Time        `json:"expires_at"`
}

// InvitePreview is an invite with its room and project.
type InvitePreview struct {
	Invite  Invite  `json:"invite"`
	Room    Room    `json:"room"`
	Project Project `json:"project"`
}

// Joined answers an accepted invite. Session carries its secret and ResumeKey is
// set when the call made the session; both are public or empty when the agent is
// live already.
type Joined struct {
	Session   Session   `json:"session"`
	Seat      Seat      `json:"seat"`
	Room      Room      `json:"room"`
	Project   Project   `json:"project"`
	ResumeKey string    `json:"resume_key,omitempty"`
	Bootstrap Bootstrap `json:"bootstrap"`
	// Live says that the agent was live already and that the caller did not
	// prove to be that agent: the session may be another process's.
	Live bool `json:"live"`
	// Requested is the agent id that was requested or suggested but is taken,
	// so that the agent got another one; else empty.
	Requested AgentID `json:"requested,omitempty"`
}

// InviteInput describes a new invite. Project and Room are ids, slugs or names.
type InviteInput struct {
	Project string  `json:"project"`
	Room    string  `json:"room"`
	Role    string  `json:"role,omitempty"`
	Handle  AgentID `json:"handle,omitempty"`
	Harness string  `json:"harness,omitempty"`
	TTLSec  int     `json:"ttl_sec,omitempty"`  // 0: one day
	MaxUses int     `json:"max_uses,omitempty"` // 0: one
	By      AgentID `json:"by,omitempty"`
}

// AcceptInput accepts an invite. Without AgentID the agent gets the invite's
// handle as its name, or else a name derived from the role.
type AcceptInput struct {
	AgentID      AgentID  `json:"agent_id,omitempty"`
	DisplayName  string   `json:"display_name,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Harness      string   `json:"harness,omitempty"` // the agent's harness; absent: the invite's
}

// InvitesQuery selects invites, latest first; zero fields do not select.
type InvitesQuery struct {
	Project string // id, slug or name
	Room    string // id; with Project also slug or name
	State   InviteState
	Before  InviteID // only those that are older than this one
	Cursor  Cursor
	Limit   int
}

// Invites lets agents into rooms.
type Invites interface {
	// CreateInvite makes an invite. Only this answer holds its code. Errors:
	// project_not_found, room_not_found, room_full.
	CreateInvite(ctx context.Context, in InviteInput) (Outcome[Invite], error)
	// Invites lists them without codes. Errors: project_not_found,
	// room_not_found.
	Invites(ctx context.Context, q InvitesQuery) ([]Invite, Cursor, error)
	// PreviewInvite shows the room of a code and changes nothing. It also shows
	// an invite that has ended. Errors: invite_not_found, too_many_attempts.
	PreviewInvite(ctx context.Context, code string) (InvitePreview, error)
	// RevokeInvite ends the invite with this code or id. A second call returns
	// the same row. Errors: invite_not_found, too_many_attempts.
	RevokeInvite(ctx context.Context, codeOrID string) (Outcome[Invite], error)
	// AcceptInvite seats an agent in the invite's room and registers it.
	// Accepting again as the same agent costs no use. A live agent keeps its
	// session: a caller that requests its id without proof gets another id.
	// Errors: invite_not_found, invite_expired, invite_exhausted,
	// invite_revoked, too_many_attempts, room_full.
	AcceptInvite(ctx context.Context, code string, in AcceptInput) (Outcome[Joined], error)
}
