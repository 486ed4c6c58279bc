package supervisor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"hubcli/internal/hubfile"
	"hubcli/persistence"
)

// socket is where the operator's own programs reach the hub: a Unix socket in a folder that
// no other user can enter. A program that connects to its path is connected to this hub, which a
// port cannot say.
type socket struct {
	*net.UnixListener
	path   string
	made   fs.FileInfo // the file of this listener; another may stand in its place later
	folder string      // that goes with the socket; empty: it stays
}

// temporary begins the names of the folders in which sockets lie below the folder for
// temporary files.
const temporary = "hubcli-op-"

// listenOperator listens in a private folder below the data root, or in one of the system's
// for what runs, and notes in the store where. It does not listen in the store itself: a
// killed hub leaves its socket, and many programs cannot copy a folder with a socket in it.
// Nor would the operator reach a hub whose store was moved. The path of a socket has no more
// than about a hundred bytes. The caller holds the lock of the store: so a socket that is
// there is what a killed hub has left.
func (t *Tree) listenOperator() (*socket, error) {
	sum := sha256.Sum256([]byte(string(t.Store.InstanceID()) + "\n" + t.storeDir()))
	name := "op-" + hex.EncodeToString(sum[:8]) + ".sock"
	if last, err := persistence.ReadSocket(t.storeDir()); err == nil {
		removeTemporary(last, name)
	}
	var paths []string
	if t.config.DataRoot != "" {
		paths = append(paths, filepath.Join(t.config.DataRoot, "run", name))
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		paths = append(paths, filepath.Join(dir, "hubcli", name))
	}
	var failed error
	for _, path := range paths {
		s, err := listenAt(path)
		if err == nil {
			return t.noteSocket(s)
		}
		failed = errors.Join(failed, err)
	}
	s, err := listenTemporary(name)
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	return t.noteSocket(s)
}

// noteSocket notes in the store where the socket is, or removes it.
func (t *Tree) noteSocket(s *socket) (*socket, error) {
	if err := t.Store.NoteSocket(s.path); err != nil {
		err = errors.Join(err, s.Close())
		s.remove()
		return nil, err
	}
	return s, nil
}

// listenTemporary listens in a new folder below that for temporary files. Its name is random:
// other users can make each folder there whose name they can guess.
func listenTemporary(name string) (*socket, error) {
	dir, err := os.MkdirTemp("", temporary)
	if err != nil {
		return nil, err
	}
	s, err := listenAt(filepath.Join(dir, name))
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	s.folder = dir
	return s, nil
}

// removeTemporary removes the folder that listenTemporary made for a hub of the same store that
// was killed. The folder of a copy's hub has another socket in it, and stays.
func removeTemporary(path, name string) {
	dir := filepath.Dir(path)
	if filepath.Base(path) != name || !strings.HasPrefix(filepath.Base(dir), temporary) || hubfile.Private(dir) != nil {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 1 || len(entries) == 1 && entries[0].Name() != name {
		return
	}
	if removeStale(path) == nil {
		_ = os.Remove(dir) // it is of no use, and does no harm
	}
}

func listenAt(path string) (*socket, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := hubfile.Private(dir); err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it would remove whatever has the path by then
	s := &socket{UnixListener: l, path: path}
	if err = os.Chmod(path, 0o600); err == nil { // the folder is private meanwhile
		s.made, err = os.Lstat(path)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close(), os.Remove(path))
	}
	return s, nil
}

// removeStale removes the socket of a hub that was killed, and nothing else.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if kind := info.Mode().Type(); kind != fs.ModeSocket && kind != fs.ModeIrregular { // Windows calls it irregular
		return fmt.Errorf("%s is in the way of the operator's socket", path)
	}
	return os.Remove(path)
}

// remove removes the file, if it is still this listener's.
func (s *socket) remove() {
	if s == nil {
		return
	}
	if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.made) {
		_ = os.Remove(s.path) // the next start does it otherwise
	}
	if s.folder != "" {
		_ = os.Remove(s.folder) // not if something else is in it
	}
}
