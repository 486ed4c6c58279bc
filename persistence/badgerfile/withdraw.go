package badgerfile

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"hubcli/persistence/storedir"

	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"

	"hubcli/internal/osfile"
)

// Badger writes an entry to its list of tables and syncs the list. If the sync fails, it
// deletes the new tables at once, but their entry stays in the file: the list names tables
// that are not there. Such an entry never came into force, and a start takes it back where
// the files prove that this loses nothing:
//
//   - A merge adds tables and drops those from which they were made. Badger deletes the old
//     ones only after the sync. If all of the old are there and none of the new, the entry
//     had no effect.
//   - A flush adds one table of level 0, and deletes the write-ahead file of the same
//     commits only after the sync. Commits have timestamps without gaps, and a later table
//     has later ones. So nothing is missing if the write-ahead files have all of them from
//     where the tables end that are there.
//
// badgerLog makes sure that Badger does not try the same again in the same process: then
// the commits would be in a table of another number.

// tableSet is an entry of the list of tables: changes that come into force together.
type tableSet struct {
	at, end     int64    // its bytes in the file
	adds, drops []string // names of tables
	flush       bool     // it adds a table of level 0 and does nothing else
}

// withdraw takes back the entries that never came into force. It leaves the list as it is
// if tables would be missing all the same. there are the tables in the folder dir.
func (l *TableList) withdraw(dir string, there map[string]bool) error {
	named, taken := maps.Clone(l.Named), []tableSet(nil)
	keptFlush, takenFlush := false, false
	for _, e := range slices.Backward(l.entries) {
		switch {
		case !e.without(there, named):
			keptFlush = keptFlush || e.flush
		case e.flush && !keptFlush:
			takenFlush = true
			fallthrough
		case len(e.drops) > 0:
			for _, name := range e.adds {
				delete(named, name)
			}
			for _, name := range e.drops {
				named[name] = true
			}
			taken = append(taken, e)
		}
	}
	for name := range named {
		if !there[name] {
			return nil
		}
	}
	if takenFlush {
		if ok, err := logsGoOn(dir, named); err != nil || !ok {
			return err
		}
	}
	l.Named, l.withdrawn = named, taken
	return nil
}

// without reports whether none of the tables that an entry adds is there, though they are
// in force, and all that it drops are there, though they are not.
func (e *tableSet) without(there, named map[string]bool) bool {
	for _, name := range e.adds {
		if there[name] || !named[name] {
			return false
		}
	}
	for _, name := range e.drops {
		if !there[name] || named[name] {
			return false
		}
	}
	return len(e.adds) > 0
}

// logsGoOn reports whether the write-ahead files have commits from where the tables end, and
// all of them.
func logsGoOn(dir string, tables map[string]bool) (bool, error) {
	mems, err := DatabaseFiles(dir, ".mem")
	if err != nil {
		return false, storedir.IOError("listing the database", err)
	}
	mems = slices.DeleteFunc(mems, func(name string) bool { // debris; see filled
		info, err := os.Stat(name)
		return err == nil && info.Size() == 0
	})
	w := WalState{stamps: map[uint64]bool{}, Values: map[uint32]uint32{}}
	for i, name := range mems {
		err := withMap(name, func(b []byte) error { return w.Scan(b, i == len(mems)-1) })
		if err != nil {
			return false, nil // it is told of elsewhere
		}
	}
	var last uint64
	for name := range tables {
		path := filepath.Join(dir, name)
		err := withTable(path, options.NoVerification, func(t *table.Table) error {
			last = max(last, t.MaxVersion())
			return nil
		})
		if err != nil {
			return false, nil // the same
		}
	}
	for ts := last + 1; ts <= w.lastTS; ts++ {
		if !w.stamps[ts] {
			return false, nil
		}
	}
	return w.lastTS > last, nil
}

// mendList writes the list without what never came into force: a torn entry at its end,
// which Badger would cut off unless it is longer than the whole file, and the entries that
// were taken back.
func (d *Database) mendList(log *slog.Logger) error {
	if len(d.List.withdrawn) == 0 {
		return d.cutList(log)
	}
	log.Warn("entries of the database's table list were taken back: a disk that failed has kept them from coming into force; nothing is lost",
		"entries", len(d.List.withdrawn))
	name := filepath.Join(d.Dir, NameManifest)
	b, err := os.ReadFile(name)
	if err != nil {
		return storedir.IOError("reading "+storedir.NameBadger+"/"+NameManifest, err)
	}
	b = b[:d.List.End]
	for _, e := range d.List.withdrawn { // the last first
		b = slices.Delete(b, int(e.at), int(e.end))
	}
	// A file under the name of Badger's own unfinished list is debris after a crash.
	if err := osfile.Replace(osfile.Disk{}, name, osfile.Content{Temp: unfinished[0], Write: osfile.Bytes(b)}); err != nil {
		return storedir.IOError("writing "+storedir.NameBadger+"/"+NameManifest, err)
	}
	return nil
}
