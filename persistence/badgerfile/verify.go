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
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/ristretto/v2/z"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// Badger trusts its files. One flipped bit in a write-ahead file (.mem), in the
// newest value log or in the length of a manifest entry makes it cut the file off
// there and open without a word; a table with a bad block loses keys. So these
// files are read through before Badger sees them, and what it would cut off or
// skip is told apart from the torn end that a crash leaves. So are the files that
// nothing refers to: see debris.go.

// Badger's formats, as of version 4.
const (
	LogHeaderSize  = 20 // of .mem and .vlog
	MetaDelete     = 1 << 0
	metaPointer    = 1 << 1
	MetaTxn        = 1 << 6
	MetaFin        = 1 << 7
	ManifestHeader = 8
	TxnKey         = "!badger!txn"
	registryText   = "Hello Badger"
	pointerSize    = 12
	NameRegistry   = "KEYREGISTRY"
)

// WalState is what the write-ahead files hold of complete transactions.
type WalState struct {
	HasFrame  bool
	LastFrame hub.Seq           // highest first sequence number of a frame
	lastTS    uint64            // highest commit timestamp
	stamps    map[uint64]bool   // commit timestamps; nil: they are not collected
	Values    map[uint32]uint32 // end of the values pointed to, by value log
	blocks    map[uint64]bool   // numbers of the blocks of messages
	Entries   []LogEntry        // all of them; nothing is shared with a file
	last      transaction       // of the newest file, if nothing is torn behind it
}

// transaction is a complete one in a write-ahead file.
type transaction struct {
	ts         uint64            // of its commit; 0: there is none
	begin, end int               // its bytes in the file
	before     map[uint32]uint32 // end of the values that others point to, by value log
}

// DatabaseFiles lists the files of dir that end so, by rising number.
func DatabaseFiles(dir string, suffixes ...string) ([]string, error) {
	names, err := storedir.DiskFS{}.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var found []string
	for _, name := range names {
		if slices.Contains(suffixes, filepath.Ext(name)) {
			found = append(found, filepath.Join(dir, name))
		}
	}
	slices.SortFunc(found, func(a, b string) int { return int(fileNumber(a)) - int(fileNumber(b)) })
	return found, err
}

func fileNumber(name string) uint32 {
	base := filepath.Base(name)
	n, _ := strconv.ParseUint(strings.TrimSuffix(base, filepath.Ext(base)), 10, 31)
	return uint32(n)
}

// Database is what Badger's files hold, as read before Badger opens them.
type Database struct {
	Dir    string
	Wal    WalState
	List   TableList
	debris []string // names of unneeded files that a crash left
	Torn   *tornEnd // a transaction that never was synced; nil: there is none
}

// VerifyDatabase checks Badger's files and changes nothing. clean says that the
// store was closed in order, so that nothing can be torn.
func VerifyDatabase(dir string, clean bool) (*Database, error) {
	d := &Database{Dir: dir, Wal: WalState{Values: map[uint32]uint32{}, blocks: map[uint64]bool{}}}
	err := d.verifyPlain()
	if err == nil {
		err = d.VerifyLogs(clean)
	}
	if err != nil {
		return d, err
	}
	list, registry, discard := filepath.Join(dir, NameManifest), filepath.Join(dir, NameRegistry), filepath.Join(dir, NameDiscard)
	if d.List, err = ReadTableList(list); err != nil {
		return d, storedir.Failed("its table list fails its checks", list, err)
	}
	if err := verifyKeyRegistry(registry); err != nil {
		return d, storedir.Failed("its key registry fails its checks", registry, err)
	}
	if err := verifyDiscard(discard); err != nil {
		return d, storedir.Failed("its statistics, "+storedir.NameBadger+"/"+NameDiscard+", cannot be opened", discard, err)
	}
	return d, d.verifyTables()
}

// verifyPlain finds names that are no files: opening a pipe would never end.
func (d *Database) verifyPlain() error {
	names, err := storedir.DiskFS{}.ReadDir(d.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storedir.IOError("listing the database", err)
	}
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(d.Dir, name)); err == nil && !info.Mode().IsRegular() && name != NameAside {
			e := storedir.Corrupt("its folder "+storedir.NameBadger+" holds "+strconv.Quote(name)+", which is no file of a store", nil)
			e.Fix = "nothing has been changed; move that file to another place and start again"
			return e
		}
	}
	return nil
}

// VerifyLogs checks the write-ahead files and the newest value log. Empty ones
// are debris: Badger makes them before it gives them a size, and takes the size
// from them before it removes them.
func (d *Database) VerifyLogs(clean bool) error {
	mems, err := d.filled(".mem")
	if err != nil {
		return err
	}
	if err := d.scanLogs(mems); err != nil {
		return err
	}
	logs, err := d.filled(".vlog")
	if err != nil || len(logs) == 0 {
		return err
	}
	for _, name := range logs {
		if err := withMap(name, checkLogHeader); err != nil {
			return storedir.Failed("its value log "+filepath.Base(name)+" fails its checks", name, err)
		}
	}
	newest := logs[len(logs)-1]
	err = withMap(newest, func(b []byte) error {
		number, at := fileNumber(newest), IntactValues(b)
		if !clean && d.Wal.Unsynced(b, number, at) {
			if err := d.withoutLast(mems); err != nil {
				return err
			}
		}
		return d.Wal.CheckValues(b, number, at, clean)
	})
	if err != nil {
		return storedir.Failed("its value log "+filepath.Base(newest)+" fails its checks", newest, err)
	}
	return nil
}

// scanLogs reads the write-ahead files.
func (d *Database) scanLogs(mems []string) error {
	for i, name := range mems {
		err := withMap(name, func(b []byte) error {
			if d.Torn != nil && name == d.Torn.name {
				b = b[:d.Torn.begin]
			}
			return errors.Join(checkLogHeader(b), d.Wal.Scan(b, i == len(mems)-1))
		})
		if err != nil {
			return storedir.Failed("its write-ahead file "+filepath.Base(name)+" fails its checks", name, err)
		}
	}
	return nil
}

// checkLogHeader looks at the key that a log is encrypted with. No store has one, and Badger
// does not open a log of another key, even if it is empty.
func checkLogHeader(b []byte) error {
	if len(b) >= LogHeaderSize && binary.BigEndian.Uint64(b) != 0 {
		return errors.New("its header names a key that the store does not have")
	}
	return nil
}

// filled lists the files that end so and are not empty, by rising number. The
// empty ones are noted as debris.
func (d *Database) filled(suffix string) (names []string, err error) {
	all, err := DatabaseFiles(d.Dir, suffix)
	if err != nil {
		return nil, storedir.IOError("listing the database", err)
	}
	for _, name := range all {
		base := filepath.Base(name)
		if _, err := strconv.ParseUint(strings.TrimSuffix(base, suffix), 10, 31); err != nil {
			e := storedir.Corrupt("its folder "+storedir.NameBadger+" holds "+strconv.Quote(base)+", which is no file of a store", nil)
			e.Fix = "nothing has been changed; move that file to another place and start again"
			return nil, e
		}
		info, err := os.Lstat(name)
		if err != nil {
			return nil, storedir.IOError("listing the database", err)
		}
		if info.Mode().IsRegular() && info.Size() == 0 {
			d.debris = append(d.debris, base)
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

// LogEntry is one entry of a write-ahead file or value log.
type LogEntry struct {
	Meta, User byte
	Key, Value []byte // the key without its timestamp
	Ts         uint64
	Expires    uint64 // Unix seconds, 0 never
	Size       int
}

// NextLogEntry decodes the entry at the front of b; false if it is none or is
// damaged.
func NextLogEntry(b []byte) (e LogEntry, ok bool) {
	if len(b) < 2 {
		return e, false
	}
	at := 2
	var numbers [3]uint64 // key length, value length, expiry
	for i := range numbers {
		v, n := binary.Uvarint(b[at:])
		if n <= 0 {
			return e, false
		}
		numbers[i], at = v, at+n
	}
	klen, vlen := numbers[0], numbers[1]
	if klen < 8 || klen > math.MaxUint16 || vlen > math.MaxInt32 || uint64(len(b)-at) < klen+vlen+crc32.Size {
		return e, false
	}
	end := at + int(klen+vlen)
	if crc32.Checksum(b[:end], codec.Castagnoli) != binary.BigEndian.Uint32(b[end:]) {
		return e, false
	}
	key := b[at : at+int(klen)]
	e = LogEntry{
		Meta: b[0], User: b[1], Key: key[:klen-8], Value: b[at+int(klen) : end], Expires: numbers[2],
		Ts: math.MaxUint64 - binary.BigEndian.Uint64(key[klen-8:]), Size: end + crc32.Size,
	}
	return e, true
}

// Scan reads a write-ahead file as Badger would. A crash leaves at most one torn
// transaction, in the newest file; complete ones behind the place where Badger
// would stop mean damage.
func (w *WalState) Scan(b []byte, newest bool) error {
	if len(b) < LogHeaderSize {
		return errors.New("it is shorter than its header")
	}
	at, end := LogHeaderSize, LogHeaderSize
	var open []LogEntry
	for {
		e, ok := NextLogEntry(b[at:])
		if !ok {
			break
		}
		at += e.Size
		if e.Meta&MetaTxn == 0 && len(open) == 0 {
			// Badger takes such an entry into its memtable, and ends the process when the
			// memtable is full.
			return fmt.Errorf("byte %d begins an entry of no transaction, as in a value log", at-e.Size)
		}
		if e.Meta&MetaFin == 0 {
			if e.Meta&MetaTxn == 0 || len(open) > 0 && open[0].Ts != e.Ts {
				break
			}
			open = append(open, e)
			continue
		}
		if ts, err := strconv.ParseUint(string(e.Value), 10, 64); err != nil || len(open) == 0 || ts != open[0].Ts {
			break
		}
		if newest {
			w.last = transaction{ts: open[0].Ts, begin: end, end: at, before: maps.Clone(w.Values)}
		}
		for i := range open {
			w.note(&open[i])
		}
		open, end = open[:0], at
	}
	lost := countCommits(b[end:])
	if lost > 0 {
		w.last = transaction{}
	}
	if lost > 1 || lost == 1 && !newest {
		return fmt.Errorf("%d transactions lie behind a damaged one at byte %d", lost, end)
	}
	return nil
}

// note takes an entry of a complete transaction.
func (w *WalState) note(e *LogEntry) {
	w.lastTS = max(w.lastTS, e.Ts)
	mine := *e
	mine.Key, mine.Value = bytes.Clone(e.Key), bytes.Clone(e.Value)
	w.Entries = append(w.Entries, mine)
	if w.stamps != nil {
		w.stamps[e.Ts] = true
	}
	if number, ok := bytes.CutPrefix(e.Key, []byte(codec.PrefixFrame)); ok && len(number) == 8 && e.Meta&MetaDelete == 0 {
		w.HasFrame = true
		w.LastFrame = max(w.LastFrame, hub.Seq(binary.BigEndian.Uint64(number)))
	}
	if number, ok := bytes.CutPrefix(e.Key, []byte(codec.PrefixMessage)); ok && len(number) == 8 && w.blocks != nil {
		w.blocks[binary.BigEndian.Uint64(number)] = true
	}
	if e.Meta&metaPointer != 0 && len(e.Value) == pointerSize {
		log, size, offset := pointer(e.Value)
		w.Values[log] = max(w.Values[log], offset+size)
	}
}

// countCommits counts the intact ends of transactions in b.
func countCommits(b []byte) (n int) {
	const header = 5 // meta, user meta, and three lengths of one byte
	for {
		i := bytes.Index(b, []byte(TxnKey))
		if i < 0 {
			return n
		}
		if i >= header {
			if e, ok := NextLogEntry(b[i-header:]); ok && e.Meta&MetaFin != 0 {
				n++
			}
		}
		b = b[i+len(TxnKey):]
	}
}

// CheckValues looks at the newest value log, which Badger would read up to the byte at. What complete
// transactions point to must lie before that, and after a clean close nothing may lie behind it.
func (w *WalState) CheckValues(b []byte, number uint32, at int, clean bool) error {
	if len(b) < LogHeaderSize {
		return errors.New("it is shorter than its header")
	}
	if w.Values[number] > uint32(at) {
		return fmt.Errorf("values up to byte %d are in use, it is intact up to %d", w.Values[number], at)
	}
	rest := untilBlank(b[at:])
	if clean && len(bytes.Trim(rest, "\x00")) > 0 {
		return fmt.Errorf("it goes on behind damage at byte %d", at)
	}
	if behind := w.valuesBehind(rest); behind > 1 {
		return fmt.Errorf("values of %d transactions lie behind damage at byte %d", behind, at)
	}
	return nil
}

// IntactValues returns where Badger would stop to read a value log.
func IntactValues(b []byte) int {
	at := LogHeaderSize
	for at < len(b) {
		e, ok := NextLogEntry(b[at:])
		if !ok {
			break
		}
		at += e.Size
	}
	return at
}

// untilBlank cuts b where a mebibyte of zeros begins: files are sparse at their
// end, and no value of ours holds so many zeros.
func untilBlank(b []byte) []byte {
	const blank = 1 << 20
	zero := make([]byte, blank)
	for at := 0; at+blank <= len(b); at += blank {
		if bytes.Equal(b[at:at+blank], zero) {
			return b[:at]
		}
	}
	return b
}

// valuesBehind counts the transactions that have intact values in b; one that the
// write-ahead files know as complete counts double, as it cannot be torn.
func (w *WalState) valuesBehind(b []byte) int {
	seen := map[uint64]bool{}
	known := 0
	for i := 0; i+2 < len(b) && len(seen)+known < 2; {
		if b[i] != 0 || b[i+1] != 0 || b[i+2] == 0 {
			i++
			continue
		}
		e, ok := NextLogEntry(b[i:])
		if !ok || len(e.Key) < 2 || e.Key[1] != '/' {
			i++
			continue
		}
		if !seen[e.Ts] && e.Ts <= w.lastTS {
			known++
		}
		seen[e.Ts] = true
		i += e.Size
	}
	return len(seen) + known
}

// verifyKeyRegistry checks Badger's file of encryption keys, of which there are
// none: 16 random bytes and a fixed text.
func verifyKeyRegistry(name string) error {
	b, err := osfile.ReadSmall(name, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && (len(b) != 16+len(registryText) || string(b[16:]) != registryText) {
		err = errors.New("it is not as Badger wrote it")
	}
	return err
}

// verifyDiscard looks whether Badger can open its statistics of what it could
// delete: it ends the process if it cannot. What they hold needs no check.
func verifyDiscard(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// withMap runs fn on the contents of a file without reading it into the heap.
func withMap(name string, fn func([]byte) error) (err error) {
	defer guardMap(&err)()
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	b, err := z.Mmap(f, false, info.Size())
	if err != nil {
		return codec.Redacted{Err: err}
	}
	defer func() { _ = z.Munmap(b) }()
	return fn(b)
}

// guardMap is deferred as guardMap(&err)(): between the two calls a panic over
// damaged bytes, or over a page that the disk cannot read, becomes an error.
func guardMap(err *error) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			*err = fmt.Errorf("damaged: %s", codec.Redact(fmt.Sprint(r)))
		}
	}
}

// Writable refuses a database with files to which this user may not write: Badger would fail
// in the middle of its start.
func (d *Database) Writable() error {
	files, err := DatabaseFiles(d.Dir, ".mem", ".vlog", ".sst")
	if err != nil {
		return storedir.IOError("listing the database", err)
	}
	for _, path := range append(files, filepath.Join(d.Dir, NameManifest), filepath.Join(d.Dir, NameRegistry)) {
		if err := osfile.Writable(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return storedir.IOError("looking at the database", err)
		}
	}
	return nil
}
