package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hubcli/internal/osfile"
)

// An export fills a part beside its target, and gives the part the name of the target when it
// is whole. A hub that is killed meanwhile leaves the part, in a folder that the next start
// does not know. So a note in the folder of the plans says where it is.

// partPrefix begins the name that a file or folder has beside its target until it is whole.
const partPrefix = ".hubpack-part-"

// noteSuffix ends the names of notes in the folder of the plans. A note has the path of a part
// up to its random end.
const noteSuffix = ".note"

// noted puts something at a target through a part whose name begins with the prefix that put
// gets. Whatever becomes of it, no part stays for longer than to the next start.
func (x *Exports) noted(id, target string, put func(prefix string) error) error {
	prefix := partPrefix + id + "-"
	note := filepath.Join(x.options.Dir, id+noteSuffix)
	if err := writeNote(note, filepath.Join(filepath.Dir(target), prefix)); err != nil {
		return err
	}
	err := put(prefix)
	x.removeNoted(note, id)
	return err
}

// writeNote has a note on the disk.
func writeNote(name, part string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(part)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), osfile.SyncDir(filepath.Dir(name)))
}

// removeNoted removes what a note names, and then the note. If that fails, the note stays for
// the next start.
func (x *Exports) removeNoted(note, id string) {
	part, err := os.ReadFile(note)
	if err != nil {
		x.options.Log.Warn("the note of an export cannot be read", "error", err)
		return
	}
	dir, prefix := filepath.Split(string(part))
	if prefix == partPrefix+id+"-" && filepath.IsAbs(dir) { // else it was cut while it was written, before there was a part
		if err := removeParts(dir, prefix); err != nil {
			x.options.Log.Warn("what an export has left beside its target cannot be deleted; the next start tries again", "error", err)
			return
		}
	}
	x.remove(note)
}

func removeParts(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the folder has gone, and the part with it
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
