package folders

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tempDir is a folder's real path: the one for temporary files may be a link.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func mkdir(t *testing.T, elem ...string) string {
	t.Helper()
	dir := filepath.Join(elem...)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skipf("needs symbolic links: %v", err)
	}
}

// git runs git in dir, apart from whatever the user has configured.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{
		"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always",
	}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func levelsOf(t *testing.T, path string) []core.Level {
	t.Helper()
	levels, err := New().Chain(t.Context(), path, false)
	if err != nil {
		t.Fatalf("chain of %s: %v", path, err)
	}
	return levels
}

// at returns the level of a folder in a chain.
func at(t *testing.T, levels []core.Level, plain string) core.Level {
	t.Helper()
	for _, l := range levels {
		if l.Plain == plain {
			return l
		}
	}
	t.Fatalf("%s is not in %+v", plain, levels)
	panic("unreachable")
}

func TestChainGoesUpToTheRoot(t *testing.T) {
	dir := tempDir(t)
	deep := mkdir(t, dir, "a", "b")
	write(t, filepath.Join(deep, "file"), "x")
	for _, path := range []string{
		deep, deep + "/", deep + "/./", deep + "/../b", filepath.Join(deep, "none", "at all"), filepath.Join(deep, "file"), filepath.Join(deep, "file", "below"),
	} {
		levels := levelsOf(t, path)
		want := deep
		for i, l := range levels {
			if l.Plain != want {
				t.Errorf("%s: level %d is %s, want %s", path, i, l.Plain, want)
			}
			want = filepath.Dir(want)
		}
		if last := levels[len(levels)-1].Plain; filepath.Dir(last) != last {
			t.Errorf("%s: the chain ends at %s", path, last)
		}
	}
}

func TestLinks(t *testing.T) {
	dir := tempDir(t)
	inside := mkdir(t, dir, "real", "inside")
	symlink(t, filepath.Join(dir, "real"), filepath.Join(dir, "link"))
	symlink(t, "loop2", filepath.Join(dir, "loop1"))
	symlink(t, "loop1", filepath.Join(dir, "loop2"))
	symlink(t, "nowhere", filepath.Join(dir, "dangling"))
	symlink(t, dir, filepath.Join(dir, "real", "out"))
	for path, want := range map[string]string{
		filepath.Join(dir, "link", "inside"):             inside,
		filepath.Join(dir, "link", "inside", "none"):     inside,
		filepath.Join(dir, "real", "out", "real"):        filepath.Join(dir, "real"),
		filepath.Join(dir, "real", "out", "out", "none"): dir,
		filepath.Join(dir, "loop1", "x"):                 dir,
		filepath.Join(dir, "dangling"):                   dir,
	} {
		if got := levelsOf(t, path)[0].Plain; got != want {
			t.Errorf("%s begins at %s, want %s", path, got, want)
		}
	}
	for _, path := range []string{"loop1", "dangling", "none", "real/none"} {
		_, err := New().Chain(t.Context(), filepath.Join(dir, path), true)
		if !errors.Is(err, &hub.Error{Code: hub.CodePathNotFound}) {
			t.Errorf("%s, which must exist: %v", path, err)
		}
	}
	levels, err := New().Chain(t.Context(), filepath.Join(dir, "link"), true)
	if err != nil || levels[0].Plain != filepath.Join(dir, "real") {
		t.Errorf("a link to a folder: %+v, %v", levels, err)
	}
	write(t, filepath.Join(dir, "file"), "x")
	if _, err := New().Chain(t.Context(), filepath.Join(dir, "file"), true); !errors.Is(err, &hub.Error{Code: hub.CodePathNotFound}) {
		t.Errorf("a file: %v", err)
	}
}

func TestBadPathsAreRefused(t *testing.T) {
	for _, path := range []string{
		"", ".", "a/b", "../x", "/a\x00b", "/a\nb", "/\xff", "/" + strings.Repeat("x", hub.MaxPathBytes),
	} {
		for _, exact := range []bool{true, false} {
			_, err := New().Chain(t.Context(), path, exact)
			var e *hub.Error
			if !errors.As(err, &e) || e.Code != hub.CodeInvalid || e.Fix == "" || e.Detail["field"] != "path" {
				t.Errorf("%.20q: %v", path, err)
			}
		}
	}
}

// All work trees of a repository share what is bound in one of them.
func TestWorkTrees(t *testing.T) {
	dir := tempDir(t)
	repo := mkdir(t, dir, "repo")
	git(t, repo, "init", "-q")
	sub := mkdir(t, repo, "pkg", "sub")
	write(t, filepath.Join(sub, "f"), "x")
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-qm", "x")
	linked := filepath.Join(dir, "elsewhere", "linked")
	git(t, repo, "worktree", "add", "-q", "-b", "other", linked)
	inside := filepath.Join(repo, "trees", "inside")
	git(t, repo, "worktree", "add", "-q", "-b", "third", inside)

	main := at(t, levelsOf(t, sub), sub)
	if main.Root != repo || main.Common != filepath.Join(repo, ".git") || main.Rel != "pkg/sub" {
		t.Errorf("in the main work tree: %+v", main)
	}
	for _, tree := range []string{linked, inside} {
		folder := filepath.Join(tree, "pkg", "sub")
		l := at(t, levelsOf(t, folder), folder)
		if l.Root != tree || l.Common != main.Common || l.Rel != main.Rel {
			t.Errorf("in %s: %+v, want what %+v is", tree, l, main)
		}
		if root := at(t, levelsOf(t, folder), tree); root.Rel != "." || root.Common != main.Common {
			t.Errorf("the root of %s: %+v", tree, root)
		}
	}
	levels := levelsOf(t, filepath.Join(linked, "pkg"))
	for _, above := range []string{filepath.Dir(linked), dir} {
		if l := at(t, levels, above); l.Common != "" || l.Root != "" || l.Rel != "" {
			t.Errorf("above the work tree: %+v", l)
		}
	}
	// The folder above the tree inside is one of the main work tree.
	if l := at(t, levelsOf(t, inside), filepath.Dir(inside)); l.Root != repo || l.Rel != "trees" {
		t.Errorf("above the tree inside: %+v", l)
	}
	git(t, repo, "worktree", "move", linked, filepath.Join(dir, "moved"))
	if l := levelsOf(t, filepath.Join(dir, "moved"))[0]; l.Common != main.Common || l.Rel != "." {
		t.Errorf("a moved work tree: %+v", l)
	}
}

func TestBareRepositoryAndSubmodule(t *testing.T) {
	dir := tempDir(t)
	source := mkdir(t, dir, "source")
	git(t, source, "init", "-q")
	write(t, filepath.Join(source, "f"), "x")
	git(t, source, "add", ".")
	git(t, source, "commit", "-qm", "x")
	bare := filepath.Join(dir, "bare.git")
	git(t, dir, "clone", "-q", "--bare", source, bare)
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	git(t, bare, "worktree", "add", "-q", "-b", "x1", one)
	git(t, bare, "worktree", "add", "-q", "-b", "x2", two)
	if a, b := levelsOf(t, one)[0], levelsOf(t, two)[0]; a.Common != bare || b.Common != bare || a.Rel != "." || b.Root != two {
		t.Errorf("work trees of a bare repository: %+v, %+v", a, b)
	}
	super := mkdir(t, dir, "super")
	git(t, super, "init", "-q")
	git(t, super, "submodule", "--quiet", "add", source, "lib")
	levels := levelsOf(t, filepath.Join(super, "lib"))
	if l := levels[0]; l.Root != filepath.Join(super, "lib") || l.Common != filepath.Join(super, ".git", "modules", "lib") {
		t.Errorf("a submodule: %+v", l)
	}
	if l := at(t, levels, super); l.Root != super || l.Common != filepath.Join(super, ".git") {
		t.Errorf("above a submodule: %+v", l)
	}
}

// What calls itself .git may be anything; then the folder is in no work tree.
func TestHostileGitFolders(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string){
		"empty folder":       func(t *testing.T, dir string) { mkdir(t, dir, ".git") },
		"empty file":         func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "") },
		"no gitdir":          func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "hello\n") },
		"gitdir of nothing":  func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "gitdir: \n") },
		"gitdir to nowhere":  func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "gitdir: /no/such/place\n") },
		"gitdir to itself":   func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "gitdir: .git\n") },
		"gitdir to the root": func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "gitdir: /\n") },
		"two lines":          func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "gitdir: x\ny") },
		"a zero byte":        func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "gitdir: x\x00y\n") },
		"huge": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".git"), "gitdir: "+strings.Repeat("x/", (8<<10)))
		},
		"link to itself": func(t *testing.T, dir string) { symlink(t, ".git", filepath.Join(dir, ".git")) },
		"folder without objects": func(t *testing.T, dir string) {
			write(t, filepath.Join(mkdir(t, dir, ".git"), "HEAD"), "ref: x\n")
		},
		"commondir to nowhere": func(t *testing.T, dir string) {
			write(t, filepath.Join(mkdir(t, dir, ".git"), "HEAD"), "ref: x\n")
			mkdir(t, dir, ".git", "objects")
			write(t, filepath.Join(dir, ".git", "commondir"), "../../../../../../../../../no/such/place\n")
		},
		"commondir loops": func(t *testing.T, dir string) {
			write(t, filepath.Join(mkdir(t, dir, ".git"), "HEAD"), "ref: x\n")
			symlink(t, "loop", filepath.Join(dir, ".git", "loop"))
			write(t, filepath.Join(dir, ".git", "commondir"), "loop\n")
		},
		"pipe": func(t *testing.T, dir string) { pipe(t, filepath.Join(dir, ".git")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := tempDir(t)
			make(t, dir)
			if l := levelsOf(t, dir)[0]; l.Plain != dir || l.Root != "" || l.Common != "" || l.Rel != "" {
				t.Errorf("%+v", l)
			}
		})
	}
}

// A repository whose folder cannot be read is as if it were none.
func TestForbiddenFolders(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("needs another user than root, to whom nothing is forbidden")
	}
	dir := tempDir(t)
	closed := mkdir(t, dir, "closed", "below")
	require.NoError(t, os.Chmod(filepath.Dir(closed), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(closed), 0o755) })
	if got := levelsOf(t, closed)[0].Plain; got != filepath.Dir(closed) {
		t.Errorf("the chain begins at %s", got)
	}
}

// A file system that hangs costs its caller the patience and the hub one slot,
// until all are taken; then nobody's question is put any more.
func TestHungFileSystem(t *testing.T) {
	f := &Folders{patience: 20 * time.Millisecond, slots: make(chan struct{}, 2)}
	release := make(chan struct{})
	asked := 0
	hang := func() (bool, error) { <-release; return true, nil }
	timedOut := func(err error) bool {
		var e *hub.Error
		return errors.As(err, &e) && e.Code == hub.CodeTimedOut && e.RetryAfter > 0 && e.Fix != ""
	}
	for range 2 {
		if _, err := ask(t.Context(), f, hang); !timedOut(err) {
			t.Fatalf("a question that hangs: %v", err)
		}
	}
	if _, err := ask(t.Context(), f, func() (bool, error) { asked++; return true, nil }); !timedOut(err) || asked != 0 {
		t.Fatalf("a question when all slots are taken: %v, asked %d times", err, asked)
	}
	close(release)
	for {
		if ok, err := ask(t.Context(), f, func() (bool, error) { return true, nil }); err == nil && ok {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("the slots never come back")
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Chain(gone, "/", false); err != nil && !timedOut(err) {
		t.Errorf("the caller has left: %v", err)
	}
}

func TestSame(t *testing.T) {
	dir := tempDir(t)
	a, b := mkdir(t, dir, "a"), mkdir(t, dir, "b")
	symlink(t, a, filepath.Join(dir, "link"))
	for _, c := range []struct {
		x, y string
		want bool
	}{
		{a, a, true},
		{a, a + "/../a", true},
		{a, filepath.Join(dir, "link"), true},
		{a, b, false},
		{a, filepath.Join(dir, "none"), false},
		{filepath.Join(dir, "none"), a, false},
		{filepath.Join(dir, "none"), filepath.Join(dir, "none"), false},
	} {
		if got, err := New().Same(t.Context(), c.x, c.y); err != nil || got != c.want {
			t.Errorf("%s and %s: %v, %v", c.x, c.y, got, err)
		}
	}
}
