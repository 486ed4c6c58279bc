package badgerfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"strconv"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"
)

// writeAhead reads the write-ahead files. An entry counts if its transaction is
// complete: if its end is there, or a later transaction, which the store begins only
// after this one was synced.
func (r *RawReader) writeAhead() error {
	files, err := DatabaseFiles(r.Dir, ".mem")
	if err != nil {
		return storedir.IOError("listing the database", err)
	}
	type file struct {
		name    string
		bytes   []byte
		entries []LogEntry
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
		f.entries, f.holes = LogEntries(b)
		for i := range f.entries {
			if e := &f.entries[i]; e.Meta&MetaFin != 0 {
				if ts, err := strconv.ParseUint(string(e.Value), 10, 64); err == nil && ts == e.Ts {
					ended[ts], lastEnd = true, max(lastEnd, ts)
				}
			}
		}
		all = append(all, f)
	}
	for i := range all {
		for j := range all[i].entries {
			e := &all[i].entries[j]
			if e.Meta&MetaFin != 0 || !ended[e.Ts] && e.Ts >= lastEnd || r.Without != 0 && e.Ts == r.Without {
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
			if i == len(all)-1 && h[1] == len(f.bytes) && r.wal.LastFrame >= r.Reaches {
				continue // the torn end that a crash leaves
			}
			r.damage(f.name, "bytes %d to %d cannot be read", h[0], h[1]-1)
			r.Unlisted = true
		}
	}
	return nil
}

// LogEntries decodes the entries of a write-ahead file. holes are the ranges of
// bytes that hold none.
func LogEntries(b []byte) (entries []LogEntry, holes [][2]int) {
	at := LogHeaderSize
	for at < len(b) {
		if e, ok := NextLogEntry(b[at:]); ok {
			entries = append(entries, e)
			at += e.Size
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
		if _, ok := NextLogEntry(b[next:]); ok && rowOfEntries(b[next:]) > codec.ValueThreshold {
			return next
		}
	}
	return len(b)
}

// rowOfEntries returns how many bytes at the front of b are entries.
func rowOfEntries(b []byte) (n int) {
	for n <= codec.ValueThreshold {
		e, ok := NextLogEntry(b[n:])
		if !ok {
			break
		}
		n += e.Size
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

// WholeRuns returns the messages of a block that pass their checks, as blocks of ids
// that follow each other.
func WholeRuns(key, value []byte) (runs []codec.Entry) {
	k, err := codec.DecodeBlock(key, value)
	if err != nil {
		return nil
	}
	var run codec.MessageBlock
	flush := func() {
		if len(run.Ends) > 0 {
			runs = append(runs, codec.Entry{Key: codec.MessageKey(run.First), Value: run.Seal(nil)})
		}
		run = codec.MessageBlock{}
	}
	for id := k.First; id <= k.Last(); id++ {
		b, ok := k.BytesOf(id)
		if ok {
			m, err := codec.DecodeMessage(b)
			ok = err == nil && m.ID == id
		}
		if !ok {
			flush()
			continue
		}
		if len(run.Ends) == 0 {
			run.First = id
		}
		run.Body = append(run.Body, b...)
		run.Ends = append(run.Ends, uint32(len(run.Body)))
	}
	flush()
	return runs
}
