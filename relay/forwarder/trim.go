package forwarder

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"hubcli/relay"
)

// Bounds of the files that are removed at a time. The next sweep finds the
// rest.
const (
	fewRemovals  = 2_000   // by a call
	manyRemovals = 100_000 // by a sweep
)

// removingPrefix begins the names of folders that are being removed; other
// names begin with digits.
const removingPrefix = "removing-"

// rejected is one file or folder that is kept.
type rejected struct {
	folder, name string
	dir          bool
	bytes        int64
}

// trim counts all rejected files anew and removes the oldest until the bounds
// hold. It removes at most most files, and none after ctx has ended. It does
// nothing while another trim goes on.
func (r *rejects) trim(ctx context.Context, s *spool, most int) error {
	if !r.trimming.TryLock() {
		return nil
	}
	defer r.trimming.Unlock()
	r.mu.Lock()
	r.known, r.files, r.bytes = true, 0, 0 // a file that comes meanwhile may be counted twice
	r.mu.Unlock()
	root, err := openFolder(s.root, relay.RejectedDir)
	if err != nil {
		return relay.IgnoreMissing(err)
	}
	defer root.Close()
	all, err := listRejected(ctx, root)
	if err != nil {
		return err
	}
	kept, bytes, old := divide(all)
	r.mu.Lock()
	r.files += kept
	r.bytes += bytes
	r.mu.Unlock()
	m := remover{ctx: ctx, root: root, left: most}
	for _, e := range old {
		m.remove(e)
	}
	return m.err
}

// divide returns the number and bytes of the files to keep, and the rest in
// old, files before folders.
func divide(all []rejected) (files int, bytes int64, old []rejected) {
	// Names begin with the time; the newest come first.
	slices.SortFunc(all, func(a, b rejected) int { return cmp.Compare(b.name, a.name) })
	most := 2 * maxRejected
	if len(all) > most {
		most -= most / 10
	}
	for _, e := range all {
		if files < most && bytes+e.bytes <= maxRejectedBytes && !strings.HasPrefix(e.name, removingPrefix) {
			files++
			bytes += e.bytes
			continue
		}
		old = append(old, e)
	}
	slices.SortStableFunc(old, func(a, b rejected) int {
		switch {
		case a.dir == b.dir:
			return 0
		case b.dir:
			return -1
		}
		return 1
	})
	return files, bytes, old
}

func listRejected(ctx context.Context, root *os.Root) (list []rejected, err error) {
	folders, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		entries, err := fs.ReadDir(root.FS(), folder.Name())
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			info, err := e.Info()
			if err != nil {
				continue // gone
			}
			one := rejected{folder: folder.Name(), name: e.Name(), dir: e.IsDir(), bytes: info.Size()}
			if one.dir && !strings.HasPrefix(one.name, removingPrefix) {
				one.bytes = sizeOf(root, path.Join(one.folder, one.name))
			}
			list = append(list, one)
		}
	}
	return list, nil
}

// sizeOf returns the size of a folder, or more than the bound if it is too
// large to count.
func sizeOf(root *os.Root, name string) int64 {
	left := 1000
	bytes, err := measure(root, name, 8, &left)
	if err != nil {
		return maxRejectedBytes + 1
	}
	return bytes
}

// measure adds up the sizes of the files in a folder, down to depth levels and
// for at most left names.
func measure(root *os.Root, name string, depth int, left *int) (bytes int64, err error) {
	list, err := root.Open(name)
	if err != nil {
		return 0, err
	}
	defer list.Close()
	entries, err := list.ReadDir(*left + 1)
	if *left -= len(entries); *left < 0 || depth == 0 || err != nil && !errors.Is(err, io.EOF) {
		return 0, fs.ErrInvalid
	}
	for _, e := range entries {
		if !e.IsDir() {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
			continue
		}
		inner, err := measure(root, path.Join(name, e.Name()), depth-1, left)
		if err != nil {
			return 0, err
		}
		bytes += inner
	}
	return bytes, nil
}

// remover removes rejected files and folders. It first moves inner folders
// beside the outermost. So no path becomes long however deep the folders are,
// few files are open at a time, and no progress is lost if it stops early.
type remover struct {
	ctx  context.Context //nolint:containedctx // of one trim
	root *os.Root
	left int   // names that may be removed or renamed still
	err  error // the first
}

// more reports whether one more may be removed, and counts it.
func (m *remover) more() bool {
	m.left--
	return m.left >= 0 && m.ctx.Err() == nil
}

func (m *remover) failed(err error) {
	if m.err == nil {
		m.err = relay.IgnoreMissing(err)
	}
}

// remove removes one file or folder, as far as it can.
func (m *remover) remove(e rejected) {
	if !e.dir {
		if m.more() {
			m.failed(m.root.Remove(path.Join(e.folder, e.name)))
		}
		return
	}
	if !m.more() {
		return
	}
	parent, err := openFolder(m.root, e.folder)
	if err != nil {
		m.failed(err)
		return
	}
	defer parent.Close()
	name := e.name
	if !strings.HasPrefix(name, removingPrefix) {
		// A rest under its old name would be small enough to be kept.
		name = removingPrefix + string(relay.NewRequestID())
		if err := parent.Rename(e.name, name); err != nil {
			m.failed(err)
			return
		}
	}
	for todo := []string{name}; len(todo) > 0 && m.more(); {
		dir := todo[len(todo)-1]
		if err := parent.Remove(dir); relay.IgnoreMissing(err) == nil {
			todo = todo[:len(todo)-1]
			continue
		}
		inner, progress := m.empty(parent, dir)
		if !progress {
			todo = todo[:len(todo)-1]
		}
		todo = append(todo, inner...)
	}
}

// empty removes some of the files in the folder and moves its folders out;
// inner holds their new names. progress reports that the folder has become
// smaller.
func (m *remover) empty(parent *os.Root, name string) (inner []string, progress bool) {
	dir, err := openFolder(parent, name)
	if err != nil {
		m.failed(err)
		return nil, false
	}
	defer dir.Close()
	list, err := dir.Open(".")
	if err != nil {
		m.failed(err)
		return nil, false
	}
	defer list.Close()
	entries, err := list.ReadDir(batch)
	if err != nil && !errors.Is(err, io.EOF) {
		m.failed(err)
	}
	for _, e := range entries {
		if !m.more() {
			break
		}
		out := removingPrefix + string(relay.NewRequestID())
		if e.IsDir() {
			err = parent.Rename(path.Join(name, e.Name()), out)
		} else {
			err = dir.Remove(e.Name())
		}
		if err != nil {
			m.failed(err)
			continue
		}
		progress = true
		if e.IsDir() {
			inner = append(inner, out)
		}
	}
	return inner, progress
}
