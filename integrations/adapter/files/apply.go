package files

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hubcli/integrations/adapter/edit"
)

// Written is a file that Apply changed.
type Written struct {
	File   string
	Backup string // path of the old content; empty if there was no file
}

// Apply carries out all of a plan, or nothing and returns an error. If a file
// or the ledger has changed since the plan was made, Apply plans again, three
// times at most, and goes on if the new plan has the same Digest. Otherwise the
// Refusal's reason is PlanChanged.
func (s *Store) Apply(ctx context.Context, p *Plan) ([]Written, error) {
	digest := p.Digest()
	for attempt := 1; ; attempt++ {
		written, err := s.apply(ctx, p)
		if ReasonOf(err) != PlanChanged || attempt == attempts || p.again == nil {
			return written, err
		}
		next, perr := p.again(ctx)
		if perr != nil {
			return nil, perr
		}
		if next.Digest() != digest {
			return nil, err
		}
		p = next
	}
}

func (s *Store) apply(ctx context.Context, p *Plan) ([]Written, error) {
	if p.Empty() {
		return nil, nil
	}
	_, base, unlock, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if base != p.base {
		return nil, refuse(PlanChanged, "", "look at the plan again", "something else was installed meanwhile")
	}
	j, err := s.prepare(p)
	if err != nil {
		return nil, err
	}
	if err := s.carryOut(j, p); err != nil {
		return nil, err
	}
	s.prune()
	written := make([]Written, len(j.Files))
	for i, f := range j.Files {
		written[i] = Written{File: f.File, Backup: s.backupPath(f.Backup)}
	}
	return written, nil
}

// enter takes the lock, recovers from a crash, and reads the ledger and its
// hash. unlock gives the lock back.
func (s *Store) enter(ctx context.Context) (now *ledger, base string, unlock func(), err error) {
	unlock, err = s.lock(ctx)
	if err != nil {
		return nil, "", nil, err
	}
	if err = s.recover(); err == nil {
		now, base, err = s.readLedger()
	}
	if err != nil {
		unlock()
	}
	return now, base, unlock, err
}

// prepare compares every file with the plan and writes the transaction down. It
// changes nothing.
func (s *Store) prepare(p *Plan) (*journal, error) {
	j := &journal{}
	number, err := s.nextBackup()
	if err != nil {
		return nil, failed(s.dir, "the backups cannot be listed", err)
	}
	for i, w := range p.files {
		t, err := openTarget(w.root, p.Changes[i].File, w.scope)
		if err != nil {
			return nil, err
		}
		now, info, err := t.read()
		t.close()
		if err != nil {
			return nil, err
		}
		if t.real != p.Changes[i].Target || (now == nil) != (w.before == nil) || !bytes.Equal(now, w.before) {
			return nil, moved(t.file)
		}
		f := &journalFile{
			File: t.file, Target: t.real, Root: t.root, Before: hashOf(w.before), After: hashOf(w.doc),
			Temp: tempName(t.name), Mode: w.mode, FolderMode: w.folders, Pieces: w.pieces(),
		}
		if info != nil {
			f.Mode = info.Mode().Perm()
			f.Backup = fmt.Sprintf("%06d-%s", number, strings.TrimLeft(t.name, "."))
			number++
			if w.fresh {
				w.rec.Original, w.rec.OriginalHash = f.Backup, f.Before
			}
			for _, e := range w.touched {
				e.Backup = f.Backup
			}
		}
		if w.doc != nil {
			f.Staged = strconv.Itoa(i)
		} else {
			f.Leftover = w.rec.Folders
		}
		folder := filepath.Dir(t.real)
		for range t.missing {
			f.Folders = slices.Insert(f.Folders, 0, folder)
			folder = filepath.Dir(folder)
		}
		w.rec.inheritFolders(f.Folders)
		j.Files = append(j.Files, f)
	}
	if j.OldLedger, err = s.readOwn(nameLedger); err != nil && !os.IsNotExist(err) {
		return nil, failed(s.dir, "the ledger cannot be read", err)
	}
	if j.Ledger = j.OldLedger; p.ledger != nil {
		j.Ledger, err = p.ledger.encode()
	}
	return j, err
}

func moved(file string) error {
	return refuse(PlanChanged, file, "look at the plan again", "the file has changed since the plan was made")
}

// hashOf returns "" for an absent file.
func hashOf(b []byte) string {
	if b == nil {
		return ""
	}
	return edit.Hash(b)
}

// carryOut is the transaction.
func (s *Store) carryOut(j *journal, p *Plan) error {
	if err := s.writeJournal(j, staging); err != nil {
		return failed(s.dir, "the transaction cannot be written down", err)
	}
	err := s.stage(j, p)
	if err == nil {
		err = s.writeJournal(j, forward)
	}
	if err == nil {
		if err = s.finish(j, false); err == nil {
			return nil
		}
	}
	kept, berr := s.takeBack(j)
	if berr != nil {
		return s.stuck(fmt.Errorf("%w; and then: %w", err, berr))
	}
	if len(kept) > 0 {
		return &Refusal{
			Reason: PlanChanged, File: kept[0], Err: err, Fix: "look at the plan again",
			Message: "not all files could be changed; this one was meanwhile written by somebody else and keeps the hub's entry",
		}
	}
	return failed(s.dir, "the files are as they were, since not all could be changed", err)
}

// stage saves the old and the new contents, in the store and beside the files.
func (s *Store) stage(j *journal, p *Plan) error {
	for i, f := range j.Files {
		w := p.files[i]
		if f.Backup != "" {
			if err := s.writeOwn(filepath.Join(nameBackups, f.Backup), w.before); err != nil {
				return failed(f.File, "the backup cannot be written", err)
			}
		}
		if f.Staged == "" {
			continue
		}
		if err := s.writeOwn(filepath.Join(nameStaged, f.Staged), w.doc); err != nil {
			return failed(f.File, "the new content cannot be written", err)
		}
	}
	for i, f := range j.Files {
		if f.Staged == "" {
			continue
		}
		if err := s.withTarget(f, true, func(t *target) error { return s.writeTemp(t, f, p.files[i].doc) }); err != nil {
			return err
		}
	}
	return nil
}

// finish gives every file its new content, then writes the ledger. late says
// that a crash interrupted the transaction. Then files that have changed since
// stay as they are, and the ledger's hashes show it.
func (s *Store) finish(j *journal, late bool) error {
	for _, f := range j.Files {
		err := s.withTarget(f, f.Staged != "", func(t *target) error { return s.exchange(t, f) })
		if late && ReasonOf(err) == PlanChanged {
			err = s.withTarget(f, false, func(t *target) error { return s.removeTemp(t, f) })
		}
		if err != nil {
			return err
		}
	}
	if err := s.putLedger(j); err != nil {
		return failed(filepath.Join(s.dir, nameLedger), "the ledger cannot be written", err)
	}
	s.forget(j)
	return nil
}

func (s *Store) putLedger(j *journal) error {
	now, err := s.readOwn(nameLedger)
	if err == nil && bytes.Equal(now, j.Ledger) || len(j.Ledger) == 0 {
		return nil
	}
	if len(j.OldLedger) > 0 {
		if err := s.writeOwn(nameOldLedger, j.OldLedger); err != nil {
			return err
		}
	}
	return s.writeOwn(nameLedger, j.Ledger)
}

// forget ends the transaction. If a file cannot be removed, the next
// transaction finds and removes it.
func (s *Store) forget(j *journal) {
	if s.removeOwn(nameJournal) != nil {
		return
	}
	for _, f := range j.Files {
		if f.Staged != "" {
			_ = s.removeOwn(filepath.Join(nameStaged, f.Staged))
		}
	}
}
