package persistence

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"hubcli/actors/core"
	"hubcli/hub"
)

// The format of a store is the least program that understands it: a program refuses a
// store of a later format than it knows. A store of before core.BaseFormat is raised to
// that when it is opened. Every later step is listed in core.FormatSteps, and the number
// rises when something of the step is about to be written for the first time. Before:
//
//	1  sessions, channels, messages, leases, tasks
//	2  rooms and all that is in them, runs, hand-offs, memory, what was seen
//	3  tool surfaces, spawns
//	4  questions to the operator, pauses, broken leases, renamed projects and rooms, archived rooms,
//	   permission prompts, the guard of a room, muted agents, budgets, passes, connections to
//	   providers; programs of this format do not all know all of these

// Names in the folder of a store. They are part of the store's format.
const (
	nameFormat      = "FORMAT"
	nameLock        = "LOCK"
	nameHead        = "HEAD"
	nameKey         = "key"
	nameMaker       = "MAKER"
	nameToken       = "operator.token"
	nameSocket      = "SOCKET"
	nameBallast     = "ballast"
	nameBadger      = "badger"
	nameCheckpoints = "checkpoints"
	nameSearch      = "search"
	namePlans       = "plans"
)

// ownedNames may stand in a folder that has no FORMAT yet: what the start of the
// hub puts there before the marker, and the daemon's log.
func ownedName(name string) bool {
	switch strings.TrimSuffix(name, tempSuffix) {
	case nameFormat, nameLock, nameHead, nameKey, nameToken, nameSocket, nameBallast, nameCheckpoints, nameSalvaged, nameMaker, "ensure.lock":
		return true
	}
	return isLog(name)
}

// isLog reports whether name is the daemon's log or a rotated one.
func isLog(name string) bool {
	return name == "hub.log" || strings.HasPrefix(name, "hub-") &&
		(strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".log.gz"))
}

// Marker is what the file FORMAT says.
type Marker struct {
	InstanceID hub.InstanceID
	Format     int
}

const markerMagic = "hubcli store"

func (m Marker) encode() []byte {
	text := fmt.Sprintf("%s\nformat %d\ninstance %s\n", markerMagic, m.Format, m.InstanceID)
	return fmt.Appendf([]byte(text), "crc32c %08x\n", crc32.Checksum([]byte(text), castagnoli))
}

// decodeMarker reads FORMAT for a program that knows formats up to latest. The first two
// lines stay as they are in every later format, so that this program can refuse it by its
// name.
func decodeMarker(b []byte, latest int) (Marker, error) {
	lines := bytes.Split(b, []byte{'\n'})
	if len(lines) < 2 || string(lines[0]) != markerMagic {
		return Marker{}, notAStore("the folder's FORMAT file was not written by a hub")
	}
	digits, ok := bytes.CutPrefix(lines[1], []byte("format "))
	version, err := strconv.Atoi(string(digits))
	if !ok || err != nil || version < 1 {
		return Marker{}, corrupt("its FORMAT file cannot be read", err)
	}
	if version > latest {
		return Marker{Format: version}, newerFormat(version, latest)
	}
	if len(lines) != 5 || len(lines[4]) != 0 {
		return Marker{}, corrupt("its FORMAT file is not whole", nil)
	}
	id, ok := bytes.CutPrefix(lines[2], []byte("instance "))
	m := Marker{Format: version, InstanceID: hub.InstanceID(id)}
	if !ok || len(id) == 0 || !bytes.Equal(b, m.encode()) {
		return Marker{}, corrupt("its FORMAT file fails its checksum", nil)
	}
	return m, nil
}

// newerFormat refuses a store that only a later program understands.
func newerFormat(format, latest int) *StartError {
	return &StartError{
		Sentence: fmt.Sprintf("the store was made by a newer hubcli: it has format %d, and this hubcli knows formats up to %d", format, latest),
		Kind:     StartNewerFormat,
		Fix:      "nothing has been changed; start it with the newer hubcli that wrote it, or an earlier copy of the store with this one, or name another folder with --storage",
	}
}

func newMarker() Marker {
	return Marker{Format: core.BaseFormat, InstanceID: hub.InstanceID(hex.EncodeToString(randomBytes(16)))}
}

func writeMarker(fsy fsys, dir string, m Marker) error {
	content := m.encode()
	return replaceFile(fsy, filepath.Join(dir, nameFormat), func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}, func(r io.Reader) error {
		return sameBytes(r, content)
	})
}

// Inspect reads the marker of the store in dir and touches nothing. The error
// matches ErrNoStore (absent or empty folder), ErrNotAStore (plain file or
// another folder) or ErrNewerFormat (the marker carries the format then); else
// the marker is unreadable.
func Inspect(dir string) (Marker, error) { return inspect(dir, LatestFormat()) }

func inspect(dir string, latest int) (Marker, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Marker{}, ErrNoStore
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return Marker{}, notAStore("a part of the path " + dir + " is a plain file")
	}
	if err != nil {
		return Marker{}, noFolder("looking at the folder", err)
	}
	if !info.IsDir() {
		return Marker{}, notAStore(dir + " is a file; a store is a folder")
	}
	b, err := readFile(diskFS{}, filepath.Join(dir, nameFormat), 4096)
	if err == nil {
		return decodeMarker(b, latest)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Marker{}, ioError("reading FORMAT", err)
	}
	names, err := diskFS{}.ReadDir(dir)
	if err != nil {
		return Marker{}, ioError("listing the folder", err)
	}
	for _, name := range names {
		if !ownedName(name) {
			e := notAStore("the folder " + dir + " is not empty and is no store: it holds " + strconv.Quote(name))
			if name == nameBadger {
				e.Fix += "; if it is a store that has lost its FORMAT file, restore a backup, or bring what is whole into a new store with `hubcli app doctor --salvage FOLDER`"
			}
			return Marker{}, e
		}
	}
	return Marker{}, ErrNoStore
}

// randomBytes returns n bytes of the system's random source, which does not fail.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// sameBytes reports as an error whether r holds anything but want.
func sameBytes(r io.Reader, want []byte) error {
	got, err := io.ReadAll(io.LimitReader(r, int64(len(want))+1))
	if err == nil && !bytes.Equal(got, want) {
		err = errors.New("the file reads back otherwise than it was written")
	}
	return err
}
