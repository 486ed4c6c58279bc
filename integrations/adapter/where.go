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

// where finds out which setup an input means, and for whom.
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

// project checks the folder of a project: there, a folder, this user's, not the
// home folder, whose settings are the global ones. A link is followed once, here,
// and the folder is known by its own path from then on.
func (a *Adapters) project(path string) (string, error) {
	switch {
	case path == "":
		return "", hub.Invalid("path", "path is missing").WithFix("name the folder of the project, absolute")
	case !filepath.IsAbs(path):
		return "", hub.Invalid("path", "path is not absolute").WithFix("name the folder from the root on")
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
		return "", hub.NewError(hub.CodePathNotFound, "the folder cannot be looked at: "+why.Error()).
			With("path", path).WithFix("name a folder that is there")
	case !info.IsDir():
		return "", hub.NewError(hub.CodePathNotFound, "the path is no folder").With("path", path).
			WithFix("name the folder of the project")
	case !own(info):
		return "", hub.NewError(hub.CodeAdapterRefused, "the folder belongs to another user").With("path", real).
			WithFix("run the hub as the user whose project it is")
	case sameFile(real, a.config.World.Home):
		return "", hub.Invalid("path", "the home folder is no project: its settings are the global ones").
			WithFix("use the scope global")
	}
	return real, nil
}

// gone reports whether the folder of an installation is not there any more.
func gone(o files.Owner) bool {
	if o.Scope != files.Project {
		return false
	}
	_, err := os.Lstat(o.Path)
	return errors.Is(err, fs.ErrNotExist)
}

// lost finds the installation in a folder that is gone, by the path that it had.
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
