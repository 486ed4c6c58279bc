package adapter

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// detect names the executables and folders by which the harness is found. Files
// that the hub itself made do not count.
// search is the caller's PATH, or empty.
func (a *Adapters) detect(ctx context.Context, r *row, search string) []string {
	var found []string
	for _, name := range r.harness.Facts().Programs {
		if path, err := a.program(name, search); err == nil {
			found = append(found, path)
		}
	}
	made := a.made(ctx)
	for _, p := range r.folders {
		if at, _, ok := a.config.World.resolve(p, ""); ok && others(at, made) {
			found = append(found, at)
		}
	}
	return found
}

// program returns the path of an executable: by the caller's PATH, else by that of the hub, which
// may have been started before the program was installed, or by something with another PATH.
func (a *Adapters) program(name, search string) (string, error) {
	for _, folder := range filepath.SplitList(search) {
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return path, nil
		}
	}
	return a.config.LookPath(name)
}

// made returns the files and folders that the hub has made; none if the ledger
// cannot be read.
func (a *Adapters) made(ctx context.Context) map[string]bool {
	if owners, err := a.installed(ctx); err != nil || len(owners) == 0 {
		return nil
	}
	store, _ := a.open(ctx)
	made, err := store.Made()
	if err != nil {
		return nil
	}
	return made
}

// others reports whether path exists and holds anything that the hub has not
// made.
func others(path string, made map[string]bool) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	if !made[real] {
		return true
	}
	dir, err := os.ReadDir(real)
	if err != nil {
		return false // a file of the hub's own
	}
	for _, e := range dir {
		if others(filepath.Join(real, e.Name()), made) {
			return true
		}
	}
	return false
}
