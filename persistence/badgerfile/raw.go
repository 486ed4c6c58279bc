package badgerfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/osfile"
)

// maxRawFile bounds the files that are read whole: tables and write-ahead files.
const maxRawFile = 1 << 30

// Badger gives up a file at its first damaged byte. So what is left of a damaged
// store is read without it, entry by entry: each carries a checksum, and all
// versions of a key carry the number of their transaction, by which the latest one
// is known. Nothing here writes.
//
// Agents choose the bytes of values. So bytes within a value may look like an entry,
// and such an entry must not be taken for one. Where damage has hidden the place of
// the next entry, what is found behind it counts only if it goes on for longer than
// a value in these files can be.

// RawPair is one version of a key. The bytes belong to the caller.
type RawPair struct {
	Key, Value []byte
	Ts         uint64
	Expires    uint64
	Deleted    bool
}

// Version names one version of a key.
type Version struct {
	Key string
	Ts  uint64
}

// maxMissed bounds the values that are looked for in all value logs.
const maxMissed = 1 << 20

// RawReader reads what Badger's folder holds.
type RawReader struct {
	Dir     string
	wal     WalState            // of the write-ahead files, as far as they go
	logs    map[uint32]*os.File // value logs, by number; nil: cannot be read
	Damaged []hub.StoreDamage
	// Unlisted says that entries of a table or of a write-ahead file are gone, so
	// that values in the value logs may have lost what points to them.
	Unlisted bool
	Take     func(RawPair) error // nil: only look
	Reaches  hub.Seq             // first number of the last frame, as HEAD says
	Frame    hub.Seq             // of the last frame that anything lists
	AsStart  bool                // leave out the tables that a start leaves out
	Without  uint64              // the commit of a transaction that a start leaves out; 0: none
	places   map[uint32][]uint32 // where the listed values begin, by value log; of a look
	Missed   map[Version]place   // that are listed and whose values are not where they should be
}

// NewRawReader reads the files of the database in a folder.
func NewRawReader(dir string) *RawReader {
	return &RawReader{Dir: dir, logs: map[uint32]*os.File{}, wal: WalState{Values: map[uint32]uint32{}}, Missed: map[Version]place{}, places: map[uint32][]uint32{}}
}

// Close gives the memory back.
func (r *RawReader) Close() {
	for _, f := range r.logs {
		if f != nil {
			_ = f.Close()
		}
	}
}

// damage notes what cannot be read of a file.
func (r *RawReader) damage(name, format string, args ...any) {
	d := hub.StoreDamage{File: storedir.NameBadger + "/" + name, Reason: fmt.Sprintf(format, args...)}
	r.Damaged = append(r.Damaged, d)
}

// Listed reads the tables and the write-ahead files. They list all keys.
func (r *RawReader) Listed() error {
	if err := r.tables(); err != nil {
		return err
	}
	if err := r.writeAhead(); err != nil {
		return err
	}
	if r.Frame < r.Reaches {
		r.Unlisted = true
	}
	if err := verifyKeyRegistry(filepath.Join(r.Dir, NameRegistry)); err != nil {
		r.damage(NameRegistry, "%s", PlainReason(err)) // it holds nothing that is needed
	}
	return nil
}

// tables reads the tables. Those that the list does not name hold nothing that others
// do not hold, unless the list is damaged, and damage of the list can look like the
// trace of a crash. So all are read, and of the unnamed ones no damage is told.
func (r *RawReader) tables() error {
	list, err := ReadTableList(filepath.Join(r.Dir, NameManifest))
	known := err == nil && list.found
	switch {
	case err != nil:
		r.damage(NameManifest, "%s", PlainReason(err))
	case !list.found:
		r.damage(NameManifest, "it is missing")
	}
	files, err := DatabaseFiles(r.Dir, ".sst")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storedir.IOError("listing the database", err)
	}
	there := map[string]bool{}
	for _, path := range files {
		there[filepath.Base(path)] = true
	}
	if err := list.withdraw(r.Dir, there); err != nil {
		return err
	}
	for _, path := range files {
		name := filepath.Base(path)
		if known && !list.Named[name] && r.AsStart {
			continue
		}
		damaged, unlisted := len(r.Damaged), r.Unlisted
		if err := r.table(path); err != nil {
			return err
		}
		if known && !list.Named[name] {
			r.Damaged, r.Unlisted = r.Damaged[:damaged], unlisted
		}
	}
	for _, name := range slices.Sorted(maps.Keys(list.Named)) {
		if !there[name] {
			r.damage(name, "it is missing")
			r.Unlisted = true
		}
	}
	return nil
}

// whole reads a file of the folder. ok is false if it cannot be read; that is noted.
func (r *RawReader) whole(path string) (b []byte, ok bool) {
	b, err := osfile.ReadSmall(path, maxRawFile)
	if err != nil {
		r.damage(filepath.Base(path), "%s", PlainReason(err))
		r.Unlisted = true
	}
	return b, err == nil
}

// PlainReason is an error without the path, which stands beside it.
func PlainReason(err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it is missing"
	case errors.Is(err, osfile.ErrNotRegular):
		return "it is no regular file"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return codec.Redact(err.Error())
}

// entry hands out one entry of a table or of a write-ahead file. A value that is in
// a value log is fetched from there.
func (r *RawReader) entry(e LogEntry) error {
	if number, ok := bytes.CutPrefix(e.Key, []byte(codec.PrefixFrame)); ok && len(number) == 8 {
		r.Frame = max(r.Frame, hub.Seq(binary.BigEndian.Uint64(number)))
	}
	if r.Take == nil && e.Meta&(metaPointer|MetaDelete) == metaPointer && len(e.Value) == pointerSize {
		log, _, offset := pointer(e.Value)
		r.places[log] = append(r.places[log], offset)
	}
	if bytes.HasPrefix(e.Key, []byte("!badger!")) || r.Take == nil {
		return nil
	}
	p := RawPair{Key: bytes.Clone(e.Key), Ts: e.Ts, Expires: e.Expires, Deleted: e.Meta&MetaDelete != 0}
	if p.Deleted {
		return r.Take(p)
	}
	if e.Meta&metaPointer == 0 {
		p.Value = append([]byte{}, e.Value...)
		return r.Take(p)
	}
	if len(e.Value) != pointerSize {
		return nil // a table whose checksum is right never has one
	}
	log, size, offset := pointer(e.Value)
	b := r.valueBytes(log, offset, size)
	if b == nil {
		r.miss(e)
		return nil
	}
	if v, ok := NextLogEntry(b); ok && bytes.Equal(v.Key, e.Key) && v.Ts == e.Ts {
		p.Value = bytes.Clone(v.Value)
		return r.Take(p)
	}
	r.damage(fmt.Sprintf("%06d.vlog", log), "the value at byte %d fails its checksum", offset)
	r.miss(e)
	p.Value = valueIn(b, len(e.Key)) // messages have checksums of their own
	return r.Take(p)
}

// valueBytes reads an entry of a value log, or nil.
func (r *RawReader) valueBytes(log, offset, size uint32) []byte {
	name := fmt.Sprintf("%06d.vlog", log)
	f, known := r.logs[log]
	if !known {
		var err error
		if f, err = openRegular(filepath.Join(r.Dir, name)); err != nil {
			r.damage(name, "%s", PlainReason(err))
		}
		r.logs[log] = f
	}
	if f == nil || size > codec.MaxValue+math.MaxUint16+64 {
		return nil
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, int64(offset)); n < len(b) {
		if codec.IsEOF(err) {
			r.damage(name, "it ends before the value at byte %d", offset)
		} else {
			r.damage(name, "the value at byte %d cannot be read: %s", offset, PlainReason(err))
		}
		return nil
	}
	return b
}

// openRegular opens a regular file: a pipe would never end.
func openRegular(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, osfile.ErrNotRegular
	}
	return os.OpenFile(path, osfile.Cautious, 0)
}

// valueIn returns the value of a damaged entry of a value log: its length follows
// from that of the entry, if the entry does not expire.
func valueIn(b []byte, keyLength int) []byte {
	klen := keyLength + 8
	for _, lengthSize := range []int{1, 2, 3, 4, 5} {
		head := 2 + uvarintSize(uint64(klen)) + lengthSize + 1
		vlen := len(b) - head - klen - 4
		if vlen >= 0 && uvarintSize(uint64(vlen)) == lengthSize {
			return bytes.Clone(b[head+klen : len(b)-4])
		}
	}
	return []byte{}
}

func uvarintSize(n uint64) (size int) {
	for size = 1; n >= 0x80; size++ {
		n >>= 7
	}
	return size
}

func (r *RawReader) miss(e LogEntry) {
	if len(r.Missed) < maxMissed {
		_, size, offset := pointer(e.Value)
		r.Missed[Version{string(e.Key), e.Ts}] = place{offset, size}
	}
}

// Swept is an entry that sweep has found.
type Swept struct {
	LogEntry
	Place place
	last  bool // of the last transaction of its file
}

// place is where a value stands in a value log, and how long its entry is.
type place struct{ offset, size uint32 }

// Sweep reads the entries of the value logs in the order of the files, and takes those
// that wanted wants. Behind damage it goes on where something listed begins. It comes
// after a look.
func (r *RawReader) Sweep(wanted func(*Swept) bool) error {
	logs, err := DatabaseFiles(r.Dir, ".vlog")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storedir.IOError("listing the database", err)
	}
	for _, path := range logs {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue // valueBytes says so, if anything points there
		}
		places := r.places[fileNumber(path)]
		slices.Sort(places)
		var taken error
		err := withMap(path, func(b []byte) error {
			last := uint64(0)
			valueEntries(b, places, func(e *Swept) bool {
				last = max(last, e.Ts)
				return true
			})
			valueEntries(b, places, func(e *Swept) bool {
				if e.last = e.Ts == last; e.Meta&MetaDelete == 0 && wanted(e) {
					e.Meta &^= metaPointer
					taken = r.entry(e.LogEntry)
				}
				return taken == nil
			})
			return nil
		})
		if taken != nil {
			return taken
		}
		if err != nil {
			r.damage(filepath.Base(path), "%s", PlainReason(err))
		}
	}
	return nil
}

// valueEntries calls fn for the entries of a value log until it returns false.
func valueEntries(b []byte, places []uint32, fn func(*Swept) bool) {
	for at := LogHeaderSize; at < len(b); {
		e, ok := NextLogEntry(b[at:])
		if !ok {
			i, _ := slices.BinarySearch(places, uint32(at)+1)
			if i == len(places) {
				return
			}
			at = int(places[i])
			continue
		}
		if !fn(&Swept{LogEntry: e, Place: place{uint32(at), uint32(e.Size)}}) {
			return
		}
		at += e.Size
	}
}

// WrittenOnce reports whether nothing has to point to an entry: its key is given only
// once, its value proves itself, and its transaction was committed.
//
// The last transaction of a value log may have been cut by a crash before anybody had
// heard of it, and its numbers may have been given out again. All others were
// committed: the store begins one only when the one before it was synced, and Badger
// begins another value log at each start.
func WrittenOnce(e *Swept) bool {
	contents := codec.RowKey(core.TableArtifactContent, nil)
	return !e.last && (bytes.HasPrefix(e.Key, []byte(codec.PrefixMessage)) || bytes.HasPrefix(e.Key, []byte(codec.PrefixFrame)) || bytes.HasPrefix(e.Key, contents))
}
