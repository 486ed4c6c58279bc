package badgerfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"github.com/dgraph-io/ristretto/v2/z"

	"hubcli/hub"
)

// NameManifest is Badger's list of its tables: a header, then entries that each
// add and drop tables. It is appended to, and now and then replaced by a rename.
const NameManifest = "MANIFEST"

// ManifestMagic begins the list, with the number of Badger's format.
const ManifestMagic = "Bdgr\x00\x00\x00\x08"

// TableList is what the list says.
type TableList struct {
	found     bool              // false: there is no list yet
	Levels    map[string]uint64 // of all tables that were ever named
	Named     map[string]bool   // names of the table files that are in force
	entries   []tableSet        // in order
	withdrawn []tableSet        // those that never came into force, the last first
	End, size int64             // where the last whole entry ends, and the file
}

// ReadTableList reads the list and checks every entry. One that ends beyond the
// file is torn and was never in force, unless a shorter one with its checksum
// stands there: then its length is damaged, and Badger would drop it and delete
// the tables it names.
func ReadTableList(name string) (TableList, error) {
	l := TableList{Named: map[string]bool{}, Levels: map[string]uint64{}}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	if !bytes.HasPrefix(b, []byte(ManifestMagic)) {
		return l, errors.New("its beginning is damaged")
	}
	l.found, l.size, l.End = true, int64(len(b)), ManifestHeader
	for at := ManifestHeader; at+8 <= len(b); l.End = int64(at) {
		length, sum := uint64(binary.BigEndian.Uint32(b[at:])), binary.BigEndian.Uint32(b[at+4:])
		body := b[at+8:]
		if length > uint64(len(body)) {
			var c uint32
			for i := range body {
				if c = crc32.Update(c, codec.Castagnoli, body[i:i+1]); c == sum {
					return l, fmt.Errorf("the length of the entry at byte %d is damaged", at)
				}
			}
			return l, nil
		}
		if crc32.Checksum(body[:length], codec.Castagnoli) != sum {
			return l, fmt.Errorf("the entry at byte %d is damaged", at)
		}
		e := tableSet{at: int64(at), end: int64(at) + 8 + int64(length)}
		if err := l.apply(body[:length], &e); err != nil {
			return l, fmt.Errorf("the entry at byte %d: %w", at, err)
		}
		l.entries = append(l.entries, e)
		at += 8 + int(length)
	}
	return l, nil
}

var errNoTableList = errors.New("it is none that Badger writes")

// apply carries out an entry: a protocol buffer with a list of changes.
func (l *TableList) apply(entry []byte, e *tableSet) error {
	for len(entry) > 0 {
		field, _, change, rest, ok := nextField(entry)
		if !ok || field != 1 {
			return errNoTableList
		}
		entry = rest
		if err := l.change(change, e); err != nil {
			return err
		}
	}
	e.flush = e.flush && len(e.adds) == 1 && len(e.drops) == 0
	return nil
}

// change adds a table or drops one.
func (l *TableList) change(b []byte, e *tableSet) error {
	var id, op, level uint64
	for len(b) > 0 {
		field, value, _, rest, ok := nextField(b)
		if !ok {
			return errNoTableList
		}
		switch field {
		case 1:
			id = value
		case 2:
			op = value
		case 3:
			level = value
		}
		b = rest
	}
	name := table.IDToFilename(id)
	switch op {
	case 0:
		if l.Named[name] {
			return fmt.Errorf("it adds %s a second time", name)
		}
		l.Named[name], l.Levels[name] = true, level
		e.adds, e.flush = append(e.adds, name), level == 0
	case 1:
		delete(l.Named, name)
		e.drops = append(e.drops, name)
	default:
		return errNoTableList
	}
	return nil
}

// nextField decodes the field at the front of a protocol buffer: a number or,
// with its length before it, a value.
func nextField(b []byte) (field, number uint64, value, rest []byte, ok bool) {
	tag, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, 0, nil, nil, false
	}
	b = b[n:]
	number, n = binary.Uvarint(b)
	if n <= 0 {
		return 0, 0, nil, nil, false
	}
	b = b[n:]
	switch tag & 7 {
	case 0:
		return tag >> 3, number, nil, b, true
	case 2:
		if number > uint64(len(b)) {
			return 0, 0, nil, nil, false
		}
		return tag >> 3, 0, b[:number], b[number:], true
	}
	return 0, 0, nil, nil, false
}

// verifyTables checks every table that the list names. The others are debris:
// Badger names a table when all of it is on the disk, and deletes a table only
// when the list has stopped naming it.
func (d *Database) verifyTables() error {
	files, err := DatabaseFiles(d.Dir, ".sst")
	if err != nil {
		return storedir.IOError("listing the database", err)
	}
	if !d.List.found && (len(files) > 0 || d.Wal.lastTS > 0) {
		return storedir.Corrupt("its table list, "+storedir.NameBadger+"/"+NameManifest+", is missing", nil)
	}
	there := map[string]bool{}
	for _, path := range files {
		there[filepath.Base(path)] = true
	}
	if err := d.List.withdraw(d.Dir, there); err != nil {
		return err
	}
	for _, path := range files {
		name := filepath.Base(path)
		if _, ok := table.ParseFileID(name); ok && !d.List.Named[name] {
			d.debris = append(d.debris, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.List.Named)) {
		if !there[name] {
			return storedir.Corrupt("its table "+name+" is missing", nil)
		}
		if err := verifyTable(filepath.Join(d.Dir, name)); err != nil {
			return storedir.Failed("its table "+name+" fails its checksums", filepath.Join(d.Dir, name), err)
		}
	}
	return d.verifyUnnamed()
}

// verifyUnnamed makes sure that the list has left out no table that is needed. A list
// that was cut, or an earlier one in its place, looks like the trace of a crash. But
// what a crash leaves out is also in the tables that are named, or in the write-ahead
// files. Messages show this, for they are never deleted.
func (d *Database) verifyUnnamed() error {
	for _, name := range d.debris {
		if filepath.Ext(name) != ".sst" || verifyTable(filepath.Join(d.Dir, name)) != nil {
			continue // empty or half: it was never in force
		}
		for _, key := range messageBounds(filepath.Join(d.Dir, name)) {
			number, _ := codec.KeyNumber(key)
			if d.Wal.blocks[number] {
				continue
			}
			there, err := d.holds(key)
			if err != nil {
				return storedir.Corrupt("its tables cannot be read", err)
			}
			if !there {
				return storedir.Corrupt("its table list, "+storedir.NameBadger+"/"+NameManifest+", does not name the table "+name+", which has messages that are nowhere else", nil)
			}
		}
	}
	return nil
}

// messageBounds returns the first and the last key of messages in a table, if any.
func messageBounds(name string) (keys [][]byte) {
	for _, backward := range []bool{false, true} {
		_ = withTable(name, options.NoVerification, func(t *table.Table) error { // it has been verified
			kind, from := table.NOCACHE, []byte(codec.PrefixMessage)
			if backward {
				kind, from = table.NOCACHE|table.REVERSED, codec.After(from)
			}
			it := t.NewIterator(kind)
			defer it.Close()
			it.Seek(y.KeyWithTs(from, math.MaxUint64))
			if it.Valid() && bytes.HasPrefix(it.Key(), []byte(codec.PrefixMessage)) {
				keys = append(keys, bytes.Clone(y.ParseKey(it.Key())))
			}
			return nil
		})
	}
	return keys
}

// verifyTable reads a table through and checks every block.
func verifyTable(name string) error {
	return withTable(name, options.OnTableRead, func(*table.Table) error { return nil })
}

// withTable runs fn on a table that Badger has not opened.
func withTable(name string, check options.ChecksumVerificationMode, fn func(*table.Table) error) (err error) {
	defer guardMap(&err)()
	m, err := z.OpenMmapFile(name, os.O_RDONLY, 0)
	if err != nil {
		return codec.Redacted{Err: err}
	}
	t, err := table.OpenTable(m, table.Options{ReadOnly: true, ChkMode: check, Compression: options.None, BlockSize: 4096})
	if err != nil {
		return codec.Redacted{Err: err}
	}
	err = fn(t)
	// Not Close of the table: it would truncate, and its last reference deletes.
	return errors.Join(err, m.Close(-1))
}

// HoldsFrame reports whether a table holds the frame that begins with seq, or its
// deletion.
func (d *Database) HoldsFrame(seq hub.Seq) (bool, error) {
	return d.holds(codec.SeqKey(codec.PrefixFrame, seq))
}

// holds reports whether a named table holds a key, or its deletion.
func (d *Database) holds(key []byte) (found bool, err error) {
	for _, name := range slices.Sorted(maps.Keys(d.List.Named)) {
		err := withTable(filepath.Join(d.Dir, name), options.NoVerification, func(t *table.Table) error {
			it := t.NewIterator(table.NOCACHE)
			defer it.Close()
			it.Seek(y.KeyWithTs(key, math.MaxUint64))
			found = found || it.Valid() && bytes.Equal(y.ParseKey(it.Key()), key)
			return nil
		})
		if err != nil || found {
			return found, err
		}
	}
	return false, nil
}
