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

	// Address is where the hub that opens the store listens. Who finds the store in
	// use is told so.
	Address string

	fs   fsys                        // nil: the disk
	free func(string) (int64, error) // nil: statfs
}

// Store is an open store. See the package comment for what may be called from
// where.
type Store struct {
	dir    string
	marker Marker
	key    []byte
	token  string
	log    *slog.Logger
	fs     fsys
	lock   *os.File

	db     *badger.DB
	badger *badgerLog
	gate   *gate
	space  *space
	ahead  *ahead
	opened core.Head // what Head returns

	// writing serializes all that commits: Append, PutRows and the trimming of
	// the journal. So at most one transaction can be torn by a crash, which
	// verify.go relies on.
	writing  sync.Mutex
	lastTS   uint64 // timestamp of the last commit
	commits  int
	buf      []byte        // reused for the encoded values of a commit
	entries  []entry       // reused
	block    messageBlock  // reused
	index    scopeIndex    // reused
	durable  core.Head     // end of the journal
	frameEnd hub.Seq       // first sequence number of the last frame
	trimmed  hub.Seq       // frames that begin below are deleted
	gaps     []gap         // rising; fixed after Open
	synced   atomic.Int64  // nanoseconds of the last synced commit
	tail     atomic.Uint64 // durable.Seq, for readers
	saving   sync.Mutex    // serializes SaveCheckpoint and Checkpoint

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
		o.free = freeBytes
	}
	s.space = newSpace(dir, o.free)
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
	// Only now nobody else can be making this store.
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
	if err := private(s.dir, 0o700); err != nil {
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
		e := corrupt("its HEAD file is missing or fails its checksum, so nobody knows how far the journal reached", err)
		e.Fix = "restore the folder from a backup, or start once with --accept-truncated to take the journal as it is"
		return e
	}
	begin := time.Now()
	files, err := s.verify(m, o)
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
	if !o.AcceptTruncated { // who gives up records may want to look there for them
		s.forget(earlier)
	}
	s.log.Debug("store opened", "seq", s.opened.Seq, "message", s.opened.Message,
		"verify", verified.Sub(begin), "open", opened.Sub(verified), "survey", time.Since(opened))
	return nil
}

// verify checks Badger's files and whether they reach as far as HEAD says. It
// changes nothing.
func (s *Store) verify(m mark, o Options) (*database, error) {
	d, err := verifyDatabase(filepath.Join(s.dir, nameBadger), m.clean)
	if err != nil || o.AcceptTruncated || !d.wal.hasFrame || d.wal.lastFrame >= m.lastFrame {
		return d, err
	}
	// The write-ahead files end before the last frame. Their end is lost, or that
	// frame is in a table already: Badger keeps the file of an earlier memtable as
	// long as somebody reads it, and deletes later ones before.
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
	s.db = db
	if err := s.badger.failure(); err != nil {
		return databaseError(dir, err)
	}
	if s.db.MaxBatchCount() < maxTxnEntries || s.db.MaxBatchSize() < maxTxnBytes {
		return corrupt("its database takes smaller transactions than it must", nil)
	}
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
		Fix:      "restore the folder from a backup, or start once with --accept-truncated to go on without the lost records",
	}
}

// abandon closes what an unsuccessful Open has opened.
func (s *Store) abandon() {
	if s.gate != nil {
		s.gate.close()
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

// Close waits for running calls, makes everything durable and releases the
// store. Calls after it return ErrClosed. A second Close does nothing.
func (s *Store) Close() error {
	if !s.gate.close() {
		return nil
	}
	s.writing.Lock() // an Append may still have to write HEAD
	defer s.writing.Unlock()
	s.stopHeadTimer()
	whole, open, err := s.closeDatabase()
	s.heading.Lock()
	defer s.heading.Unlock()
	if err == nil && s.Err() == nil {
		err = errors.Join(s.head.write(s.mark(whole)), s.head.sync())
	}
	err = errors.Join(err, s.head.f.Close())
	if !open { // else the lock ends with the process: Badger's goroutines are at it still
		err = errors.Join(err, s.lock.Close())
	}
	if err != nil {
		return fmt.Errorf("persistence: closing the store: %w", redacted{err})
	}
	return nil
}

// closeDatabase closes Badger where that cannot do harm: it flushes memory to
// new files, which kills the process on a full disk and is tried for ever on a
// failing one. What is not flushed is in Badger's own log, as after a kill: whole
// is false then, and nothing is lost. open says that Badger was left open.
func (s *Store) closeDatabase() (whole, open bool, err error) {
	if ok, _ := s.space.look(); !ok {
		s.log.Warn("the disk is full, so the database is left as it is; nothing is lost: the next start goes on from its logs")
		return false, true, nil
	}
	done := make(chan error, 1)
	go func() { done <- s.db.Close() }()
	if s.Err() == nil {
		if err := <-done; err != nil {
			return false, false, err
		}
		return true, false, s.badger.failure()
	}
	const patience = 5 * time.Second
	select {
	case err := <-done:
		return false, false, err
	case <-time.After(patience):
		return false, true, errors.New("the database does not close after its failure")
	}
}

// InstanceID names the store; it was made at random with it.
func (s *Store) InstanceID() hub.InstanceID { return s.marker.InstanceID }

// SecretKey returns the store's 32 secret bytes. They must never be logged,
// journaled or sent.
func (s *Store) SecretKey() []byte { return append([]byte(nil), s.key...) }

// OperatorToken returns the secret that operators' calls carry.
func (s *Store) OperatorToken() string { return s.token }

// Dir returns the absolute path of the store's folder.
func (s *Store) Dir() string { return s.dir }

// LastSync returns how long the last synced commit took; 0 before the first.
func (s *Store) LastSync() time.Duration { return time.Duration(s.synced.Load()) }

// Room says whether the disk has room for further commands and how many bytes
// are free on it. The answer may be 50 ms old.
func (s *Store) Room() (ok bool, free int64) { return s.space.room() }

// Failed is closed when a write has failed. What it wrote is unknown then, and
// no write will be accepted: the process has to end and to start again.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Err returns why the store has failed, or nil.
func (s *Store) Err() error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// fail makes the store refuse all further writes and returns what callers are
// told.
func (s *Store) fail(cause error) error {
	s.failing.Do(func() {
		err := error(&failure{
			told: hub.NewError(hub.CodeStoreFailed, "the store failed; whether the last writes were kept is unknown").
				WithFix("the hub ends with exit code 70: check the disk, then start it again and look before repeating a write"),
			cause: redacted{cause},
		})
		s.failure.Store(&err)
		s.log.Error("the store failed", "cause", redact(cause.Error()))
		close(s.failed)
	})
	return s.Err()
}

// failure is a *hub.Error for clients that keeps its cause for errors.Is.
type failure struct {
	told  *hub.Error
	cause error
}

func (f *failure) Error() string   { return f.told.Message }
func (f *failure) Unwrap() []error { return []error{f.told, f.cause} }
