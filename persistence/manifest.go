package persistence

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"github.com/dgraph-io/badger/v4/table"
)

// nameManifest is Badger's list of its tables: a header, then entries that each
// add and drop tables. It is appended to, and now and then replaced by a rename.
const nameManifest = "MANIFEST"

// tableList is what the list says.
type tableList struct {
	found     bool            // false: there is no list yet
	named     map[string]bool // names of the table files that are in force
	end, size int64           // where the last whole entry ends, and the file
}

// readTableList reads the list and checks every entry. One that ends beyond the
// file is torn and was never in force, unless a shorter one with its checksum
// stands there: then its length is damaged, and Badger would drop it and delete
// the tables it names.
func readTableList(name string) (tableList, error) {
	l := tableList{named: map[string]bool{}}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	if !bytes.HasPrefix(b, []byte("Bdgr\x00\x00\x00\x08")) {
		return l, errors.New("its beginning is damaged")
	}
	l.found, l.size, l.end = true, int64(len(b)), manifestHeader
	for at := manifestHeader; at+8 <= len(b); l.end = int64(at) {
		length, sum := uint64(binary.BigEndian.Uint32(b[at:])), binary.BigEndian.Uint32(b[at+4:])
		body := b[at+8:]
		if length > uint64(len(body)) {
			var c uint32
			for i := range body {
				if c = crc32.Update(c, castagnoli, body[i:i+1]); c == sum {
					return l, fmt.Errorf("the length of the entry at byte %d is damaged", at)
				}
			}
			return l, nil
		}
		if crc32.Checksum(body[:length], castagnoli) != sum {
			return l, fmt.Errorf("the entry at byte %d is damaged", at)
		}
		if err := l.apply(body[:length]); err != nil {
			return l, fmt.Errorf("the entry at byte %d: %w", at, err)
		}
		at += 8 + int(length)
	}
	return l, nil
}

var errNoTableList = errors.New("it is none that Badger writes")

// apply carries out an entry: a protocol buffer with a list of changes.
func (l *tableList) apply(entry []byte) error {
	for len(entry) > 0 {
		field, _, change, rest, ok := nextField(entry)
		if !ok || field != 1 {
			return errNoTableList
		}
		entry = rest
		if err := l.change(change); err != nil {
			return err
		}
	}
	return nil
}

// change adds a table or drops one.
func (l *tableList) change(b []byte) error {
	var id, op uint64
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
		}
		b = rest
	}
	name := table.IDToFilename(id)
	switch op {
	case 0:
		if l.named[name] {
			return fmt.Errorf("it adds %s a second time", name)
		}
		l.named[name] = true
	case 1:
		delete(l.named, name)
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
