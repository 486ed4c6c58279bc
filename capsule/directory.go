package capsule

import (
	"encoding/binary"
	"io"
	"strings"
)

// The parts of a zip archive, as APPNOTE.TXT has them. Only what a capsule needs is
// accepted: every byte of the file belongs to one entry or to the directory, and both say
// the same of each entry, so that no two programs can see two different contents.
const (
	localSize      = 30 // bytes of a local header before the name
	centralSize    = 46
	endSize        = 22
	descriptorSize = 16

	localSignature      = 0x04034b50
	centralSignature    = 0x02014b50
	endSignature        = 0x06054b50
	descriptorSignature = 0x08074b50

	flagDescriptor = 1 << 3 // sizes stand behind the data
	flagsAllowed   = flagDescriptor | 1<<1 | 1<<2 | 1<<11

	methodStored   = 0
	methodDeflated = 8

	versionNeeded = 20
)

// file is one entry of the archive.
type file struct {
	name   string
	method uint16
	flags  uint16
	crc    uint32
	packed int64 // bytes in the archive
	size   int64 // bytes expanded
	header int64 // offset of the local header
	data   int64 // offset of the bytes
}

// readDirectory reads the directory of an archive of size bytes and compares it with the
// headers of the entries. It reads no data.
func readDirectory(r io.ReaderAt, size int64, l *Limits) ([]file, error) {
	start, count, err := readEnd(r, size, l)
	if err != nil {
		return nil, err
	}
	files, err := readCentral(r, start, size-endSize, count)
	if err != nil {
		return nil, err
	}
	var expanded int64
	next := int64(0)
	for i := range files {
		f := &files[i]
		if f.header != next {
			return nil, invalid(f.name, "the entry does not begin where the one before ends")
		}
		if next, err = f.readLocal(r, start); err != nil {
			return nil, err
		}
		if f.size > l.EntryBytes {
			return nil, tooLarge("an entry of the capsule is too large", l.EntryBytes, f.size).With("entry", f.name)
		}
		expanded += f.size
	}
	if next != start {
		return nil, invalid("", "there are bytes between the last entry and the directory")
	}
	return files, l.checkSizes(size, expanded, len(files))
}

// readEnd reads the end of the directory, which ends the file, and returns where the
// directory begins and how many entries it has.
func readEnd(r io.ReaderAt, size int64, l *Limits) (start int64, count int, err error) {
	if size > l.FileBytes {
		return 0, 0, tooLarge("the capsule is larger than a capsule may be", l.FileBytes, size)
	}
	var end [endSize]byte
	if size < endSize {
		return 0, 0, invalid("", "the file is too short for a zip archive")
	}
	if err := readAt(r, end[:], size-endSize); err != nil {
		return 0, 0, err
	}
	le := binary.LittleEndian
	if le.Uint32(end[:]) != endSignature {
		return 0, 0, invalid("", "the file does not end like a zip archive without a comment; it may be cut off")
	}
	count = int(le.Uint16(end[10:]))
	length, start := int64(le.Uint32(end[12:])), int64(le.Uint32(end[16:]))
	switch {
	case le.Uint16(end[4:]) != 0 || le.Uint16(end[6:]) != 0 || int(le.Uint16(end[8:])) != count:
		return 0, 0, invalid("", "the archive says that it has several parts")
	case le.Uint16(end[20:]) != 0:
		return 0, 0, invalid("", "the archive has a comment")
	case count == 0xffff || length == 0xffffffff || start == 0xffffffff:
		return 0, 0, invalid("", "the archive is in the format zip64, which no capsule needs")
	case start+length != size-endSize:
		return 0, 0, invalid("", "the directory is not where the archive says")
	case count > l.Entries:
		return 0, 0, tooLarge("the capsule has too many entries", int64(l.Entries), int64(count))
	case int64(count)*centralSize > length:
		return 0, 0, invalid("", "the directory is too short for its entries")
	}
	return start, count, nil
}

// readCentral reads the directory from start to end. Its names are those of a capsule, each
// once, so what it keeps is bounded by the number of entries.
func readCentral(r io.ReaderAt, start, end int64, count int) ([]file, error) {
	files := make([]file, 0, count)
	seen := make(map[string]bool, count)
	in := window{r: r, at: start, end: end}
	for range count {
		h, err := in.take(centralSize)
		if err != nil {
			return nil, err
		}
		le := binary.LittleEndian
		if le.Uint32(h) != centralSignature {
			return nil, invalid("", "the directory has something that is no entry")
		}
		f := file{
			flags: le.Uint16(h[8:]), method: le.Uint16(h[10:]), crc: le.Uint32(h[16:]),
			packed: int64(le.Uint32(h[20:])), size: int64(le.Uint32(h[24:])), header: int64(le.Uint32(h[42:])),
		}
		version, extra, comment, disk := le.Uint16(h[6:]), le.Uint16(h[30:]), le.Uint16(h[32:]), le.Uint16(h[34:])
		attributes := le.Uint32(h[38:])
		name, err := in.take(int(le.Uint16(h[28:])))
		if err != nil {
			return nil, err
		}
		f.name = string(name)
		if err := checkName(f.name); err != nil {
			return nil, err
		}
		if folded := strings.ToLower(f.name); seen[folded] {
			return nil, invalid(f.name, "the archive has two entries of this name")
		} else {
			seen[folded] = true
		}
		if err := f.checkKind(version, extra, comment, disk, attributes); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if in.at != in.end {
		return nil, invalid("", "the directory has more than its entries")
	}
	return files, nil
}

// checkKind refuses entries that are no plain files, and what is packed in a way that not
// every program reads.
func (f *file) checkKind(version, extra, comment, disk uint16, attributes uint32) error {
	const (
		typeMask, regular = 0o170000, 0o100000 // of a Unix mode
		dosFolder         = 0x10
	)
	kind := attributes >> 16 & typeMask
	switch {
	case f.flags&1 != 0:
		return invalid(f.name, "the entry is encrypted")
	case f.flags&^flagsAllowed != 0 || version > versionNeeded:
		return invalid(f.name, "the entry needs a newer version of zip")
	case f.method != methodStored && f.method != methodDeflated:
		return invalid(f.name, "the entry is compressed by another method than deflate")
	case f.method == methodStored && (f.packed != f.size || f.flags&flagDescriptor != 0):
		return invalid(f.name, "the entry is stored, and its sizes differ or do not stand before it")
	case extra != 0 || comment != 0:
		return invalid(f.name, "the entry has extra fields or a comment")
	case disk != 0:
		return invalid(f.name, "the entry is in another part of the archive")
	case kind != 0 && kind != regular || attributes&dosFolder != 0:
		return invalid(f.name, "the entry is a link, a folder or a device, not a plain file")
	}
	return nil
}

// readLocal compares the header before the data, and what stands behind them, with the
// directory. It returns where the next entry begins; no entry reaches beyond limit.
func (f *file) readLocal(r io.ReaderAt, limit int64) (next int64, err error) {
	head := make([]byte, localSize+len(f.name))
	if f.header+int64(len(head)) > limit {
		return 0, invalid(f.name, "the entry reaches into the directory")
	}
	if err := readAt(r, head, f.header); err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	described := f.flags&flagDescriptor != 0
	crc, packed, size := f.crc, f.packed, f.size
	if described {
		crc, packed, size = 0, 0, 0
	}
	if le.Uint32(head) != localSignature || le.Uint16(head[4:]) > versionNeeded || le.Uint16(head[6:]) != f.flags || le.Uint16(head[8:]) != f.method ||
		le.Uint32(head[14:]) != crc || int64(le.Uint32(head[18:])) != packed || int64(le.Uint32(head[22:])) != size ||
		int(le.Uint16(head[26:])) != len(f.name) || le.Uint16(head[28:]) != 0 || string(head[localSize:]) != f.name {
		return 0, invalid(f.name, "the header of the entry and the directory do not agree")
	}
	f.data = f.header + int64(len(head))
	next = f.data + f.packed
	if described {
		next += descriptorSize
	}
	if next > limit {
		return 0, invalid(f.name, "the entry reaches into the directory")
	}
	if !described {
		return next, nil
	}
	var d [descriptorSize]byte
	if err := readAt(r, d[:], f.data+f.packed); err != nil {
		return 0, err
	}
	if le.Uint32(d[:]) != descriptorSignature || le.Uint32(d[4:]) != f.crc ||
		int64(le.Uint32(d[8:])) != f.packed || int64(le.Uint32(d[12:])) != f.size {
		return 0, invalid(f.name, "what stands behind the entry and the directory do not agree")
	}
	return next, nil
}

// window reads a part of a file in pieces of bounded size.
type window struct {
	r       io.ReaderAt
	at, end int64
	buf     []byte // what was read and not taken yet
	spare   []byte
}

// take returns the next n bytes, which stay valid until the next call.
func (w *window) take(n int) ([]byte, error) {
	const piece = 64 << 10
	if w.end-w.at < int64(n) {
		return nil, invalid("", "the directory ends too early")
	}
	if len(w.buf) < n {
		if w.spare == nil {
			w.spare = make([]byte, 2*piece)
		}
		kept := copy(w.spare, w.buf)
		size := min(int64(len(w.spare)), w.end-w.at)
		if err := readAt(w.r, w.spare[kept:size], w.at+int64(kept)); err != nil {
			return nil, err
		}
		w.buf = w.spare[:size]
	}
	out := w.buf[:n]
	w.buf = w.buf[n:]
	w.at += int64(n)
	return out, nil
}

// readAt fills b from the offset on.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		return invalid("", "the file is shorter than it was")
	}
	return err
}
