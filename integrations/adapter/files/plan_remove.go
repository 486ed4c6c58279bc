package files

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"hubcli/integrations/adapter/edit"
)

// removeAll plans to remove all entries of an owner except kept. It begins with
// the last entry, so that each removal is the exact inverse of an insertion.
func (p *planner) removeAll(owner Owner, mode Mode, kept []Entry) error {
	for _, rec := range slices.Clone(p.ledger.Files) {
		var gone []*entryRecord
		for _, e := range rec.Entries {
			if slices.Contains(e.Owners, owner) && !p.keeps(rec, e, kept) {
				gone = append(gone, e)
			}
		}
		if len(gone) == 0 {
			continue
		}
		w, err := p.open(rec.Root, rec.File, owner.Scope)
		if err != nil {
			return err
		}
		if w.rec != rec {
			// The path leads to another file now; our entries are in the old
			// one.
			if w, err = p.open(rec.above(), rec.Target, Project); err != nil {
				return err
			}
		}
		if w.rec != rec {
			return refuse(LeavesRoot, rec.File, "put the links back as they were", "the file is no longer where it was, at %s", rec.Target)
		}
		slices.Reverse(gone)
		for _, e := range gone {
			if err := p.remove(w, e, owner, mode); err != nil {
				return err
			}
		}
		if err := p.restore(w); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) keeps(rec *fileRecord, e *entryRecord, kept []Entry) bool {
	return slices.ContainsFunc(kept, func(k Entry) bool {
		if !k.At.Same(e.At) {
			return false
		}
		if k.File == rec.File || k.File == rec.Target {
			return true
		}
		t, err := openTarget(k.Root, k.File, k.Owner.Scope)
		if err != nil {
			return false
		}
		defer t.close()
		return t.real == rec.Target
	})
}

// remove takes one entry out, unless another owner still needs it.
func (p *planner) remove(w *work, e *entryRecord, owner Owner, mode Mode) error {
	e.Owners = slices.DeleteFunc(e.Owners, func(o Owner) bool { return o == owner })
	if len(e.Owners) > 0 {
		return nil
	}
	state, _, err := stateOf(w.doc, e, e.Format, e.At, nil)
	if err != nil {
		return documentRefused(w.rec.File, err)
	}
	w.rewrites = w.rewrites || e.Rewrites
	w.rec.bequeath(e)
	w.rec.drop(e)
	switch state {
	case Installed, Outdated, Adoptable, Conflict, Unreadable:
	case Absent: // somebody has removed the entry
		return nil
	case Drifted:
		if mode < Repair {
			return refuse(IsDrifted, w.rec.File, "look at it, and remove it by hand", "%s was changed since it was installed", e.At)
		}
		w.notes = append(w.notes, fmt.Sprintf("%s was changed since it was installed; it goes with that change", e.At))
	}
	if apart(w.doc, e) {
		w.notes = append(w.notes, fmt.Sprintf("%s goes with what others have put into its %s", e.At, e.At.Apart))
	}
	w.gone = append(w.gone, e)
	w.doc, err = edit.Remove(e.Format, w.doc, e.At, e.Trace)
	if err != nil {
		return documentRefused(w.rec.File, err)
	}
	return nil
}

// apart reports whether the member that is no part of an entry holds anything.
func apart(doc []byte, e *entryRecord) bool {
	if e.At.Apart == "" {
		return false
	}
	have, found, err := edit.Get(e.Format, doc, edit.Pointer{Keys: append(slices.Clone(e.At.Keys), e.At.Apart)})
	return err == nil && found && string(have) != "[]"
}

// bequeath leaves it to the remaining entries to remove the parents and blanks
// that were made for the removed entry.
func (f *fileRecord) bequeath(gone *entryRecord) {
	later, first := false, true
	for _, e := range f.Entries {
		if e == gone {
			later = true
			continue
		}
		// Blocks stand one after another: only the next one takes over the old
		// end of the document.
		if block := e.Format == edit.TOML || e.Format == edit.Markdown; block && !(later && first) {
			continue
		}
		first = first && !later
		e.Trace = edit.Heir{At: e.At, Trace: e.Trace, Later: later}.Inherit(e.Format, gone.At, gone.Trace)
	}
}

// restore sets the new content of a file after its last entry was removed: the
// exact original if nobody else has changed the file, else what remains.
func (p *planner) restore(w *work) error {
	if len(w.rec.Entries) > 0 || w.before == nil {
		return nil
	}
	untouched := edit.Hash(w.before) == w.rec.Hash
	switch {
	case w.rec.Created && (untouched || len(bytes.TrimSpace(bytes.TrimPrefix(w.doc, []byte("\xef\xbb\xbf")))) == 0):
		w.doc = nil
		w.notes = append(w.notes, "the file is deleted, since the install made it")
	case untouched && w.rec.Original != "":
		b, err := os.ReadFile(filepath.Join(p.store.dir, nameBackups, w.rec.Original))
		if err == nil && edit.Hash(b) == w.rec.OriginalHash {
			w.doc = b
			w.notes = append(w.notes, "the file is restored as it was, byte for byte")
		}
	}
	return nil
}

// finish makes the plan of the files that change, and leaves out the others.
func (p *planner) finish(now *ledger, base string) (*Plan, error) {
	plan := &Plan{base: base, Adopted: p.adopted}
	for _, w := range p.works {
		if w.before == nil == (w.doc == nil) && bytes.Equal(w.before, w.doc) {
			continue
		}
		if !w.fresh && (w.before == nil || edit.Hash(w.before) != w.rec.Hash) {
			w.rec.Original, w.rec.OriginalHash = "", "" // somebody else has also changed the file
		}
		if w.before == nil {
			w.rec.Created = true
		}
		w.rec.Hash = edit.Hash(w.doc)
		plan.files = append(plan.files, w)
		plan.Changes = append(plan.Changes, Change{
			File: w.target.file, Target: w.target.real, Before: w.before, After: w.doc, Entries: w.entries, Notes: w.notes,
		})
	}
	for _, gone := range p.ledger.Files {
		if len(gone.Entries) > 0 {
			continue
		}
		for _, heir := range p.ledger.Files {
			heir.inheritFolders(gone.Folders)
		}
	}
	p.ledger.Files = slices.DeleteFunc(p.ledger.Files, func(f *fileRecord) bool { return len(f.Entries) == 0 })
	if len(p.ledger.Files) == 0 {
		p.ledger.Files = now.Files[:0:0]
	}
	was, err := now.encode()
	if err != nil {
		return nil, err
	}
	will, err := p.ledger.encode()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(was, will) {
		plan.ledger = p.ledger
	}
	return plan, nil
}
