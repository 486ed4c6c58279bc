package hub

import "context"

// MomentQuery asks what a room was like. At most one of Seq and At is not zero; with
// neither the moment is now. Messages are the last Limit ones up to the moment. SinceID
// asks for the first ones behind it instead, and BeforeID for the last ones before it.
type MomentQuery struct {
	RoomID   RoomID
	Seq      Seq  // the moment right after this record
	At       Time // the moment right after the last record of this millisecond
	Viewer   AgentID
	SinceID  MessageID
	BeforeID MessageID
	Limit    int
}

// MomentSeat is a seat as it was at a moment. What its agent did then is not kept.
type MomentSeat struct {
	SeatID   SeatID  `json:"seat_id" bounds:"like ^seat_[0-9a-z]+$"`
	AgentID  AgentID `json:"agent_id"`
	Role     string  `json:"role"` // Empty if the agent only acted in the room.
	Harness  string  `json:"harness"`
	JoinedAt Time    `json:"joined_at"`
}

// RoomMoment is what a room was like right after a record. Lists are cut; the counts
// beside them are complete.
type RoomMoment struct {
	RoomID         RoomID `json:"room_id" bounds:"like ^r_[0-9a-z]+$"`
	Seq            Seq    `json:"seq" bounds:"as Cursor"` // The last record up to the moment; 0 if the moment is not kept.
	TS             Time   `json:"ts"`                     // When that record was made, or the time that was asked for.
	Kept           bool   `json:"kept"`                   // False for a moment before history_from_ts.
	HistoryFromSeq Seq    `json:"history_from_seq" bounds:"as Cursor"`
	// From when the history of the room is whole: since it was made or imported, or since a version of the hub that
	// keeps it.
	HistoryFromTS Time `json:"history_from_ts"`

	FirstTS Time  `json:"first_ts"`                    // When the room was made or, in an imported room, its first message.
	LastSeq Seq   `json:"last_seq" bounds:"as Cursor"` // The latest record of the hub.
	LastTS  Time  `json:"last_ts"`                     // Now.
	NextTS  *Time `json:"next_ts"`                     // The first message of the room after the moment; null if there is none.

	LatestID    MessageID        `json:"latest_id" bounds:"as Cursor"`      // Every message up to the moment has an id up to this one.
	Messages    []EncodedMessage `json:"messages" bounds:"each as Message"` // Rising.
	Seats       []MomentSeat     `json:"seats" bounds:"..1000 items"`       // By agent.
	Tasks       []Task           `json:"tasks" bounds:"..200 items"`        // That had not ended, newest first.
	TaskCount   int              `json:"task_count" bounds:"0.."`
	EndedTasks  []Task           `json:"ended_tasks" bounds:"..50 items"` // That had ended, newest first.
	Runs        []Run            `json:"runs" bounds:"..50 items"`        // Those that were running first, each part newest first.
	Claims      []Claim          `json:"claims" bounds:"..200 items"`     // Oldest first.
	ClaimCount  int              `json:"claim_count" bounds:"0.."`
	Locks       []Lock           `json:"locks" bounds:"..200 items"` // Oldest first.
	LockCount   int              `json:"lock_count" bounds:"0.."`
	Decisions   []Decision       `json:"decisions" bounds:"..50 items"` // Latest first.
	Artifacts   []Artifact       `json:"artifacts" bounds:"..50 items"` // The latest version of each title, latest first.
	Memories    []Memory         `json:"memories" bounds:"..50 items"`  // Of the room and its project, latest first.
	MemoryCount int              `json:"memory_count" bounds:"0.."`
	Pauses      []Pause          `json:"pauses" bounds:"..1100 items"` // In force: of everything, of the room, and of agents with a seat.
}

// Replays shows what rooms were like at any moment.
type Replays interface {
	// Moment shows what a room was like at a moment. Errors: room_not_found, invalid if the
	// moment has not come yet or its record is older than what the hub keeps.
	Moment(ctx context.Context, q MomentQuery) (RoomMoment, error)
}
