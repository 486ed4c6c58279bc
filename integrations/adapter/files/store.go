package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hubcli/internal/osfile"
	"hubcli/internal/pause"
)

// Names in the store's folder.
const (
	nameLock      = "LOCK"
	nameLedger    = "ledger.json"
	nameOldLedger = "ledger.old"
	nameJournal   = "journal.json"
	nameStaged    = "staged"
	nameBackups   = "backups"
	nameTemp      = ".tmp" // ends the names of files that are not complete yet
)

const (
	maxOwn     = 64 << 20              // bytes of a file of the store
	lockWait   = 10 * time.Second      // longest wait for another process
	lockLook   = 10 * time.Millisecond // between two looks at the lock
	keepUnused = 20                    // backups to keep that no entry names
	attempts   = 3                     // at a file that its harness rewrites
)

// Store keeps the ledger, the backups and the transaction under way.
type Store struct {
	dir     string
	version string
	now     func() time.Time
	// step is called with the operation and the file before each change of the
	// disk. Tests kill the process or fail the operation there.
	step func(op, name string) error
}

// Open makes the folder of the store if it is missing, and finishes or takes
// back an interrupted transaction unless another process is writing. dir is a
// folder of the data root; version is noted with each installed entry. If the
// transaction can be neither finished nor taken back, Open returns the Store
// and a *Refusal with the reason Interrupted. Such a Store can read; every
// change returns the same Refusal.
func Open(ctx context.Context, dir, version string) (*Store, error) {
	s := &Store{dir: dir, version: version, now: time.Now, step: func(string, string) error { return nil }}
	for _, name := range []string{"", nameStaged, nameBackups} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, failed(dir, "the folder cannot be made", err)
		}
	}
	return s, s.Recover(ctx)
}

// Recover finishes or takes back an interrupted transaction.
func (s *Store) Recover(ctx context.Context) error {
	if !s.interrupted() {
		return nil
	}
	unlock, err := s.lock(ctx)
	if ReasonOf(err) == Busy {
		return nil // another process is at work on it
	}
	if err != nil {
		return err
	}
	defer unlock()
	return s.recover()
}

func (s *Store) interrupted() bool {
	_, err := os.Lstat(filepath.Join(s.dir, nameJournal))
	return err == nil
}

// lock waits until no other process writes.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	name := filepath.Join(s.dir, nameLock)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, failed(name, "the lock cannot be opened", err)
	}
	deadline := time.Now().Add(lockWait)
	for {
		got, err := osfile.TryLock(f)
		if err != nil {
			_ = f.Close()
			return nil, failed(name, "the lock cannot be taken", err)
		}
		if got {
			return func() { _ = f.Close() }, nil
		}
		if ctx.Err() == nil && time.Now().Before(deadline) {
			pause.For(ctx, lockLook)
			continue
		}
		_ = f.Close()
		return nil, &Refusal{Reason: Busy, Message: "another process is changing configuration files", Fix: "try again in a few seconds", Err: ctx.Err()}
	}
}

// readOwn reads a file of the store.
func (s *Store) readOwn(name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return osfile.ReadAll(f, name, maxOwn)
}

// writeOwn writes a file of the store. After a crash the file holds its old
// content or all of b.
func (s *Store) writeOwn(name string, b []byte) error {
	if err := s.step("write", name); err != nil {
		return err
	}
	path := filepath.Join(s.dir, name)
	return osfile.Replace(osfile.Disk{}, path, osfile.Content{
		Write: osfile.Bytes(b), Temp: filepath.Base(path) + nameTemp,
		Check: func(io.Reader) error { return s.step("rename", name) },
	})
}

func (s *Store) syncOwn(folder string) error {
	return osfile.SyncDir(filepath.Join(s.dir, folder))
}

// removeOwn removes a file of the store, if it is there.
func (s *Store) removeOwn(name string) error {
	if err := s.step("remove", name); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.syncOwn(filepath.Dir(name))
}
