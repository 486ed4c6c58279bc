package persistence

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
)

// What a group may hold. A larger one is committed correctly, but slower.
const (
	MaxGroupRecords = 1000
	// MaxGroupBytes bounds the encoded messages, facts and rows of a group that
	// has more than one record.
	MaxGroupBytes = 8 << 20
	// MaxMessageBytes is the largest JSON of one message, and MaxRecordBytes the
	// largest sum of the facts of one record, that the store can hold.
	MaxMessageBytes = 60 << 20
	MaxRecordBytes  = 60 << 20
)

// Options of Open. The zero value is good.
type Options struct {
	Logger *slog.Logger // nil: nothing is logged

	// AcceptTruncated opens a store whose journal ends before the last record
	// that was acknowledged. The lost numbers are written down as lost and are
	// not given out again.
	AcceptTruncated bool

	// Maker tells which stores this user's hubs have made; Open refuses others and marks
	// those that it makes. nil: every store is taken for one of this user's.
	Maker *Maker
	// Adopt takes over a store of others, see Store.Adopting.
	Adopt bool

	// Address is where the hub that opens the store listens. The lock file names it
	// for other processes that find the store in use.
	Address string

	fs      storedir.Fsys               // nil: the disk
	free    func(string) (int64, error) // nil: statfs
	formats *core.Formats               // nil: those of this program
}

// Store is an open store. See the package comment for what may be called from
// where.
type Store struct {
	reads

	dir     string
	marker  storedir.Marker // as the store was opened
	formats *core.Formats
	raising sync.Mutex // held while FORMAT is written
	format  atomic.Int64
	key     []byte
	token   string
	log     *slog.Logger
	fs      storedir.Fsys
	lock    *storedir.StoreLock
	folder  *heldFolder
	start   *start        // what has still to be done; nil: Begin has done it
	closing chan struct{} // closed by Close

	db     *badger.DB
	badger *badgerLog
	rest   *rest
	gate   *gate
	space  *space
	ahead  *ahead
	mapped *mapped
	opened core.Head // what Head returns

	maker    *Maker // nil: the store has no mark
	adopting bool

	salvaged *hub.Salvage // what the store lacks; nil: it was not salvaged

	// writing serializes all that commits: Append, PutRows and what
	// imports write. So at most one transaction can be torn by a crash, which
	// verify.go relies on.
	writing  sync.Mutex
	lastTS   uint64 // timestamp of the last commit
	commits  int
	buf      []byte                      // reused for the encoded values of a commit
	entries  []codec.Entry               // reused
	block    codec.MessageBlock          // reused
	index    codec.ScopeIndex            // reused
	durable  core.Head                   // end of the journal
	frameEnd hub.Seq                     // first sequence number of the last frame
	gaps     atomic.Pointer[[]codec.Gap] // rising; the list is never changed in place
	imports  atomic.Pointer[importGaps]  // see stage.go
	synced   atomic.Int64                // nanoseconds of the last synced commit
	tail     atomic.Uint64               // durable.Seq, for readers
	saving   sync.Mutex                  // serializes SaveCheckpoint and Checkpoint

	heading   sync.Mutex // guards head and headTimer
	head      *storedir.HeadFile
	headTimer *time.Timer
	syncing   sync.Mutex // held while HEAD is synced by the timer

	failing sync.Once
	failure atomic.Pointer[error]
	failed  chan struct{}
}

func headLost(err error) *storedir.StartError {
	e := storedir.Corrupt("its HEAD file is missing or fails its checksum, so it is not known how far the journal reached", err)
	e.Fix = "restore a backup, or bring what is whole into a new store with `hubcli app doctor --salvage FOLDER`, or start once with --accept-truncated to take the journal as it is"
	return e
}

// verifyReach checks Badger's files and whether they reach as far as HEAD says. It
// changes nothing.
func verifyReach(dir string, m storedir.Mark) (*badgerfile.Database, error) {
	d, err := badgerfile.VerifyDatabase(dir, m.Clean)
	if err != nil || !d.Wal.HasFrame || d.Wal.LastFrame >= m.LastFrame {
		return d, err
	}
	// The write-ahead files end before the last frame. Either their end is lost, or
	// that frame is in a table already: Badger keeps the file of an earlier memtable
	// while a reader uses it, and deletes later ones first.
	there, err := d.HoldsFrame(m.LastFrame)
	if err != nil {
		return d, storedir.Corrupt("its tables cannot be read", err)
	}
	if !there {
		return d, truncated(m.Seq, d.Wal.LastFrame)
	}
	return d, nil
}

// databaseLost refuses a store whose database is elsewhere, as in a folder that was copied by
// half or where a disk is not mounted.
func databaseLost(acknowledged hub.Seq) *storedir.StartError {
	e := truncated(acknowledged, 0)
	e.Sentence = fmt.Sprintf("the store has lost its database: it has no folder %s, and record %d was acknowledged", storedir.NameBadger, acknowledged)
	e.Fix = "nothing has been changed; put the folder back where it was, or " + e.Fix
	return e
}

func truncated(acknowledged, found hub.Seq) *storedir.StartError {
	return &storedir.StartError{
		Sentence: fmt.Sprintf("the store has lost records: its journal ends at %d, but %d was acknowledged", found, acknowledged),
		Kind:     storedir.StartTruncated,
		Fix:      "restore a backup, or bring what is whole into a new store with `hubcli app doctor --salvage FOLDER`, or start once with --accept-truncated to go on without the lost records",
	}
}

// InstanceID names the store; it was made at random with it.
func (s *Store) InstanceID() hub.InstanceID { return s.marker.InstanceID }

// SecretKey returns the store's 32 secret bytes. They must never be logged,
// journaled or sent.
func (s *Store) SecretKey() []byte { return append([]byte(nil), s.key...) }

// OperatorToken returns the secret that operators' calls carry.
func (s *Store) OperatorToken() string { return s.token }

// Salvaged says in short what the store lacks; nil if it was not brought up from a
// damaged one.
func (s *Store) Salvaged() *hub.Salvage { return s.salvaged }

// Dir returns the absolute path of the store's folder.
func (s *Store) Dir() string { return s.dir }

// LastSync returns how long the last synced commit took; 0 before the first.
func (s *Store) LastSync() time.Duration { return time.Duration(s.synced.Load()) }

// Room says whether the disk has room for further commands and how many bytes
// are free on it. The answer may be 50 ms old.
func (s *Store) Room() (ok bool, free int64) { return s.space.room() }
