package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hubcli/capsule/seal"
	"hubcli/internal/osfile"
)

// An export fills a part beside its target, and gives the part the name of the target when it
// is whole. A hub that is killed meanwhile leaves the part, in a folder that the next start
// does not know. So a note in the folder of the plans says where it is.

// partPrefix begins the name that a file or folder has beside its target until it is whole.
const partPrefix = ".hubpack-part-"

// A signature gets its name before the capsule that it is of. So the note also says which
// signature it is, and the next start deletes it if it stands alone.

// noteSuffix ends the names of notes in the folder of the plans. A note has the path of a part
// up to its random end. Of a plan that signs, two more lines have the path of the signature and
// the SHA-256 of its file. No path has a line feed (checkTarget).
const noteSuffix = ".note"

// noted puts something at a target through a part whose name begins with the prefix that put
// gets. Whatever becomes of it, no part and no signature without its capsule stays for longer
// than to the next start.
func (x *Exports) noted(p *plan, target string, put func(prefix string) error) error {
	id := p.row.PlanID
	prefix := partPrefix + id + "-"
	note := filepath.Join(x.options.Dir, id+noteSuffix)
	text := filepath.Join(filepath.Dir(target), prefix)
	if p.signing != nil {
		text += "\n" + p.row.Signer.File + "\n" + sumOf(p.signing.text)
	}
	if err := x.gone(); err != nil {
		return err
	}
	if err := writeNote(note, text); err != nil {
		return err
	}
	err := put(prefix)
	x.removeNoted(note, id)
	return err
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// writeNote has a note on the disk.
func writeNote(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), osfile.SyncDir(filepath.Dir(name)))
}

// removeNoted removes what a note names, and then the note. If that fails, the note stays for
// the next start.
func (x *Exports) removeNoted(note, id string) {
	text, err := os.ReadFile(note)
	if err != nil {
		x.options.Log.Warn("the note of an export cannot be read", "error", err)
		return
	}
	part, signature, _ := strings.Cut(string(text), "\n")
	dir, prefix := filepath.Split(part)
	if prefix == partPrefix+id+"-" && filepath.IsAbs(dir) { // else it was cut while it was written, before there was a part
		if err := errors.Join(removeParts(dir, prefix), removeLone(dir, signature)); err != nil {
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

// removeLone removes the signature of a note, in a folder, if the capsule that it is of did not
// get its name. What is not the file that the export wrote stays.
func removeLone(dir, signature string) error {
	path, sum, ok := strings.Cut(signature, "\n")
	target, signed := strings.CutSuffix(path, seal.SignatureSuffix)
	if !ok || !signed || filepath.Dir(path) != filepath.Clean(dir) {
		return nil
	}
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	text, err := osfile.ReadSmall(path, seal.MaxSignatureBytes)
	if err != nil || sumOf(text) != sum {
		return nil // it is not there, or somebody else's
	}
	return os.Remove(path)
}
