package transfer

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// PlanBundle begins a plan of a folder; see hub.Capsules.
func (x *Exports) PlanBundle(ctx context.Context, in hub.CapsuleExportInput) (hub.CapsulePlan, error) {
	if in.Scope == "" {
		in.Scope = hub.CapsuleComplete
	}
	if err := checkFolder(in.Out); err != nil {
		return hub.CapsulePlan{}, err
	}
	if err := x.outside(in.Out); err != nil {
		return hub.CapsulePlan{}, err
	}
	p, err := x.begin(ctx, in, hub.CapsuleBundle)
	if err != nil {
		return hub.CapsulePlan{}, err
	}
	return x.await(ctx, p)
}

// checkFolder refuses a path at which no bundle can be put.
func checkFolder(target string) error {
	switch {
	case target == "":
		return hub.Invalid("out", "out is missing").WithFix("name the folder to write, such as /tmp/shop-export")
	case len(target) > hub.MaxPathBytes || !utf8.ValidString(target) || strings.ContainsFunc(target, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return hub.Invalid("out", "out is too long, or has characters that no path of a bundle may have").With("limit", hub.MaxPathBytes).
			WithFix("name a folder with a shorter path of printable characters")
	case !filepath.IsAbs(target):
		return hub.Invalid("out", "out is no absolute path").WithFix("give the whole path on the machine of the hub")
	}
	target = filepath.Clean(target)
	if info, err := os.Stat(filepath.Dir(target)); err != nil || !info.IsDir() || filepath.Dir(target) == target {
		return hub.Invalid("out", "the folder above out does not exist").With("folder", filepath.Dir(target)).
			WithFix("make the folder above it first, or name another folder")
	}
	info, err := os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.IsDir() {
		if entries, err := os.ReadDir(target); err == nil && len(entries) == 0 {
			return nil
		}
	}
	return folderExists(target)
}

func folderExists(target string) error {
	return hub.NewError(hub.CodeTargetExists, "out is there and is no empty folder, and an export never replaces anything").With("out", target).
		WithFix("name another folder, or move that one away")
}

// A placer is what putting a bundle in its place does to the disk, step by step.
type placer interface {
	Mkdir(dir string) error
	// Put makes a file, and has what write writes on the disk.
	Put(file string, write func(io.Writer) error) error
	SyncDir(dir string) error
	// Rename gives a folder the name of another one that is absent or empty.
	Rename(from, to string) error
	RemoveAll(dir string) error
}

// diskPlacer places bundles on the disk of the machine.
type diskPlacer struct{}

func (diskPlacer) Mkdir(dir string) error     { return os.Mkdir(dir, 0o700) }
func (diskPlacer) SyncDir(dir string) error   { return osfile.SyncDir(dir) }
func (diskPlacer) RemoveAll(dir string) error { return os.RemoveAll(dir) }

func (diskPlacer) Put(file string, write func(io.Writer) error) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (diskPlacer) Rename(from, to string) error {
	if info, err := os.Lstat(to); err == nil && info.IsDir() {
		// os.Rename replaces no folder, not even an empty one. Remove takes no other.
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	return os.Rename(from, to)
}

// placeBundle copies the files of a plan into a folder beside the target, and gives that
// folder the name of the target when all of it is on the disk. A rename of a folder never
// replaces a file or a folder, whenever that appeared.
func (x *Exports) placeBundle(ctx context.Context, p *plan, target, prefix string) error {
	err := placeFolder(ctx, diskPlacer{}, p.rendered, target, prefix)
	if err != nil {
		if again := checkFolder(target); again != nil {
			return again
		}
	}
	return err
}

func placeFolder(ctx context.Context, disk placer, r *rendering, target, prefix string) error {
	above := filepath.Dir(target)
	part := filepath.Join(above, prefix+rand.Text())
	if err := disk.Mkdir(part); err != nil {
		return err
	}
	err := copyFolder(ctx, disk, r, part)
	if err == nil {
		err = disk.Rename(part, target)
	}
	if err != nil {
		return errors.Join(err, disk.RemoveAll(part))
	}
	return disk.SyncDir(above)
}

// copyFolder fills a folder, and has everything on the disk when it returns.
func copyFolder(ctx context.Context, disk placer, r *rendering, to string) error {
	made := []string{"."}
	for _, name := range r.names() {
		dir := path.Dir(name)
		for _, d := range missing(made, dir) {
			if err := disk.Mkdir(filepath.Join(to, filepath.FromSlash(d))); err != nil {
				return err
			}
			made = append(made, d)
		}
		if err := disk.Put(filepath.Join(to, filepath.FromSlash(name)), r.content(ctx, name)); err != nil {
			return err
		}
	}
	slices.Reverse(made) // a folder after those in it
	for _, d := range made {
		if err := disk.SyncDir(filepath.Join(to, filepath.FromSlash(d))); err != nil {
			return err
		}
	}
	return nil
}

// missing lists the folders from the top to dir that are not in made.
func missing(made []string, dir string) (dirs []string) {
	for ; !slices.Contains(made, dir); dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}
