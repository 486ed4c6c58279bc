package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hubcli/internal/osfile"
)

// mostLinks bounds how many links lead to one file; more are taken for a circle.
const mostLinks = 40

// follow returns the path that a link leads to. Where that is outside of the root, the
// file is reached from the root of the file system from then on, so that every folder
// above it is checked. In a project all links stay inside: whoever wrote the project
// would choose which file of the user is changed.
func (t *target) follow(link string, scope Scope) (string, error) {
	if t.link == "" {
		t.link = link
	}
	to, err := t.walk(link)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", refuse(LeavesRoot, t.file, "make that file, or remove the link", "the link %s leads to %s, where nothing is", link, to)
	case err != nil:
		return "", failed(t.file, "the link "+link+" cannot be followed", err)
	case below(to, t.root):
		return to, nil
	case scope != Global || !osfile.HasOwners:
		return "", refuse(LeavesRoot, t.file, "replace the link by a file, or let it point to one below "+t.root,
			"the link %s leads to %s, which is not below %s", link, to, t.root)
	}
	t.root = filepath.VolumeName(to) + string(filepath.Separator)
	return to, nil
}

// walk follows a link, and those that it leads to, one by one. Outside of the
// root it refuses a link that other users could have put there. If
// nothing is there, it returns the path at which nothing is.
func (t *target) walk(link string) (string, error) {
	top := filepath.VolumeName(link) + string(filepath.Separator)
	at, left := top, split(link)
	for links := 0; len(left) > 0; {
		next := filepath.Join(at, left[0])
		left = left[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return filepath.Join(append([]string{next}, left...)...), err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > mostLinks {
			return "", refuse(LeavesRoot, t.file, "remove the link", "the link %s leads in a circle", link)
		}
		if err := t.checkLink(at, next, info); err != nil {
			return "", err
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + string(filepath.Separator)
		}
		left = append(split(to), left...)
	}
	return at, nil
}

// checkLink refuses a link outside of the root that another user may have put there.
func (t *target) checkLink(folder, link string, info fs.FileInfo) error {
	if below(link, t.base) {
		return nil
	}
	const fix = "let the link point to the file itself"
	if uid, known := osfile.Owner(info); known && uid != os.Geteuid() && uid != 0 {
		return refuse(Foreign, t.file, fix, "%s leads over %s, a link of another user (%d)", t.link, link, uid)
	}
	holder, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if why := osfile.ForeignFolder(holder); why != "" {
		return refuse(Foreign, t.file, fix, "%s leads over a link in the folder %s, which %s", t.link, folder, why)
	}
	return nil
}

// led says where the links led, as the end of a sentence.
func (t *target) led() string {
	if t.link == "" {
		return ""
	}
	return ": " + t.leads()
}

// leads says which file a link leads to.
func (t *target) leads() string { return "the link " + t.link + " leads to " + t.real }

// outside reports whether links have led out of the scope's folder.
func (t *target) outside() bool { return !below(t.real, t.base) }

// split returns the names in a path, without the volume.
func split(path string) []string {
	path = strings.TrimPrefix(path, filepath.VolumeName(path))
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// below reports whether a path lies in a folder or in one below it. A folder lies in itself.
func below(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
