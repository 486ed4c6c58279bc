package persistence

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

// rawPair is one version of a key. The bytes belong to the caller.
type rawPair struct {
	key, value []byte
	ts         uint64
	expires    uint64
	deleted    bool
}

// version names one version of a key.
type version struct {
	key string
	ts  uint64
}

// maxMissed bounds the values that are looked for in all value logs.
const maxMissed = 1 << 20

// rawReader reads what Badger's folder holds.
type rawReader struct {
	dir     string
	wal     walState            // of the write-ahead files, as far as they go
	logs    map[uint32]*os.File // value logs, by number; nil: cannot be read
	damaged []hub.StoreDamage
	// unlisted says that entries of a table or of a write-ahead file are gone, so
	// that values in the value logs may have lost what points to them.
	unlisted bool
	take     func(rawPair) error // nil: only look
	reaches  hub.Seq             // first number of the last frame, as HEAD says
	frame    hub.Seq             // of the last frame that anything lists
	asStart  bool                // leave out the tables that a start leaves out
	without  uint64              // the commit of a transaction that a start leaves out; 0: none
	places   map[uint32][]uint32 // where the listed values begin, by value log; of a look
	missed   map[version]place   // that are listed and whose values are not where they should be
}

func newRawReader(dir string) *rawReader {
	return &rawReader{dir: dir, logs: map[uint32]*os.File{}, wal: walState{values: map[uint32]uint32{}}, missed: map[version]place{}, places: map[uint32][]uint32{}}
}

func (r *rawReader) close() {
	for _, f := range r.logs {
		if f != nil {
			_ = f.Close()
		}
	}
}

// damage notes what cannot be read of a file.
func (r *rawReader) damage(name, format string, args ...any) {
	d := hub.StoreDamage{File: nameBadger + "/" + name, Reason: fmt.Sprintf(format, args...)}
	r.damaged = append(r.damaged, d)
}

// listed reads the tables and the write-ahead files. They list all keys.
func (r *rawReader) listed() error {
	if err := r.tables(); err != nil {
		return err
	}
	if err := r.writeAhead(); err != nil {
		return err
	}
	if r.frame < r.reaches {
		r.unlisted = true
	}
	if err := verifyKeyRegistry(filepath.Join(r.dir, nameRegistry)); err != nil {
		r.damage(nameRegistry, "%s", plainReason(err)) // it holds nothing that is needed
	}
	return nil
}

// tables reads the tables. Those that the list does not name hold nothing that others
// do not hold, unless the list is damaged, and damage of the list can look like the
// trace of a crash. So all are read, and of the unnamed ones no damage is told.
func (r *rawReader) tables() error {
	list, err := readTableList(filepath.Join(r.dir, nameManifest))
	known := err == nil && list.found
	switch {
	case err != nil:
		r.damage(nameManifest, "%s", plainReason(err))
	case !list.found:
		r.damage(nameManifest, "it is missing")
	}
	files, err := databaseFiles(r.dir, ".sst")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ioError("listing the database", err)
	}
	there := map[string]bool{}
	for _, path := range files {
		there[filepath.Base(path)] = true
	}
	if err := list.withdraw(r.dir, there); err != nil {
		return err
	}
	for _, path := range files {
		name := filepath.Base(path)
		if known && !list.named[name] && r.asStart {
			continue
		}
		damaged, unlisted := len(r.damaged), r.unlisted
		if err := r.table(path); err != nil {
			return err
		}
		if known && !list.named[name] {
			r.damaged, r.unlisted = r.damaged[:damaged], unlisted
		}
	}
	for _, name := range slices.Sorted(maps.Keys(list.named)) {
		if !there[name] {
			r.damage(name, "it is missing")
			r.unlisted = true
		}
	}
	return nil
}

// whole reads a file of the folder. ok is false if it cannot be read; that is noted.
func (r *rawReader) whole(path string) (b []byte, ok bool) {
	b, err := osfile.ReadSmall(path, maxRawFile)
	if err != nil {
		r.damage(filepath.Base(path), "%s", plainReason(err))
		r.unlisted = true
	}
	return b, err == nil
}

// plainReason is an error without the path, which stands beside it.
func plainReason(err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it is missing"
	case errors.Is(err, osfile.ErrNotRegular):
		return "it is no regular file"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return redact(err.Error())
}

// entry hands out one entry of a table or of a write-ahead file. A value that is in
// a value log is fetched from there.
func (r *rawReader) entry(e logEntry) error {
	if number, ok := bytes.CutPrefix(e.key, []byte(prefixFrame)); ok && len(number) == 8 {
		r.frame = max(r.frame, hub.Seq(binary.BigEndian.Uint64(number)))
	}
	if r.take == nil && e.meta&(metaPointer|metaDelete) == metaPointer && len(e.value) == pointerSize {
		log, _, offset := pointer(e.value)
		r.places[log] = append(r.places[log], offset)
	}
	if bytes.HasPrefix(e.key, []byte("!badger!")) || r.take == nil {
		return nil
	}
	p := rawPair{key: bytes.Clone(e.key), ts: e.ts, expires: e.expires, deleted: e.meta&metaDelete != 0}
	if p.deleted {
		return r.take(p)
	}
	if e.meta&metaPointer == 0 {
		p.value = append([]byte{}, e.value...)
		return r.take(p)
	}
	if len(e.value) != pointerSize {
		return nil // a table whose checksum is right never has one
	}
	log, size, offset := pointer(e.value)
	b := r.valueBytes(log, offset, size)
	if b == nil {
		r.miss(e)
		return nil
	}
	if v, ok := nextLogEntry(b); ok && bytes.Equal(v.key, e.key) && v.ts == e.ts {
		p.value = bytes.Clone(v.value)
		return r.take(p)
	}
	r.damage(fmt.Sprintf("%06d.vlog", log), "the value at byte %d fails its checksum", offset)
	r.miss(e)
	p.value = valueIn(b, len(e.key)) // messages have checksums of their own
	return r.take(p)
}

// valueBytes reads an entry of a value log, or nil.
func (r *rawReader) valueBytes(log, offset, size uint32) []byte {
	name := fmt.Sprintf("%06d.vlog", log)
	f, known := r.logs[log]
	if !known {
		var err error
		if f, err = openRegular(filepath.Join(r.dir, name)); err != nil {
			r.damage(name, "%s", plainReason(err))
		}
		r.logs[log] = f
	}
	if f == nil || size > maxValue+math.MaxUint16+64 {
		return nil
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, int64(offset)); n < len(b) {
		if isEOF(err) {
			r.damage(name, "it ends before the value at byte %d", offset)
		} else {
			r.damage(name, "the value at byte %d cannot be read: %s", offset, plainReason(err))
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

func (r *rawReader) miss(e logEntry) {
	if len(r.missed) < maxMissed {
		_, size, offset := pointer(e.value)
		r.missed[version{string(e.key), e.ts}] = place{offset, size}
	}
}

// swept is an entry that sweep has found.
type swept struct {
	logEntry
	place place
	last  bool // of the last transaction of its file
}

// place is where a value stands in a value log, and how long its entry is.
type place struct{ offset, size uint32 }

// sweep reads the entries of the value logs in the order of the files, and takes those
// that wanted wants. Behind damage it goes on where something listed begins. It comes
// after a look.
func (r *rawReader) sweep(wanted func(*swept) bool) error {
	logs, err := databaseFiles(r.dir, ".vlog")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ioError("listing the database", err)
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
			valueEntries(b, places, func(e *swept) bool {
				last = max(last, e.ts)
				return true
			})
			valueEntries(b, places, func(e *swept) bool {
				if e.last = e.ts == last; e.meta&metaDelete == 0 && wanted(e) {
					e.meta &^= metaPointer
					taken = r.entry(e.logEntry)
				}
				return taken == nil
			})
			return nil
		})
		if taken != nil {
			return taken
		}
		if err != nil {
			r.damage(filepath.Base(path), "%s", plainReason(err))
		}
	}
	return nil
}

// valueEntries calls fn for the entries of a value log until it returns false.
func valueEntries(b []byte, places []uint32, fn func(*swept) bool) {
	for at := logHeaderSize; at < len(b); {
		e, ok := nextLogEntry(b[at:])
		if !ok {
			i, _ := slices.BinarySearch(places, uint32(at)+1)
			if i == len(places) {
				return
			}
			at = int(places[i])
			continue
		}
		if !fn(&swept{logEntry: e, place: place{uint32(at), uint32(e.size)}}) {
			return
		}
		at += e.size
	}
}

// writtenOnce reports whether nothing has to point to an entry: its key is given only
// once, its value proves itself, and its transaction was committed.
//
// The last transaction of a value log may have been cut by a crash before anybody had
// heard of it, and its numbers may have been given out again. All others were
// committed: the store begins one only when the one before it was synced, and Badger
// begins another value log at each start.
func writtenOnce(e *swept) bool {
	contents := rowKey(core.TableArtifactContent, nil)
	return !e.last && (bytes.HasPrefix(e.key, []byte(prefixMessage)) || bytes.HasPrefix(e.key, []byte(prefixFrame)) || bytes.HasPrefix(e.key, contents))
}
