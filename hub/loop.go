package hub

import "context"

// MaxLoops bounds the loops that are listed.
const MaxLoops = 100

// LoopStage says what the hub does about agents that post to each other without progress.
type LoopStage string

// The stages of a loop.
const (
	LoopTold    LoopStage = "told"    // each of them got a notice
	LoopSlowed  LoopStage = "slowed"  // what comes fast, or repeats, has to wait for some time after the one before
	LoopStopped LoopStage = "stopped" // posts are refused, and the operator is asked
	LoopApart   LoopStage = "apart"   // the operator keeps them apart for a time
)

// Loop is a few agents that post to each other while nothing shows progress.
//
// API: Agents that post to each other while nothing shows progress.
type Loop struct {
	Agents   []AgentID    `json:"agents" bounds:"2.. items"` // By their names.
	RoomID   *RoomID      `json:"room_id"`
	Channel  *ChannelName `json:"channel" bounds:"as string"` // Null: direct messages.
	ThreadID *ThreadID    `json:"thread_id" bounds:"as string"`
	// slowed: what comes fast or repeats has to wait; stopped: posts are refused and the operator is asked; apart:
	// the operator keeps them apart for a time.
	Stage     LoopStage `json:"stage"`
	Turns     int       `json:"turns" bounds:"0.."`      // 0: not known, the hub was started since.
	StopAfter int       `json:"stop_after" bounds:"0.."` // Turns; 0: never.
	LastAt    *Time     `json:"last_at"`                 // Of the last message; null: not known.
	AskID     *AskID    `json:"ask_id"`                  // The question to the operator, of a loop that is stopped or kept apart.
	Until     *Time     `json:"until"`                   // Until when they are kept apart, or nothing passes that repeats.
}

// Loops shows what the guard against runaways does.
type Loops interface {
	// Loops lists the agents that were told, are slowed or are stopped because they post to
	// each other without progress, the furthest first. Operator only.
	Loops(ctx context.Context) ([]Loop, error)
}
