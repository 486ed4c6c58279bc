package files

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"

	"hubcli/integrations/adapter/edit"
)

// takeBack gives every file its old content again, unless somebody has changed
// it since. Our entries in such a file keep their records; kept names these
// files.
func (s *Store) takeBack(j *journal) (kept []string, err error) {
	if j.Phase == forward {
		if err := s.writeJournal(j, back); err != nil {
			return nil, err
		}
	}
	changed := map[string][]byte{}
	for _, f := range slices.Backward(j.Files) {
		err := s.withTarget(f, false, func(t *target) error {
			now, err := s.restore(t, f)
			if err == nil && j.Phase == back && hashOf(now) != f.Before {
				changed[f.Target] = now
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if err := s.removeFolders(f.Root, f.Folders); err != nil {
			return nil, err
		}
	}
	if kept, err = s.putBackLedger(j, changed); err != nil {
		return nil, err
	}
	if err := s.removeOwn(nameJournal); err != nil {
		return nil, err
	}
	s.forget(j)
	return kept, nil
}

// putBackLedger gives the ledger its old content again, except for our entries
// in files that somebody has changed, which stay recorded.
func (s *Store) putBackLedger(j *journal, changed map[string][]byte) (kept []string, err error) {
	want := j.OldLedger
	if len(changed) > 0 {
		if want, kept, err = j.merged(changed); err != nil {
			return nil, err
		}
	}
	now, err := s.readOwn(nameLedger)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(j.OldLedger) > 0, err != nil && !errors.Is(err, fs.ErrNotExist):
		return kept, nil // it is damaged; the next command that needs it reports that
	case err == nil && !bytes.Equal(now, j.Ledger) && !bytes.Equal(now, j.OldLedger), bytes.Equal(now, want):
		return kept, nil
	case len(want) == 0:
		return kept, s.removeOwn(nameLedger)
	}
	return kept, s.writeOwn(nameLedger, want)
}

// merged returns the old ledger with the new records of the entries in changed
// files, and the names of those files.
func (j *journal) merged(changed map[string][]byte) (b []byte, kept []string, err error) {
	was := &ledger{}
	if len(j.OldLedger) > 0 {
		if was, err = decodeLedger(j.OldLedger); err != nil {
			return nil, nil, err
		}
	}
	will, err := decodeLedger(j.Ledger)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range j.Files {
		if doc, ok := changed[f.Target]; ok && was.keep(f, doc, will.file(f.Target)) {
			kept = append(kept, f.File)
		}
	}
	if len(kept) == 0 {
		return j.OldLedger, nil, nil
	}
	b, err = was.encode()
	return b, kept, err
}

// keep takes over the records of entries that were written into a file and are
// still there, or may be there if the file cannot be read now.
func (l *ledger) keep(f *journalFile, doc []byte, next *fileRecord) bool {
	kept := false
	for _, p := range f.Pieces {
		rec := next.entry(p.At)
		have, found, err := edit.Get(p.Format, doc, p.At)
		if p.Hash == "" || rec == nil || err == nil && (!found || edit.Hash(have) != p.Hash) {
			continue
		}
		file := l.file(f.Target)
		if file == nil {
			fresh := *next
			fresh.Entries = nil
			file = &fresh
			l.Files = append(l.Files, file)
		}
		if old := file.entry(p.At); old != nil {
			file.drop(old)
		}
		file.Hash, file.Entries = next.Hash, append(file.Entries, rec)
		kept = true
	}
	return kept
}
