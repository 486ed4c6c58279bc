package persistence

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// Sizes of the Badger database, besides those of sizes.go. Small values stay in the LSM tree, the rest goes
// to the value log, which keeps the heap at a thirtieth of the default profile's.
// The threshold is above a block of one usual message, so that a lone post has
// one file to sync: that of the memtable.
const (
	memTables = 2

	// Badger refuses a transaction from 15 % of a memtable or that many nodes
	// of its skip list on; these stay clear of it.
	maxTxnBytes   = codec.MemTableSize * 14 / 100
	maxTxnEntries = maxTxnBytes / 96
)

func badgerOptions(dir string, log *badgerLog) badger.Options {
	return badger.DefaultOptions(dir).
		WithLogger(log).
		WithSyncWrites(true). // without it Badger acknowledges before the disk has anything
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithMemTableSize(codec.MemTableSize).
		WithNumMemtables(memTables).
		WithBaseTableSize(codec.BaseTableSize).
		WithNumLevelZeroTables(4).
		WithNumLevelZeroTablesStall(12).
		WithNumCompactors(2).
		WithBlockCacheSize(4 << 20).
		WithIndexCacheSize(4 << 20).
		WithValueThreshold(codec.ValueThreshold).
		WithValueLogFileSize(codec.ValueLogFileSize).
		WithCompression(options.None).
		// A table that fails its checksum while Badger opens it is skipped with a
		// line in the log, and a bad block ends an iteration as if there were no
		// more keys. verifyTables has checked them all before Badger sees them.
		WithChecksumVerificationMode(options.NoVerification)
}

// badgerLog hands Badger's log lines to slog and counts the errors: Badger only
// logs a failed sync of the value log and acknowledges the commit.
type badgerLog struct {
	log    *slog.Logger
	errors atomic.Int64
	first  atomic.Pointer[string]
	// opening is set while Badger opens: the user is told the outcome in the
	// store's own words.
	opening atomic.Bool
	// ended is told when a part of Badger had to be ended; nil: nobody is. See unlisted.
	ended atomic.Pointer[func(error)]

	mu   sync.Mutex
	seen map[string]*repeated // error lines by their format, which Badger has some dozens of
}

// repeated is an error line that may come again: Badger tries for ever, once a second, to
// flush a memtable.
type repeated struct {
	logged time.Time
	left   int // lines since then that were left out
}

// repeatAfter is how long an error of the same kind is not logged again.
const repeatAfter = time.Minute

// Lines that Badger logs as errors when a single value cannot be read. The read
// itself notices; they say nothing about a commit.
var readErrorLines = []string{"Unable to read", "Key: %v, Version", "Invalid read"}

func (l *badgerLog) Errorf(format string, args ...any) {
	for _, prefix := range readErrorLines {
		if strings.HasPrefix(format, prefix) {
			l.line(slog.LevelWarn, "a stored value cannot be read")
			return
		}
	}
	l.fault(format, codec.Redact(fmt.Sprintf(format, args...)))
	if err := unlisted(format, args); err != nil {
		l.end(err)
	}
}

// fault keeps an error and logs it.
func (l *badgerLog) fault(format, text string) {
	l.first.CompareAndSwap(nil, &text)
	l.errors.Add(1)
	level := slog.LevelError
	if l.opening.Load() {
		level = slog.LevelDebug
	}
	if ok, left := l.due(format); ok {
		if left > 0 {
			text = fmt.Sprintf("%s (and %d more like it in the last minutes)", text, left)
		}
		l.line(level, text)
	}
}

// due reports whether an error of this format is to be logged now, and how many before it
// were not.
func (l *badgerLog) due(format string) (ok bool, left int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[string]*repeated{}
	}
	r := l.seen[format]
	if r != nil && time.Since(r.logged) < repeatAfter {
		r.left++
		return false, 0
	}
	if r != nil {
		left = r.left
	}
	l.seen[format] = &repeated{logged: time.Now()}
	return true, left
}

// Lines by which Badger tells that it could not make a table, or merge tables. It tries both
// again, for ever.
var tableErrorLines = []string{"error flushing memtable to disk", "[Compactor: %d] LOG Compact FAILED"}

// unlisted returns why Badger's list of tables could not be written or synced, if a line says
// that, or nil. What the list says then is unknown: see withdraw.go. Everything that is
// written behind such an entry makes it harder to take back, so nothing may be tried again.
// Other errors change no list, such as a disk that has no room for a table.
func unlisted(format string, args []any) error {
	if !slices.ContainsFunc(tableErrorLines, func(line string) bool { return strings.HasPrefix(format, line) }) {
		return nil
	}
	for _, a := range args {
		if err, ok := a.(error); ok && strings.Contains(err.Error(), filepath.Join(storedir.NameBadger, badgerfile.NameManifest)) {
			return err
		}
	}
	return nil
}

// end ends the goroutine of Badger that logs a line. Those that wait for it go on.
func (l *badgerLog) end(why error) {
	if tell := l.ended.Load(); tell != nil {
		(*tell)(why)
	}
	runtime.Goexit()
}

func (l *badgerLog) Warningf(format string, args ...any) {
	if err := unlisted(format, args); err != nil {
		l.fault(format, "tables could not be merged: "+codec.Redact(err.Error()))
		l.end(err)
	}
	l.linef(slog.LevelWarn, format, args)
}
func (l *badgerLog) Infof(format string, args ...any) { l.linef(slog.LevelDebug, format, args) }
func (l *badgerLog) Debugf(string, ...any)            {}

func (l *badgerLog) linef(level slog.Level, format string, args []any) {
	if l.log.Enabled(context.Background(), level) {
		l.line(level, codec.Redact(fmt.Sprintf(format, args...)))
	}
}

func (l *badgerLog) line(level slog.Level, text string) {
	l.log.Log(context.Background(), level, "badger: "+text)
}

// failure returns the first error that was logged, or nil.
func (l *badgerLog) failure() error {
	if l.errors.Load() == 0 {
		return nil
	}
	if text := l.first.Load(); text != nil {
		return fmt.Errorf("badger: %s", *text)
	}
	return fmt.Errorf("badger logged an error")
}
