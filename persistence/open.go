package persistence

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/internal/osfile"
)

// A start has two halves. The first one only reads: it takes the lock, checks all files and
// reads the store as the hub will, from a preview of the database. All that can be wrong with a
// store is found there, so a start that is refused has changed no byte of it. The second half,
// Begin, changes what a start has to change.

// Open opens the store in dir, and makes it if the folder is absent or empty. On an error, a
// *StartError, the folder is as it was before, unless a disk failed while it was written to.
// --accept-truncated is the only way to go on where records are lost.
func Open(dir string, o Options) (*Store, error) {
	s, err := OpenToRead(dir, o)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(); err != nil {
		return nil, err
	}
	return s, nil
}

// OpenToRead is Open without a change of the store, except for the text in its lock file, which
// is put back on an error or by Close. Until Begin everything can be read as it will be then,
// and nothing can be written but rows, which Begin stores. A store that is to be made is made
// here, and where there is no preview Begin has been called.
func OpenToRead(dir string, o Options) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, storedir.IOError("resolving the path", err)
	}
	s := &Store{dir: dir, log: o.Logger, fs: o.fs, failed: make(chan struct{}), closing: make(chan struct{})}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.fs == nil {
		s.fs = storedir.DiskFS{}
	}
	if o.free == nil {
		o.free = osfile.Free
	}
	if s.formats = o.formats; s.formats == nil {
		s.formats = core.StoreFormats()
	}
	s.space = newSpace(dir, s.log, o.free)
	s.space.still = true
	s.start = &start{options: o}
	if err := s.look(); err != nil {
		s.abandon()
		return nil, err
	}
	if s.start.preview == nil {
		if err := s.Begin(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// start is what the first half of a start has found out for the second.
type start struct {
	options Options
	fresh   bool            // the store is to be made
	folders []string        // that were made for it, the last first
	before  map[string]bool // what was in the folder of a store that is to be made
	mode    fs.FileMode     // of that folder
	times   []func()        // that put the times of folders back
	took    time.Time       // when the store was locked

	mark    storedir.Mark        // of HEAD
	files   *badgerfile.Database // as verified
	preview *preview
	rows    []core.Row // to be stored by Begin
}

var errNotBegun = errors.New("persistence: the store is open for reading; Begin comes first")

// look is the first half of a start.
func (s *Store) look() error {
	o := &s.start.options
	var err error
	if s.marker, err = storedir.InspectFor(s.dir, s.formats.Latest()); err != nil && !errors.Is(err, storedir.ErrNoStore) {
		return err
	}
	if err := s.admit(o); err != nil {
		return err
	}
	if err := s.start.makeFolders(s.dir); err != nil {
		return storedir.NoFolder("making the folder", err)
	}
	if s.lock, err = storedir.TakeLock(s.dir, o.Address); err != nil {
		return err
	}
	s.start.took = time.Now()
	if err := s.holdFolder(); err != nil {
		return err
	}
	// Only now can no other process be making this store.
	s.marker, err = storedir.InspectFor(s.dir, s.formats.Latest())
	s.start.fresh = errors.Is(err, storedir.ErrNoStore)
	if err != nil && !s.start.fresh {
		return err
	}
	if err := s.admit(o); err != nil {
		return err
	}
	if err := s.space.enough(); err != nil {
		return err
	}
	if s.start.fresh {
		return s.lookAround()
	}
	s.format.Store(int64(s.marker.Format))
	if err := s.readFiles(); err != nil {
		return err
	}
	s.readSalvage()
	if !previews {
		return nil
	}
	return s.readJournal()
}

// makeFolders makes a folder and those above it, and notes which are new.
func (st *start) makeFolders(dir string) error {
	at := dir
	for ; filepath.Dir(at) != at; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		st.folders = append(st.folders, at)
	}
	st.times = append(st.times, keepTime(at))
	return os.MkdirAll(dir, 0o700)
}

// lookAround notes what is in the folder of a store that is to be made.
func (s *Store) lookAround() error {
	info, err := os.Stat(s.dir)
	if err != nil {
		return storedir.IOError("looking at the folder", err)
	}
	s.start.mode = info.Mode().Perm()
	names, err := storedir.DiskFS{}.ReadDir(s.dir)
	if err != nil {
		return storedir.IOError("listing the folder", err)
	}
	s.start.before = map[string]bool{}
	for _, name := range names {
		s.start.before[name] = true
	}
	return nil
}

// readFiles reads what stands beside the database, and makes sure that all can be written
// that a start writes.
func (s *Store) readFiles() (err error) {
	if s.key, err = storedir.ReadStoreKey(s.fs, s.dir); err != nil {
		return err
	}
	if s.token, err = storedir.ReadToken(s.fs, s.dir); err != nil {
		return err
	}
	if s.adopting { // its maker knows the others
		s.key, s.token = storedir.RandomBytes(storedir.SecretSize), ""
	}
	if s.token == "" {
		s.token = storedir.RandomToken()
	}
	if err := s.mayChange(); err != nil {
		return err
	}
	h, m, found, err := storedir.OpenHead(s.fs, s.dir, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storedir.IOError("reading HEAD", err)
	}
	s.head, s.start.mark = h, m
	if !found && !s.start.options.AcceptTruncated {
		return headLost(err)
	}
	data := filepath.Join(s.dir, storedir.NameBadger)
	if _, err := os.Lstat(data); errors.Is(err, fs.ErrNotExist) && m.Seq > 0 && !s.start.options.AcceptTruncated {
		return databaseLost(m.Seq)
	}
	begin := time.Now()
	verify := verifyReach
	if s.start.options.AcceptTruncated {
		verify = func(dir string, m storedir.Mark) (*badgerfile.Database, error) {
			return badgerfile.VerifyDatabase(dir, m.Clean)
		}
	}
	if s.start.files, err = verify(data, m); err != nil {
		return err
	}
	s.log.Debug("the store's files are verified", "took", time.Since(begin))
	return s.start.files.Writable()
}

// mayChange refuses a store in which this user may not change what a start changes.
func (s *Store) mayChange() error {
	for _, each := range []struct {
		may   func(string) error
		names []string
	}{
		{osfile.Protectable, []string{"", storedir.NameKey, storedir.NameToken}},
		{osfile.Writable, []string{"", storedir.NameBadger, storedir.NameCheckpoints}},
	} {
		for _, name := range each.names {
			if err := each.may(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return storedir.IOError("looking at the folder", err)
			}
		}
	}
	return nil
}

// readJournal opens the preview of the database and finds out where the journal ends.
func (s *Store) readJournal() error {
	begin := time.Now()
	var err error
	if s.start.preview, err = newPreview(s); err != nil {
		s.log.Warn("the store is opened without having been read before: there is no folder to read its database in", "error", err)
		return nil
	}
	if err := s.openPreview(); err != nil {
		return err
	}
	opened := time.Now()
	if err := s.survey(s.start.mark, s.start.options.AcceptTruncated); err != nil {
		return err
	}
	if err := s.checkDensity(s.durable.Message); err != nil {
		return err
	}
	s.log.Debug("the store is read", "seq", s.opened.Seq, "message", s.opened.Message, "open", opened.Sub(begin), "survey", time.Since(opened))
	return nil
}

// Begin is the second half of a start. Nobody reads the store meanwhile. It does nothing if it
// was called before. After an error the store is closed.
func (s *Store) Begin() error {
	if s.start == nil {
		return nil
	}
	if err := s.begin(); err != nil {
		s.abandon()
		return changed(err)
	}
	s.start = nil
	go s.watchFolder()
	return nil
}

func (s *Store) begin() error {
	o := &s.start.options
	if err := s.space.prepare(); err != nil {
		return err
	}
	if err := s.openFiles(); err != nil {
		return err
	}
	if err := s.openJournal(); err != nil {
		return err
	}
	if s.start.fresh {
		s.readSalvage()
	}
	if err := s.raiseLeast(o); err != nil {
		return err
	}
	if err := s.settleMaker(o); err != nil {
		return err
	}
	rows := s.start.rows
	s.start.rows = nil
	if len(rows) == 0 {
		return nil
	}
	if err := s.putRows(rows); err != nil && !errors.Is(err, core.ErrNoRoom) { // the next start has them again
		return storedir.IOError("storing what the start has found", err)
	}
	return nil
}

// changed is an error of the second half: what it says must not be that nothing has changed.
func changed(err error) error {
	const unchanged = "nothing has been changed; "
	var e *storedir.StartError
	if errors.As(err, &e) && strings.HasPrefix(e.Fix, unchanged) {
		told := *e
		told.Fix = strings.TrimPrefix(e.Fix, unchanged)
		return &told
	}
	return err
}

// openFiles protects, or makes, everything but the database. The marker is written
// last: a folder without one is a store that was never finished.
func (s *Store) openFiles() error {
	if err := osfile.Protect(s.dir, 0o700); err != nil {
		return storedir.IOError("protecting the folder", err)
	}
	s.sweepTemporary()
	s.sweepPreviews()
	if err := s.settleSecrets(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.checkpointDir(), 0o700); err != nil {
		return storedir.IOError("making the checkpoints' folder", err)
	}
	s.space.still = false
	if !s.space.ballast {
		if ok, _ := s.space.room(); ok { // makes it
			s.log.Debug("the ballast was made")
		}
	}
	if !s.start.fresh {
		return nil
	}
	if err := os.Remove(filepath.Join(s.dir, storedir.NameHead)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storedir.IOError("making HEAD", err)
	}
	var err error
	if s.head, err = storedir.CreateHead(s.fs, s.dir, filepath.Join(s.dir, storedir.NameHead)); err != nil {
		return storedir.IOError("making HEAD", err)
	}
	o := &s.start.options
	s.marker = storedir.NewMarker()
	s.marker.Format = s.leastFormat(o)
	if err := s.settleMaker(o); err != nil {
		return err
	}
	if err := storedir.WriteMarker(s.fs, s.dir, s.marker); err != nil {
		return storedir.IOError("writing FORMAT", err)
	}
	return nil
}

// settleSecrets makes the secrets of a new store, or the operator's token where there was
// none, and takes all rights of others on them away.
func (s *Store) settleSecrets() (err error) {
	if s.start.fresh {
		if err := clearUnfinished(s.dir); err != nil {
			return err
		}
		s.key, s.token = storedir.RandomBytes(storedir.SecretSize), storedir.RandomToken()
		if err := storedir.WriteKey(s.fs, s.dir, s.key); err != nil {
			return err
		}
	}
	if there, err := storedir.ReadToken(s.fs, s.dir); (err != nil || there != s.token) && !s.adopting {
		if err := storedir.WriteToken(s.fs, s.dir, s.token); err != nil {
			return err
		}
	}
	for _, name := range []string{storedir.NameKey, storedir.NameToken} {
		if err := osfile.Protect(filepath.Join(s.dir, name), 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return storedir.IOError("protecting "+name, err)
		}
	}
	return nil
}

// openJournal opens the database, whose files have been verified, and finds out where the
// journal ends.
func (s *Store) openJournal() error {
	st := s.start
	seen, read := st.preview != nil, s.opened
	s.closePreview()
	if st.files == nil { // a new store
		var err error
		if st.files, err = badgerfile.VerifyDatabase(filepath.Join(s.dir, storedir.NameBadger), false); err != nil {
			return err
		}
	}
	var err error
	if s.head == nil { // it was lost, and --accept-truncated goes on without it
		if s.head, err = storedir.CreateHead(s.fs, s.dir, filepath.Join(s.dir, storedir.NameHead)); err != nil {
			return storedir.IOError("making HEAD", err)
		}
	}
	m := st.mark
	m.Clean = false
	if err := errors.Join(s.head.Write(m), s.head.Sync()); err != nil {
		return storedir.IOError("writing HEAD", err)
	}
	earlier, err := st.files.Settle(s.log)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := s.openBadger(st.files.Dir); err != nil {
		return err
	}
	opened := time.Now()
	if err := s.survey(m, st.options.AcceptTruncated); err != nil {
		return err
	}
	if !seen {
		if err := s.checkDensity(s.durable.Message); err != nil {
			return err
		}
	} else if s.opened != read {
		return storedir.Corrupt(fmt.Sprintf("its journal was read up to record %d and opened up to record %d", read.Seq, s.opened.Seq), nil)
	}
	s.protectDatabase(time.Time{})
	if !st.options.AcceptTruncated { // else the user may want to look for lost records there
		s.forget(earlier)
	}
	s.log.Debug("store opened", "seq", s.opened.Seq, "message", s.opened.Message,
		"open", opened.Sub(begin), "survey", time.Since(opened), "in all", time.Since(st.took))
	return nil
}

// openBadger opens the database, whose files have been verified.
func (s *Store) openBadger(dir string) error {
	s.badger = &badgerLog{log: s.log}
	s.badger.opening.Store(true)
	db, err := badger.OpenManaged(badgerOptions(s.folder.bound(storedir.NameBadger), s.badger))
	s.badger.opening.Store(false)
	if err != nil {
		return storedir.DatabaseError(dir, err) // db may be half open, and has been cleaned up
	}
	s.db = db
	if err := s.badger.failure(); err != nil {
		return storedir.DatabaseError(dir, err)
	}
	if s.db.MaxBatchCount() < maxTxnEntries || s.db.MaxBatchSize() < maxTxnBytes {
		return storedir.Corrupt("its database takes smaller transactions than it must", nil)
	}
	if err := s.folder.hold(dir); err != nil {
		return storedir.IOError("looking at the database's folder", err)
	}
	failed := func(why error) { _ = s.fail(why) }
	s.badger.ended.Store(&failed)
	if s.ahead, err = newAhead(dir); err != nil {
		return storedir.IOError("reading the database's folder", err)
	}
	s.mapped = newMapped(dir, &s.writing)
	s.reads = reads{view: s.committed, importGaps: s.importGaps, mapped: s.mapped}
	s.lastTS = s.db.MaxVersion()
	s.gate = newGate(s.lastTS)
	s.rest = newRest(db, s.giveBackAtRest)
	return nil
}
