package persistence

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/osfile"
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

	// Address is where the hub that opens the store listens. The lock file names it
	// for other processes that find the store in use.
	Address string

	fs   fsys                        // nil: the disk
	free func(string) (int64, error) // nil: statfs
}

// Store is an open store. See the package comment for what may be called from
// where.
type Store struct {
	reads

	dir    string
	marker Marker
	key    []byte
	token  string
	log    *slog.Logger
	fs     fsys
	lock   *os.File

	db     *badger.DB
	badger *badgerLog
	rest   *rest
	gate   *gate
	space  *space
	ahead  *ahead
	opened core.Head // what Head returns

	salvaged *hub.Salvage // what the store lacks; nil: it was not salvaged

	// writing serializes all that commits: Append, PutRows and what
	// imports write. So at most one transaction can be torn by a crash, which
	// verify.go relies on.
	writing  sync.Mutex
	lastTS   uint64 // timestamp of the last commit
	commits  int
	buf      []byte                     // reused for the encoded values of a commit
	entries  []entry                    // reused
	block    messageBlock               // reused
	index    scopeIndex                 // reused
	durable  core.Head                  // end of the journal
	frameEnd hub.Seq                    // first sequence number of the last frame
	gaps     atomic.Pointer[[]gap]      // rising; the list is never changed in place
	imports  atomic.Pointer[importGaps] // see stage.go
	synced   atomic.Int64               // nanoseconds of the last synced commit
	tail     atomic.Uint64              // durable.Seq, for readers
	saving   sync.Mutex                 // serializes SaveCheckpoint and Checkpoint

	heading   sync.Mutex // guards head and headTimer
	head      *headFile
	headTimer *time.Timer
	syncing   sync.Mutex // held while HEAD is synced by the timer

	failing sync.Once
	failure atomic.Pointer[error]
	failed  chan struct{}
}

// Open opens the store in dir, and makes it if the folder is absent or empty. On
// an error, a *StartError, nothing has been deleted; --accept-truncated is the
// only way to go on where records are lost.
func Open(dir string, o Options) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, ioError("resolving the path", err)
	}
	s := &Store{dir: dir, log: o.Logger, fs: o.fs, failed: make(chan struct{})}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.fs == nil {
		s.fs = diskFS{}
	}
	if o.free == nil {
		o.free = osfile.Free
	}
	s.space = newSpace(dir, s.log, o.free)
	if err := s.open(o); err != nil {
		s.abandon()
		return nil, err
	}
	return s, nil
}

func (s *Store) open(o Options) error {
	if _, err := Inspect(s.dir); err != nil && !errors.Is(err, ErrNoStore) {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return noFolder("making the folder", err)
	}
	var err error
	if s.lock, err = takeLock(s.dir, o.Address); err != nil {
		return err
	}
	// Only now can no other process be making this store.
	s.marker, err = Inspect(s.dir)
	fresh := errors.Is(err, ErrNoStore)
	if err != nil && !fresh {
		return err
	}
	if err := s.space.prepare(); err != nil {
		return err
	}
	if err := s.openFiles(fresh); err != nil {
		return err
	}
	if err := s.openJournal(o); err != nil {
		return err
	}
	s.readSalvage()
	return s.raiseFormat()
}

// raiseFormat marks a store of an earlier format as one of today's, before
// anything of today's is written to it. What stands in it stays as it is.
func (s *Store) raiseFormat() error {
	if s.marker.Format == FormatVersion {
		return nil
	}
	raised := Marker{Format: FormatVersion, InstanceID: s.marker.InstanceID}
	if err := writeMarker(s.fs, s.dir, raised); err != nil {
		return ioError("writing FORMAT", err)
	}
	s.log.Info("the store is now of another format; earlier versions of hubcli refuse it", "was", s.marker.Format, "format", raised.Format)
	s.marker = raised
	return nil
}

// openFiles opens, or makes, everything but the database. The marker is written
// last: a folder without one is a store that was never finished.
func (s *Store) openFiles(fresh bool) error {
	if err := osfile.Protect(s.dir, 0o700); err != nil {
		return ioError("protecting the folder", err)
	}
	s.sweepTemporary()
	var err error
	if s.key, err = loadKey(s.fs, s.dir, fresh); err != nil {
		return err
	}
	if s.token, err = loadToken(s.fs, s.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(s.checkpointDir(), 0o700); err != nil {
		return ioError("making the checkpoints' folder", err)
	}
	if !s.space.ballast {
		if ok, _ := s.space.room(); ok { // makes it
			s.log.Debug("the ballast was made")
		}
	}
	if !fresh {
		return nil
	}
	if err := os.Remove(filepath.Join(s.dir, nameHead)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ioError("making HEAD", err)
	}
	h, _, _, err := openHead(s.fs, s.dir, true)
	if err != nil {
		return ioError("making HEAD", err)
	}
	if err := h.f.Close(); err != nil {
		return ioError("making HEAD", err)
	}
	s.marker = newMarker()
	if err := writeMarker(s.fs, s.dir, s.marker); err != nil {
		return ioError("writing FORMAT", err)
	}
	return nil
}

// openJournal checks what Badger would take on trust, opens it and finds out
// where the journal ends.
func (s *Store) openJournal(o Options) error {
	h, m, found, err := openHead(s.fs, s.dir, o.AcceptTruncated)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ioError("reading HEAD", err)
	}
	s.head = h
	if !found && !o.AcceptTruncated {
		return headLost(err)
	}
	begin := time.Now()
	data := filepath.Join(s.dir, nameBadger)
	verify := verifyReach
	if o.AcceptTruncated {
		verify = func(dir string, m mark) (*database, error) { return verifyDatabase(dir, m.clean) }
	}
	files, err := verify(data, m)
	if err != nil {
		return err
	}
	verified := time.Now()
	m.clean = false
	if err := errors.Join(s.head.write(m), s.head.sync()); err != nil {
		return ioError("writing HEAD", err)
	}
	earlier, err := files.settle(s.log)
	if err != nil {
		return err
	}
	if err := s.openBadger(files.dir); err != nil {
		return err
	}
	opened := time.Now()
	if err := s.survey(m, o.AcceptTruncated); err != nil {
		return err
	}
	if !o.AcceptTruncated { // else the user may want to look for lost records there
		s.forget(earlier)
	}
	s.log.Debug("store opened", "seq", s.opened.Seq, "message", s.opened.Message,
		"verify", verified.Sub(begin), "open", opened.Sub(verified), "survey", time.Since(opened))
	return nil
}

func headLost(err error) *StartError {
	e := corrupt("its HEAD file is missing or fails its checksum, so it is not known how far the journal reached", err)
	e.Fix = "restore a backup, or bring what is whole into a new store with `hubcli app doctor --salvage FOLDER`, or start once with --accept-truncated to take the journal as it is"
	return e
}

// verifyReach checks Badger's files and whether they reach as far as HEAD says. It
// changes nothing.
func verifyReach(dir string, m mark) (*database, error) {
	d, err := verifyDatabase(dir, m.clean)
	if err != nil || !d.wal.hasFrame || d.wal.lastFrame >= m.lastFrame {
		return d, err
	}
	// The write-ahead files end before the last frame. Either their end is lost, or
	// that frame is in a table already: Badger keeps the file of an earlier memtable
	// while a reader uses it, and deletes later ones first.
	there, err := d.holdsFrame(m.lastFrame)
	if err != nil {
		return d, corrupt("its tables cannot be read", err)
	}
	if !there {
		return d, truncated(m.Seq, d.wal.lastFrame)
	}
	return d, nil
}

// openBadger opens the database, whose files have been verified.
func (s *Store) openBadger(dir string) error {
	s.badger = &badgerLog{log: s.log}
	s.badger.opening.Store(true)
	db, err := badger.OpenManaged(badgerOptions(dir, s.badger))
	s.badger.opening.Store(false)
	if err != nil {
		return databaseError(dir, err) // db may be half open, and has been cleaned up
	}
	s.db, s.reads = db, reads{view: s.committed, importGaps: s.importGaps}
	if err := s.badger.failure(); err != nil {
		return databaseError(dir, err)
	}
	if s.db.MaxBatchCount() < maxTxnEntries || s.db.MaxBatchSize() < maxTxnBytes {
		return corrupt("its database takes smaller transactions than it must", nil)
	}
	failed := func(why error) { _ = s.fail(why) }
	s.badger.ended.Store(&failed)
	s.rest = newRest(db)
	if s.ahead, err = newAhead(dir); err != nil {
		return ioError("reading the database's folder", err)
	}
	s.lastTS = s.db.MaxVersion()
	s.gate = newGate(s.lastTS)
	return nil
}

func truncated(acknowledged, found hub.Seq) *StartError {
	return &StartError{
		Sentence: fmt.Sprintf("the store has lost records: its journal ends at %d, but %d was acknowledged", found, acknowledged),
		Kind:     StartTruncated,
		Fix:      "restore a backup, or bring what is whole into a new store with `hubcli app doctor --salvage FOLDER`, or start once with --accept-truncated to go on without the lost records",
	}
}

// abandon closes everything that an unsuccessful Open has opened.
func (s *Store) abandon() {
	if s.gate != nil {
		s.gate.close()
	}
	if s.rest != nil {
		s.rest.close()
	}
	if s.db != nil {
		_ = s.db.Close()
	}
	if s.head != nil {
		_ = s.head.f.Close()
	}
	if s.lock != nil {
		_ = s.lock.Close()
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
