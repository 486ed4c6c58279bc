package persistence

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/osfile"
)

// restoredSkip is how many record numbers, message ids and fences a restored store
// passes over. The original may have given out numbers after the backup, and a
// restored store must not give them out a second time for other things: then a
// reader whose cursor is beyond the backup would miss what is new.
const restoredSkip = 100_000

// restoring ends the name of the folder in which a restore makes a store. It has
// the file nameRestoring until the store is complete, so that no hub opens it.
const (
	restoring     = ".restoring"
	nameRestoring = "RESTORING"
)

// RestoreOptions of Restore.
type RestoreOptions struct {
	// MoveAside renames a store that is in the place, instead of refusing.
	MoveAside bool
	// Maker tells which backups this user's hubs have made; others are refused, unless
	// Adopt is set: then the first start takes the store over, see Store.Adopting. nil: every
	// backup is taken for one of this user's.
	Maker  *Maker
	Adopt  bool
	Logger *slog.Logger // nil: nothing is logged

	step func(string)                // tests: called before each step
	free func(string) (int64, error) // nil: statfs
}

// Restored says what Restore has made.
type Restored struct {
	Backup   Backup
	Instance hub.InstanceID // of the new store
	Aside    string         // where the store that was in the place is now; empty: there was none
}

// Restore makes a store in dir of the backup file. The store is made in a folder
// beside dir and verified there as a start verifies it; the rename into its place
// is the last step. So dir has all of the store or is as it was, whenever the
// process ends. The new store has an instance id and an operator's token of its
// own. Errors: a *StartError. An error leaves nothing of the new store.
func Restore(file io.ReadSeeker, dir string, o RestoreOptions) (Restored, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.step == nil {
		o.step = func(string) {}
	}
	if o.free == nil {
		o.free = osfile.Free
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Restored{}, storedir.IOError("resolving the path", err)
	}
	there, err := placeFor(dir, o.MoveAside)
	if err != nil {
		return Restored{}, err
	}
	b, err := CheckBackup(file) // all of it, before anything is written
	if err != nil {
		return Restored{}, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Restored{}, unreadBackup(err)
	}
	r := &restorer{options: o, dir: dir + restoring, from: b}
	if r.state, err = o.Maker.restores(&b, o.Adopt); err != nil {
		return Restored{}, err
	}
	if err := r.begin(); err != nil {
		return Restored{}, err
	}
	defer r.end()
	if err := r.make(file); err != nil {
		return Restored{}, asStartError("making the store", err)
	}
	aside, err := r.place(dir, there)
	return Restored{Backup: b, Instance: r.marker.InstanceID, Aside: aside}, asStartError("putting the store in its place", err)
}

// placeFor reports whether a store is in dir, and refuses a place in which none
// may be made.
func placeFor(dir string, moveAside bool) (there bool, err error) {
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return false, storedir.NotAStore(dir + " is a symbolic link; name the folder itself")
	}
	_, err = storedir.Inspect(dir)
	if errors.Is(err, storedir.ErrNotAStore) {
		return false, err // what stands there is none of ours to move
	}
	held, holder, herr := storedir.HeldBy(dir)
	if herr != nil {
		return false, herr
	}
	if held {
		return false, storedir.HeldError(dir, holder)
	}
	if errors.Is(err, storedir.ErrNoStore) {
		names, err := storedir.DiskFS{}.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, storedir.NoFolder("listing the folder", err)
		}
		if len(names) == 0 {
			return false, nil
		}
	}
	if !moveAside {
		return true, &storedir.StartError{
			Sentence: "the folder " + dir + " has a store already", Kind: storedir.StartNotAStore,
			Fix: "name another folder with --storage, or keep the store that is there under another name with --move-aside",
		}
	}
	return true, deletable(dir)
}

// restorer makes a store in a folder of its own.
type restorer struct {
	options RestoreOptions
	dir     string
	from    Backup
	marker  storedir.Marker
	state   string   // of MAKER; empty: none is written
	mark    *os.File // RESTORING, locked
	placed  bool
}

// begin makes the folder and locks it against other restores. What an interrupted
// restore has left there is deleted.
func (r *restorer) begin() error {
	if err := r.clear(); err != nil {
		return err
	}
	parent := filepath.Dir(r.dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return storedir.NoFolder("making the folder", err)
	}
	need := 2*r.from.Bytes + ballastSize + openNeeded
	if free, err := r.options.free(parent); err == nil && free < need {
		return storedir.StoreFull(r.dir, free, need)
	}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		return storedir.NoFolder("making the folder", err)
	}
	mark, err := os.OpenFile(r.markName(), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		r.mark = mark
		_, err = osfile.TryLock(mark)
	}
	if err != nil {
		r.end()
		return storedir.IOError("making the folder", err)
	}
	return nil
}

func (r *restorer) markName() string { return filepath.Join(r.dir, nameRestoring) }

// clear deletes the folder of an interrupted restore. Any other folder stays.
func (r *restorer) clear() error {
	if _, err := os.Lstat(r.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	mark, err := os.OpenFile(r.markName(), os.O_RDWR|osfile.NoFollow, 0)
	if err != nil {
		e := storedir.NotAStore("the folder " + r.dir + " is in the way: the store is made there first")
		e.Fix = "look at that folder and move it to another place"
		return e
	}
	defer mark.Close()
	if free, err := osfile.TryLock(mark); err != nil {
		return storedir.IOError("locking the folder", err)
	} else if !free {
		e := storedir.NotAStore("another restore is at work in " + r.dir)
		e.Kind, e.Fix = storedir.StartLocked, "wait until it has ended"
		return e
	}
	if !storedir.RenameLocked {
		_ = mark.Close()
	}
	if err := os.RemoveAll(r.dir); err != nil {
		return storedir.IOError("deleting what an interrupted restore has left", err)
	}
	return nil
}

// end unlocks the folder, and deletes it unless it is in its place.
func (r *restorer) end() {
	if r.mark != nil {
		_ = r.mark.Close()
		r.mark = nil
	}
	if !r.placed {
		_ = os.RemoveAll(r.dir) // the next restore deletes what is left
	}
}

func (r *restorer) make(file io.Reader) error {
	r.options.step("load")
	b, err := r.load(file)
	if err != nil {
		return err
	}
	if b.content != r.from.content || b.Head != r.from.Head {
		return badBackup("it changed while it was read")
	}
	r.options.step("head")
	if err := r.writeHead(b); err != nil {
		return storedir.IOError("writing HEAD", err)
	}
	r.options.step("verify")
	return r.verify()
}

// load writes what the backup holds, and syncs it.
func (r *restorer) load(file io.Reader) (b Backup, err error) {
	points, data := filepath.Join(r.dir, storedir.NameCheckpoints), filepath.Join(r.dir, storedir.NameBadger)
	if err := errors.Join(os.Mkdir(points, 0o700), os.Mkdir(data, 0o700)); err != nil {
		return b, storedir.IOError("making the folders", err)
	}
	log := &badgerLog{log: r.options.Logger}
	// Nothing here is promised to anybody yet: one sync at the end is enough.
	db, err := badger.OpenManaged(badgerOptions(data, log).WithSyncWrites(false))
	if err != nil {
		return b, storedir.DatabaseError(data, err)
	}
	batch := db.NewWriteBatchAt(1)
	b, err = readBackup(file, backupSink{
		head: func(b *Backup) error {
			content := binary.BigEndian.AppendUint32(append([]byte(nil), b.key...), crc32.Checksum(b.key, codec.Castagnoli))
			return storedir.WriteSecret(storedir.DiskFS{}, filepath.Join(r.dir, storedir.NameKey), content)
		},
		point: func(p []byte) error {
			c, err := decodeCheckpoint(p)
			if err != nil {
				return err
			}
			return storedir.ReplaceFile(storedir.DiskFS{}, filepath.Join(points, checkpointName(c.Head.Seq)), osfile.Bytes(p), nil)
		},
		entry: func(e *codec.Entry) error { return r.put(batch, e) },
	})
	if err != nil {
		batch.Cancel()
		return b, errors.Join(err, db.Close())
	}
	if err := errors.Join(batch.Flush(), db.Close(), log.failure()); err != nil {
		return b, storedir.DatabaseError(data, err)
	}
	return b, syncFiles(data)
}

func (r *restorer) put(batch *badger.WriteBatch, e *codec.Entry) error {
	size := int64(len(e.Key) + len(e.Value))
	if free, err := r.options.free(r.dir); err == nil && free < openNeeded+4*size {
		return storedir.StoreFull(r.dir, free, openNeeded+4*size) // Badger writes through mapped memory, which kills on a full disk
	}
	return batch.SetEntry(&badger.Entry{
		Key: append([]byte(nil), e.Key...), Value: append([]byte(nil), e.Value...), ExpiresAt: e.Expires,
	})
}

// syncFiles makes the files of a folder durable.
func syncFiles(dir string) error {
	names, err := storedir.DiskFS{}.ReadDir(dir)
	for _, name := range names {
		f, oerr := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
		if oerr == nil {
			oerr = errors.Join(f.Sync(), f.Close())
		}
		err = errors.Join(err, oerr)
	}
	return errors.Join(err, osfile.SyncDir(dir))
}

func (r *restorer) writeHead(b Backup) error {
	h, _, _, err := storedir.OpenHead(storedir.DiskFS{}, r.dir, true)
	if err != nil {
		return err
	}
	err = h.Write(storedir.Mark{Head: b.Head, LastFrame: b.frame, Clean: true})
	return errors.Join(err, h.Sync(), h.F.Close())
}

// verify opens the store as a start does, compares what it holds with the backup
// and passes over the numbers that the original may have given out. The marker
// comes last: a folder without one is no store.
func (r *restorer) verify() error {
	s := &Store{dir: r.dir, log: r.options.Logger, fs: storedir.DiskFS{}, failed: make(chan struct{}), closing: make(chan struct{}), marker: storedir.NewMarker(), formats: core.StoreFormats()}
	s.marker.Format = max(s.marker.Format, r.from.format)
	s.format.Store(int64(s.marker.Format))
	s.space = newSpace(s.dir, s.log, r.options.free)
	s.start = &start{}
	var err error
	if s.lock, err = storedir.TakeLock(r.dir, ""); err == nil {
		err = s.holdFolder()
	}
	for _, step := range []func() error{s.space.enough, s.readFiles, s.openFiles, s.openJournal, func() error { return r.compare(s) }} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		s.abandon()
		return err
	}
	s.start = nil
	told := passedOver(s.durable)
	if err := s.recordLoss(s.durable, told); err != nil {
		s.abandon()
		return err
	}
	s.durable = told
	if ok, free := s.space.look(); !ok { // Close would leave the database open
		s.abandon()
		return storedir.StoreFull(r.dir, free, roomAgain)
	}
	if err := s.Close(); err != nil {
		return err
	}
	r.marker = s.marker
	r.options.step("marker")
	if r.state != "" {
		if err := r.options.Maker.write(storedir.DiskFS{}, r.dir, r.marker.InstanceID, r.state); err != nil {
			return err
		}
		r.marker.Format = max(r.marker.Format, s.formats.OfName(storedir.NameMaker))
	}
	if err := storedir.WriteMarker(storedir.DiskFS{}, r.dir, r.marker); err != nil {
		return storedir.IOError("writing FORMAT", err)
	}
	return nil
}

// compare reads the whole database back.
func (r *restorer) compare(s *Store) error {
	if s.opened.Seq != r.from.Head.Seq || s.opened.Message != r.from.Head.Message || s.opened.Fence != r.from.Head.Fence {
		return storedir.Corrupt(fmt.Sprintf("it was made with its end at record %d instead of %d", s.opened.Seq, r.from.Head.Seq), nil)
	}
	sum := sha256.New()
	err := s.view(func(txn *badger.Txn) error {
		it := iterate(txn, nil, false)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			value, err := it.Item().ValueCopy(nil)
			if err != nil {
				return codec.Redacted{Err: err}
			}
			sumEntry(sum, &codec.Entry{Key: it.Item().Key(), Value: value, Expires: it.Item().ExpiresAt()})
		}
		return nil
	})
	if err != nil {
		return storedir.Corrupt("what was written cannot be read back", err)
	}
	if [sha256.Size]byte(sum.Sum(nil)) != r.from.content {
		return storedir.Corrupt("what was written reads back otherwise than it was", nil)
	}
	return nil
}

// place renames the store into its place. there says that the store which is in
// the place is to be moved aside first.
func (r *restorer) place(dir string, there bool) (aside string, err error) {
	r.options.step("place")
	if there {
		if aside, err = moveStoreAside(dir); err != nil {
			return "", err
		}
		r.options.step("moved")
	} else if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", storedir.NoFolder("taking the place of the empty folder", err)
	}
	parent := filepath.Dir(dir)
	if !storedir.RenameLocked {
		_ = r.mark.Close()
	}
	if err = os.Remove(r.markName()); err == nil {
		err = osfile.SyncDir(r.dir)
	}
	if err == nil {
		err = os.Rename(r.dir, dir)
	}
	if err != nil {
		if aside != "" { // nothing else has the name yet
			err = errors.Join(err, os.Rename(aside, dir))
		}
		return "", err
	}
	r.placed = true
	return aside, osfile.SyncDir(parent)
}

// moveStoreAside renames a store that no hub serves.
func moveStoreAside(dir string) (aside string, err error) {
	lock, err := storedir.TakeLock(dir, "")
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if !storedir.RenameLocked {
		_ = lock.Close()
	}
	stamp := strings.ReplaceAll(time.Now().UTC().Format("20060102T150405.000"), ".", "-")
	aside = dir + ".before-" + stamp
	if _, err := os.Lstat(aside); err == nil {
		if storedir.RenameLocked {
			lock.Unsay()
		}
		return "", storedir.NotAStore("the folder " + aside + " is in the way")
	}
	return aside, os.Rename(dir, aside)
}

// passedOver is where a restored store goes on.
func passedOver(h core.Head) core.Head {
	h.Seq, h.Message, h.Fence = h.Seq+restoredSkip, h.Message+restoredSkip, h.Fence+restoredSkip
	return h
}
