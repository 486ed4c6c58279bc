package core

import (
	"errors"

	"hubcli/hub"
)

// ErrNotFound says that the store has no such row.
var ErrNotFound = errors.New("core: no such row")

// ErrNoRoom is returned by a journal whose disk has no room for a group or for
// rows. Nothing of them has been written, and the journal accepts writes again
// as soon as there is room.
var ErrNoRoom = errors.New("core: the disk of the journal is full")

// Journal makes groups durable in the order of the calls and returns the facts
// at the next start. The sequencer has ordered them before. One goroutine
// appends; reads may run beside it.
type Journal interface {
	// Head is the end of the journal as it was found when it was opened.
	Head() Head
	// Append makes a group durable: after a nil error it survives a power
	// failure. Its rows can be read at the latest when Append returns. After
	// ErrNoRoom nothing of the group has been written, and a group with the
	// same numbers may follow. After any other error the outcome is unknown and
	// no further Append may follow: the hub ends with exit code 70 (fail-stop).
	Append(g *Group) error
	// Records calls fn for every record with a sequence number above after, in
	// order, without a gap: Facts, but not Messages, Rows and Effect. An error
	// from fn ends the reading and is returned. corrupt_record if a record
	// cannot be trusted.
	Records(after hub.Seq, fn func(*Record) error) error
	// Room says whether the store's disk has room for further writes and how
	// many bytes are free. It is cheap enough to be asked for every command.
	Room() (ok bool, free int64)
	// SaveCheckpoint stores the state of all owners atomically and then deletes
	// the records that no kept checkpoint needs. Every record up to its
	// Head.Seq is durable.
	SaveCheckpoint(c *Checkpoint) error
	// Checkpoint returns the newest good checkpoint, or ErrNotFound.
	Checkpoint() (*Checkpoint, error)
	// PutRows stores rows that no record carries: derived rows and marks of the
	// supervision. They are durable after a nil error. After ErrNoRoom none was
	// written.
	PutRows(rows []Row) error
}

// Rows reads the appended records' rows. All methods may be called from any
// goroutine. The returned bytes belong to the caller.
type Rows interface {
	// Message returns a row by its id. Error: ErrNotFound.
	Message(id hub.MessageID) (StoredMessage, error)
	// Messages calls fn for the rows of scope with after < id <= upto, rising,
	// or falling if backward, until fn returns false. ScopePublic reads as
	// ScopeAll: the caller filters.
	Messages(scope Scope, after, upto hub.MessageID, backward bool, fn func(*StoredMessage) bool) error
	// Row returns the latest row of a table under key. Error: ErrNotFound.
	Row(t Table, key []byte) ([]byte, error)
	// RowsOf calls fn for the rows of a table whose key begins with prefix, in
	// key order (falling if backward), until fn returns false.
	RowsOf(t Table, prefix []byte, backward bool, fn func(key, value []byte) bool) error
	// RowsBehind is RowsOf, but begins after the key behind, in the direction
	// of the walk; nil means the beginning. Keys before that are not read.
	RowsBehind(t Table, prefix, behind []byte, backward bool, fn func(key, value []byte) bool) error
	// Effect returns the stored answer under an idempotency scope while it is
	// kept. Error: ErrNotFound.
	Effect(scope [32]byte) (*Effect, error)
}
