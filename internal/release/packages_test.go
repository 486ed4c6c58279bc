package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/target"
	"hubcli/internal/testprogram"
)

var exampleSite = place{site: "https://example.org/hubcli/v{version}"}

// everyPlatform are the builds of a whole release.
func everyPlatform() []built {
	var builds []built
	for _, platform := range target.Platforms {
		goos, goarch, _ := strings.Cut(platform, "/")
		builds = append(builds, built{goos: goos, goarch: goarch})
	}
	return builds
}

// TestEveryPlatformHasItsPackages, and the list of checksums names all that is made, once.
func TestEveryPlatformHasItsPackages(t *testing.T) {
	r := at(root, t.TempDir())
	r.place = exampleSite
	builds := everyPlatform()
	for _, b := range builds {
		b.exe = []byte(standIn)
		require.NoError(t, r.packages(b, standInFiles))
	}
	require.NoError(t, errors.Join(r.texts(builds), r.sum()))
	made, err := r.made()
	require.NoError(t, err)
	want := 6 + 6 + 6 + 2 + len([]string{"install.sh", "Containerfile", "hubcli.rb", "hubcli-0.1.0.tgz"})
	if len(made) != want || strings.Count(readFile(t, filepath.Join(r.out, checksums)), "\n") != want {
		t.Errorf("made are %q, want %d", made, want)
	}
	if left := below(t, r.out); len(left) != want+1 {
		t.Errorf("there are %q", left)
	}
	formulaFits(t, r, 4)
	launcherFits(t, r)
	require.NoError(t, os.WriteFile(filepath.Join(r.out, signature), nil, 0o600))
	require.NoError(t, r.clear())
	if left := below(t, r.out); len(left) != 0 {
		t.Errorf("the next run leaves %q", left)
	}
}

var formulaArchive = regexp.MustCompile(`url "https://example\.org/hubcli/v([^/"]+)/([^"]+)"\n +sha256 "([0-9a-f]{64})"`)

// formulaFits: the formula names archives of this release by their sums.
func formulaFits(t *testing.T, r *release, archives int) {
	t.Helper()
	text := readFile(t, filepath.Join(r.out, "hubcli.rb"))
	found := formulaArchive.FindAllStringSubmatch(text, -1)
	if len(found) != archives || strings.Count(text, "url ") != archives {
		t.Errorf("the formula names %d archives, want %d:\n%s", len(found), archives, text)
	}
	for _, match := range found {
		sum := sha256.Sum256([]byte(readFile(t, filepath.Join(r.out, match[2]))))
		if match[1] != r.version || fmt.Sprintf("%x", sum) != match[3] {
			t.Errorf("the formula has %q, the sum is %x", match[1:], sum)
		}
	}
	depth := 0
	for line := range strings.SplitSeq(text, "\n") {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "class" || word == "def" || strings.HasSuffix(line, " do"):
			depth++
		case word == "end":
			depth--
		}
	}
	if depth != 0 || !strings.HasPrefix(text, "class Hubcli < Formula\n") {
		t.Errorf("%d blocks of the formula do not end:\n%s", depth, text)
	}
}

// launcherFits: the package of npm that users name wants the packages of its own version that were made.
func launcherFits(t *testing.T, r *release) {
	t.Helper()
	var m npmManifest
	for _, f := range entries(t, "x.tgz", []byte(readFile(t, filepath.Join(r.out, "hubcli-"+r.version+".tgz")))) {
		if f.path == "package/package.json" {
			require.NoError(t, json.Unmarshal(f.data, &m))
		}
	}
	if m.Name != "hubcli" || m.Version != r.version || len(m.Optional) == 0 || bytes.Contains([]byte(fmt.Sprint(m)), []byte("script")) {
		t.Errorf("package.json is %+v", m)
	}
	for name, version := range m.Optional {
		if _, err := os.Stat(filepath.Join(r.out, name+"-"+version+".tgz")); err != nil {
			t.Error(err)
		}
	}
}

// TestNoFormulaWithoutASite, for it would name no address.
func TestNoFormulaWithoutASite(t *testing.T) {
	r := standInRelease(t, place{}, standIn)
	if _, err := os.Stat(filepath.Join(r.out, "hubcli.rb")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a formula (%v)", err)
	}
}

// TestPlacesAreChecked: what stands in scripts has no letter that a shell or Ruby could take for its own.
func TestPlacesAreChecked(t *testing.T) {
	key := "RW" + strings.Repeat("a", 54)
	for _, c := range []struct {
		site, key string
		good      bool
	}{
		{"", "", true},
		{"https://example.org", key, true},
		{"https://example.org:8443/a/v{version}/", "", true},
		{"http://example.org", "", false},
		{"https://example.org/'$(x)'", "", false},
		{"https://example.org/a b", "", false},
		{"https://example.org/#{x}", "", false},
		{"example.org", "", false},
		{"", "RWx", false},
		{"", "RW" + strings.Repeat("'", 54), false},
	} {
		got, err := newPlace(c.site, c.key)
		if (err == nil) != c.good {
			t.Errorf("%q, %q: %v, %v", c.site, c.key, got, err)
		}
	}
	if got, err := newPlace("https://example.org/v{version}/", ""); err != nil || got.url("1.2", "x") != "https://example.org/v1.2/x" {
		t.Errorf("the address is %q (%v)", got.url("1.2", "x"), err)
	}
}

// readAr reads what packAr writes.
func readAr(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	rest, ok := bytes.CutPrefix(data, []byte("!<arch>\n"))
	if !ok {
		t.Fatal("this is no archive of ar")
	}
	parts := map[string][]byte{}
	for len(rest) > 0 {
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		require.NoError(t, err)
		if string(rest[58:60]) != "`\n" {
			t.Fatalf("a header ends with %q", rest[58:60])
		}
		name := strings.TrimSpace(string(rest[:16]))
		parts[name] = rest[60 : 60+size]
		rest = rest[60+size+size%2:]
	}
	return parts
}

// debFits: a package of Debian has control fields, and every folder before what is in it. It returns its files.
func debFits(t *testing.T, name string, data []byte) map[string][]byte {
	t.Helper()
	parts := readAr(t, data)
	if string(parts["debian-binary"]) != "2.0\n" || len(parts) != 3 {
		t.Errorf("%s has %d parts", name, len(parts))
	}
	control := entries(t, "x.tar.gz", withoutFolders(t, parts["control.tar.gz"], nil))
	text := string(control[0].data)
	for _, field := range []string{"Package: hubcli\n", "Version: ", "Architecture: ", "Maintainer: ", "Description: "} {
		if len(control) != 1 || !strings.Contains(text, field) {
			t.Errorf("%s has the control file %q", name, text)
		}
	}
	seen := []string{"."}
	files := map[string][]byte{}
	for _, f := range entries(t, "x.tar.gz", withoutFolders(t, parts["data.tar.gz"], &seen)) {
		files[path.Clean(f.path)] = f.data
		if !slices.Contains(seen, path.Dir(path.Clean(f.path))) {
			t.Errorf("%s has no folder for %s", name, f.path)
		}
	}
	return files
}

// withoutFolders drops the folders of a packed tar, and notes them: entries knows files alone.
func withoutFolders(t *testing.T, packed []byte, seen *[]string) []byte {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if h.Uid != 0 || h.Uname != "root" {
			t.Errorf("%s belongs to %s", h.Name, h.Uname)
		}
		if h.Typeflag == tar.TypeDir {
			if name := path.Clean(h.Name); seen != nil {
				if !slices.Contains(*seen, path.Dir(name)) {
					t.Errorf("the folder %s comes before the one that holds it", name)
				}
				*seen = append(*seen, name)
			}
			continue
		}
		text, err := io.ReadAll(r)
		require.NoError(t, errors.Join(err, w.WriteHeader(h)))
		_, err = w.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	out, err := zipped(b.Bytes())
	require.NoError(t, err)
	return out
}

// TestDebianPackage: it is what dpkg reads, whatever the length of a file, and a candidate comes before its release.
func TestDebianPackage(t *testing.T) {
	r := at(root, t.TempDir())
	r.version = "0.2.0-rc.1"
	for _, exe := range []string{"odd", "even"} {
		name, data, err := r.deb(built{goos: "linux", goarch: "amd64", exe: []byte(exe)}, standInFiles)
		require.NoError(t, err)
		if name != "hubcli_0.2.0~rc.1_amd64.deb" {
			t.Errorf("it is called %s", name)
		}
		files := debFits(t, name, data)
		for _, want := range []string{"usr/bin/hubcli", "usr/share/doc/hubcli/copyright", "usr/share/man/man1/hubcli.1.gz", "usr/share/bash-completion/completions/hubcli"} {
			if files[want] == nil {
				t.Errorf("it lacks %s", want)
			}
		}
		t.Run("read by Debian", func(t *testing.T) { dpkgReads(t, name, data, exe) })
	}
}

// dpkgReads has Debian's own program read a package, and returns where that program is.
func dpkgReads(t *testing.T, name string, data []byte, exe string) string {
	t.Helper()
	program := testprogram.Need(t, "dpkg-deb")[0]
	file, to := filepath.Join(t.TempDir(), name), t.TempDir()
	require.NoError(t, os.WriteFile(file, data, 0o600))
	for _, args := range [][]string{{"--info", file}, {"--contents", file}, {"--extract", file, to}} {
		if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil || strings.Contains(string(out), "warning") {
			t.Errorf("dpkg-deb %q: %v\n%s", args, err, out)
		}
	}
	if got := readFile(t, filepath.Join(to, "usr", "bin", "hubcli")); got != exe {
		t.Error("what dpkg-deb unpacks is another executable")
	}
	return program
}
