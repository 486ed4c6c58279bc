package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"hubcli/internal/require"
	"hubcli/internal/testport"
)

var whole = flag.Bool("whole", false, "also run the tests that build releases, which take minutes")

// needsWhole skips a test of minutes, which has a command of its own.
func needsWhole(t *testing.T) {
	t.Helper()
	if !*whole {
		t.Skip("needs -whole, as make test-slow gives it")
	}
}

// at makes a release of some commit from the sources in dir.
func at(dir, out string) *release {
	s := source{version: "0.1.0", commit: "0123456789ab", time: time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)}
	return &release{root: dir, out: out, cache: filepath.Join(root, ".cache"), to: io.Discard, source: s, began: time.Now()}
}

// TestReleaseIsInstalled makes a release for this platform and uses it as a user does:
// the archive is unpacked into an empty folder, the executable starts and stops a hub,
// and the wheel from the archive, in a fresh environment of Python, calls that hub.
// Another release of the same commit, from sources in another folder, has the same
// bytes.
func TestReleaseIsInstalled(t *testing.T) {
	needsWhole(t)
	platform := runtime.GOOS + "/" + runtime.GOARCH
	first, second := t.TempDir(), t.TempDir()
	r := at(root, first)
	number, err := sourceOf(t.Context(), root)
	require.NoError(t, err)
	r.version = number.version
	again := at(copyProject(t), second)
	again.version = number.version
	for _, made := range []*release{r, again} {
		made.place, made.to = exampleSite, os.Stdout
		require.NoError(t, made.build(t.Context(), []string{platform}, true))
	}
	if a, b := readFile(t, filepath.Join(first, checksums)), readFile(t, filepath.Join(second, checksums)); a != b || strings.Count(a, "\n") < 6 {
		t.Errorf("two releases of a commit have the checksums\n%sand\n%s", a, b)
	}

	packagesInstall(t, r)
	dir := unpack(t, filepath.Join(first, built{goos: runtime.GOOS, goarch: runtime.GOARCH}.archive(r.version)))
	linksWork(t, dir)
	exe := filepath.Join(dir, "hubcli")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	port, err := testport.Take()
	require.NoError(t, err)
	base := "http://127.0.0.1:" + strconv.Itoa(port)
	env := append(os.Environ(), "HUB_DATA_ROOT="+t.TempDir(), "HUB_BASE_URL="+base, "PYTHONNOUSERSITE=1", "PYTHONPATH=")
	use := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = t.TempDir(), env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	if out := use(exe, "--version"); !strings.HasPrefix(out, "hubcli "+r.version+"+0123456789ab\nbuilt: from commit 0123456789ab of 2026-11-22\nstores: up to format ") {
		t.Errorf("--version prints %q", out)
	}
	if out := use(exe, "ensure"); !strings.Contains(out, "hub started at "+base) {
		t.Errorf("ensure prints %q", out)
	}
	defer use(exe, "stop")
	wheels, err := filepath.Glob(filepath.Join(dir, "python", "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("the archive has the wheels %q (%v)", wheels, err)
	}
	venv := t.TempDir()
	use(pythonProgram(), "-m", "venv", venv)
	python := filepath.Join(venv, "bin", "python")
	if runtime.GOOS == "windows" {
		python = filepath.Join(venv, "Scripts", "python.exe")
	}
	use(python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheels[0])
	out := use(python, "-c", `import hubclient, sys
with hubclient.HubClient.quickstart("dev-a", sys.argv[1]) as me:
    print(hubclient.__version__, me.post("general", "here")["body"])`, base)
	if strings.TrimSpace(out) != r.version+" here" {
		t.Errorf("the client of the wheel says %q", out)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// unpack unpacks an archive and returns its only folder.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	to := t.TempDir()
	for _, f := range entries(t, archive, []byte(readFile(t, archive))) {
		name := filepath.Join(to, filepath.FromSlash(f.path))
		require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.data, f.mode)))
	}
	found, err := os.ReadDir(to)
	if err != nil || len(found) != 1 {
		t.Fatalf("the archive holds %v (%v), want one folder", found, err)
	}
	return filepath.Join(to, found[0].Name())
}

// entries reads an archive.
func entries(t *testing.T, name string, data []byte) []file {
	t.Helper()
	var files []file
	add := func(path string, mode fs.FileMode, r io.Reader) {
		text, err := io.ReadAll(r)
		if err != nil || !filepath.IsLocal(path) {
			t.Fatalf("%s in %s: %v", path, name, err)
		}
		files = append(files, file{path: path, mode: mode, data: text})
	}
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		for _, f := range z.File {
			r, err := f.Open()
			require.NoError(t, err)
			add(f.Name, f.Mode(), r)
		}
		return files
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		add(h.Name, h.FileInfo().Mode(), r)
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s:]+)(?:#[^)]*)?\)`)

// linksWork: what the first page of the archive points at is in the archive.
func linksWork(t *testing.T, dir string) {
	t.Helper()
	found := link.FindAllStringSubmatch(readFile(t, filepath.Join(dir, "README.md")), -1)
	if len(found) < 10 {
		t.Errorf("README.md has the links %q", found)
	}
	for _, match := range found {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(match[1]))); err != nil {
			t.Errorf("README.md points at %s: %v", match[1], err)
		}
	}
}

// TestArchivesHaveFixedBytes: neither the order of files nor the machine's zone of
// time changes an archive, and only the executable can be run.
func TestArchivesHaveFixedBytes(t *testing.T) {
	files := []file{{path: "b.md", mode: 0o644, data: []byte("text")}, {path: "a", mode: 0o755, data: []byte("program")}}
	turned := []file{files[1], files[0]}
	moment := time.Unix(1_780_000_000, 0)
	for _, name := range []string{"x.tar.gz", "x.zip"} {
		first, err := pack(name, "x", files, moment.UTC())
		require.NoError(t, err)
		second, err := pack(name, "x", turned, moment.UTC())
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s differs by the order of its files (%v)", name, err)
		}
		for _, f := range entries(t, name, first) {
			want := fs.FileMode(0o644)
			if f.path == path.Join("x", "a") {
				want = 0o755
			}
			if f.mode != want {
				t.Errorf("%s: %s has the mode %v", name, f.path, f.mode)
			}
		}
	}
	if files[0].path != "b.md" {
		t.Error("packing changes the list that it is given")
	}
}

// TestOneVersion: the executable, the Python client and the change log name one.
func TestOneVersion(t *testing.T) {
	s, err := sourceOf(t.Context(), root)
	require.NoError(t, err)
	for name, line := range map[string]string{
		"python/pyproject.toml":            "\nversion = \"" + s.version + "\"\n",
		"python/src/hubclient/__init__.py": "\n__version__ = \"" + s.version + "\"\n",
		"CHANGELOG.md":                     "\n## [" + s.version + "] - ",
	} {
		if !strings.Contains(readFile(t, filepath.Join(root, name)), line) {
			t.Errorf("%s has no line %q", name, strings.TrimSpace(line))
		}
	}
}
