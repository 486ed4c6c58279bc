package hubfile

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

const (
	folder   = "hubs" // in the data root
	version  = 1      // of the format of a note
	maxBytes = 16 << 10
	keyBytes = 32
)

// Note is what is known of the hub of this user that serves an address, or served it last.
type Note struct {
	Address    netip.AddrPort // as listened on
	Store      string         // absolute path of the folder
	InstanceID hub.InstanceID
	Socket     string // absolute path of the operator's socket; empty: there is none
	ProofKey   []byte // a secret of 32 bytes
}

// written is the form of a note in its file.
type written struct {
	Version    int            `json:"version"`
	Address    string         `json:"address"`
	Store      string         `json:"store"`
	InstanceID hub.InstanceID `json:"instance_id"`
	Socket     string         `json:"socket"`
	ProofKey   string         `json:"proof_key"`
}

func encodeKey(key []byte) string { return base64.RawURLEncoding.EncodeToString(key) }

// path is the file of the note of an address.
func path(root string, at netip.AddrPort) string {
	host := strings.ReplaceAll(at.Addr().String(), ":", "_")
	return filepath.Join(root, folder, host+"_"+strconv.Itoa(int(at.Port())))
}

// keptFor is how long a note stays whose store is gone. Until then no program is taken for the
// hub that was there.
const keptFor = 30 * 24 * time.Hour

// Write puts the note into the data root, in place of an earlier one of the address. A hub
// that listens on all addresses takes the place of those that listened on one. Then the old
// notes are removed whose stores are gone. A note that is there already is not written again.
// Errors are those of the system.
func Write(root string, n Note) error {
	n.Address = plain(n.Address)
	dir := filepath.Join(root, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := osfile.Protect(dir, 0o700); err != nil { // whatever the umask
		return err
	}
	b, err := json.MarshalIndent(written{version, n.Address.String(), n.Store, n.InstanceID, n.Socket, encodeKey(n.ProofKey)}, "", "  ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	file := path(root, n.Address)
	if there, err := osfile.ReadSmall(file, maxBytes); err != nil || string(there) != string(b) {
		err := osfile.Replace(osfile.Disk{}, file, osfile.Content{Write: osfile.Bytes(b), Temp: "." + filepath.Base(file) + ".new", Mode: 0o600, Exactly: true})
		if err != nil {
			return err
		}
	}
	return forget(root, func(old *Note, written time.Time) bool {
		if n.covers(old.Address) {
			return true
		}
		_, err := os.Lstat(old.Store)
		return errors.Is(err, fs.ErrNotExist) && time.Since(written) > keptFor
	})
}

// covers reports whether a hub at the address of the note takes the connections to another.
func (n *Note) covers(other netip.AddrPort) bool {
	here := n.Address.Addr()
	return here.IsUnspecified() && n.Address.Port() == other.Port() && here != other.Addr() && (here.Is6() || other.Addr().Is4())
}

// Forget removes the notes of the store in the folder dir.
func Forget(root, dir string) error {
	return forget(root, func(n *Note, _ time.Time) bool { return n.Store == dir })
}

// forget removes the notes that are to go. A file that is no note stays.
func forget(root string, goes func(n *Note, written time.Time) bool) error {
	entries, err := os.ReadDir(filepath.Join(root, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range entries {
		file := filepath.Join(root, folder, e.Name())
		info, err := e.Info()
		if err != nil {
			continue // it went meanwhile
		}
		n, err := read(file)
		if err == nil && goes(&n, info.ModTime()) {
			if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

// Find returns the note for connections to an address of this machine: that of a hub that
// listens on this address, or of one that listens on all. The error is fs.ErrNotExist where
// there is none, or where the data root cannot be read; otherwise the note is there and
// cannot be used.
func Find(root string, at netip.AddrPort) (Note, error) {
	at = plain(at)
	hosts := []netip.Addr{at.Addr()}
	if at.Addr().Is4() {
		hosts = append(hosts, netip.IPv4Unspecified())
	}
	hosts = append(hosts, netip.IPv6Unspecified()) // it takes connections of both kinds
	for _, host := range hosts {
		n, err := read(path(root, netip.AddrPortFrom(host, at.Port())))
		if !errors.Is(err, fs.ErrNotExist) {
			return n, err
		}
	}
	return Note{}, fs.ErrNotExist
}

// read reads the file of a note. What belongs to another user, or what others may write, is
// no note of this user.
func read(file string) (Note, error) {
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrPermission) {
		return Note{}, fs.ErrNotExist // a sandbox
	}
	if err != nil {
		return Note{}, err
	}
	if why := osfile.ForeignFile(info); why != "" {
		return Note{}, &fs.PathError{Op: "read", Path: file, Err: errors.New("it " + why)}
	}
	b, err := osfile.ReadSmall(file, maxBytes)
	if errors.Is(err, fs.ErrPermission) {
		return Note{}, fs.ErrNotExist
	}
	if err != nil {
		return Note{}, err
	}
	n, err := decode(b)
	if err != nil {
		return Note{}, &fs.PathError{Op: "read", Path: file, Err: err}
	}
	return n, nil
}

func decode(b []byte) (Note, error) {
	var w written
	if err := json.Unmarshal(b, &w); err != nil {
		return Note{}, errors.New("it is no JSON object of a hub")
	}
	if w.Version != version {
		return Note{}, fmt.Errorf("it has version %d, and this hubcli knows version %d", w.Version, version)
	}
	at, err := netip.ParseAddrPort(w.Address)
	key, kerr := base64.RawURLEncoding.DecodeString(w.ProofKey)
	switch {
	case err != nil || at != plain(at):
		return Note{}, errors.New("it names no address")
	case kerr != nil || len(key) != keyBytes:
		return Note{}, errors.New("it holds no key")
	case !filepath.IsAbs(w.Store) || w.Socket != "" && !filepath.IsAbs(w.Socket):
		return Note{}, errors.New("it names a path that is not absolute")
	case w.InstanceID == "":
		return Note{}, errors.New("it names no instance")
	}
	return Note{Address: at, Store: w.Store, InstanceID: w.InstanceID, Socket: w.Socket, ProofKey: key}, nil
}
