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
	InviteID  InviteID    `json:"invite_id" bounds:"like ^i_[0-9a-z]+$"`
	Code      string      `json:"code,omitempty" bounds:"like ^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$"` // In the answer of its creation only.
	ProjectID ProjectID   `json:"project_id" bounds:"like ^p_[0-9a-z]+$"`
	RoomID    RoomID      `json:"room_id" bounds:"like ^r_[0-9a-z]+$"`
	Role      string      `json:"role" bounds:"..64 runes"`    // A hint; may be empty.
	Handle    AgentID     `json:"handle" bounds:"or empty"`    // A suggested agent id; may be empty.
	Harness   string      `json:"harness" bounds:"..64 runes"` // The preferred harness; may be empty.
	TTLSec    int         `json:"ttl_sec" bounds:"1..2592000"`
	MaxUses   int         `json:"max_uses" bounds:"1..1000"`
	Uses      int         `json:"uses" bounds:"0.."`
	State     InviteState `json:"state"`
	CreatedAt Time        `json:"created_at"`
	ExpiresAt Time        `json:"expires_at"` // Time in which the hub does not run does not count.
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
	Session Session `json:"session"`
	Seat    Seat    `json:"seat"`
	Room    Room    `json:"room"`
	Project Project `json:"project"`
	// A secret; absent if the agent is live and the call has not proved to be it.
	ResumeKey string    `json:"resume_key,omitempty"`
	Bootstrap Bootstrap `json:"bootstrap"`
	// The agent was live already and the call has not proved to be it: the session may be another program's. Acting
	// as the agent would displace that.
	Live bool `json:"live"`
	// The agent id that was asked for or suggested, where it is taken and another was given.
	Requested AgentID `json:"requested,omitempty" bounds:"as string"`
}

// InviteInput describes a new invite. Project and Room are ids, slugs or names.
type InviteInput struct {
	Project string  `json:"project" bounds:"name 1..MaxNameChars"`                                // An id, slug or name.
	Room    string  `json:"room" bounds:"name 1..MaxNameChars"`                                   // An id, slug or name.
	Role    string  `json:"role,omitempty" bounds:"name ..MaxRoleChars"`                          // A hint.
	Handle  AgentID `json:"handle,omitempty"`                                                     // A suggested agent id.
	Harness string  `json:"harness,omitempty" bounds:"name ..MaxHarnessChars"`                    // The preferred harness.
	TTLSec  int     `json:"ttl_sec,omitempty" bounds:"MinTTLSec..MaxInviteTTLSec; default 86400"` // 0: one day.
	MaxUses int     `json:"max_uses,omitempty" bounds:"1..MaxInviteUses; default 1"`              // 0: one.
	By      AgentID `json:"by,omitempty"`                                                         // The agent of the session or the spool if left out.
}

// AcceptInput accepts an invite. Without AgentID the agent gets the invite's
// handle as its name, or else a name derived from the role.
type AcceptInput struct {
	// That of the session or the spool if left out, else one that the hub chooses.
	AgentID      AgentID  `json:"agent_id,omitempty"`
	DisplayName  string   `json:"display_name,omitempty" bounds:"name ..MaxDisplayNameChars"`
	Capabilities []string `json:"capabilities,omitempty" bounds:"..MaxCapabilities items; each name 1..MaxCapabilityChars"`
	Harness      string   `json:"harness,omitempty" bounds:"name ..MaxHarnessChars"` // What the agent runs in; that of the invite if left out.
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
