//go:build linux

package files

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAttributesStay(t *testing.T) {
	p := newPlace(t)
	p.seed()
	if err := unix.Setxattr(p.path(".claude.json"), "user.note", []byte("mine"), 0); err != nil {
		t.Skipf("needs a file system with extended attributes: %v", err)
	}
	p.must(os.Chmod(p.path(".claude.json"), 0o604))
	p.must(p.install(p.entries()[:1], Keep))
	value := make([]byte, 16)
	n, err := unix.Getxattr(p.path(".claude.json"), "user.note", value)
	if err != nil || string(value[:n]) != "mine" {
		t.Errorf("the attribute holds %q, %v", value[:max(n, 0)], err)
	}
	if info, err := os.Stat(p.path(".claude.json")); err != nil || info.Mode().Perm() != 0o604 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

// A new file of a project is readable for all users, one of the home folder
// only for its user.
func TestModeOfNewFiles(t *testing.T) {
	p := newPlace(t)
	e := p.entries()[4]
	for scope, want := range map[Scope]os.FileMode{Global: 0o600, Project: 0o644} {
		e.Owner.Scope, e.File = scope, p.path(string(scope)+"/file")
		p.must(p.install([]Entry{e}, Keep))
		made := filepath.Join(p.home, "made")
		p.must(os.WriteFile(made, nil, want))
		info, err := os.Stat(e.File)
		p.must(err)
		if like, err := os.Stat(made); err != nil || info.Mode() != like.Mode() {
			t.Errorf("%s: %v, %v", scope, info.Mode(), err)
		}
		p.must(os.Remove(made))
	}
}
