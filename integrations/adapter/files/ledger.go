package files

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"hubcli/integrations/adapter/edit"
)

// ledgerVersion is the format of the ledger. An older program refuses a newer one.
const ledgerVersion = 1

// ledger holds all entries of ours, file by file. On disk it carries a
// checksum, which tells damage from the work of an older or newer program.
type ledger struct {
	Files []*fileRecord
}

// sealed is the form of the ledger on disk.
type sealed struct {
	Version int             `json:"version"`
	Sum     string          `json:"sum"` // SHA-256 of files as they stand here, compact
	Files   json.RawMessage `json:"files"`
}

// fileRecord is a file that holds entries of ours.
type fileRecord struct {
	File    string `json:"file"`   // path as the first entry named it
	Target  string `json:"target"` // path with links followed
	Root    string `json:"root"`
	Created bool   `json:"created,omitempty"` // an install made the file
	// Folders are the folders above it that an install made, for it or for a
	// file that has gone, outermost first.
	Folders []string `json:"folders,omitempty"`
	// Original is the backup of the file before the first change of ours. It is
	// forgotten as soon as somebody else changes the file between two changes
	// of ours, because restoring it would undo theirs.
	Original     string `json:"original,omitempty"`
	OriginalHash string `json:"original_hash,omitempty"`
	Hash         string `json:"hash"` // of the file after our last change
	// Entries stand in the order of insertion: taking them out backwards is the
	// exact inverse.
	Entries []*entryRecord `json:"entries"`
}

// entryRecord is one entry of ours.
type entryRecord struct {
	Owners    []Owner      `json:"owners"`
	Part      string       `json:"part"`
	Format    edit.Format  `json:"format"`
	At        edit.Pointer `json:"at"`
	Trace     edit.Trace   `json:"trace"`
	Hash      string       `json:"hash"` // of the canonical entry
	Version   string       `json:"version"`
	Installed time.Time    `json:"installed"`
	Backup    string       `json:"backup,omitempty"` // of the file before this entry came or changed
	Rewrites  bool         `json:"restless,omitempty"`
}

func (l *ledger) clone() *ledger {
	b, _ := json.Marshal(l.Files)
	out := &ledger{}
	_ = json.Unmarshal(b, &out.Files)
	return out
}

func (l *ledger) file(target string) *fileRecord {
	for _, f := range l.Files {
		if f.Target == target {
			return f
		}
	}
	return nil
}

func (f *fileRecord) entry(at edit.Pointer) *entryRecord {
	if f == nil {
		return nil
	}
	for _, e := range f.Entries {
		if e.At.Same(at) {
			return e
		}
	}
	return nil
}

// above returns a folder from which the target is reached without a link: the root, or
// the root of the file system if links led out of it.
func (f *fileRecord) above() string {
	if real, err := filepath.EvalSymlinks(f.Root); err != nil || below(f.Target, real) {
		return f.Root
	}
	return filepath.VolumeName(f.Target) + string(filepath.Separator)
}

func (f *fileRecord) drop(e *entryRecord) {
	f.Entries = slices.DeleteFunc(f.Entries, func(x *entryRecord) bool { return x == e })
}

// inheritFolders takes over the folders that the file stands in. They are
// removed with the last file in them.
func (f *fileRecord) inheritFolders(folders []string) {
	for _, folder := range folders {
		rel, err := filepath.Rel(folder, f.Target)
		if err == nil && filepath.IsLocal(rel) && !slices.Contains(f.Folders, folder) {
			f.Folders = append(f.Folders, folder)
		}
	}
	slices.SortFunc(f.Folders, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
}

// encode returns the bytes of the ledger.
func (l *ledger) encode() ([]byte, error) {
	files, err := json.Marshal(l.Files)
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(sealed{Version: ledgerVersion, Sum: edit.Hash(files), Files: files}, "", "  ")
}

func decodeLedger(b []byte) (*ledger, error) {
	var s sealed
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	if s.Version != ledgerVersion {
		return nil, fmt.Errorf("its version is %d; this program reads version %d", s.Version, ledgerVersion)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, s.Files); err != nil {
		return nil, err
	}
	if edit.Hash(compact.Bytes()) != s.Sum {
		return nil, errors.New("its checksum does not match")
	}
	l := &ledger{}
	if err := json.Unmarshal(s.Files, &l.Files); err != nil {
		return nil, err
	}
	for _, f := range l.Files {
		if f == nil || f.Target == "" || slices.Contains(f.Entries, nil) {
			return nil, errors.New("it holds an incomplete record")
		}
	}
	return l, nil
}

// readLedger returns the ledger and the hash of its bytes. If the ledger is
// missing but the older one exists, the ledger was lost.
func (s *Store) readLedger() (*ledger, string, error) {
	name := filepath.Join(s.dir, nameLedger)
	b, err := s.readOwn(nameLedger)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := s.readOwn(nameOldLedger); errors.Is(err, fs.ErrNotExist) {
			return &ledger{}, "", nil
		}
		err = errors.New("it is missing")
		return nil, "", s.noLedger(name, err)
	}
	if err != nil {
		return nil, "", s.noLedger(name, err)
	}
	l, err := decodeLedger(b)
	if err != nil {
		return nil, "", s.noLedger(name, err)
	}
	return l, edit.Hash(b), nil
}

func (s *Store) noLedger(name string, err error) error {
	return &Refusal{
		Reason: NoLedger, File: name, Err: err, Message: "the entries of the hub are unknown",
		Fix: fmt.Sprintf("copy %s over it if that is whole; else move both away and install again: entries that are as they would be written now are taken over, others have to be removed by hand",
			filepath.Join(s.dir, nameOldLedger)),
	}
}
