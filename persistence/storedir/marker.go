package storedir

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

	"hubcli/persistence/codec"

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
	NameFormat      = "FORMAT"
	NameLock        = "LOCK"
	NameHead        = "HEAD"
	NameKey         = "key"
	NameMaker       = "MAKER"
	NameToken       = "operator.token"
	NameSocket      = "SOCKET"
	NameBallast     = "ballast"
	NameBadger      = "badger"
	NameCheckpoints = "checkpoints"
	NameSearch      = "search"
	NamePlans       = "plans"
)

// OwnedName reports whether a name may stand in a folder that has no FORMAT yet: what the start of the
// hub puts there before the marker, and the daemon's log.
func OwnedName(name string) bool {
	switch strings.TrimSuffix(name, TempSuffix) {
	case NameFormat, NameLock, NameHead, NameKey, NameToken, NameSocket, NameBallast, NameCheckpoints, NameSalvaged, NameMaker, "ensure.lock":
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

// MarkerMagic begins the file FORMAT.
const MarkerMagic = "hubcli store"

// Encode renders the file FORMAT.
func (m Marker) Encode() []byte {
	text := fmt.Sprintf("%s\nformat %d\ninstance %s\n", MarkerMagic, m.Format, m.InstanceID)
	return fmt.Appendf([]byte(text), "crc32c %08x\n", crc32.Checksum([]byte(text), codec.Castagnoli))
}

// DecodeMarker reads FORMAT for a program that knows formats up to latest. The first two
// lines stay as they are in every later format, so that this program can refuse it by its
// name.
func DecodeMarker(b []byte, latest int) (Marker, error) {
	lines := bytes.Split(b, []byte{'\n'})
	if len(lines) < 2 || string(lines[0]) != MarkerMagic {
		return Marker{}, NotAStore("the folder's FORMAT file was not written by a hub")
	}
	digits, ok := bytes.CutPrefix(lines[1], []byte("format "))
	version, err := strconv.Atoi(string(digits))
	if !ok || err != nil || version < 1 {
		return Marker{}, Corrupt("its FORMAT file cannot be read", err)
	}
	if version > latest {
		return Marker{Format: version}, newerFormat(version, latest)
	}
	if len(lines) != 5 || len(lines[4]) != 0 {
		return Marker{}, Corrupt("its FORMAT file is not whole", nil)
	}
	id, ok := bytes.CutPrefix(lines[2], []byte("instance "))
	m := Marker{Format: version, InstanceID: hub.InstanceID(id)}
	if !ok || len(id) == 0 || !bytes.Equal(b, m.Encode()) {
		return Marker{}, Corrupt("its FORMAT file fails its checksum", nil)
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

// NewMarker returns the marker of a new store.
func NewMarker() Marker {
	return Marker{Format: core.BaseFormat, InstanceID: hub.InstanceID(hex.EncodeToString(RandomBytes(16)))}
}

// WriteMarker writes the file FORMAT, whole or not at all.
func WriteMarker(fsy Fsys, dir string, m Marker) error {
	content := m.Encode()
	return ReplaceFile(fsy, filepath.Join(dir, NameFormat), func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}, func(r io.Reader) error {
		return SameBytes(r, content)
	})
}

// Inspect reads the marker of the store in dir and touches nothing. The error
// matches ErrNoStore (absent or empty folder), ErrNotAStore (plain file or
// another folder) or ErrNewerFormat (the marker carries the format then); else
// the marker is unreadable.
func Inspect(dir string) (Marker, error) { return InspectFor(dir, LatestFormat()) }

// InspectFor is Inspect for a program that knows formats up to latest.
func InspectFor(dir string, latest int) (Marker, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Marker{}, ErrNoStore
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return Marker{}, NotAStore("a part of the path " + dir + " is a plain file")
	}
	if err != nil {
		return Marker{}, NoFolder("looking at the folder", err)
	}
	if !info.IsDir() {
		return Marker{}, NotAStore(dir + " is a file; a store is a folder")
	}
	b, err := ReadFile(DiskFS{}, filepath.Join(dir, NameFormat), 4096)
	if err == nil {
		return DecodeMarker(b, latest)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Marker{}, IOError("reading FORMAT", err)
	}
	names, err := DiskFS{}.ReadDir(dir)
	if err != nil {
		return Marker{}, IOError("listing the folder", err)
	}
	for _, name := range names {
		if !OwnedName(name) {
			e := NotAStore("the folder " + dir + " is not empty and is no store: it holds " + strconv.Quote(name))
			if name == NameBadger {
				e.Fix += "; if it is a store that has lost its FORMAT file, restore a backup, or bring what is whole into a new store with `hubcli app doctor --salvage FOLDER`"
			}
			return Marker{}, e
		}
	}
	return Marker{}, ErrNoStore
}

// RandomBytes returns n bytes of the system's random source, which does not fail.
func RandomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// SameBytes reports as an error whether r holds anything but want.
func SameBytes(r io.Reader, want []byte) error {
	got, err := io.ReadAll(io.LimitReader(r, int64(len(want))+1))
	if err == nil && !bytes.Equal(got, want) {
		err = errors.New("the file reads back otherwise than it was written")
	}
	return err
}

// NameSalvaged is the file that says what a salvage could not bring back.
const NameSalvaged = "SALVAGED"

// LatestFormat is the newest format of a store that this program knows.
func LatestFormat() int { return core.StoreFormats().Latest() }
