package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"hubcli/capsule"
	"hubcli/capsule/readable"
	"hubcli/hub"
	"hubcli/internal/pause"
)

// A rendering is a folder of files that were rendered from the capsule of a plan.
type rendering struct {
	dir   string
	space func() (bool, int64)
	gone  func() error      // why no file may be made any more; nil: it is not asked
	size  int64             // bytes of all files
	asked int64             // size at which the disk is asked again
	sums  map[string]string // SHA-256 of each file, by its path with slashes
	open  *os.File          // of last, to which most data goes
	last  string
}

// render writes what people read of a plan, if somebody asked for it.
func (x *Exports) render(ctx context.Context, p *plan) error {
	if p.row.Form != hub.CapsuleBundle && !p.in.GitMirror {
		return nil
	}
	form := readable.Bundle
	if p.row.Form != hub.CapsuleBundle {
		form = readable.Mirror
		root, why := x.workTree(ctx, p.row.Project.ProjectID)
		p.mirror = &mirrorPlan{root: root, reason: why}
		if root == "" {
			return nil
		}
	}
	f, err := os.Open(p.file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	src, err := capsule.Open(f, info.Size(), capsule.DefaultLimits())
	if err != nil {
		return err
	}
	src.Between(pause.NewBeside(x.options.Busy).Rest)
	p.rendered = &rendering{dir: p.tree, space: x.options.Space, gone: x.gone, sums: map[string]string{}}
	written := p.total.Load()
	p.total.Store(2 * written)
	err = readable.Render(ctx, src, p.rendered, form, func(lines int64) { p.done.Store(min(written+lines, 2*written)) })
	if err = errors.Join(err, p.rendered.close()); err == nil {
		err = p.rendered.sum(ctx)
	}
	p.done.Store(2 * written)
	if err == nil && p.mirror != nil {
		p.mirror.rendered = p.rendered
		p.mirror.decide()
	}
	return err
}

// Append adds data to a file; see readable.Sink.
func (r *rendering) Append(name string, data []byte) error {
	if r.size >= r.asked {
		r.asked = r.size + askEvery
		if ok, free := r.space(); !ok {
			return storageFull(free)
		}
	}
	if r.open == nil || r.last != name {
		if err := r.turnTo(name); err != nil {
			return err
		}
	}
	r.size += int64(len(data))
	_, err := r.open.Write(data)
	return err
}

// turnTo opens another file, in a folder that is made if it is missing.
func (r *rendering) turnTo(name string) error {
	if err := r.close(); err != nil {
		return err
	}
	if r.gone != nil {
		if err := r.gone(); err != nil {
			return err
		}
	}
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if _, known := r.sums[name]; !known {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		r.sums[name] = ""
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	r.open, r.last = f, name
	return nil
}

func (r *rendering) close() error {
	if r.open == nil {
		return nil
	}
	f := r.open
	r.open = nil
	return f.Close()
}

// sum finds the hashes of the files.
func (r *rendering) sum(ctx context.Context) error {
	for _, name := range r.names() {
		sha, err := r.copyTo(ctx, name, io.Discard)
		if err != nil {
			return err
		}
		r.sums[name] = sha
	}
	return nil
}

// names are the paths of the files, sorted.
func (r *rendering) names() []string { return slices.Sorted(maps.Keys(r.sums)) }

// copyTo writes the content of a file to w, and returns its hash.
func (r *rendering) copyTo(ctx context.Context, name string, w io.Writer) (sha string, err error) {
	f, err := os.Open(filepath.Join(r.dir, filepath.FromSlash(name)))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(w, h), &until{ctx: ctx, r: f})
	return hex.EncodeToString(h.Sum(nil)), err
}

// content returns a Write of package osfile for a file, which must be what was rendered.
func (r *rendering) content(ctx context.Context, name string) func(io.Writer) error {
	return func(w io.Writer) error {
		sha, err := r.copyTo(ctx, name, w)
		if err == nil && sha != r.sums[name] {
			err = hub.NewError(hub.CodeCorruptRecord, "a file of the plan is not what was written").With("path", name).
				WithFix("plan the export again; if it happens again, look at the disk")
		}
		return err
	}
}
