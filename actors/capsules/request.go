package capsules

import (
	"slices"

	"hubcli/capsule"
	"hubcli/hub"
)

// Request says what a capsule is to hold. Names have been resolved.
type Request struct {
	Project hub.ProjectID
	Scope   capsule.Scope
	Rooms   []hub.RoomID // in scope selected_rooms; each is one of the project
	Privacy capsule.Privacy
	// Operator says that the operator asks. Nobody else gets direct messages.
	Operator bool
	// Binary lists the binary artifacts that a share_safe capsule holds all the same.
	Binary []hub.ArtifactID
}

// messages reports whether the capsule has messages.
func (r *Request) messages() bool { return r.Scope != capsule.ScopeKnowledge }

// direct reports whether direct messages belong to the capsule, and the tasks that they
// opened.
func (r *Request) direct() bool { return r.Operator && r.Privacy == capsule.FullHistory }

// wants reports whether a room belongs to the capsule.
func (r *Request) wants(room *hub.Room) bool {
	if room.ProjectID != r.Project {
		return false
	}
	return r.Scope != capsule.ScopeSelectedRooms || slices.Contains(r.Rooms, room.RoomID)
}

// Check refuses what no capsule can hold.
func (r *Request) Check() error {
	switch r.Scope {
	case capsule.ScopeKnowledge, capsule.ScopeComplete, capsule.ScopeSelectedRooms:
	default:
		return hub.Invalid("scope", "there is no such scope").WithFix("use knowledge, complete or selected_rooms")
	}
	if r.Privacy != capsule.ShareSafe && r.Privacy != capsule.FullHistory {
		return hub.Invalid("privacy", "there is no such privacy").WithFix("use share_safe or full_history")
	}
	if (r.Scope == capsule.ScopeSelectedRooms) != (len(r.Rooms) > 0) {
		return hub.Invalid("rooms", "rooms are named in the scope selected_rooms, and only there").
			WithFix("give rooms together with the scope selected_rooms")
	}
	return nil
}

// Redactor replaces in texts what must not leave the machine. It is used by one goroutine.
type Redactor interface {
	Text(text string) string
	// JSON redacts the strings of a JSON text, names of members included.
	JSON(raw []byte) ([]byte, error)
	// Counts says how many places each rule has replaced.
	Counts() map[string]int
}

// Identity is what a capsule says of itself, beside what it holds.
type Identity struct {
	CapsuleID string // random, 32 lower case hexadecimal digits
	Version   string // of the program
	CreatedAt hub.Time
}

// The kinds of things that a capsule leaves out and counts.
const (
	leftDirect   = "direct_messages"
	leftTasks    = "direct_tasks"       // tasks that direct messages opened
	leftNamed    = "tasks_elsewhere"    // tasks that others name and that are not in the capsule
	leftRuns     = "runs_elsewhere"     // runs that tasks name and that are not in the capsule
	leftBinary   = hub.LeftBinary       // in share_safe
	leftMemories = "project_memories"   // in selected_rooms
	leftMetadata = "oversized_metadata" // too large after their redaction
	leftContent  = "oversized_contents" // of attachments and artifacts, likewise
)
