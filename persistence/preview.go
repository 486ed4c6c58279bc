package persistence

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"hubcli/internal/osfile"
)

// A preview shows the database as a start will find it, and leaves the database alone. Badger
// cannot do that in the database's own folder: there it replays its logs, cuts torn ends off,
// deletes files and makes new ones, also when it is told to read only. So the preview is a folder of
// its own, in which Badger reads only:
//
//   - links to the tables that are in force and to the value logs,
//   - a table that holds what the write-ahead files hold of complete transactions, and each
//     transaction that the first half of a start would commit,
//   - a list of these tables.
//
// The folder lies in the data root, or else among the temporary files of the system, or else
// beside the store. It is deleted when the store is opened for writing; what a kill has left is
// deleted by the next start.
type preview struct {
	dir   string
	from  string // the database's folder
	log   *badgerLog
	list  badgerfile.TableList
	next  uint64   // number of the next table
	added []uint64 // numbers of the tables that were added
}

// previews says whether the system has previews. On Windows a link may need rights that a user
// does not have, and Badger says that it does not read only.
const previews = runtime.GOOS != "windows"

// previewName begins the name of a preview.
const previewName = "hubcli-preview-"

func newPreview(s *Store) (*preview, error) {
	p := &preview{from: s.folder.bound(storedir.NameBadger), log: &badgerLog{log: s.log}, list: s.start.files.List, next: 1}
	var failed error
	for _, place := range s.previewPlaces() {
		if err := p.fill(place, s.previewPrefix(), &s.start.files.Wal); err != nil {
			failed = errors.Join(failed, err, p.remove())
			continue
		}
		return p, nil
	}
	return nil, failed
}

func (s *Store) previewPlaces() (places []string) {
	if m := s.start.options.Maker; m != nil && m.Root != "" {
		places = append(places, filepath.Join(m.Root, "run"))
	}
	return append(places, os.TempDir(), filepath.Dir(s.dir))
}

// previewPrefix begins the names of the previews of this store.
func (s *Store) previewPrefix() string {
	sum := sha256.Sum256([]byte(string(s.marker.InstanceID) + "\n" + s.dir))
	return previewName + hex.EncodeToString(sum[:8]) + "-"
}

// keepTime returns what gives a file or a folder the time back that it has now.
func keepTime(path string) func() {
	info, err := os.Stat(path)
	return func() {
		if err == nil {
			_ = os.Chtimes(path, time.Time{}, info.ModTime())
		}
	}
}

// fill makes the folder in a place.
func (p *preview) fill(place, prefix string, wal *badgerfile.WalState) (err error) {
	if p.dir, err = os.MkdirTemp(place, prefix); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(p.list.Named))
	for _, name := range names {
		id, _ := table.ParseFileID(name)
		p.next = max(p.next, id+1)
	}
	logs, err := badgerfile.DatabaseFiles(p.from, ".vlog")
	if err != nil {
		return err
	}
	for _, path := range logs {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 { // debris; see filled
			continue
		}
		names = append(names, filepath.Base(path))
	}
	for _, name := range names {
		if err := os.Symlink(filepath.Join(p.from, name), filepath.Join(p.dir, name)); err != nil {
			return err
		}
	}
	if len(wal.Entries) > 0 {
		if err := p.table(wal.Entries); err != nil {
			return err
		}
	}
	return p.writeList()
}

// table adds a table of entries.
func (p *preview) table(entries []badgerfile.LogEntry) error {
	key := func(e *badgerfile.LogEntry) []byte { return y.KeyWithTs(e.Key, e.Ts) }
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b badgerfile.LogEntry) int { return y.CompareKeys(key(&a), key(&b)) })
	b := table.NewTableBuilder(table.Options{
		TableSize: codec.BaseTableSize, BlockSize: 4 << 10, BloomFalsePositive: 0.01, Compression: options.None, ChkMode: options.NoVerification,
	})
	defer b.Close()
	for i := range sorted {
		e := &sorted[i]
		if i+1 < len(sorted) && bytes.Equal(key(e), key(&sorted[i+1])) {
			continue // the last one counts
		}
		b.Add(key(e), y.ValueStruct{Value: e.Value, Meta: e.Meta, UserMeta: e.User, ExpiresAt: e.Expires}, 0)
	}
	if err := os.WriteFile(filepath.Join(p.dir, table.IDToFilename(p.next)), b.Finish(), 0o600); err != nil {
		return err
	}
	p.added = append(p.added, p.next)
	p.next++
	return nil
}

// writeList writes the list of the tables.
func (p *preview) writeList() error {
	var entry []byte
	add := func(id, level uint64) {
		change := binary.AppendUvarint([]byte{1 << 3}, id)
		change = binary.AppendUvarint(append(change, 3<<3), level)
		entry = binary.AppendUvarint(append(entry, 1<<3|2), uint64(len(change)))
		entry = append(entry, change...)
	}
	for _, name := range slices.Sorted(maps.Keys(p.list.Named)) {
		id, ok := table.ParseFileID(name)
		if !ok {
			return fmt.Errorf("the table list names %q", name)
		}
		add(id, p.list.Levels[name])
	}
	for _, id := range p.added {
		add(id, 0)
	}
	b := []byte(badgerfile.ManifestMagic)
	b = binary.BigEndian.AppendUint32(b, uint32(len(entry)))
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(entry, codec.Castagnoli))
	return os.WriteFile(filepath.Join(p.dir, badgerfile.NameManifest), append(b, entry...), 0o600)
}

// remove deletes the folder.
func (p *preview) remove() (err error) {
	if p.dir != "" {
		err = os.RemoveAll(p.dir) // the links, and not what they lead to
		p.dir = ""
	}
	return err
}

// openPreview has the store read from the preview.
func (s *Store) openPreview() error {
	p := s.start.preview
	p.log.opening.Store(true)
	db, err := badger.OpenManaged(badgerOptions(p.dir, p.log).WithReadOnly(true))
	p.log.opening.Store(false)
	if err == nil {
		s.db = db
		err = p.log.failure()
	}
	if err != nil {
		return storedir.DatabaseError(filepath.Join(s.dir, storedir.NameBadger), err)
	}
	s.reads = reads{view: s.committed, importGaps: s.importGaps}
	s.lastTS = s.db.MaxVersion()
	s.gate = newGate(s.lastTS)
	return nil
}

// preview commits entries in the preview alone.
func (s *Store) commitPreview(entries []codec.Entry) error {
	p := s.start.preview
	added := make([]badgerfile.LogEntry, 0, len(entries))
	for _, e := range entries {
		l := badgerfile.LogEntry{Key: bytes.Clone(e.Key), Value: bytes.Clone(e.Value), Ts: s.lastTS + 1, Expires: e.Expires}
		if e.Value == nil {
			l.Meta = badgerfile.MetaDelete
		}
		added = append(added, l)
	}
	if err := errors.Join(p.table(added), p.writeList()); err != nil {
		return err
	}
	s.endReading()
	return s.openPreview()
}

// closePreview ends the reading from the preview.
func (s *Store) closePreview() {
	p := s.start.preview
	if p == nil {
		return
	}
	s.start.preview = nil
	if s.gate != nil {
		s.gate.close()
	}
	s.endReading()
	if err := p.remove(); err != nil {
		s.log.Warn("the folder in which the store was read is not deleted; the next start does it", "error", err)
	}
}

// endReading closes the preview's database. Badger syncs the folder, also of a database that it only
// reads. If that fails nothing is lost, for the preview is of no further use: what fails in the
// store itself is found by what opens it.
func (s *Store) endReading() {
	if s.db == nil {
		return
	}
	if err := s.db.Close(); err != nil {
		s.log.Warn("the preview of the store was not closed cleanly", "error", err)
	}
	s.db = nil
}

// sweepPreviews deletes the previews of this store that a kill has left. The store is locked.
func (s *Store) sweepPreviews() {
	for _, place := range s.previewPlaces() {
		names, _ := storedir.DiskFS{}.ReadDir(place)
		for _, name := range names {
			path := filepath.Join(place, name)
			if !strings.HasPrefix(name, s.previewPrefix()) || s.start.preview != nil && path == s.start.preview.dir {
				continue
			}
			if info, err := os.Lstat(path); err == nil && info.IsDir() && osfile.Own(path, info) {
				_ = os.RemoveAll(path)
			}
		}
	}
}
