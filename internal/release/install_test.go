package main

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/internal/require"
	"hubcli/internal/testport"
	"hubcli/internal/testprogram"
)

// packagesInstall installs each package of a release as its users do, without a network, and starts what it brings.
func packagesInstall(t *testing.T, r *release) {
	t.Helper()
	here := built{goos: runtime.GOOS, goarch: runtime.GOARCH}
	t.Run("script", func(t *testing.T) { scriptInstalls(t, r) })
	t.Run("npm", func(t *testing.T) { npmInstalls(t, r, here) })
	t.Run("pip", func(t *testing.T) { pipInstalls(t, r) })
	t.Run("formula", func(t *testing.T) {
		if here.goos == "windows" {
			t.Skip("needs a system that Homebrew knows")
		}
		formulaFits(t, r, 1)
	})
	if here.goos != "linux" {
		return
	}
	t.Run("deb", func(t *testing.T) { debInstalls(t, r, here) })
	t.Run("image", func(t *testing.T) { imageRuns(t, r) })
}

// home is an environment with nothing in it but an empty home, where programs are found, and more.
func home(t *testing.T, more ...string) []string {
	t.Helper()
	dir := t.TempDir()
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "HUB_DATA_ROOT=" + filepath.Join(dir, "data")}, more...)
}

// runs runs a program to its end and returns what it said.
func runs(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = t.TempDir(), env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// isThisRelease runs a program that was installed.
func isThisRelease(t *testing.T, r *release, env []string, program string) {
	t.Helper()
	if out := runs(t, env, program, "--version"); !strings.HasPrefix(out, "hubcli "+r.version+"+"+r.commit+"\n") {
		t.Errorf("%s --version says %q", program, out)
	}
}

// scriptInstalls twice: the second time it knows the executable of the first for hubcli.
func scriptInstalls(t *testing.T, r *release) {
	needsShell(t)
	prefix := t.TempDir()
	for range 2 {
		said, err := installing(t, r, nil, "--from", r.out, "--prefix", prefix)
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	isThisRelease(t, r, home(t), filepath.Join(prefix, "bin", "hubcli"))
}

// npmInstalls without a network and without any script of a package.
func npmInstalls(t *testing.T, r *release, here built) {
	programs := testprogram.Need(t, "node", "npm")
	dir := t.TempDir()
	env := home(t)
	packages := []string{filepath.Join(r.out, "hubcli-"+r.version+".tgz"), filepath.Join(r.out, npmPackage(here)+"-"+r.version+".tgz")}
	args := []string{"install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", dir, "--cache", t.TempDir()}
	runs(t, env, programs[1], append(args, packages...)...)
	program := filepath.Join(dir, "node_modules", ".bin", "hubcli")
	if here.goos == "windows" {
		program += ".cmd"
	}
	isThisRelease(t, r, env, program)

	cmd := exec.CommandContext(t.Context(), program, "app", "status", "--base-url", "http://127.0.0.1:9")
	cmd.Env = env
	var exit *exec.ExitError
	if out, err := cmd.CombinedOutput(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("where no hub is, the command of npm ends with %v, want exit code 3\n%s", err, out)
	}
	if here.goos != "windows" {
		cmd = exec.CommandContext(t.Context(), program, "--storage", filepath.Join(t.TempDir(), "app.db"))
		cmd.Env = env
		servesUntilToldToEnd(t, cmd)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "node_modules", npmPackage(here))))
	cmd = exec.CommandContext(t.Context(), program, "--version")
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "the npm package "+npmPackage(here)+" is not installed\nfix: ") {
		t.Errorf("without its executable it ends with %v and says %s", err, out)
	}
}

// servesUntilToldToEnd: a command that runs a hub in the foreground serves, and the hub ends when the command is told to.
func servesUntilToldToEnd(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	port, err := testport.Take()
	require.NoError(t, err)
	cmd.Args = append(cmd.Args, "--port", strconv.Itoa(port), "--quiet")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	isReady := func() bool {
		answer, err := http.Get("http://127.0.0.1:" + strconv.Itoa(port) + "/readyz")
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	}
	for end := time.Now().Add(time.Minute); !isReady(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			err := errors.Join(cmd.Process.Kill(), cmd.Wait())
			t.Fatalf("the hub is not ready within a minute (%v): %s", err, said.String())
		}
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("the hub ends with %v: %s", err, said.String())
	}
	if isReady() {
		t.Error("the hub goes on without the command")
	}
}

// pipInstalls the wheel that fits this platform into an environment of its own, without an index.
func pipInstalls(t *testing.T, r *release) {
	venv := t.TempDir()
	env := home(t, "PYTHONNOUSERSITE=1")
	runs(t, env, pythonProgram(), "-m", "venv", venv)
	bin := filepath.Join(venv, "bin")
	if runtime.GOOS == "windows" {
		bin = filepath.Join(venv, "Scripts")
	}
	runs(t, env, filepath.Join(bin, "python"), "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", "--find-links", r.out, "hubcli=="+r.version)
	program := filepath.Join(bin, built{goos: runtime.GOOS}.program())
	isThisRelease(t, r, env, program)
	runs(t, env, filepath.Join(bin, "python"), "-m", "pip", "uninstall", "--quiet", "--yes", "hubcli")
	if _, err := os.Stat(program); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("pip leaves %s (%v)", program, err)
	}
}

// debInstalls: the package holds this release, and root can install it into a folder and remove it again.
func debInstalls(t *testing.T, r *release, here built) {
	name := "hubcli_" + debVersion(r.version) + "_" + here.goarch + ".deb"
	file := filepath.Join(r.out, name)
	data := []byte(readFile(t, file))
	exe := debFits(t, name, data)["usr/bin/hubcli"]
	program := filepath.Join(t.TempDir(), "hubcli")
	require.NoError(t, os.WriteFile(program, exe, 0o700))
	isThisRelease(t, r, home(t), program)
	dpkg := filepath.Join(filepath.Dir(dpkgReads(t, name, data, string(exe))), "dpkg") // both are in one package
	if os.Geteuid() != 0 {
		t.Skip("needs root, who may install a package")
	}
	system := t.TempDir()
	known := filepath.Join(system, "var", "lib", "dpkg")
	require.NoError(t, errors.Join(
		os.MkdirAll(filepath.Join(known, "info"), 0o755), os.MkdirAll(filepath.Join(known, "updates"), 0o755), os.WriteFile(filepath.Join(known, "status"), nil, 0o600),
	))
	env := home(t)
	runs(t, env, dpkg, "--root="+system, "--force-architecture", "--install", file)
	isThisRelease(t, r, env, filepath.Join(system, "usr", "bin", "hubcli"))
	runs(t, env, dpkg, "--root="+system, "--purge", "hubcli")
	if _, err := os.Stat(filepath.Join(system, "usr")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("dpkg leaves files: %v", below(t, filepath.Join(system, "usr")))
	}
}
