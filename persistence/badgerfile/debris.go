package badgerfile

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"hubcli/persistence/storedir"

	"hubcli/internal/osfile"
)

// What a crash leaves between two steps of Badger is debris, not damage: a
// table that was being written or deleted and that the list does not name, a
// file that has a name and no size yet, a list that had not taken its place. It
// is not needed; all acknowledged data is in the files that the list names. A
// start moves it into a separate folder and logs this; the next successful
// start deletes it. So if this rule was wrong in some case, the files still
// exist.

// NameAside is the folder, inside Badger's, for files that were put aside.
// Badger looks only at names that end as its files do. It takes no more once it
// holds maxAside: a hub that is killed in each of its starts must not fill the
// disk with debris.
const (
	NameAside = "aside"
	MaxAside  = 64 << 20
)

// ErrAsideFull says that files cannot be moved aside because too many were.
var ErrAsideFull = errors.New("the folder holds as much as it may")

// unfinished are the names under which Badger writes a file before it replaces
// the one in force.
var unfinished = []string{"MANIFEST-REWRITE", "REWRITE-KEYREGISTRY"}

// Badger's statistics of what it could delete. It makes them anew if they are
// absent, and takes it for granted that they have at least this size.
const (
	NameDiscard = "DISCARD"
	DiscardSize = 1 << 20
)

// Settle makes Badger's folder ready to be opened, once all of it has been
// verified: it puts the debris aside and cuts a torn end off the list of tables.
// It returns what earlier starts have put aside.
func (d *Database) Settle(log *slog.Logger) (earlier []string, err error) {
	aside := filepath.Join(d.Dir, NameAside)
	earlier, _ = storedir.DiskFS{}.ReadDir(aside) // none, if it cannot be read
	kept, moved := sizeOf(aside, earlier), false
	for _, name := range append(d.debris, d.leftovers()...) {
		path := filepath.Join(d.Dir, name)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.Size() > 0 {
			var to string
			if kept += info.Size(); kept > MaxAside {
				err = ErrAsideFull
			} else if to, err = moveAside(path, aside); err == nil {
				moved = true
				log.Info("what a crash left in the database was put aside; the next start deletes it", "file", name, "bytes", info.Size(), "now", to)
				continue
			}
			log.Warn("what a crash left in the database cannot be put aside and is deleted", "file", name, "bytes", info.Size(), "cause", err)
		}
		// It is empty, or there is no room for the folder. It must go all the same:
		// Badger cannot open an empty file, and deletes a table by itself.
		if err := os.Remove(path); err != nil {
			return nil, storedir.IOError("removing "+storedir.NameBadger+"/"+name, err)
		}
	}
	if moved {
		_ = osfile.SyncDir(aside) // either name is good after a loss of power
	}
	return earlier, errors.Join(d.cutTorn(log), d.mendList(log))
}

// leftovers names the debris that is known by its name alone.
func (d *Database) leftovers() (names []string) {
	names = append(names, unfinished...)
	info, err := os.Lstat(filepath.Join(d.Dir, NameDiscard))
	if err == nil && info.Mode().IsRegular() && info.Size() < DiscardSize {
		names = append(names, NameDiscard)
	}
	return names
}

// sizeOf sums up the files of a folder.
func sizeOf(dir string, names []string) (size int64) {
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			size += info.Size()
		}
	}
	return size
}

// moveAside moves a file into the folder aside, under a name that is free there.
func moveAside(path, aside string) (to string, err error) {
	if err := os.Mkdir(aside, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	base := filepath.Join(aside, filepath.Base(path))
	to = base
	for i := 1; ; i++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", err
		}
		to = fmt.Sprintf("%s.%d", base, i)
	}
	return to, os.Rename(path, to)
}

// cutList cuts a torn entry off the end of the list of tables, as Badger does,
// but for one that is longer than the whole file: there Badger gives up.
func (d *Database) cutList(log *slog.Logger) error {
	if !d.List.found || d.List.End == d.List.size {
		return nil
	}
	log.Info("the last entry of the database's table list is torn and was dropped; it was never in force", "bytes", d.List.size-d.List.End)
	name := filepath.Join(d.Dir, NameManifest)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(f.Truncate(d.List.End), f.Sync(), f.Close())
	}
	if err != nil {
		return storedir.IOError("cutting "+storedir.NameBadger+"/"+NameManifest, err)
	}
	return nil
}
