package hub

import "context"

// InviteState says whether an invite can be accepted.
type InviteState string

// The states of an invite; it leaves active for good.
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

// InvitePreview is an invite with where it leads.
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
	// Live says that the agent was live already and that the call has not proved to
	// be it: the session is somebody's, and perhaps not the caller's.
	Live bool `json:"live"`
	// Requested is the agent id that was asked for or suggested, where another
	// was given because it is taken; else empty.
	Requested AgentID `json:"requested,omitempty"`
}

// InviteInput is an invite to be. Project and Room are ids, slugs or names.
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

// AcceptInput joins by an invite. Without AgentID the invite's handle is taken,
// else a name made of its role.
type AcceptInput struct {
	AgentID      AgentID  `json:"agent_id,omitempty"`
	DisplayName  string   `json:"display_name,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Harness      string   `json:"harness,omitempty"` // what the agent runs in; absent: the invite's
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
	// CreateInvite makes one; its code is in this answer only. project_not_found,
	// room_not_found, room_full.
	CreateInvite(ctx context.Context, in InviteInput) (Outcome[Invite], error)
	// Invites lists them without codes. project_not_found, room_not_found.
	Invites(ctx context.Context, q InvitesQuery) ([]Invite, Cursor, error)
	// PreviewInvite shows where a code leads and changes nothing.
	// invite_not_found, too_many_attempts; an invite that is over is shown.
	PreviewInvite(ctx context.Context, code string) (InvitePreview, error)
	// RevokeInvite ends an invite, named by code or id; again: the same row.
	// invite_not_found, too_many_attempts.
	RevokeInvite(ctx context.Context, codeOrID string) (Outcome[Invite], error)
	// AcceptInvite seats an agent in the invite's room and registers it.
	// Accepting again as the same agent uses nothing up. A live agent keeps its
	// session: who asks for its id without proof gets another.
	// invite_not_found, invite_expired, invite_exhausted, invite_revoked,
	// too_many_attempts, room_full.
	AcceptInvite(ctx context.Context, code string, in AcceptInput) (Outcome[Joined], error)
}
