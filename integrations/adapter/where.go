package adapter

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"hubcli/hub"
	"hubcli/integrations/adapter/files"
)

// where returns the row, setup and owner that an input means.
func (a *Adapters) where(harness hub.Harness, in hub.AdapterInput) (*row, *setup, files.Owner, error) {
	owner := files.Owner{Harness: harness, Scope: files.Global}
	r, err := find(harness)
	if err != nil {
		return nil, nil, owner, err
	}
	scope := in.Scope
	switch {
	case scope != "":
	case in.Path != "" || r.global == nil:
		scope = hub.AdapterProject
	default:
		scope = hub.AdapterGlobal
	}
	s := r.setup(scope)
	if s == nil {
		return nil, nil, owner, hub.Invalid("scope", r.title()+" has no adapter of the scope "+string(scope)).
			With("scopes", r.scopes()).WithFix("use the scope " + string(r.scopes()[0]))
	}
	if scope == hub.AdapterProject {
		owner.Scope = files.Project
		if owner.Path, err = a.project(in.Path); err != nil {
			return nil, nil, owner, err
		}
	}
	return r, s, owner, nil
}

// project checks the folder of a project. It must be an existing folder of this
// user, and not the home folder, whose settings are the global ones. A link is
// followed once, here; from then on the folder is known by its own path.
func (a *Adapters) project(path string) (string, error) {
	switch {
	case path == "":
		return "", hub.Invalid("path", "path is missing").WithFix("give the absolute path of the project's folder")
	case !filepath.IsAbs(path):
		return "", hub.Invalid("path", "path is not absolute").WithFix("give an absolute path")
	}
	real, err := filepath.EvalSymlinks(path)
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(real)
	}
	switch {
	case err != nil:
		why := err
		var p *fs.PathError
		if errors.As(err, &p) {
			why = p.Err
		}
		return "", hub.NewError(hub.CodePathNotFound, "the folder cannot be read: "+why.Error()).
			With("path", path).WithFix("give the path of an existing folder")
	case !info.IsDir():
		return "", hub.NewError(hub.CodePathNotFound, "the path is not a folder").With("path", path).
			WithFix("give the path of the project's folder")
	case !own(info):
		return "", hub.NewError(hub.CodeAdapterRefused, "the folder belongs to another user").With("path", real).
			WithFix("run the hub as the user who owns the project")
	case sameFile(real, a.config.World.Home):
		return "", hub.Invalid("path", "the home folder is no project: its settings are the global ones").
			WithFix("use the scope global")
	}
	return real, nil
}

// gone reports whether the folder of an installation no longer exists.
func gone(o files.Owner) bool {
	if o.Scope != files.Project {
		return false
	}
	_, err := os.Lstat(o.Path)
	return errors.Is(err, fs.ErrNotExist)
}

// lost finds the installation of a deleted folder by its old path.
func (a *Adapters) lost(ctx context.Context, harness hub.Harness, in hub.AdapterInput, owner *files.Owner) bool {
	if in.Scope == hub.AdapterGlobal || !filepath.IsAbs(in.Path) {
		return false
	}
	installed, _ := a.installed(ctx)
	path := filepath.Clean(in.Path)
	paths := []string{path}
	if above, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		paths = append(paths, filepath.Join(above, filepath.Base(path)))
	}
	for _, o := range installed {
		if o.Harness == harness && o.Scope == files.Project && slices.Contains(paths, o.Path) && gone(o) {
			*owner = o
			return true
		}
	}
	return false
}
