package persistence

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2/z"

	"hubcli/hub"
)

// Badger trusts its files. One flipped bit in a write-ahead file (.mem), in the
// newest value log or in the length of a manifest entry makes it cut the file off
// there and open without a word; a table with a bad block loses keys. So these
// files are read through before Badger sees them, and what it would cut off or
// skip is told apart from the torn end that a crash leaves.

// Badger's formats, as of version 4.
const (
	logHeaderSize  = 20 // of .mem and .vlog
	metaPointer    = 1 << 1
	metaTxn        = 1 << 6
	metaFin        = 1 << 7
	manifestHeader = 8
	txnKey         = "!badger!txn"
	registryText   = "Hello Badger"
	pointerSize    = 12
)

// walState is what the write-ahead files hold of complete transactions.
type walState struct {
	hasFrame  bool
	lastFrame hub.Seq           // highest first sequence number of a frame
	lastTS    uint64            // highest commit timestamp
	values    map[uint32]uint32 // end of the values pointed to, by value log
}

// sweepEmpty deletes zero-length .mem and .vlog files: Badger makes them before
// it gives them a size, and cannot open them. The store's lock is held.
func sweepEmpty(dir string) error {
	names, err := databaseFiles(dir, ".mem", ".vlog")
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := os.Lstat(name)
		if err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			err = os.Remove(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// databaseFiles lists the files of dir that end so, by rising number.
func databaseFiles(dir string, suffixes ...string) ([]string, error) {
	names, err := diskFS{}.ReadDir(dir)
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

// verifyDatabase checks Badger's files. clean says that the store was closed in
// order, so that nothing can be torn.
func verifyDatabase(dir string, clean bool) (walState, error) {
	wal := walState{values: map[uint32]uint32{}}
	mems, err := databaseFiles(dir, ".mem")
	if err != nil {
		return wal, ioError("listing the database", err)
	}
	for i, name := range mems {
		err := withMap(name, func(b []byte) error { return wal.scan(b, i == len(mems)-1) })
		if err != nil {
			return wal, corrupt("its write-ahead file "+filepath.Base(name)+" fails its checks", err)
		}
	}
	logs, err := databaseFiles(dir, ".vlog")
	if err != nil {
		return wal, ioError("listing the database", err)
	}
	if n := len(logs); n > 0 {
		number := fileNumber(logs[n-1])
		if err := withMap(logs[n-1], func(b []byte) error { return wal.checkValues(b, number, clean) }); err != nil {
			return wal, corrupt("its value log "+filepath.Base(logs[n-1])+" fails its checks", err)
		}
	}
	if err := verifyManifest(filepath.Join(dir, "MANIFEST")); err != nil {
		return wal, corrupt("its table list fails its checks", err)
	}
	if err := verifyKeyRegistry(filepath.Join(dir, "KEYREGISTRY")); err != nil {
		return wal, corrupt("its key registry fails its checks", err)
	}
	tables, err := databaseFiles(dir, ".sst")
	if err != nil {
		return wal, ioError("listing the database", err)
	}
	for _, name := range tables {
		if err := verifyTable(name); err != nil {
			return wal, corrupt("its table "+filepath.Base(name)+" fails its checksums", err)
		}
	}
	return wal, nil
}

// logEntry is one entry of a write-ahead file or value log.
type logEntry struct {
	meta       byte
	key, value []byte // the key without its timestamp
	ts         uint64
	size       int
}

// nextLogEntry decodes the entry at the front of b; false if it is none or is
// damaged.
func nextLogEntry(b []byte) (e logEntry, ok bool) {
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
	if crc32.Checksum(b[:end], castagnoli) != binary.BigEndian.Uint32(b[end:]) {
		return e, false
	}
	key := b[at : at+int(klen)]
	e = logEntry{
		meta: b[0], key: key[:klen-8], value: b[at+int(klen) : end],
		ts: math.MaxUint64 - binary.BigEndian.Uint64(key[klen-8:]), size: end + crc32.Size,
	}
	return e, true
}

// scan reads a write-ahead file as Badger would. A crash leaves at most one torn
// transaction, in the newest file; complete ones behind the place where Badger
// would stop mean damage.
func (w *walState) scan(b []byte, newest bool) error {
	if len(b) < logHeaderSize {
		return errors.New("it is shorter than its header")
	}
	at, end := logHeaderSize, logHeaderSize
	var open []logEntry
	for {
		e, ok := nextLogEntry(b[at:])
		if !ok {
			break
		}
		at += e.size
		if e.meta&metaFin == 0 {
			if e.meta&metaTxn == 0 || len(open) > 0 && open[0].ts != e.ts {
				break
			}
			open = append(open, e)
			continue
		}
		if ts, err := strconv.ParseUint(string(e.value), 10, 64); err != nil || len(open) == 0 || ts != open[0].ts {
			break
		}
		for i := range open {
			w.note(&open[i])
		}
		open, end = open[:0], at
	}
	lost := countCommits(b[end:])
	if lost > 1 || lost == 1 && !newest {
		return fmt.Errorf("%d transactions lie behind a damaged one at byte %d", lost, end)
	}
	return nil
}

// note takes an entry of a complete transaction.
func (w *walState) note(e *logEntry) {
	w.lastTS = max(w.lastTS, e.ts)
	if number, ok := bytes.CutPrefix(e.key, []byte(prefixFrame)); ok && len(number) == 8 && e.meta&1 == 0 {
		w.hasFrame = true
		w.lastFrame = max(w.lastFrame, hub.Seq(binary.BigEndian.Uint64(number)))
	}
	if e.meta&metaPointer != 0 && len(e.value) == pointerSize {
		// Badger stores pointers in the memory order of the machine.
		log, size, offset := binary.NativeEndian.Uint32(e.value), binary.NativeEndian.Uint32(e.value[4:]), binary.NativeEndian.Uint32(e.value[8:])
		w.values[log] = max(w.values[log], offset+size)
	}
}

// countCommits counts the intact ends of transactions in b.
func countCommits(b []byte) (n int) {
	const header = 5 // meta, user meta, and three lengths of one byte
	for {
		i := bytes.Index(b, []byte(txnKey))
		if i < 0 {
			return n
		}
		if i >= header {
			if e, ok := nextLogEntry(b[i-header:]); ok && e.meta&metaFin != 0 {
				n++
			}
		}
		b = b[i+len(txnKey):]
	}
}

// checkValues reads the newest value log as Badger would. What complete
// transactions point to must lie before the place where it would stop, and after
// a clean close nothing may lie behind it.
func (w *walState) checkValues(b []byte, number uint32, clean bool) error {
	at := logHeaderSize
	if len(b) < at {
		return errors.New("it is shorter than its header")
	}
	for {
		e, ok := nextLogEntry(b[at:])
		if !ok {
			break
		}
		at += e.size
	}
	if w.values[number] > uint32(at) {
		return fmt.Errorf("values up to byte %d are in use, it is intact up to %d", w.values[number], at)
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
func (w *walState) valuesBehind(b []byte) int {
	seen := map[uint64]bool{}
	known := 0
	for i := 0; i+2 < len(b) && len(seen)+known < 2; {
		if b[i] != 0 || b[i+1] != 0 || b[i+2] == 0 {
			i++
			continue
		}
		e, ok := nextLogEntry(b[i:])
		if !ok || len(e.key) < 2 || e.key[1] != '/' {
			i++
			continue
		}
		if !seen[e.ts] && e.ts <= w.lastTS {
			known++
		}
		seen[e.ts] = true
		i += e.size
	}
	return len(seen) + known
}

// verifyManifest checks every entry of Badger's list of tables. One that ends
// beyond the file is torn and was never in force, unless a shorter one with its
// checksum stands there: then its length is damaged, and Badger would drop it and
// delete the tables it names.
func verifyManifest(name string) error {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(b, []byte("Bdgr\x00\x00\x00\x08")) {
		return errors.New("its beginning is damaged")
	}
	for at := manifestHeader; at+8 <= len(b); {
		length, sum := uint64(binary.BigEndian.Uint32(b[at:])), binary.BigEndian.Uint32(b[at+4:])
		body := b[at+8:]
		if length <= uint64(len(body)) {
			if crc32.Checksum(body[:length], castagnoli) != sum {
				return fmt.Errorf("the entry at byte %d is damaged", at)
			}
			at += 8 + int(length)
			continue
		}
		var c uint32
		for i := range body {
			if c = crc32.Update(c, castagnoli, body[i:i+1]); c == sum {
				return fmt.Errorf("the length of the entry at byte %d is damaged", at)
			}
		}
		return nil
	}
	return nil
}

// verifyKeyRegistry checks Badger's file of encryption keys, of which there are
// none: 16 random bytes and a fixed text.
func verifyKeyRegistry(name string) error {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && (len(b) != 16+len(registryText) || string(b[16:]) != registryText) {
		err = errors.New("it is not as Badger wrote it")
	}
	return err
}

// verifyTable reads a table through and checks every block.
func verifyTable(name string) (err error) {
	defer guardMap(&err)()
	m, err := z.OpenMmapFile(name, os.O_RDONLY, 0)
	if err != nil {
		return redacted{err}
	}
	// Not Close of the table: it would truncate, and its last reference deletes.
	if _, err := table.OpenTable(m, table.Options{ReadOnly: true, ChkMode: options.OnTableRead, Compression: options.None, BlockSize: 4096}); err != nil {
		return redacted{err}
	}
	return m.Close(-1)
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
		return redacted{err}
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
			*err = fmt.Errorf("damaged: %s", redact(fmt.Sprint(r)))
		}
	}
}
