package files

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"hubcli/integrations/adapter/edit"
)

// Plan lists the changes that an install or uninstall would make.
type Plan struct {
	Changes []Change
	// Adopted lists the entries that are taken over unchanged.
	Adopted []string

	ledger *ledger // the new ledger
	base   string  // hash of the ledger before the plan
	files  []*work // the files that change, in the order of Changes
	again  func(context.Context) (*Plan, error)
}

// work is one file while it is planned.
type work struct {
	target   *target // closed; only its names are used
	root     string  // from which the target was opened
	scope    Scope
	rec      *fileRecord
	before   []byte // nil: there is no file
	doc      []byte
	info     fs.FileInfo // of before
	mode     fs.FileMode // of a new file
	folders  fs.FileMode // of new folders
	rewrites bool
	touched  []*entryRecord // entries for which before is the backup
	gone     []*entryRecord // entries of before that the plan removes
	fresh    bool           // before becomes the original
	entries  []Entry
	notes    []string
}

// Empty reports whether the plan would change nothing at all.
func (p *Plan) Empty() bool { return len(p.Changes) == 0 && p.ledger == nil }

// Digest is a hash of the changes that the plan makes; a second plan from the
// same files has the same digest. For a file that its harness rewrites while it
// runs, the hash covers only the piece that changes; for others the whole file
// before and after.
func (p *Plan) Digest() string {
	var b strings.Builder
	for i, c := range p.Changes {
		w := p.files[i]
		if w.rewrites && c.Before != nil && c.After != nil {
			cut, put := differing(c.Before, c.After)
			fmt.Fprintf(&b, "%q piece %s %s\n", c.Target, edit.Hash(cut), edit.Hash(put))
			continue
		}
		fmt.Fprintf(&b, "%q %t %s %t %s %o\n", c.Target, c.Before == nil, edit.Hash(c.Before), c.After == nil, edit.Hash(c.After), w.mode)
	}
	for _, line := range p.Adopted {
		fmt.Fprintf(&b, "adopt %q\n", line)
	}
	return edit.Hash([]byte(b.String()))
}

// differing returns the bytes that differ between the common beginning and the
// common end.
func differing(before, after []byte) (cut, put []byte) {
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	return before, after
}

// Diff returns the unified diff of all changes. Secrets in the entries of
// others are masked.
func (p *Plan) Diff() string {
	var b strings.Builder
	for _, c := range p.Changes {
		b.WriteString(edit.Diff(c.File, c.Before, c.After))
	}
	return b.String()
}

// PlanInstall plans to write the entries, which belong to one owner, and to
// remove all other entries of that owner. A Refusal names the first file that
// cannot be edited, or the first entry that mode does not allow to be written.
func (s *Store) PlanInstall(ctx context.Context, entries []Entry, mode Mode) (*Plan, error) {
	if len(entries) == 0 || slices.ContainsFunc(entries, func(e Entry) bool { return e.Owner != entries[0].Owner }) {
		return nil, fmt.Errorf("files: a plan is for the entries of one owner")
	}
	return s.plan(ctx, func(ctx context.Context) (*Plan, error) { return s.PlanInstall(ctx, entries, mode) }, func(p *planner) error {
		if err := p.removeAll(entries[0].Owner, mode, entries); err != nil {
			return err
		}
		for _, e := range entries {
			if err := p.install(e, mode); err != nil {
				return err
			}
		}
		return nil
	})
}

// PlanUninstall plans to remove all entries of an owner. Drifted entries are an
// error with Keep and are removed with Repair.
func (s *Store) PlanUninstall(ctx context.Context, owner Owner, mode Mode) (*Plan, error) {
	return s.plan(ctx, func(ctx context.Context) (*Plan, error) { return s.PlanUninstall(ctx, owner, mode) }, func(p *planner) error {
		return p.removeAll(owner, mode, nil)
	})
}

// plan makes a plan under the lock, so that no transaction is under way.
func (s *Store) plan(ctx context.Context, again func(context.Context) (*Plan, error), decide func(*planner) error) (*Plan, error) {
	now, base, unlock, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	p := &planner{store: s, ledger: now.clone()}
	if err := decide(p); err != nil {
		return nil, err
	}
	plan, err := p.finish(now, base)
	if err != nil {
		return nil, err
	}
	plan.again = again
	return plan, nil
}

// planner edits copies of the ledger and the documents in memory.
type planner struct {
	store   *Store
	ledger  *ledger
	works   []*work
	adopted []string
}

// open reads the file of an entry, once.
func (p *planner) open(root, file string, scope Scope) (*work, error) {
	t, err := openTarget(root, file, scope)
	if err != nil {
		return nil, err
	}
	defer t.close()
	for _, w := range p.works {
		if w.target.real == t.real {
			return w, nil
		}
	}
	before, info, err := t.read()
	if err != nil {
		return nil, err
	}
	w := &work{target: t, root: root, scope: scope, rec: p.ledger.file(t.real), before: before, doc: before, info: info}
	if t.link != "" {
		w.notes = append(w.notes, t.leads()+", which is changed")
	}
	if w.rec == nil {
		w.rec = &fileRecord{File: file, Target: t.real, Root: root, Created: before == nil}
		w.fresh = true
		p.ledger.Files = append(p.ledger.Files, w.rec)
	}
	p.works = append(p.works, w)
	return w, nil
}

// stateOf returns the state of an entry in a document, and the present entry in
// canonical form. wanted is the canonical form of the wanted value, or nil.
func stateOf(doc []byte, rec *entryRecord, f edit.Format, at edit.Pointer, wanted []byte) (state State, have []byte, err error) {
	have, found, err := edit.Get(f, doc, at)
	switch {
	case err != nil:
		return Unreadable, nil, err
	case !found:
		return Absent, nil, nil
	case rec == nil && wanted != nil && bytes.Equal(have, wanted):
		return Adoptable, have, nil
	case rec == nil:
		return Conflict, have, nil
	case wanted != nil && bytes.Equal(have, wanted):
		return Installed, have, nil // written by the hub or somebody else
	case edit.Hash(have) != rec.Hash:
		return Drifted, have, nil
	case wanted != nil:
		return Outdated, have, nil
	}
	return Installed, have, nil
}

// value returns the entry's value in the form that edit takes.
func (e *Entry) value() (any, error) {
	if !e.Format.Text() {
		return e.Value, nil
	}
	var text string
	err := json.Unmarshal(e.Value, &text)
	return text, err
}

// install plans one entry.
func (p *planner) install(e Entry, mode Mode) error {
	w, err := p.open(e.Root, e.File, e.Owner.Scope)
	if err != nil {
		return err
	}
	value, err := e.value()
	if err != nil {
		return fmt.Errorf("files: value of %s: %w", e.At, err)
	}
	wanted, err := edit.Canonical(e.Format, e.At, value)
	if err != nil {
		return err
	}
	rec := w.rec.entry(e.At)
	state, _, err := stateOf(w.doc, rec, e.Format, e.At, wanted)
	if err != nil {
		return documentRefused(e.File, err)
	}
	w.entries, w.rewrites = append(w.entries, e), w.rewrites || e.Rewrites
	w.mode, w.folders = e.Mode, 0o755
	if w.mode == 0 {
		w.mode = 0o600
	}
	if e.Owner.Scope == Global {
		w.folders = 0o700
	} else if e.Mode == 0 {
		w.mode = 0o644 // other users may check the project out
	}
	if shared := rec != nil && slices.ContainsFunc(rec.Owners, func(o Owner) bool { return o != e.Owner }); shared && state == Outdated {
		return refuse(IsConflict, e.File, "uninstall that one first",
			"%s is used by %s in another form", e.At, rec.Owners[0].Harness)
	}
	switch state {
	case Absent, Outdated, Unreadable:
	case Installed:
		rec.Hash, rec.At = edit.Hash(wanted), e.At
		if !slices.Contains(rec.Owners, e.Owner) {
			rec.Owners = append(rec.Owners, e.Owner)
		}
		return nil
	case Adoptable:
		p.adopt(w, e, wanted)
		return nil
	case Drifted:
		if mode < Repair {
			return refuse(IsDrifted, e.File, "look at the entry, and run the repair if it should be as installed", "%s was changed since it was installed", e.At)
		}
		w.notes = append(w.notes, fmt.Sprintf("%s was changed since it was installed; that change is lost", e.At))
	case Conflict:
		return refuse(IsConflict, e.File, "rename or remove it", "there is another %s that the hub did not write", e.At)
	}
	return p.write(w, rec, e, value, wanted, state)
}

// write puts an entry into the document and the ledger.
func (p *planner) write(w *work, rec *entryRecord, e Entry, value any, wanted []byte, state State) error {
	var trace edit.Trace
	var err error
	if state == Absent {
		if rec != nil {
			w.rec.drop(rec) // somebody has removed the entry
			rec = &entryRecord{Owners: rec.Owners}
		} else {
			rec = &entryRecord{}
		}
		w.rec.Entries = append(w.rec.Entries, rec)
		w.doc, trace, err = edit.Insert(e.Format, w.doc, e.At, value)
		rec.Trace = trace
	} else {
		if rec == nil {
			rec = &entryRecord{}
			w.rec.Entries = append(w.rec.Entries, rec)
		}
		w.doc, err = edit.Replace(e.Format, w.doc, e.At, value)
	}
	if err != nil {
		return documentRefused(e.File, err)
	}
	if !slices.Contains(rec.Owners, e.Owner) {
		rec.Owners = append(rec.Owners, e.Owner)
	}
	rec.Part, rec.Format, rec.At, rec.Hash, rec.Rewrites = e.Part, e.Format, e.At, edit.Hash(wanted), e.Rewrites
	rec.Version, rec.Installed = p.store.version, p.store.now().UTC()
	w.touched = append(w.touched, rec)
	return nil
}

// adopt records an entry that is already there. An uninstall removes only the
// entry, because the file's earlier content is unknown.
func (p *planner) adopt(w *work, e Entry, wanted []byte) {
	if w.fresh {
		w.fresh, w.rec.Hash = false, edit.Hash(w.before)
		w.rec.Created = e.Format == edit.Whole // the file is the entry
	}
	w.rec.Original, w.rec.OriginalHash = "", ""
	w.rec.Entries = append(w.rec.Entries, &entryRecord{
		Owners: []Owner{e.Owner}, Part: e.Part, Format: e.Format, At: e.At, Hash: edit.Hash(wanted),
		Version: p.store.version, Installed: p.store.now().UTC(), Rewrites: e.Rewrites,
	})
	p.adopted = append(p.adopted, fmt.Sprintf("%s in %s is already there, not recorded as the hub's; it will be taken over", e.At, e.File))
}

func documentRefused(file string, err error) error {
	if edit.ReasonOf(err) == "" {
		return err
	}
	return &Refusal{
		Reason: Refused, File: file, Message: "the file is left as it is", Err: err,
		Fix: "correct the file there, or make the entry by hand",
	}
}
