package mirror

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Found is what stands at a path.
type Found struct {
	Exists bool
	SHA    string // of a file; empty: it is no file that can be read, such as a link or a folder
}

// An Action is what a step does.
type Action string

// The actions.
const (
	Write   Action = "write"   // a new file
	Replace Action = "replace" // an own file, by a newer one
	Remove  Action = "remove"  // an own file that the project no longer has
	Same    Action = "same"    // the file has this content already
	Kept    Action = "kept"    // somebody has changed the file; it stays
)

// NewSuffix ends the name of the file that is written beside one that somebody has changed.
const NewSuffix = ".new"

// A Step is what becomes of one path.
type Step struct {
	Path   string `json:"path"`
	Do     Action `json:"do"`
	From   string `json:"-"` // the path of the rendering whose content is written
	SHA    string `json:"-"` // of the content after the step, if it writes one
	Before string `json:"-"` // of the content before the step; empty: there is no file
}

// A Plan is what a run does, by paths, and the ledgers that belong to it.
type Plan struct {
	Steps  []Step
	During Ledger // to be written before the first step
	After  Ledger // to be written after the last step
}

// NewPlan decides what becomes of the files of a mirror. wanted has the hashes of the files
// of the rendering. look says what stands at a path, which may be one with NewSuffix; its
// error ends the planning.
func NewPlan(l *Ledger, wanted map[string]string, look func(path string) (Found, error)) (Plan, error) {
	p := planning{ledger: l, look: look, plan: Plan{During: NewLedger(), After: NewLedger()}}
	for _, path := range slices.Sorted(maps.Keys(wanted)) {
		if err := p.wanted(path, wanted[path]); err != nil {
			return Plan{}, err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(l.all())) {
		if err := p.gone(path); err != nil {
			return Plan{}, err
		}
	}
	slices.SortFunc(p.plan.Steps, func(a, b Step) int { return strings.Compare(a.Path, b.Path) })
	maps.Copy(p.plan.During.Files, l.Files)
	maps.Copy(p.plan.During.Files, l.Pending)
	// A file that has what was pending is own with that hash; one that a crash has kept from
	// it has its former hash. Only one of both stands there, and During has to name it.
	for _, s := range p.plan.Steps {
		if l.own(s.Path, s.Before) {
			p.plan.During.Files[s.Path] = s.Before
		}
	}
	p.plan.During.Pending = p.pending
	return p.plan, nil
}

type planning struct {
	ledger  *Ledger
	look    func(string) (Found, error)
	plan    Plan
	pending map[string]string
	seen    map[string]bool // paths that have a step
}

func (l *Ledger) all() map[string]string {
	all := maps.Clone(l.Files)
	maps.Copy(all, l.Pending)
	return all
}

// wanted decides about a file of the rendering.
func (p *planning) wanted(path, sha string) error {
	found, err := p.look(path)
	if err != nil {
		return err
	}
	if do, ok := p.take(path, sha, found); ok {
		p.write(Step{Path: path, Do: do, From: path, SHA: sha, Before: found.SHA})
		return nil
	}
	p.step(Step{Path: path, Do: Kept, Before: found.SHA})
	if former := p.ledger.Files[path]; former != "" {
		p.plan.After.Files[path] = former // if that content comes back, the file is own again
	}
	beside := path + NewSuffix
	if found, err = p.look(beside); err != nil {
		return err
	}
	if do, ok := p.take(beside, sha, found); ok {
		p.write(Step{Path: beside, Do: do, From: path, SHA: sha, Before: found.SHA})
		return nil
	}
	p.step(Step{Path: beside, Do: Kept, Before: found.SHA})
	return nil
}

// take says how a content comes to stand at a path; false: somebody else has it.
func (p *planning) take(path, sha string, found Found) (Action, bool) {
	switch {
	case !found.Exists:
		return Write, true
	case found.SHA == sha:
		return Same, true
	case p.ledger.own(path, found.SHA):
		return Replace, true
	}
	return "", false
}

// write adds a step after which the file is own.
func (p *planning) write(s Step) {
	p.plan.After.Files[s.Path] = s.SHA
	if s.Do != Same {
		if p.pending == nil {
			p.pending = map[string]string{}
		}
		p.pending[s.Path] = s.SHA
	}
	p.step(s)
}

func (p *planning) step(s Step) {
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[s.Path] = true
	p.plan.Steps = append(p.plan.Steps, s)
}

// gone decides about a file of the ledger that the rendering does not have.
func (p *planning) gone(path string) error {
	if p.seen[path] {
		return nil
	}
	found, err := p.look(path)
	switch {
	case err != nil || !found.Exists:
		return err
	case p.ledger.own(path, found.SHA):
		p.step(Step{Path: path, Do: Remove, Before: found.SHA})
	default:
		p.step(Step{Path: path, Do: Kept, Before: found.SHA})
	}
	return nil
}

// Digest is the same for the same steps from the same state.
func (p *Plan) Digest() string {
	h := sha256.New()
	for _, s := range p.Steps {
		fmt.Fprintf(h, "%s %q %s %s\n", s.Do, s.Path, s.Before, s.SHA)
	}
	return hex.EncodeToString(h.Sum(nil))
}
