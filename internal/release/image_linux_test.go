package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"hubcli/internal/require"
)

// image is what the instructions of a Containerfile make.
type image struct {
	root    string
	env     []string
	owner   uint32
	dir     string
	program []string
}

// imageOf follows the instructions that Containerfile has. One that it does not know is a mistake.
func imageOf(t *testing.T, r *release) image {
	t.Helper()
	stages, args := map[string]string{}, map[string]string{"TARGETARCH": runtime.GOARCH} // as docker and podman set it
	var i image
	for line := range strings.SplitSeq(readFile(t, filepath.Join(r.out, "Containerfile")), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(os.Expand(line, func(name string) string { return args[name] }), " ")
		fields := strings.Fields(rest)
		switch word {
		case "FROM":
			i = image{root: t.TempDir()}
			require.NoError(t, os.Chmod(i.root, 0o755))
			if fields[0] != "scratch" {
				t.Fatalf("%q names an image of others", line)
			}
			stages[fields[len(fields)-1]] = i.root
		case "ARG":
			if _, known := args[rest]; !known {
				t.Fatalf("%q: a default would hide the processor that is wanted, and nothing else has a value", line)
			}
		case "ADD":
			require.NoError(t, os.CopyFS(filepath.Join(i.root, strings.TrimSuffix(fields[0], ".tar.gz")), os.DirFS(unpack(t, filepath.Join(r.out, fields[0])))))
		case "COPY":
			copyInto(t, i.root, stages, fields)
		case "ENV":
			i.env = fields
		case "USER":
			id, err := strconv.ParseUint(strings.SplitN(rest, ":", 2)[0], 10, 32)
			require.NoError(t, err)
			i.owner = uint32(id)
		case "WORKDIR":
			i.dir = rest
		case "ENTRYPOINT", "CMD":
			var more []string
			require.NoError(t, json.Unmarshal([]byte(rest), &more))
			i.program = append(i.program, more...)
		case "VOLUME", "STOPSIGNAL":
		default:
			t.Fatalf("the test does not know the instruction %q", line)
		}
	}
	return i
}

// copyInto does what COPY does with one file.
func copyInto(t *testing.T, root string, stages map[string]string, fields []string) {
	t.Helper()
	from, owner := "", 0
	for strings.HasPrefix(fields[0], "--") {
		name, value, _ := strings.Cut(fields[0], "=")
		switch name {
		case "--from":
			from = stages[value]
		case "--chown":
			id, err := strconv.Atoi(strings.SplitN(value, ":", 2)[0])
			require.NoError(t, err)
			owner = id
		}
		fields = fields[1:]
	}
	source, to := filepath.Join(from, fields[0]), filepath.Join(root, fields[1])
	if strings.HasSuffix(fields[1], "/") {
		to = filepath.Join(to, filepath.Base(source))
	}
	info, err := os.Stat(source)
	require.NoError(t, err)
	require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(readFile(t, source)), info.Mode())))
	if owner != 0 && os.Geteuid() == 0 {
		require.NoError(t, errors.Join(os.Chown(filepath.Dir(to), owner, owner), os.Chown(to, owner, owner)))
	}
}

// imageRuns: the image has all that the executable needs, though it has no file of a system. Root runs it as a
// container would: as its user, with nothing but the image to be seen.
func imageRuns(t *testing.T, r *release) {
	i := imageOf(t, r)
	if os.Geteuid() != 0 {
		t.Skip("needs root, who may run a program in a folder as if it were the whole system")
	}
	// The folders of a test are closed to others.
	for dir := i.root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	// Of what a container shows in /proc, the executable needs its own name.
	require.NoError(t, errors.Join(os.MkdirAll(filepath.Join(i.root, "proc", "self"), 0o755), os.Symlink(i.program[0], filepath.Join(i.root, "proc", "self", "exe"))))
	inImage := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), i.program[0], args...)
		cmd.Dir, cmd.Env = i.dir, i.env
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.root, Credential: &syscall.Credential{Uid: i.owner, Gid: i.owner}}
		return cmd
	}
	if out, err := inImage("--version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "hubcli "+r.version+"+") {
		t.Errorf("the image's --version says %q (%v)", out, err)
	}
	servesUntilToldToEnd(t, inImage(i.program[1:]...))
	if i.owner == 0 || i.dir != "/data" {
		t.Errorf("the image runs as %d in %s", i.owner, i.dir)
	}
}
