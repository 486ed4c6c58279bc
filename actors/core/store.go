package core

import (
	"errors"

	"hubcli/hub"
)

// ErrNotFound says that the store has no such row.
var ErrNotFound = errors.New("core: no such row")

// ErrNoRoom says that the journal's disk has no space for a group or for rows.
// Nothing was written. The journal accepts writes again when there is space.
var ErrNoRoom = errors.New("core: the disk of the journal is full")

// Journal makes groups durable in the order of the calls and returns their
// facts at the next start. The sequencer has numbered the records before. One
// goroutine appends; others may read meanwhile.
type Journal interface {
	// Head returns the end that the journal had when it was opened.
	Head() Head
	// Append makes a group durable: after a nil error it survives a power
	// failure. Its rows can be read when Append returns, or earlier. After
	// ErrNoRoom nothing of the group has been written, and a group with the
	// same numbers may follow. After any other error the outcome is unknown and
	// no further Append may follow: the hub ends with exit code 70 (fail-stop).
	Append(g *Group) error
	// Records calls fn for every record with a sequence number above after, in
	// order and without a gap. The records have Facts, but no Messages, Rows
	// and Effect. An error from fn ends the reading and is returned. Error:
	// corrupt_record, if a record is damaged.
	Records(after hub.Seq, fn func(*Record) error) error
	// Room says whether the store's disk has room for further writes and how
	// many bytes are free. It is cheap enough for a call with every command.
	Room() (ok bool, free int64)
	// SaveCheckpoint stores the state of all owners atomically. The records stay.
	// The caller made every record up to c.Head.Seq durable before.
	SaveCheckpoint(c *Checkpoint) error
	// Checkpoint returns the newest good checkpoint, or ErrNotFound.
	Checkpoint() (*Checkpoint, error)
	// PutRows stores rows that no record carries: derived rows, and marks of
	// broken owners. They are durable after a nil error. After ErrNoRoom none
	// was written.
	PutRows(rows []Row) error
}

// Rows reads the appended records' rows. All methods may be called from any
// goroutine. The returned bytes belong to the caller.
type Rows interface {
	// Message returns a row by its id. Error: ErrNotFound.
	Message(id hub.MessageID) (StoredMessage, error)
	// Messages calls fn for the rows of scope with after < id <= upto, until fn
	// returns false. The ids rise, or fall if backward. ScopePublic gives the
	// rows of ScopeAll, which the caller filters, without those of imports:
	// they are nobody's news.
	Messages(scope Scope, after, upto hub.MessageID, backward bool, fn func(*StoredMessage) bool) error
	// Recipients calls fn with the agents that direct messages were sent to, by id and behind
	// the id behind, until fn returns false. It reads no message, and passes over the further
	// messages to the same agent without reading their keys.
	Recipients(behind hub.AgentID, fn func(hub.AgentID) bool) error
	// Row returns the latest row of a table under key. Error: ErrNotFound.
	Row(t Table, key []byte) ([]byte, error)
	// RowsOf calls fn for the rows of a table whose key begins with prefix, in
	// key order (falling if backward), until fn returns false.
	RowsOf(t Table, prefix []byte, backward bool, fn func(key, value []byte) bool) error
	// RowsBehind does what RowsOf does, but begins after the key behind, in the
	// direction of the walk. With a nil key it begins where RowsOf does. It
	// does not read the keys that it skips.
	RowsBehind(t Table, prefix, behind []byte, backward bool, fn func(key, value []byte) bool) error
	// Effect returns the answer under an idempotency scope, as long as the
	// store keeps it. Error: ErrNotFound.
	Effect(scope [32]byte) (*Effect, error)
}

// Snapshotter gives views of one instant, for readers that take long.
type Snapshotter interface {
	// Snapshot returns the rows as they are after the latest commit, and nothing of later
	// ones. Commits go on meanwhile. The caller closes the snapshot before the store is
	// closed. An error says that the store is closed or has failed.
	Snapshot() (Snapshot, error)
}

// Snapshot is the rows as they were after one commit. Close may be called twice; later
// reads are errors.
type Snapshot interface {
	Rows
	// Head returns the end of the journal after that commit.
	Head() Head
	Close()
}
