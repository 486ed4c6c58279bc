package hub

import (
	"context"
	"strings"
)

// Project groups rooms.
type Project struct {
	ProjectID ProjectID      `json:"project_id" bounds:"like ^p_[0-9a-z]+$"`
	Slug      string         `json:"slug" bounds:"as Slug"` // Unique.
	Name      string         `json:"name" bounds:"as Name"` // Unique without regard to case.
	CreatedAt Time           `json:"created_at"`
	MadeBy    AgentID        `json:"made_by,omitempty"`  // Absent if the call named nobody, or the hub did not note it yet.
	Archived  bool           `json:"archived,omitempty"` // Out of lists, with its rooms; absent: false.
	Imported  *ProjectImport `json:"imported,omitempty"` // Only of a project that a capsule brought.
}

// ProjectImport says which capsule a project comes from.
type ProjectImport struct {
	CapsuleID     string `json:"capsule_id"`
	ContentDigest string `json:"content_digest"`
	At            Time   `json:"at"`         // When it was imported.
	Slug          string `json:"slug"`       // In the capsule.
	Name          string `json:"name"`       // In the capsule.
	GivenName     string `json:"given_name"` // With which it was imported.
}

// LockPolicy says what happens before an agent edits a file on which another agent
// holds the lock.
//
// API: Before an agent edits a file on which another agent holds the lock, its harness warns it, or refuses the
// edit.
type LockPolicy string

// The policies: its harness warns the agent, or refuses the edit.
const (
	LocksWarn   LockPolicy = "warn" // the default
	LocksRefuse LockPolicy = "refuse"
)

// LockPolicies lists them all.
func LockPolicies() []LockPolicy { return []LockPolicy{LocksWarn, LocksRefuse} }

// Room is where a team works. It owns its channel.
type Room struct {
	RoomID      RoomID      `json:"room_id" bounds:"like ^r_[0-9a-z]+$"`
	ProjectID   ProjectID   `json:"project_id" bounds:"like ^p_[0-9a-z]+$"`
	Slug        string      `json:"slug" bounds:"as Slug"` // Unique in the project.
	Name        string      `json:"name" bounds:"as Name"`
	Topic       string      `json:"topic" bounds:"..1000 runes"`
	Channel     ChannelName `json:"channel" bounds:"as Name"`     // room-<room_id>; it belongs to the room.
	Bindings    []string    `json:"bindings"`                     // Folders, as they were bound, sorted.
	CreatedBy   AgentID     `json:"created_by" bounds:"or empty"` // Empty if the call named nobody.
	CreatedAt   Time        `json:"created_at"`
	ForceReason string      `json:"force_reason" bounds:"..1000 runes"` // Why it was made beside a look-alike; else empty.
	Locks       LockPolicy  `json:"locks"`
	Archived    bool        `json:"archived,omitempty"`              // Out of lists, and of polls that name no channel; absent: false.
	WithProject bool        `json:"archived_with_project,omitempty"` // Archived because its project is; it comes back with it. Absent: false.
	// After how many posts in turn agents are stopped that show no progress. Left out: never, they are told and
	// slowed. 0: they are not watched.
	GuardHops *int `json:"guard_hops,omitempty" bounds:"0..1000"`
	// What its browser may reach beside the public internet, sorted. Absent: nothing.
	AllowedHosts []AllowedHost `json:"allowed_hosts,omitempty"`
}

// SimilarRoom is an existing room that resembles a new one.
type SimilarRoom struct {
	RoomID RoomID `json:"room_id"`
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	Topic  string `json:"topic"`
	Why    string `json:"why"` // in words
}

// Resolved says which room a folder is bound to. Room, Project and BoundPath are
// nil or empty unless Bound.
type Resolved struct {
	Bound     bool     `json:"bound"`
	RoomID    *RoomID  `json:"room_id"`
	Room      *Room    `json:"room"`
	Project   *Project `json:"project"`
	BoundPath *string  `json:"bound_path"` // As it was bound.
}

// ProjectInput describes a new project. Without Slug the slug is derived from
// Name.
type ProjectInput struct {
	Name      string  `json:"name" bounds:"name 1..MaxNameChars"` // Space around it is dropped.
	Slug      string  `json:"slug,omitempty" bounds:"..MaxSlugChars runes; like ^([a-z0-9]+(-[a-z0-9]+)*)?$"`
	CreatedBy AgentID `json:"created_by,omitempty"`
}

// RoomInput describes a new room. Project is an id, slug or name.
type RoomInput struct {
	Project     string  `json:"project" bounds:"name 1..MaxNameChars"` // Its id, slug or name.
	Name        string  `json:"name" bounds:"name 1..MaxNameChars"`    // Space around it is dropped.
	Topic       string  `json:"topic,omitempty" bounds:"text ..MaxTopicChars"`
	CreatedBy   AgentID `json:"created_by,omitempty"`
	Force       bool    `json:"force,omitempty"`
	ForceReason string  `json:"force_reason,omitempty" bounds:"text ..MaxReasonChars"` // Needed with force.
}

// RenamedInput gives a project or a room another name. Its slug stays, so that references
// go on to lead to it.
type RenamedInput struct {
	Name string `json:"name" bounds:"name 1..MaxNameChars"`
}

// ArchiveInput says whether a project or a room is archived.
type ArchiveInput struct {
	Archived bool `json:"archived"`
}

// ChannelArchiveInput says whether a channel is archived.
type ChannelArchiveInput struct {
	Channel  ChannelName `json:"channel" bounds:"name 1..MaxNameChars"`
	Archived bool        `json:"archived"`
}

// LockPolicyInput changes what a room wants of locks.
type LockPolicyInput struct {
	Locks   LockPolicy `json:"locks"`
	AgentID AgentID    `json:"agent_id,omitempty"`
}

// Limits of what a few agents may post to each other in turn without progress. Where the
// operator has set none, agents are told and slowed after GuardTellHops and GuardSlowHops.
const (
	GuardTellHops = 6
	GuardSlowHops = 8
	MinGuardHops  = 4
	MaxGuardHops  = 1_000
)

// GuardInput says after how many posts in turn the agents of a room are stopped that show
// no progress: MinGuardHops to MaxGuardHops. nil: never, they are told and slowed; 0: they
// are not even watched.
type GuardInput struct {
	// 4 to 1000. null: none is refused, they are told and slowed. 0: they are not watched.
	Hops *int `json:"hops,omitempty" bounds:"0..MaxGuardHops"`
}

// BindingInput names an absolute path of the hub's machine.
type BindingInput struct {
	Path    string  `json:"path" bounds:"1.. runes"` // An absolute path of at most 4096 bytes.
	AgentID AgentID `json:"agent_id,omitempty"`
	// A program binds the folder by itself, because its agent needs a room and is in none; the room is told. Refused
	// by a hub without the feature hub:auto_rooms (operator_required). Unbinding ignores it.
	Auto bool `json:"auto,omitempty"`
}

// RoomRef names a room: by its id, or within Project (id, slug or name) also by
// slug or name.
type RoomRef struct {
	Project string
	Room    string
}

// IsRoomID reports whether a text has the form of a room's id. No slug and no name of
// a room has it.
func IsRoomID(text string) bool {
	rest, ok := strings.CutPrefix(text, "r_")
	return ok && rest != "" && !strings.ContainsFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') })
}

// Projects keeps projects and their rooms.
type Projects interface {
	// CreateProject makes a project. Errors: project_exists where its slug or
	// name is taken, limit_reached.
	CreateProject(ctx context.Context, in ProjectInput) (Outcome[Project], error)
	// Projects lists the projects by slug.
	Projects(ctx context.Context, q ProjectsQuery) ([]Project, Cursor, error)
	// Project returns the project with this id, slug or name. Errors:
	// project_not_found.
	Project(ctx context.Context, ref string) (Project, error)
	// CreateRoom makes a room with its channel. Errors: project_not_found,
	// similar_room_exists (not with Force), limit_reached, archived.
	CreateRoom(ctx context.Context, in RoomInput) (Outcome[Room], error)
	// RenameProject gives a project another name. Operator only. Errors:
	// project_not_found, project_exists.
	RenameProject(ctx context.Context, ref string, in RenamedInput) (Outcome[Project], error)
	// ArchiveProject takes a project with its rooms out of lists and of polls that name no
	// channel, or back. A room that was archived by itself stays so. Operator only. Errors:
	// project_not_found.
	ArchiveProject(ctx context.Context, ref string, in ArchiveInput) (Outcome[Project], error)
	// RenameRoom gives a room another name. Operator only. Errors: room_not_found,
	// similar_room_exists if another room of the project has the name.
	RenameRoom(ctx context.Context, room RoomID, in RenamedInput) (Outcome[Room], error)
	// ArchiveRoom takes a room out of lists and of polls that name no channel, or back.
	// Nothing is deleted, and every reference leads to it; only posts to its channel are
	// refused. Operator only. Errors: room_not_found, archived if it is to come back
	// without its project.
	ArchiveRoom(ctx context.Context, room RoomID, in ArchiveInput) (Outcome[Room], error)
	// SetLocks changes what the room wants of locks. Only the operator and the agent that
	// made the room do, by its proved session. Errors: room_not_found, operator_required.
	SetLocks(ctx context.Context, room RoomID, in LockPolicyInput) (Outcome[Room], error)
	// SetGuard changes whether and when agents of the room are stopped that post to each other without
	// progress. Operator only. Errors: room_not_found.
	SetGuard(ctx context.Context, room RoomID, in GuardInput) (Outcome[Room], error)
	// Rooms lists the rooms of one project or of all, by slug. Rooms with the
	// same slug are listed by age. Errors: project_not_found.
	Rooms(ctx context.Context, q RoomsQuery) ([]Room, Cursor, error)
	// Room returns one room. Errors: room_not_found, project_not_found.
	Room(ctx context.Context, ref RoomRef) (Room, error)
}

// Bindings keeps the folders that are bound to rooms.
type Bindings interface {
	// BindRoom binds a folder to the room. A folder has at most one room.
	// Errors: room_not_found, path_not_found, already_bound, operator_required where the operator
	// lets no program bind by itself.
	BindRoom(ctx context.Context, room RoomID, in BindingInput) (Outcome[Room], error)
	// UnbindRoom removes a binding. Errors: room_not_found, not_bound.
	UnbindRoom(ctx context.Context, room RoomID, in BindingInput) (Outcome[Room], error)
	// Resolve returns the room of the nearest bound folder at or above an
	// absolute path. Linked work trees of a git repository count as one.
	Resolve(ctx context.Context, path string) (Resolved, error)
}
