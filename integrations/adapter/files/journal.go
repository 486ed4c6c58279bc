package files

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"hubcli/integrations/adapter/edit"
)

// phase is the progress of a transaction. The phase on disk says what the next
// Open does.
type phase string

const (
	staging phase = "staging" // no file is changed; take it back
	forward phase = "forward" // all new contents are safe; finish it
	back    phase = "back"    // a file could not be changed; take it back
)

// journal is the transaction under way.
type journal struct {
	Version   int            `json:"version"`
	Phase     phase          `json:"phase"`
	Files     []*journalFile `json:"files"`
	Ledger    []byte         `json:"ledger"`     // as it will be
	OldLedger []byte         `json:"old_ledger"` // the old ledger; empty: there was none
}

// journalFile is one file of the transaction. The hash of an absent file is
// empty.
type journalFile struct {
	File       string      `json:"file"`
	Target     string      `json:"target"`
	Root       string      `json:"root"`
	Before     string      `json:"before,omitempty"`
	After      string      `json:"after,omitempty"`
	Backup     string      `json:"backup,omitempty"` // holds Before
	Staged     string      `json:"staged,omitempty"` // holds After
	Temp       string      `json:"temp"`             // name of the replacement, beside the target
	Folders    []string    `json:"folders,omitempty"`
	Leftover   []string    `json:"leftover,omitempty"` // folders to remove with a deleted file if they are empty
	Mode       fs.FileMode `json:"mode"`
	FolderMode fs.FileMode `json:"folder_mode"`
	// Pieces are the entries that change. If a harness writes the file right
	// after us, the change counts as made if the file holds them.
	Pieces []journalPiece `json:"pieces"`
}

// journalPiece is an entry the new ledger.
type journalPiece struct {
	Format edit.Format  `json:"format"`
	At     edit.Pointer `json:"at"`
	Hash   string       `json:"hash,omitempty"` // of its canonical form; empty: it is removed
}

// holds reports whether a document that somebody has changed still holds all
// entries as they were written.
func (f *journalFile) holds(doc []byte) bool {
	for _, p := range f.Pieces {
		have, found, err := edit.Get(p.Format, doc, p.At)
		if err != nil || found != (p.Hash != "") || found && edit.Hash(have) != p.Hash {
			return false
		}
	}
	return len(f.Pieces) > 0
}

// pieces returns the entries of a file that change.
func (w *work) pieces() []journalPiece {
	var all []journalPiece
	for _, e := range w.gone {
		all = append(all, journalPiece{Format: e.Format, At: e.At})
	}
	for _, e := range w.touched {
		all = append(all, journalPiece{Format: e.Format, At: e.At, Hash: e.Hash})
	}
	return all
}

// tempName returns a name that no harness takes for its own file.
func tempName(name string) string {
	return "." + name + ".hubcli-" + strings.ToLower(rand.Text()[:10]) + nameTemp
}

func (s *Store) writeJournal(j *journal, p phase) error {
	j.Version, j.Phase = ledgerVersion, p
	b, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return s.writeOwn(nameJournal, b)
}

// recover finishes or takes back an interrupted transaction. The caller holds
// the lock.
func (s *Store) recover() error {
	b, err := s.readOwn(nameJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var j journal
	if err == nil {
		err = json.Unmarshal(b, &j)
	}
	if err == nil && j.Version != ledgerVersion {
		err = fmt.Errorf("its version is %d; this program reads version %d", j.Version, ledgerVersion)
	}
	if err != nil {
		return s.stuck(err)
	}
	if j.Phase == forward {
		if err = s.finish(&j, true); err == nil {
			return nil
		}
	}
	if _, err := s.takeBack(&j); err != nil {
		return s.stuck(err)
	}
	return nil
}

func (s *Store) stuck(err error) error {
	name := filepath.Join(s.dir, nameJournal)
	return &Refusal{
		Reason: Interrupted, File: name, Err: err,
		Message: "an earlier change of configuration files was interrupted and can be neither finished nor taken back",
		Fix:     "remove the cause, then try again; or put the files right by hand from " + filepath.Join(s.dir, nameBackups) + " and remove " + name,
	}
}
