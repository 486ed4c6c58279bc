package persistence

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/internal/osfile"
)

// maxSocket bounds the bytes of the file that names the socket.
const maxSocket = 4096

// NoteSocket writes down where the hub that serves the store listens for the operator, so
// that the store's user finds it by the store. Errors: as of RaiseFor, or of the system.
func (s *Store) NoteSocket(path string) error {
	if err := s.RaiseFor(storedir.NameSocket); err != nil {
		return err
	}
	if err := s.ready(); err != nil {
		return err
	}
	content := []byte(path + "\n")
	if there, err := storedir.ReadFile(s.fs, filepath.Join(s.dir, storedir.NameSocket), maxSocket); err == nil && bytes.Equal(there, content) {
		return nil
	}
	return storedir.ReplaceFile(s.fs, filepath.Join(s.dir, storedir.NameSocket), func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}, func(r io.Reader) error { return storedir.SameBytes(r, content) })
}

// ReadSocket returns where the hub that serves the store in dir, or served it last, listens
// for the operator. Errors are those of the system.
func ReadSocket(dir string) (string, error) {
	b, err := osfile.ReadSmall(filepath.Join(dir, storedir.NameSocket), maxSocket)
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(string(b), "\n")
	if !filepath.IsAbs(path) || strings.ContainsAny(path, "\n\x00") {
		return "", codec.ErrDamaged
	}
	return path, nil
}
