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
	By      AgentID   `json:"by,omitempty"`      // The maker; of seats the agent itself, or the maker of its invite.
	Unnamed bool      `json:"unnamed,omitempty"` // What calls made that named no agent.
	// Of rooms, invites and seats: only of this project, by id, slug or name.
	Project string `json:"project,omitempty" bounds:"name ..MaxNameChars"`
	RoomID  RoomID `json:"room_id,omitempty" bounds:"name ..MaxNameChars"` // Of invites, seats and questions: only of this room.
	// Projects, rooms and channels that are archived already and hold nothing, to delete them.
	Archived bool `json:"archived,omitempty"`
	OlderSec int  `json:"older_sec,omitempty" bounds:"1..MaxClearAgeSec"` // What was made at least so long ago.
}

// Deletes reports whether things of this kind can be deleted once they are archived.
func (k ClearKind) Deletes() bool {
	return k == ClearProjects || k == ClearRooms || k == ClearChannels
}

// Clearable is a thing of a plan.
type Clearable struct {
	// Of a project, room, question or invite its id, of a channel its name, of a seat the ids of room, agent and
	// seat.
	ID        string  `json:"id"`
	Name      string  `json:"name"`                         // For people: a name, a question, the role of an invite.
	CreatedBy AgentID `json:"created_by" bounds:"or empty"` // Empty if the call named nobody.
	CreatedAt Time    `json:"created_at"`
}

// ClearPlan lists what a selection finds, and changes nothing.
type ClearPlan struct {
	Kind   ClearKind   `json:"kind"`
	Delete bool        `json:"delete"`                     // The things are archived, and a confirmation deletes them.
	Rows   []Clearable `json:"rows" bounds:"..1000 items"` // The oldest first.
	More   bool        `json:"more"`                       // There are more, for the next plan.
	Digest string      `json:"digest"`                     // Of the rows; a confirmation repeats it.
}

// ClearConfirmInput closes or deletes the things of a plan. Digest is the plan's, so that what is closed
// is what the operator has seen.
type ClearConfirmInput struct {
	Kind   ClearKind `json:"kind"`
	IDs    []string  `json:"ids" bounds:"1..MaxClear items"`                  // Those of the plan, in its order.
	Digest string    `json:"digest"`                                          // That of the plan.
	Delete bool      `json:"delete,omitempty"`                                // As the plan says.
	Reason string    `json:"reason,omitempty" bounds:"..MaxPauseWords runes"` // Agents whose questions are closed are told it.
}

// Cleared says what has become of the things of a plan.
type Cleared struct {
	Kind   ClearKind     `json:"kind"`
	Closed int           `json:"closed" bounds:"0.."` // How many are closed, or deleted, now.
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
