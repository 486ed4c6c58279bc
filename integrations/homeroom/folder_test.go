package homeroom

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// A place is a home with a folder of temporary files, and a way to make repositories in it.
type place struct {
	t    *testing.T
	root string
	wide *Wide
}

func newPlace(t *testing.T) *place {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &place{t: t, root: root}
	home, temporary := p.dir("home/sam"), p.dir("scratch")
	p.wide = WideOf(func(name string) string { return map[string]string{"HOME": home, "TMPDIR": temporary}[name] })
	return p
}

func (p *place) dir(path string) string {
	p.t.Helper()
	dir := filepath.Join(p.root, path)
	require.NoError(p.t, os.MkdirAll(dir, 0o755))
	return dir
}

func (p *place) git(dir string, args ...string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", append([]string{
		"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always",
	}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// repository makes one with a commit.
func (p *place) repository(path string) string {
	p.t.Helper()
	dir := p.dir(path)
	p.git(dir, "init", "-q")
	p.git(dir, "commit", "-q", "--allow-empty", "-m", "x")
	return dir
}

func TestFolderOfARepository(t *testing.T) {
	p := newPlace(t)
	shop := p.repository("home/sam/shop")
	deep := p.dir("home/sam/shop/services/till")
	odd := p.repository("home/sam/Über shop ✓")
	idlike := p.repository("home/sam/p_4")
	p.git(shop, "worktree", "add", "-q", "-b", "other", filepath.Join(p.root, "linked"))
	p.git(odd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", shop, "lib")
	bare := filepath.Join(p.root, "store.git")
	p.git(p.root, "clone", "-q", "--bare", shop, bare)
	p.git(bare, "worktree", "add", "-q", "-b", "x1", filepath.Join(p.root, "one"))
	require.NoError(t, os.Symlink(shop, filepath.Join(p.root, "link")))
	for _, c := range []struct{ path, top, name string }{
		{shop, shop, "shop"},
		{deep, shop, "shop"},
		{filepath.Join(p.root, "link", "services"), shop, "shop"},
		{filepath.Join(p.root, "linked"), shop, "shop"},
		{odd, odd, "Über shop ✓"},
		{filepath.Join(odd, "lib"), odd, "Über shop ✓"},
		{idlike, idlike, "folder p_4"},
		{filepath.Join(p.root, "one"), filepath.Join(p.root, "one"), "store"},
	} {
		f, err := Find(c.path, p.wide)
		if err != nil || f.Top != c.top || f.Name != c.name || f.Common == "" {
			t.Errorf("%s: %+v, %v, want %s called %q", c.path, f, err, c.top, c.name)
		}
	}
	f, err := Here(deep, p.wide)
	if err != nil || f.Top != deep || f.Name != "till" {
		t.Errorf("a folder itself: %+v, %v", f, err)
	}
}

func TestRefusedFolders(t *testing.T) {
	p := newPlace(t)
	gone := p.dir("home/sam/gone")
	require.NoError(t, os.WriteFile(filepath.Join(gone, ".git"), []byte("gitdir: /no/such/place\n"), 0o600))
	bare := filepath.Join(p.root, "store.git")
	p.git(p.root, "init", "-q", "--bare", bare)
	p.repository("scratch/tried")
	dotfiles := p.repository("home/sam")
	lines := p.repository("home/sam/two\nlines")
	plain := p.dir("elsewhere")
	for _, c := range []struct{ path, why, fix string }{
		{"/", "the root of the file system", "go to the folder"},
		{dotfiles, "a home folder", "go to the folder"},
		{p.dir("home/sam/notes"), "a home folder", "go to the folder"},
		{p.dir("home"), "with home folders in it", "go to the folder"},
		{p.dir("scratch"), "temporary files", "go to the folder"},
		{filepath.Join(p.root, "scratch", "tried"), "in a folder for temporary files", "go to the folder"},
		{gone, "whose repository is not where", "git worktree repair"},
		{bare, "is a bare repository", "work trees"},
		{lines, "has a control character", "rename the folder"},
		{plain, "is in no Git repository", "hubcli init --here"},
		{filepath.Join(p.root, "none"), "is no folder", "that exists"},
	} {
		_, err := Find(c.path, p.wide)
		var r *Refusal
		if !errors.As(err, &r) || !strings.Contains(r.Why, c.why) || !strings.Contains(r.Fix, c.fix) || r.NoRepository != (c.path == plain) {
			t.Errorf("%q: %v (%+v), want %q and %q", c.path, err, r, c.why, c.fix)
		}
	}
	for _, path := range []string{"/", dotfiles, p.dir("scratch"), p.dir("scratch/below")} {
		if f, err := Here(path, p.wide); err == nil {
			t.Errorf("%s is taken: %+v", path, f)
		}
	}
}

func TestNamesOfFolders(t *testing.T) {
	for path, want := range map[string]string{
		"/x/shop": "shop", "/x/ shop ": "shop", "/x/R_9z": "folder R_9z", "/x/p_1_2": "p_1_2", "/x/...": "...", "/x/\u200b": "folder \u200b",
	} {
		if got := nameOf(path); got != want {
			t.Errorf("%q is called %q, want %q", path, got, want)
		}
	}
	if got := nameOf("/" + strings.Repeat("ü", 250)); len([]rune(got)) != hub.MaxNameChars-roomForNumber {
		t.Errorf("a long name has %d characters", len([]rune(got)))
	}
}
