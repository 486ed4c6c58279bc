package main

import (
	"bytes"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aead.dev/minisign"

	"hubcli/internal/require"
	"hubcli/internal/testprogram"
)

// standIn is a program that says its version as hubcli does. The comment is what is looked for in an executable.
const standIn = "#!/bin/sh\n# hubcli/cmd/packed\necho hubcli 0.1.0+test\n"

// standInFiles are shared files of each kind that a package uses.
var standInFiles = []file{
	{path: noticesFile, mode: 0o644, data: []byte("licenses\n")},
	{path: "man/man1/hubcli.1", mode: 0o644, data: []byte(".TH hubcli 1\n")},
	{path: "completions/hubcli.bash", mode: 0o644, data: []byte("# bash\n")},
	{path: "completions/_hubcli", mode: 0o644, data: []byte("# zsh\n")},
	{path: "completions/hubcli.fish", mode: 0o644, data: []byte("# fish\n")},
}

// standInRelease makes a release whose executable is a script, for this platform and others.
func standInRelease(t *testing.T, where place, exe string, others ...built) *release {
	t.Helper()
	r := at(root, t.TempDir())
	r.place = where
	builds := append([]built{{goos: runtime.GOOS, goarch: runtime.GOARCH}}, others...)
	for _, b := range builds {
		b.exe = []byte(exe)
		require.NoError(t, r.packages(b, standInFiles))
	}
	require.NoError(t, errors.Join(r.texts(builds), r.sum()))
	return r
}

// needsShell skips a test of the script where no system has its shell.
func needsShell(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("needs a POSIX shell, and a system that the script knows")
	}
}

// installing runs the script of a release with an empty home. Variables of env replace those of the test.
func installing(t *testing.T, r *release, env []string, args ...string) (said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{filepath.Join(r.out, "install.sh")}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(append(os.Environ(), "HOME="+cmd.Dir), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// below lists the files and links below a folder.
func below(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, relErr := filepath.Rel(dir, path)
			names, err = append(names, name), relErr
		}
		return err
	}))
	return names
}

// TestInstallScriptWritesOneFile from a folder and from a file address, says so, and how the file goes away. It
// replaces a hubcli that is there.
func TestInstallScriptWritesOneFile(t *testing.T) {
	needsShell(t)
	r := standInRelease(t, place{}, standIn)
	prefix := filepath.Join(t.TempDir(), "with blank")
	target := filepath.Join(prefix, "bin", "hubcli")
	elsewhere := filepath.Join(t.TempDir(), "0.1.0")
	require.NoError(t, os.CopyFS(elsewhere, os.DirFS(r.out)))
	for _, from := range []string{r.out, "file://" + r.out, r.out + "/", filepath.Dir(elsewhere) + "/{version}"} {
		said, err := installing(t, r, nil, "--from", from, "--prefix", prefix)
		if err != nil {
			t.Fatalf("from %s: %v\n%s", from, err, said)
		}
		for _, line := range []string{"wrote:     " + target + "\n", "rm \"" + target + "\"\n", "checksum:  good", "signature: not checked", "is not in your PATH"} {
			if !strings.Contains(said, line) {
				t.Errorf("from %s it does not say %q:\n%s", from, line, said)
			}
		}
	}
	if names := below(t, prefix); len(names) != 1 || readFile(t, target) != standIn {
		t.Errorf("it wrote %q", names)
	}
	if info, err := os.Stat(target); err != nil || info.Mode() != 0o755 {
		t.Errorf("the mode is %v (%v)", info.Mode(), err)
	}
	said, err := installing(t, r, []string{"PATH=" + filepath.Join(prefix, "bin") + ":" + os.Getenv("PATH")}, "--from", r.out, "--prefix", prefix, "--version", "v0.1.0")
	if err != nil || strings.Contains(said, "note:") {
		t.Errorf("in the PATH it says %s (%v)", said, err)
	}
	said, err = installing(t, r, nil, "--from", r.out)
	if err != nil || !strings.Contains(said, "/.local/bin/hubcli\n") {
		t.Errorf("without a prefix it says %s (%v)", said, err)
	}
}

// TestInstallScriptRefuses what it cannot vouch for. Nothing is written then, and what was there stays.
func TestInstallScriptRefuses(t *testing.T) {
	needsShell(t)
	good := standInRelease(t, place{}, standIn)
	archive := built{goos: runtime.GOOS, goarch: runtime.GOARCH}.archive("0.1.0")
	spoiled := func(name, text string) *release {
		r := standInRelease(t, place{}, standIn)
		require.NoError(t, os.WriteFile(filepath.Join(r.out, name), []byte(text), 0o600))
		return r
	}
	foreign, linked, folder := t.TempDir(), t.TempDir(), t.TempDir()
	for _, prefix := range []string{foreign, linked, folder} {
		require.NoError(t, os.Mkdir(filepath.Join(prefix, "bin"), 0o755))
	}
	require.NoError(t, errors.Join(
		os.WriteFile(filepath.Join(foreign, "bin", "hubcli"), []byte("mine\n"), 0o600),
		os.Symlink("/dev/null", filepath.Join(linked, "bin", "hubcli")),
		os.Mkdir(filepath.Join(folder, "bin", "hubcli"), 0o755),
	))
	for _, c := range []struct {
		name   string
		r      *release
		prefix string
		args   []string
		says   string
	}{
		{"http", good, "", []string{"--from", "http://example.org/hubcli"}, "http://example.org/hubcli is no https:// address"},
		{"HTTP", good, "", []string{"--from", "HTTP://example.org"}, "is no https:// address"},
		{"ftp", good, "", []string{"--from", "ftp://example.org"}, "is no https:// address"},
		{"no place", good, "", nil, "names no place"},
		{"an empty folder", good, "", []string{"--from", t.TempDir()}, "SHA256SUMS could not be had"},
		{"another version", good, "", []string{"--from", good.out, "--version", "0.2.0"}, "could not be had"},
		{"a version with a path", good, "", []string{"--from", good.out, "--version", "../x"}, "is no number of a release"},
		{"an option without a value", good, "", []string{"--prefix"}, "--prefix has no value"},
		{"an unknown option", good, "", []string{"--froom", "x"}, "there is no option --froom"},
		{"another archive", spoiled(archive, "other bytes"), "", nil, "and SHA256SUMS says"},
		{"a list without it", spoiled(checksums, "00  other\n"), "", nil, "does not list " + archive},
		{"a program of another version", standInRelease(t, place{}, "#!/bin/sh\necho hubcli 9\n"), "", nil, "does not run from"},
		{"a program that fails", standInRelease(t, place{}, "#!/bin/sh\nexit 3\n"), "", nil, "does not run from"},
		{"a foreign file", good, foreign, []string{"--from", good.out}, "is there and is not hubcli"},
		{"a link", good, linked, []string{"--from", good.out}, "is a link"},
		{"a folder in the place", good, folder, []string{"--from", good.out}, "is there and is not hubcli"},
	} {
		t.Run(c.name, func(t *testing.T) {
			prefix := c.prefix
			if prefix == "" {
				prefix = t.TempDir()
			}
			before := below(t, prefix)
			args := c.args
			if c.r != good {
				args = append(args, "--from", c.r.out)
			}
			if c.name != "an option without a value" {
				args = append(args, "--prefix", prefix)
			}
			said, err := installing(t, c.r, nil, args...)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(said, c.says) || !strings.Contains(said, "\nfix: ") {
				t.Errorf("it ends with %v and says\n%s", err, said)
			}
			if after := below(t, prefix); strings.Join(after, " ") != strings.Join(before, " ") {
				t.Errorf("there is %q now, was %q", after, before)
			}
		})
	}
	if got := readFile(t, filepath.Join(foreign, "bin", "hubcli")); got != "mine\n" {
		t.Errorf("the foreign file is %q now", got)
	}
}

// TestHalfAnInstallScriptDoesNothing: a transfer that breaks off leaves no command that runs.
func TestHalfAnInstallScriptDoesNothing(t *testing.T) {
	needsShell(t)
	r := standInRelease(t, place{}, standIn)
	script := strings.Replace(readFile(t, filepath.Join(r.out, "install.sh")), "site=''", "site='"+r.out+"'", 1)
	lines := strings.SplitAfter(script, "\n")
	for n := 1; n < len(lines)-1; n += 5 {
		cmd := exec.CommandContext(t.Context(), "sh", "-s")
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
		cmd.Stdin = strings.NewReader(strings.Join(lines[:n], ""))
		out, _ := cmd.CombinedOutput() // half a function is an error, or nothing
		if names := below(t, cmd.Dir); len(names) != 0 {
			t.Fatalf("%d lines have written %q:\n%s", n, names, out)
		}
	}
}

// TestInstallScriptFetchesOverHTTPSAlone, even where the server leads elsewhere. This needs curl.
func TestInstallScriptFetchesOverHTTPSAlone(t *testing.T) {
	needsShell(t)
	testprogram.Need(t, "curl")
	r := standInRelease(t, place{}, standIn)
	open := httptest.NewServer(http.FileServer(http.Dir(r.out)))
	defer open.Close()
	files := http.NewServeMux()
	files.Handle("/v0.1.0/", http.StripPrefix("/v0.1.0", http.FileServer(http.Dir(r.out))))
	files.Handle("/open/", http.RedirectHandler(open.URL+"/"+checksums, http.StatusFound))
	closed := httptest.NewUnstartedServer(files)
	closed.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of those who do not believe it
	closed.StartTLS()
	defer closed.Close()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: closed.Certificate().Raw}), 0o600))
	env := []string{"CURL_CA_BUNDLE=" + authority, "no_proxy=127.0.0.1", "NO_PROXY=127.0.0.1"}
	prefix := t.TempDir()
	if said, err := installing(t, r, env, "--prefix", prefix, "--from", closed.URL+"/v{version}"); err != nil {
		t.Errorf("over https: %v\n%s", err, said)
	}
	if said, err := installing(t, r, nil, "--prefix", prefix, "--from", closed.URL+"/v{version}"); err == nil {
		t.Errorf("a certificate of nobody is believed:\n%s", said)
	}
	if said, err := installing(t, r, env, "--prefix", prefix, "--from", closed.URL+"/open"); err == nil || !strings.Contains(said, "SHA256SUMS could not be had") {
		t.Errorf("it follows a server to http (%v):\n%s", err, said)
	}
}

// TestInstallScriptChecksTheSignature of the list of checksums where minisign is installed, and says where it is not.
func TestInstallScriptChecksTheSignature(t *testing.T) {
	needsShell(t)
	public, private, err := minisign.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key := public.String()
	where, err := newPlace("", key[strings.LastIndex(key, "\n")+1:])
	require.NoError(t, err)
	r := standInRelease(t, where, standIn)
	install := func(env ...string) (string, error) {
		return installing(t, r, env, "--from", r.out, "--prefix", t.TempDir())
	}
	if said, err := install("PATH=" + few(t)); err != nil || !strings.Contains(said, "signature: not checked, since minisign is not installed") {
		t.Errorf("without minisign (%v):\n%s", err, said)
	}
	testprogram.Need(t, "minisign")
	if said, err := install(); err == nil || !strings.Contains(said, "there is no signature") {
		t.Errorf("without a signature (%v):\n%s", err, said)
	}
	list := []byte(readFile(t, filepath.Join(r.out, checksums)))
	sign := func(text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(r.out, signature), minisign.Sign(private, text), 0o600))
	}
	sign(list)
	if said, err := install(); err != nil || !strings.Contains(said, "signature: good, of the key "+where.key) {
		t.Errorf("with a signature (%v):\n%s", err, said)
	}
	sign(bytes.ToUpper(list))
	if said, err := install(); err == nil || !strings.Contains(said, "is not what the key "+where.key+" has signed") {
		t.Errorf("with the signature of another list (%v):\n%s", err, said)
	}
}

// few makes a PATH that has what the script cannot do without.
func few(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"sh", "uname", "mktemp", "cut", "awk", "sha256sum", "shasum", "perl", "tar", "gzip", "cp", "chmod", "mv", "mkdir", "rm", "grep"} {
		if path, err := exec.LookPath(name); err == nil {
			require.NoError(t, os.Symlink(path, filepath.Join(dir, name)))
		}
	}
	return dir
}
