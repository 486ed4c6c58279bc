package badgerfile

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"hubcli/persistence/storedir"
)

// Badger writes the values of a transaction to a value log, syncs that, and then writes the transaction to its
// write-ahead file. If the sync fails it goes on all the same (see commit), and the system may still write the pages
// of the write-ahead file: on a disk that fails, a transaction is complete there whose values have never come to the
// disk. Nobody was told of it, since the commit has failed. So it is torn like one of which the write-ahead file has
// half, and a start cuts it off.
//
// It is told apart from damage to a transaction that was acknowledged: it is the last one, no other points to what is
// missing, and the value log is blank from the beginning of a page within its values on. Files grow by pages that are
// blank until they are written, and a disk that rots leaves no such end.

// PageSize is the least unit in which a system writes what is mapped.
const PageSize = 4096

// tornEnd is the last transaction of the newest write-ahead file, which was never synced.
type tornEnd struct {
	name  string // of that file
	begin int    // of the transaction, in bytes
	Ts    uint64 // of its commit
}

// Unsynced reports whether a value log, which is whole up to the byte at, lacks values of the last transaction
// alone, because they were never written: it is blank from the beginning of a page within them on.
func (w *WalState) Unsynced(b []byte, number uint32, at int) bool {
	before, used := int(w.last.before[number]), int(w.Values[number])
	if w.last.ts == 0 || at < before || at >= used || used > len(b) {
		return false
	}
	end := at + len(bytes.TrimRight(b[at:used], "\x00"))
	end = (end + PageSize - 1) / PageSize * PageSize
	return end < used && len(bytes.Trim(untilBlank(b[used:]), "\x00")) == 0
}

// withoutLast reads the write-ahead files without their last transaction, which a start is to cut off.
func (d *Database) withoutLast(mems []string) error {
	last := d.Wal.last
	d.Torn = &tornEnd{name: mems[len(mems)-1], begin: last.begin, Ts: last.ts}
	d.Wal = WalState{Values: map[uint32]uint32{}, blocks: map[uint64]bool{}}
	return d.scanLogs(mems)
}

// cutTorn blanks the transaction that was never synced, and what is torn behind it, in its write-ahead file: Badger stops
// there.
func (d *Database) cutTorn(log *slog.Logger) error {
	if d.Torn == nil {
		return nil
	}
	log.Warn("the last transaction of the database was dropped: a disk that failed has kept its values from being written, and nobody was told that it is done",
		"file", filepath.Base(d.Torn.name), "byte", d.Torn.begin)
	f, err := os.OpenFile(d.Torn.name, os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(blankFrom(f, int64(d.Torn.begin)), f.Sync(), f.Close())
	}
	if err != nil {
		return storedir.IOError("cutting "+storedir.NameBadger+"/"+filepath.Base(d.Torn.name), err)
	}
	return nil
}

// blankFrom writes zeros over a file from an offset on, as far as it has anything else.
func blankFrom(f *os.File, offset int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	b := make([]byte, info.Size()-offset)
	if _, err := f.ReadAt(b, offset); err != nil {
		return err
	}
	n := len(bytes.TrimRight(b, "\x00"))
	clear(b[:n])
	_, err = f.WriteAt(b[:n], offset)
	return err
}
