package persistence

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"strconv"
)

// writeAhead reads the write-ahead files. An entry counts if its transaction is
// complete: if its end is there, or a later transaction, which the store begins only
// after this one was synced.
func (r *rawReader) writeAhead() error {
	files, err := databaseFiles(r.dir, ".mem")
	if err != nil {
		return ioError("listing the database", err)
	}
	type file struct {
		name    string
		bytes   []byte
		entries []logEntry
		holes   [][2]int
	}
	var all []file
	ended := map[uint64]bool{}
	var lastEnd uint64
	for _, path := range files {
		b, ok := r.whole(path)
		if !ok {
			continue
		}
		f := file{name: filepath.Base(path), bytes: b}
		f.entries, f.holes = logEntries(b)
		for i := range f.entries {
			if e := &f.entries[i]; e.meta&metaFin != 0 {
				if ts, err := strconv.ParseUint(string(e.value), 10, 64); err == nil && ts == e.ts {
					ended[ts], lastEnd = true, max(lastEnd, ts)
				}
			}
		}
		all = append(all, f)
	}
	for i := range all {
		for j := range all[i].entries {
			e := &all[i].entries[j]
			if e.meta&metaFin != 0 || !ended[e.ts] && e.ts >= lastEnd || r.without != 0 && e.ts == r.without {
				continue
			}
			r.wal.note(e)
			if err := r.entry(*e); err != nil {
				return err
			}
		}
	}
	for i := range all {
		f := &all[i]
		for _, h := range f.holes {
			if i == len(all)-1 && h[1] == len(f.bytes) && r.wal.lastFrame >= r.reaches {
				continue // the torn end that a crash leaves
			}
			r.damage(f.name, "bytes %d to %d cannot be read", h[0], h[1]-1)
			r.unlisted = true
		}
	}
	return nil
}

// logEntries decodes the entries of a write-ahead file. holes are the ranges of
// bytes that hold none.
func logEntries(b []byte) (entries []logEntry, holes [][2]int) {
	at := logHeaderSize
	for at < len(b) {
		if e, ok := nextLogEntry(b[at:]); ok {
			entries = append(entries, e)
			at += e.size
			continue
		}
		if len(bytes.Trim(b[at:], "\x00")) == 0 {
			return entries, holes // the space that is not used yet
		}
		next := nextPlace(b, at)
		holes = append(holes, [2]int{at, next})
		at = next
	}
	return entries, holes
}

// nextPlace returns where entries go on behind damage at at, or the end of b.
func nextPlace(b []byte, at int) int {
	for next := at + 1; next < len(b); next++ {
		// A value in these files is shorter than valueThreshold, so a longer row of
		// entries does not lie within one.
		if _, ok := nextLogEntry(b[next:]); ok && rowOfEntries(b[next:]) > valueThreshold {
			return next
		}
	}
	return len(b)
}

// rowOfEntries returns how many bytes at the front of b are entries.
func rowOfEntries(b []byte) (n int) {
	for n <= valueThreshold {
		e, ok := nextLogEntry(b[n:])
		if !ok {
			break
		}
		n += e.size
	}
	if len(bytes.Trim(b[n:], "\x00")) == 0 {
		return math.MaxInt // up to the end of the file
	}
	return n
}

// pointer decodes where a value stands. Badger stores it in the memory order of the
// machine.
func pointer(b []byte) (log, size, offset uint32) {
	return binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[8:])
}

// wholeRuns returns the messages of a block that pass their checks, as blocks of ids
// that follow each other.
func wholeRuns(key, value []byte) (runs []entry) {
	k, err := decodeBlock(key, value)
	if err != nil {
		return nil
	}
	var run messageBlock
	flush := func() {
		if len(run.ends) > 0 {
			runs = append(runs, entry{key: messageKey(run.first), value: run.seal(nil)})
		}
		run = messageBlock{}
	}
	for id := k.first; id <= k.last(); id++ {
		b, ok := k.bytesOf(id)
		if ok {
			m, err := decodeMessage(b)
			ok = err == nil && m.ID == id
		}
		if !ok {
			flush()
			continue
		}
		if len(run.ends) == 0 {
			run.first = id
		}
		run.body = append(run.body, b...)
		run.ends = append(run.ends, uint32(len(run.body)))
	}
	flush()
	return runs
}
