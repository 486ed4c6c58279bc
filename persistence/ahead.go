package persistence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hubcli/persistence/codec"

	"github.com/dgraph-io/badger/v4"
)

// ahead keeps real blocks under those parts of Badger's two open logs, of the
// memtable and of values, that the next commits write. Badger maps sparse
// files: a page without a block on a full disk is a SIGBUS, and no error. Other
// programs cannot take reserved blocks, however fast they fill the disk.
//
// The place where Badger writes is not visible from outside, so it is estimated
// from above: the true place is never beyond the estimate. A commit that may
// begin a new log (the counted place is beyond a log's size) is not covered.
//
// Only the goroutine that commits uses it.
type ahead struct {
	dir    string
	extend func(name string, size int64) error // gives the file blocks up to size; a seam for tests
	mem    aheadLog
	values aheadLog
	off    bool // the file system cannot reserve: nothing is ever covered
}

// aheadLog is one of the two logs.
type aheadLog struct {
	suffix string
	number int   // of the file that is written now
	full   int64 // bytes from which on Badger begins the next file
	chunk  int64 // bytes that are reserved at a time
	at     int64 // bytes that have been written, at most
	blocks int64 // bytes that have blocks
}

// manifestAhead is reserved behind the end of Badger's list of tables whenever
// a memtable begins. It grows by some hundred bytes until the next one does. A
// line that a full disk cuts in half would spoil the list for the lines behind
// it.
const manifestAhead = 64 << 10

const (
	// entryOverhead is more than Badger adds to an entry: in its log a header of
	// up to 22 bytes, a version and a CRC; in the memtable a node.
	entryOverhead = 128
	// txnOverhead is more than the mark at the end of a transaction takes.
	txnOverhead = 128
	logHeader   = 20
)

// newAhead begins with the newest logs in dir: Badger makes both when it is
// opened.
func newAhead(dir string) (*ahead, error) {
	a := &ahead{
		dir: dir, extend: extendFile, off: !writesInPlace(dir),
		mem:    aheadLog{suffix: ".mem", full: codec.MemTableSize, chunk: codec.MemTableSize + maxTxnBytes},
		values: aheadLog{suffix: ".vlog", full: codec.ValueLogFileSize, chunk: MaxGroupBytes},
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		for _, l := range []*aheadLog{&a.mem, &a.values} {
			digits, ok := strings.CutSuffix(f.Name(), l.suffix)
			if n, err := strconv.Atoi(digits); ok && err == nil {
				l.number = max(l.number, n)
			}
		}
	}
	a.mem.at, a.values.at = logHeader, logHeader
	a.coverManifest()
	return a, nil
}

// coverManifest reserves blocks for the list of tables, which Badger makes anew
// now and then.
func (a *ahead) coverManifest() {
	name := filepath.Join(a.dir, badger.ManifestFilename)
	if info, err := os.Stat(name); err == nil && !a.off {
		_ = a.extend(name, info.Size()+manifestAhead) // best effort
	}
}

func (a *ahead) name(l *aheadLog, number int) string {
	return filepath.Join(a.dir, fmt.Sprintf(logNameFormat(l.suffix), number, l.suffix))
}

// logNameFormat is how Badger names the files of a log.
func logNameFormat(suffix string) string {
	if suffix == ".vlog" {
		return "%06d%s"
	}
	return "%05d%s"
}

// sizes returns what entries take at most in the two logs.
func sizes(entries []codec.Entry) (mem, values int64) {
	mem = txnOverhead
	for i := range entries {
		e := &entries[i]
		mem += e.Cost() + entryOverhead
		if len(e.Value) >= codec.ValueThreshold {
			values += int64(len(e.Key)+len(e.Value)) + entryOverhead
		}
	}
	return mem, values
}

// cover reserves blocks for entries. It reports whether their commit needs no
// further block: it writes to reserved blocks and begins no new log.
func (a *ahead) cover(entries []codec.Entry) bool {
	mem, values := sizes(entries)
	inMem, inValues := a.reserve(&a.mem, mem), a.reserve(&a.values, values)
	return inMem && inValues && !a.off
}

// fits reports whether the log is not full before size bytes more.
func (l *aheadLog) fits(size int64) bool { return l.at+size < l.full }

// reserve gives a log blocks for size more bytes. It returns false if the disk
// has none or the log would be full.
func (a *ahead) reserve(l *aheadLog, size int64) bool {
	need := l.at + size
	switch {
	case a.off || !l.fits(size):
		return false
	case need <= l.blocks:
		return true
	}
	want := max(need, l.blocks+l.chunk)
	err := a.extend(a.name(l, l.number), want)
	if err == nil {
		l.blocks = want
		return true
	}
	a.off = errors.Is(err, errors.ErrUnsupported)
	return false
}

// wrote counts what a commit has written, and notices the logs that Badger has
// begun for it.
func (a *ahead) wrote(entries []codec.Entry) {
	mem, values := sizes(entries)
	a.advance(&a.mem, mem)
	a.advance(&a.values, values)
}

func (a *ahead) advance(l *aheadLog, size int64) {
	l.at += size
	for l.at >= l.full {
		if _, err := os.Stat(a.name(l, l.number+1)); err != nil {
			return // Badger counts less, and still writes the same log
		}
		l.number++
		l.at, l.blocks = logHeader+size, 0
		if l == &a.mem {
			a.coverManifest()
		}
	}
}
