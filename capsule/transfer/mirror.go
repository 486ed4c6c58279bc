package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hubcli/capsule/mirror"
	"hubcli/hub"
	"hubcli/internal/osfile"
)

// mirrorPart begins the names of files of a mirror that are being written. A run removes
// what a crash has left of them.
const mirrorPart = ".hub-mirror-part-"

// maxMirrored is the size of the largest file of a mirror that is compared with the ledger,
// in bytes. A mirror writes none that is larger, so a larger one is somebody else's.
const maxMirrored = 64 << 20

// A mirrorPlan is what a plan does to the mirror in a work tree.
type mirrorPlan struct {
	root     string // of the work tree; empty: there is no mirror
	reason   string // why there is none
	rendered *rendering
	plan     mirror.Plan
}

// workTree returns the root of the one Git work tree of a project, or why there is none.
func (x *Exports) workTree(ctx context.Context, project hub.ProjectID) (root, why string) {
	roots, err := x.options.WorkTrees(ctx, project)
	switch {
	case err != nil:
		return "", fmt.Sprintf("the folders of the rooms could not be looked at: %v", err)
	case len(roots) == 0:
		return "", "no folder in a Git work tree is bound to a room of the project; bind one with room bind"
	case len(roots) > 1:
		return "", fmt.Sprintf("rooms of the project are bound to %d Git repositories, and a mirror needs one alone: %s",
			len(roots), strings.Join(roots, ", "))
	}
	return roots[0], ""
}

// decide finds out what the mirror changes.
func (m *mirrorPlan) decide() {
	plan, err := m.look()
	if err != nil {
		m.root, m.reason = "", asError(err).Error()
		return
	}
	m.plan = plan
}

// fits reports whether the folder is still as it was when the plan was made.
func (m *mirrorPlan) fits() bool {
	if m.root == "" {
		return true
	}
	now, err := m.look()
	return err == nil && now.Digest() == m.plan.Digest()
}

// digest stands for the steps and what they were decided from.
func (m *mirrorPlan) digest() string {
	if m.root == "" {
		return ""
	}
	return m.plan.Digest()
}

// look plans the mirror from what stands in the work tree now.
func (m *mirrorPlan) look() (mirror.Plan, error) {
	t, err := openMirror(m.root)
	if err != nil {
		return mirror.Plan{}, err
	}
	defer t.root.Close()
	return t.plan(m.rendered.sums)
}

// row is what the plan of the export says of the mirror.
func (m *mirrorPlan) row() *hub.CapsuleMirror {
	row := &hub.CapsuleMirror{State: hub.MirrorSkipped, Reason: m.reason, Changes: []hub.CapsuleMirrorChange{}}
	if m.root == "" {
		return row
	}
	row.State, row.Folder = hub.MirrorPlanned, filepath.Join(m.root, filepath.FromSlash(mirror.Folder))
	counts := map[mirror.Action]*int{mirror.Write: &row.Write, mirror.Replace: &row.Replace, mirror.Remove: &row.Remove, mirror.Same: &row.Same, mirror.Kept: &row.Kept}
	for _, s := range m.plan.Steps {
		*counts[s.Do]++
		if s.Do != mirror.Same && len(row.Changes) < hub.MaxMirrorChanges {
			row.Changes = append(row.Changes, hub.CapsuleMirrorChange{Path: s.Path, Do: string(s.Do)})
		}
	}
	return row
}

// writeMirror carries out the mirror of a plan, and returns what became of it. The capsule is
// at its target already, so a mirror that fails is told and fails nothing else.
func (x *Exports) writeMirror(ctx context.Context, p *plan) *hub.CapsuleMirror {
	if p.mirror == nil {
		return nil
	}
	row := p.mirror.row()
	if p.mirror.root == "" {
		return row
	}
	t, err := openMirror(p.mirror.root)
	if err == nil {
		defer t.root.Close()
		err = t.carryOut(ctx, &p.mirror.plan, p.rendered)
	}
	row.State = hub.MirrorDone
	if err != nil {
		row.State, row.Reason = hub.MirrorFailed, asError(err).Error()
		x.options.Log.Warn("the mirror of a project was not written", "project", p.row.Project.Slug, "error", err)
	}
	return row
}

// A mirrorTree is a work tree whose mirror is read or written. Names are from the work tree.
type mirrorTree struct {
	root *os.Root
	disk mirrorDisk
}

// mirrorDisk is what writing a mirror does to the work tree, step by step.
type mirrorDisk interface {
	osfile.FS
	Mkdir(name string) error
}

type rootDisk struct{ osfile.In }

func (d rootDisk) Mkdir(name string) error { return d.Root.Mkdir(name, 0o700) }

func openMirror(workTree string) (*mirrorTree, error) {
	root, err := os.OpenRoot(workTree)
	if err != nil {
		return nil, err
	}
	return &mirrorTree{root: root, disk: rootDisk{osfile.In{Root: root}}}, nil
}

// inTree is the name of a file of the mirror from the work tree.
func inTree(name string) string { return path.Join(mirror.Folder, name) }

// plan decides what becomes of the files. sums has the hashes of the rendering.
func (t *mirrorTree) plan(sums map[string]string) (mirror.Plan, error) {
	dirs := map[string]bool{}
	for name := range sums {
		dirs[path.Dir(inTree(name))] = true
	}
	for dir := range dirs {
		if err := t.checkFolders(dir); err != nil {
			return mirror.Plan{}, err
		}
	}
	ledger, err := t.ledger()
	if err != nil {
		return mirror.Plan{}, err
	}
	return mirror.NewPlan(&ledger, sums, t.find)
}

// checkFolders refuses a folder that is no folder of its own, or is below such a one. Links
// that lead out are never followed; one that stays within would put the mirror elsewhere.
func (t *mirrorTree) checkFolders(dir string) error {
	for _, d := range missing([]string{"."}, dir) {
		info, err := t.root.Lstat(filepath.FromSlash(d))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return hub.Invalid("mirror", d+" is a link or a file, and a mirror is written into folders alone").
				WithFix("move " + d + " away, and export again")
		}
	}
	return nil
}

// ledger reads the ledger; a folder without one has an empty ledger.
func (t *mirrorTree) ledger() (mirror.Ledger, error) {
	data, err := osfile.ReadSmallIn(t.root, filepath.FromSlash(inTree(mirror.LedgerName)), mirror.MaxLedger)
	if errors.Is(err, fs.ErrNotExist) {
		return mirror.NewLedger(), nil
	}
	if err != nil {
		return mirror.Ledger{}, err
	}
	return mirror.ParseLedger(data)
}

// find says what stands at a path of the mirror.
func (t *mirrorTree) find(name string) (mirror.Found, error) {
	var refused *hub.Error
	if err := t.checkFolders(path.Dir(inTree(name))); errors.As(err, &refused) {
		return mirror.Found{Exists: true}, nil // below something of somebody else
	} else if err != nil {
		return mirror.Found{}, err
	}
	file := filepath.FromSlash(inTree(name))
	info, err := t.root.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return mirror.Found{}, nil
	}
	if err != nil {
		return mirror.Found{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxMirrored {
		return mirror.Found{Exists: true}, nil
	}
	data, err := osfile.ReadSmallIn(t.root, file, maxMirrored)
	if err != nil {
		return mirror.Found{}, err
	}
	sum := sha256.Sum256(data)
	return mirror.Found{Exists: true, SHA: hex.EncodeToString(sum[:])}, nil
}

// carryOut does the steps of a plan. Before the first one the ledger names what the files
// were and what they are going to be, so that a run which is cut off leaves only files that
// the next run knows as its own.
func (t *mirrorTree) carryOut(ctx context.Context, p *mirror.Plan, r *rendering) error {
	if err := t.makeFolders(mirror.Folder); err != nil {
		return err
	}
	if err := t.sweep(p); err != nil {
		return err
	}
	if err := t.writeLedger(&p.During); err != nil {
		return err
	}
	for i := range p.Steps {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := t.step(ctx, &p.Steps[i], r); err != nil {
			return err
		}
	}
	return t.writeLedger(&p.After)
}

func (t *mirrorTree) step(ctx context.Context, s *mirror.Step, r *rendering) error {
	file := filepath.FromSlash(inTree(s.Path))
	switch s.Do {
	case mirror.Write, mirror.Replace:
		if err := t.makeFolders(path.Dir(inTree(s.Path))); err != nil {
			return err
		}
		return osfile.Replace(t.disk, file, osfile.Content{
			Prefix: mirrorPart, Mode: 0o600, Write: r.content(ctx, s.From),
			Check: func(io.Reader) error { return t.unchanged(s) },
		})
	case mirror.Remove:
		if err := t.unchanged(s); err != nil {
			return err
		}
		if err := t.disk.Remove(file); err != nil {
			return err
		}
		return t.disk.SyncDir(filepath.Dir(file))
	case mirror.Same, mirror.Kept:
	}
	return nil
}

// unchanged refuses a step if somebody has changed the file since the plan was made.
func (t *mirrorTree) unchanged(s *mirror.Step) error {
	found, err := t.find(s.Path)
	if err == nil && (found.SHA != s.Before || found.Exists != (s.Before != "")) {
		err = hub.Invalid("mirror", inTree(s.Path)+" was changed while the mirror was written").WithFix("export again")
	}
	return err
}

// makeFolders makes a folder and those above it that are missing.
func (t *mirrorTree) makeFolders(dir string) error {
	if err := t.checkFolders(dir); err != nil {
		return err
	}
	for _, d := range missing([]string{"."}, dir) {
		name := filepath.FromSlash(d)
		err := t.disk.Mkdir(name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = t.disk.SyncDir(filepath.Dir(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweep removes what a crash has left of files that were being written, in every folder that
// the ledger names.
func (t *mirrorTree) sweep(p *mirror.Plan) error {
	dirs := map[string]bool{mirror.Folder: true}
	for name := range p.During.Files {
		dirs[path.Dir(inTree(name))] = true
	}
	for dir := range dirs {
		if t.checkFolders(dir) != nil {
			continue // not the mirror's
		}
		entries, err := fs.ReadDir(t.root.FS(), dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), mirrorPart) && e.Type().IsRegular() {
				if err := t.disk.Remove(filepath.FromSlash(path.Join(dir, e.Name()))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (t *mirrorTree) writeLedger(l *mirror.Ledger) error {
	return osfile.Replace(t.disk, filepath.FromSlash(inTree(mirror.LedgerName)),
		osfile.Content{Prefix: mirrorPart, Mode: 0o600, Write: osfile.Bytes(l.JSON())})
}
