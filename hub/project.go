package hub

import (
	"context"
	"strings"
)

// Project groups rooms.
type Project struct {
	ProjectID ProjectID `json:"project_id"`
	Slug      string    `json:"slug"` // unique; lower case letters, digits and single hyphens
	Name      string    `json:"name"`
	CreatedAt Time      `json:"created_at"`
	MadeBy    AgentID   `json:"made_by,omitempty"`  // empty: the call named no agent, or the hub did not note it yet
	Archived  bool      `json:"archived,omitempty"` // out of lists, with all its rooms
	// Imported says where a project comes from that a capsule brought; nil: it was made here.
	Imported *ProjectImport `json:"imported,omitempty"`
}

// ProjectImport says which capsule a project comes from.
type ProjectImport struct {
	CapsuleID     string `json:"capsule_id"`
	ContentDigest string `json:"content_digest"`
	At            Time   `json:"at"`         // when it was imported
	Slug          string `json:"slug"`       // in the capsule
	Name          string `json:"name"`       // in the capsule
	GivenName     string `json:"given_name"` // with which it was imported
}

// LockPolicy says what happens before an agent edits a file on which another agent
// holds the lock.
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
	RoomID      RoomID      `json:"room_id"`
	ProjectID   ProjectID   `json:"project_id"`
	Slug        string      `json:"slug"` // unique in the project
	Name        string      `json:"name"`
	Topic       string      `json:"topic"`
	Channel     ChannelName `json:"channel"`
	Bindings    []string    `json:"bindings"` // folders, as they were bound, sorted
	CreatedBy   AgentID     `json:"created_by"`
	CreatedAt   Time        `json:"created_at"`
	ForceReason string      `json:"force_reason"` // why it was made beside a similar room; else empty
	Locks       LockPolicy  `json:"locks"`
	Archived    bool        `json:"archived,omitempty"`              // out of lists, and of polls that name no channel
	WithProject bool        `json:"archived_with_project,omitempty"` // it is archived because its project is, and comes back with it
	GuardHops   *int        `json:"guard_hops,omitempty"`            // see GuardInput; nil: none is ever stopped
	// AllowedHosts are what its browser may reach beside the public internet, sorted.
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
	BoundPath *string  `json:"bound_path"` // as it was bound
}

// ProjectInput describes a new project. Without Slug the slug is derived from
// Name.
type ProjectInput struct {
	Name      string  `json:"name"`
	Slug      string  `json:"slug,omitempty"`
	CreatedBy AgentID `json:"created_by,omitempty"`
}

// RoomInput describes a new room. Project is an id, slug or name.
type RoomInput struct {
	Project     string  `json:"project"`
	Name        string  `json:"name"`
	Topic       string  `json:"topic,omitempty"`
	CreatedBy   AgentID `json:"created_by,omitempty"`
	Force       bool    `json:"force,omitempty"`
	ForceReason string  `json:"force_reason,omitempty"`
}

// RenamedInput gives a project or a room another name. Its slug stays, so that references
// go on to lead to it.
type RenamedInput struct {
	Name string `json:"name"`
}

// ArchiveInput says whether a project or a room is archived.
type ArchiveInput struct {
	Archived bool `json:"archived"`
}

// ChannelArchiveInput says whether a channel is archived.
type ChannelArchiveInput struct {
	Channel  ChannelName `json:"channel"`
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
	Hops *int `json:"hops,omitempty"`
}

// BindingInput names an absolute path of the hub's machine.
type BindingInput struct {
	Path    string  `json:"path"`
	AgentID AgentID `json:"agent_id,omitempty"`
	// Auto says that a program binds the folder by itself, because its agent needs a room and is in
	// none. The room is told. A hub without FeatureAutoRooms refuses it.
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
