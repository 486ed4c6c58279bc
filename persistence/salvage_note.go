package persistence

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"hubcli/persistence/storedir"

	"hubcli/hub"
)

// nameSalvaged is the file that says what a salvaged store lacks. It is JSON, for
// operators too, and no start depends on it.
const (
	salvageListed = 1_000 // entries of each of its lists
	maxSalvaged   = 4 << 20
)

func writeSalvage(fsy storedir.Fsys, dir string, s *hub.Salvage) error {
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	return storedir.ReplaceFile(fsy, filepath.Join(dir, storedir.NameSalvaged), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}, func(r io.Reader) error { return storedir.SameBytes(r, b) })
}

// ReadSalvage returns what the store in dir says about its salvage; nil if it was not
// salvaged. It touches nothing.
func ReadSalvage(dir string) (*hub.Salvage, error) {
	b, err := storedir.ReadFile(storedir.DiskFS{}, filepath.Join(dir, storedir.NameSalvaged), maxSalvaged)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // most stores
	}
	s := &hub.Salvage{}
	if err == nil {
		err = json.Unmarshal(b, s)
	}
	if err != nil {
		return nil, storedir.IOError("reading "+storedir.NameSalvaged, err)
	}
	return s, nil
}

// readSalvage reads the note at a start. It tells operators what is missing, so one that
// cannot be read keeps no hub from starting.
func (s *Store) readSalvage() {
	note, err := ReadSalvage(s.dir)
	if err != nil {
		s.log.Warn("what the store says about its salvage cannot be read", "file", storedir.NameSalvaged, "cause", err)
		return
	}
	if s.salvaged = note.Short(); note != nil {
		s.log.Warn("the store was salvaged; its file "+storedir.NameSalvaged+" lists what is missing", "lost_messages", note.LostMessages, "lost_records", note.LostRecords)
	}
}
