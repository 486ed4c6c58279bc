package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hubcli/internal/packer"
	"hubcli/internal/target"
)

// checksums is the list of the made files, for sha256sum --check.
const checksums = "SHA256SUMS"

// signature is what the owner makes of it with minisign. One of an earlier run would be wrong.
const signature = checksums + ".minisig"

// madePatterns are the names of all that is made, beside these two.
var madePatterns = []string{
	"hubcli-*.tar.gz", "hubcli-*.zip", "hubcli-*.tgz", "hubcli-*.whl", "hubcli_*.deb", "hubclient-*.whl", "hubcli.rb", "install.sh", "Containerfile",
}

// release is one run of the command.
type release struct {
	root, out string
	cache     string // holds the builder of the wheel
	place     place
	to        io.Writer // of the progress
	source
	began time.Time
}

func newRelease(ctx context.Context, root, out string) (*release, error) {
	s, err := sourceOf(ctx, root)
	if err != nil {
		return nil, err
	}
	return &release{root: root, out: out, cache: filepath.Join(root, ".cache"), to: os.Stdout, source: s, began: time.Now()}, nil
}

// say prints a line of progress.
func (r *release) say(format string, args ...any) {
	fmt.Fprintf(r.to, "[%4.0fs] %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// build makes everything into the folder out. The files of an earlier run go first,
// so that the list of checksums names all there is.
func (r *release) build(ctx context.Context, wanted []string, wheel bool) error {
	r.say("hubcli %s, commit %s, of %s", r.version, orNone(r.commit), r.time.Format(time.DateTime))
	if err := r.clear(); err != nil {
		return err
	}
	shared, err := r.shared(ctx)
	if err != nil {
		return err
	}
	if wheel {
		r.say("wheel of the Python client")
		f, err := r.wheel(ctx)
		if err != nil {
			return err
		}
		shared = append(shared, file{path: "python/" + f.path, mode: f.mode, data: f.data})
		if err := r.write(f.path, f.data); err != nil {
			return err
		}
	}
	var builds []built
	for i, platform := range wanted {
		r.say("%d of %d: %s", i+1, len(wanted), platform)
		b, err := r.program(ctx, platform)
		if err == nil {
			err = r.packages(b, shared)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		b.exe = nil // it is packed
		builds = append(builds, b)
	}
	if err := r.texts(builds); err != nil {
		return err
	}
	if err := r.sum(); err != nil {
		return err
	}
	r.say("done: %s", r.out)
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// clear removes the files of an earlier run. Nothing else in the folder is touched.
func (r *release) clear() error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	made, err := r.made()
	for _, name := range append(made, checksums, signature) {
		if e := os.Remove(filepath.Join(r.out, name)); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// made lists what was made into the folder, but for the list of checksums.
func (r *release) made() ([]string, error) {
	var names []string
	for _, pattern := range madePatterns {
		found, err := filepath.Glob(filepath.Join(r.out, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			names = append(names, filepath.Base(path))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (r *release) write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

// shared are the files that all archives have.
func (r *release) shared(ctx context.Context) ([]file, error) {
	current, err := notices(ctx, r.root)
	if err != nil {
		return nil, err
	}
	if kept, err := os.ReadFile(filepath.Join(r.root, noticesFile)); err != nil || !bytes.Equal(kept, current) {
		return nil, errors.Join(fmt.Errorf("%s is not that of this commit: run go run ./internal/release notices", noticesFile), err)
	}
	files, err := readFiles(r.root, "README.md", "CHANGELOG.md", "CONTRIBUTING.md", noticesFile, "docs/*.md", "docs/*.png", "docs/figures/*",
		"examples/*.md", "examples/*.py", "examples/*.sh", "python/README.md")
	if err != nil {
		return nil, err
	}
	generated, err := generate(r.source)
	return append(files, generated...), err
}

// program builds the executable for a platform.
func (r *release) program(ctx context.Context, platform string) (built, error) {
	exe, err := buildPacked(ctx, r.root, platform, r.commit, r.time.Format(time.DateOnly))
	if err != nil {
		return built{}, err
	}
	if len(exe) > target.MaxExecutable {
		return built{}, fmt.Errorf("the executable has %d bytes, at most %d are meant", len(exe), target.MaxExecutable)
	}
	goos, goarch, _ := strings.Cut(platform, "/")
	r.say("    executable %.1f MiB", float64(len(exe))/(1<<20))
	return built{goos: goos, goarch: goarch, exe: exe}, nil
}

// buildPacked builds the executable that is delivered for a platform, static and without what only a debugger
// needs.
func buildPacked(ctx context.Context, root, platform, commit, date string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "hubcli-release-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "hubcli")
	err = packer.Build(ctx, packer.Options{
		Root: root, Platform: platform, Out: path, Commit: commit, Date: date, Link: []string{"-buildid=", "-s", "-w"}, Flags: []string{"-buildvcs=false"},
		Go: func(ctx context.Context, args ...string) *exec.Cmd { return goCommand(ctx, root, platform, args...) },
	})
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// buildWhole builds the whole program for a platform, static, to be weighed.
func buildWhole(ctx context.Context, root, platform string, flags ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "hubcli-release-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "hubcli")
	link := strings.TrimSpace("-buildid= " + strings.Join(flags, " "))
	cmd := goCommand(ctx, root, platform, "build", "-trimpath", "-buildvcs=false", "-ldflags", link, "-o", path, executable)
	if _, err := output(cmd); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// sum writes the list of checksums.
func (r *release) sum() error {
	made, err := r.made()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, name := range made {
		data, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), name)
	}
	return r.write(checksums, b.Bytes())
}
