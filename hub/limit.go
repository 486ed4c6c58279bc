package hub

import "time"

// Limits that are the operator's to set when the daemon starts. Units:
// characters are Unicode code points.
type Limits struct {
	MaxBodyChars       int // characters in a message body
	MaxAttachmentChars int // characters of the compact JSON of an attachment's content
	MaxAttachments     int // attachments per message
}

// DefaultLimits are those of SPEC section 8.
func DefaultLimits() Limits {
	return Limits{MaxBodyChars: 128_000, MaxAttachmentChars: 256_000, MaxAttachments: 32}
}

// Limits of the contract, in one place.
const (
	MaxNameChars        = 200  // channel, thread_id, claim_key
	MaxFilePathChars    = 1024 // file_path
	MaxTitleChars       = 300  // titles
	MaxDisplayNameChars = 64
	MaxCapabilities     = 64        // capabilities per session
	MaxMetadataBytes    = 64 << 10  // compact JSON of a metadata object
	MaxMetadataDepth    = 32        // nesting of a metadata object
	MaxMessageID        = 1<<53 - 1 // ids stay exact in JSON numbers

	DefaultPageRows = 100  // rows of a listing or poll that names no limit
	MaxPageRows     = 1000 // a larger limit is clamped

	MinTTLSec     = 1
	MaxTTLSec     = 86_400
	DefaultTTLSec = 300
	MaxWaitSec    = 60 // wait_sec of a claim or lock

	MaxTaskDepth   = 64    // levels of a task tree
	MaxRecordRows  = 1_000 // rows one command may write
	MaxBlockedBy   = 100   // tasks that one task may wait for
	MaxExpireBatch = 1_000 // leases that one record may expire
)

// Spans of time that are part of the contract.
const (
	MaxPollWait        = 60 * time.Second // long-polls are clamped to it
	SessionIdleAfter   = 120 * time.Second
	LeaseRestartGrace  = 5 * time.Second // what a lease has left at least after a start
	IdempotencyKept    = 24 * time.Hour
	MaxShutdownDelay   = time.Hour
	SSEHeartbeat       = 15 * time.Second
	MaxIdempotencyKey  = 255 // characters of an Idempotency-Key
	MaxParkedPerAgent  = 8   // long-polls of one agent at a time
	MaxConnections     = 16_384
	MaxQueryParameters = 32
)
