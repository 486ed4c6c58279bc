package hub

import "time"

// Limits holds the limits that the operator can set when the daemon starts.
// Units: characters are Unicode code points.
type Limits struct {
	MaxBodyChars       int // characters in a message body
	MaxAttachmentChars int // characters of the compact JSON of an attachment's content
	MaxAttachments     int // attachments per message
}

// DefaultLimits returns the limits of SPEC section 8.
func DefaultLimits() Limits {
	return Limits{MaxBodyChars: 128_000, MaxAttachmentChars: 256_000, MaxAttachments: 32}
}

// Limits of the contract, in one place.
const (
	MaxAgentIDBytes     = 64
	MaxNameChars        = 200  // channel, thread_id, claim_key
	MaxThreadChars      = 300  // thread_id with the marks of imports, which MaxNameChars does not count
	MaxFilePathChars    = 1024 // file_path
	MaxPathBytes        = 4096 // path of a folder that is bound or resolved
	MaxTitleChars       = 300  // titles
	MaxDisplayNameChars = 64
	MaxSlugChars        = 64
	MaxCapabilities     = 64        // capabilities per session
	MaxCapabilityChars  = 64        // one of them
	MaxSecretChars      = 256       // a session id or a resume key as a client sends it
	MaxRoleChars        = 64        // the role of a seat
	MaxHarnessChars     = 64        // the name of a harness
	MaxMetadataBytes    = 64 << 10  // compact JSON of a metadata object
	MaxMetadataDepth    = 32        // nesting of a metadata object
	MaxMessageID        = 1<<53 - 1 // ids stay exact in JSON numbers

	DefaultPageRows = 100  // rows of a listing or poll that names no limit
	MaxPageRows     = 1000 // a larger limit is clamped

	MinTTLSec     = 1
	MaxTTLSec     = 86_400
	DefaultTTLSec = 300
	MaxWaitSec    = 60 // wait_sec of a claim or lock

	MaxTaskDepth    = 64        // levels of a task tree
	MaxLiveTasks    = 100_000   // tasks that have not ended, which are all kept in memory
	MaxLiveRuns     = 10_000    // runs that have not ended, which are all kept in memory
	MaxRecordRows   = 1_000     // rows one command may write
	MaxBlockedBy    = 100       // tasks that one task may wait for
	MaxExpireBatch  = 1_000     // leases that one record may expire
	MaxTaskBytes    = 96 << 20  // that the tasks which have not ended take in memory
	MaxLeaseBytes   = 128 << 20 // that held claims and locks take in memory
	MaxSessionBytes = 128 << 20 // that live sessions take in memory

	MaxProjects         = 1_000     // that are not archived
	MaxProjectRooms     = 1_000     // rooms of a project that are not archived
	MaxRooms            = 10_000    // rooms of the hub that are not archived
	MaxKeptProjects     = 5_000     // archived ones included: all are kept in memory
	MaxKeptRooms        = 50_000    // likewise
	MaxRoomBytes        = 64 << 20  // that the rooms which are not archived take in memory
	MaxKeptRoomBytes    = 160 << 20 // archived ones included
	MaxChannels         = 100_000   // outside rooms, that are not archived
	MaxRoomBindings     = 64        // folders bound to a room
	MaxRoomSeats        = 1_000
	MaxRoomInvites      = 1_000  // invites of a room that are neither revoked nor over
	MaxRoomTitles       = 10_000 // titles of a room's artifacts
	MaxKeptMemories     = 10_000 // memories of a room or project that have not been replaced
	MaxTopicChars       = 1_000
	MaxReasonChars      = 1_000
	MaxNoteChars        = 32_000
	MaxDecisionDepth    = 4       // nesting of a decision's metadata (SPEC section 8)
	MaxArtifactBytes    = 4 << 20 // of an artifact's content
	MaxMemoryChars      = 32_000
	MaxMemoryTags       = 32
	MaxInviteUses       = 1_000
	MaxInviteTTLSec     = 30 * 86_400
	DefaultInviteTTLSec = 86_400
	MaxRunTasks         = 1_000 // tasks of a run
	MaxWatchConditions  = 32
	MaxWatchTasks       = 100 // tasks that one condition names
	MaxWatchLabelChars  = 80
	MaxQueryChars       = 1_000 // of a search
)

// Spans of time that are part of the contract.
const (
	MaxPollWait        = 60 * time.Second // long-polls are clamped to it
	MaxWatchWait       = 20 * time.Minute // one call of /v1/watch is clamped to it
	MaxAdapterVerify   = 60 * time.Second // one verification of an adapter
	MaxAdapterChange   = 60 * time.Second // planning or changing an adapter: files may be large, and others may hold the lock
	TurnTrustedFor     = 15 * time.Minute // how long a turn that a hook has noted counts without a call of the agent
	SeatWorkingFor     = 60 * time.Second // how long a call keeps its agent's seat working
	WokenFor           = 30 * time.Second // how long an agent whose wait was answered counts as reachable: its program begins a turn meanwhile
	SeatAwayAfter      = 60 * time.Second // how long an agent may be silent, with nothing parked, before it is away
	SeatListedFor      = 10 * time.Minute // how long a room's page shows an agent that is gone
	SeatIdleAfter      = 5 * time.Second  // how long a seat has to be idle or waiting for seat-idle
	AsleepAfter        = 5 * time.Minute  // how long an agent may leave a direct message before its room is told
	SessionIdleAfter   = 120 * time.Second
	TaskLeftAfter      = 120 * time.Second // from the end of an assignee's session until its task may be taken over
	LeaseRestartGrace  = 5 * time.Second   // shortest remaining time of a lease after a start
	IdempotencyKept    = 24 * time.Hour
	MaxShutdownDelay   = time.Hour
	MaxIdempotencyKey  = 255 // characters of an Idempotency-Key
	MaxParkedPerAgent  = 8   // long-polls of one agent at a time
	MaxParkedOfNobody  = 256 // long-polls that name no agent at a time, all together
	MaxConnections     = 16_384
	MaxQueryParameters = 64
)
