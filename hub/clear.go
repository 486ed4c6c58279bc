package hub

import (
	"context"
	"time"
)

// ClearKind is a kind of places that the operator frees in bulk.
type ClearKind string

// The kinds, and what happens to each.
const (
	ClearProjects  ClearKind = "projects"  // archived, with their rooms
	ClearRooms     ClearKind = "rooms"     // archived
	ClearChannels  ClearKind = "channels"  // archived
	ClearQuestions ClearKind = "questions" // closed without an answer
	ClearInvites   ClearKind = "invites"   // revoked
	ClearSeats     ClearKind = "seats"     // freed; the agents may come again
)

// ClearKinds lists the kinds.
func ClearKinds() []ClearKind {
	return []ClearKind{ClearProjects, ClearRooms, ClearChannels, ClearQuestions, ClearInvites, ClearSeats}
}

// Limits of clearing.
const (
	MaxClearAnswer = time.Minute           // a plan of channels reads many rows
	MaxClear       = 1_000                 // things of one plan
	MaxClearAgeSec = 100 * 365 * 24 * 3600 // of ClearInput.OlderSec
)

// ClearInput selects what the operator may want to be rid of. A zero field does not select.
type ClearInput struct {
	Kind    ClearKind `json:"kind"`
	By      AgentID   `json:"by,omitempty"`      // that made it; of seats: the agent itself, or the maker of its invite
	Unnamed bool      `json:"unnamed,omitempty"` // what calls made that named no agent
	Project string    `json:"project,omitempty"` // rooms, invites and seats of this project: id, slug or name
	RoomID  RoomID    `json:"room_id,omitempty"` // invites, seats and questions of this room
	// Archived selects projects, rooms and channels that are archived already and hold nothing,
	// to delete them.
	Archived bool `json:"archived,omitempty"`
	// OlderSec selects what was made at least so long ago.
	OlderSec int `json:"older_sec,omitempty"`
}

// Deletes reports whether things of this kind can be deleted once they are archived.
func (k ClearKind) Deletes() bool {
	return k == ClearProjects || k == ClearRooms || k == ClearChannels
}

// Clearable is a thing of a plan.
type Clearable struct {
	// ID names the thing: the id of a project, room, question or invite, the name of a
	// channel, and room_id/agent_id of a seat.
	ID        string  `json:"id"`
	Name      string  `json:"name"` // for people: a name, a question, the role of an invite
	CreatedBy AgentID `json:"created_by"`
	CreatedAt Time    `json:"created_at"`
}

// ClearPlan lists what a selection finds, and changes nothing.
type ClearPlan struct {
	Kind   ClearKind   `json:"kind"`
	Delete bool        `json:"delete"` // the things are archived, and a confirmation deletes them
	Rows   []Clearable `json:"rows"`   // the oldest first, at most MaxClear
	More   bool        `json:"more"`   // there are more, for the next plan
	Digest string      `json:"digest"` // of the rows; a confirmation repeats it
}

// ClearConfirmInput closes or deletes the things of a plan. Digest is the plan's, so that what is closed
// is what the operator has seen.
type ClearConfirmInput struct {
	Kind   ClearKind `json:"kind"`
	IDs    []string  `json:"ids"`
	Digest string    `json:"digest"`
	Delete bool      `json:"delete,omitempty"` // as the plan says
	Reason string    `json:"reason,omitempty"` // agents whose questions are closed are told it
}

// Cleared says what has become of the things of a plan.
type Cleared struct {
	Kind   ClearKind     `json:"kind"`
	Closed int           `json:"closed"` // those that are closed, or deleted, now
	Failed []ClearFailed `json:"failed"`
}

// ClearFailed is a thing that could not be closed.
type ClearFailed struct {
	ID    string `json:"id"`
	Code  Code   `json:"code"`
	Error string `json:"error"`
}

// Clearing frees places in bulk.
type Clearing interface {
	// PlanClear lists what a selection finds. Operator only. Errors: project_not_found,
	// room_not_found.
	PlanClear(ctx context.Context, in ClearInput) (ClearPlan, error)
	// Clear closes the things of a plan, each as if it were closed alone, or deletes them. What
	// holds something by then is not deleted and fails with plan_changed. What is closed
	// already counts as closed, so the call may be repeated. Operator only. Errors:
	// plan_changed if the things are not those of the plan any more.
	Clear(ctx context.Context, in ClearConfirmInput) (Cleared, error)
}
