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
	SeatID   SeatID  `json:"seat_id"`
	AgentID  AgentID `json:"agent_id"`
	Role     string  `json:"role"`
	Harness  string  `json:"harness"`
	JoinedAt Time    `json:"joined_at"`
}

// RoomMoment is what a room was like right after a record. Lists are cut; the counts
// beside them are complete.
type RoomMoment struct {
	RoomID RoomID `json:"room_id"`
	Seq    Seq    `json:"seq"` // the last record up to the moment; 0: it is not kept
	TS     Time   `json:"ts"`  // when that was
	// Kept is false for a moment before HistoryFromTS. Then seats, tasks, runs, claims,
	// locks and pauses are not known and empty, and the rest is told by its times.
	Kept           bool `json:"kept"`
	HistoryFromSeq Seq  `json:"history_from_seq"`
	HistoryFromTS  Time `json:"history_from_ts"`

	// These are about the whole room, so that a slider knows its ends.
	FirstTS Time  `json:"first_ts"` // when the room was made or, if it was imported, its first message
	LastSeq Seq   `json:"last_seq"` // the latest record of the hub
	LastTS  Time  `json:"last_ts"`  // when that was
	NextTS  *Time `json:"next_ts"`  // the first message in the room after the moment; null: there is none

	LatestID    MessageID        `json:"latest_id"` // every message up to the moment has an id up to this one
	Messages    []EncodedMessage `json:"messages"`  // in the room's channel, rising
	Seats       []MomentSeat     `json:"seats"`     // by agent, at most 1,000
	Tasks       []Task           `json:"tasks"`     // that had not ended, at most 200, newest first
	TaskCount   int              `json:"task_count"`
	EndedTasks  []Task           `json:"ended_tasks"` // that had ended, at most 50, newest first
	Runs        []Run            `json:"runs"`        // at most 50, running first, each part newest first
	Claims      []Claim          `json:"claims"`      // of agents with a seat or on a task of the room, at most 200, oldest first
	ClaimCount  int              `json:"claim_count"`
	Locks       []Lock           `json:"locks"` // of agents with a seat, at most 200, oldest first
	LockCount   int              `json:"lock_count"`
	Decisions   []Decision       `json:"decisions"` // at most 50, latest first
	Artifacts   []Artifact       `json:"artifacts"` // the latest version of at most 50 titles, latest first
	Memories    []Memory         `json:"memories"`  // of the room and its project, at most 50, latest first
	MemoryCount int              `json:"memory_count"`
	Pauses      []Pause          `json:"pauses"` // of everything, the room, and agents with a seat
}

// Replays shows what rooms were like at any moment.
type Replays interface {
	// Moment shows what a room was like at a moment. Errors: room_not_found, invalid if the
	// moment has not come yet or its record is older than what the hub keeps.
	Moment(ctx context.Context, q MomentQuery) (RoomMoment, error)
}
