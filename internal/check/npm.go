package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"hubcli/internal/testprogram"
)

// oldestNode is the major version of Node.js that the programs in stress/outside need.
const oldestNode = 22

// errUnavailable is wrapped by what keeps other people's programs from running on
// this machine and says nothing about the hub.
var errUnavailable = errors.New("not available here")

// needPrograms fails with errUnavailable and what is missing if programs are not installed.
func needPrograms(names ...string) error {
	var missing []string
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %s", errUnavailable, testprogram.Missing(missing...))
	}
	return nil
}

// findNode returns a Node.js that is new enough: the machine's own, or else the
// one that stress/outside/node pins, which needs an older one's npm to be installed.
func findNode(ctx context.Context) (node string, err error) {
	if err := needPrograms("node", "npm"); err != nil {
		return "", err
	}
	if node, err = exec.LookPath("node"); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, node, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s does not run: %w", node, err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
	if version, err := strconv.Atoi(major); err == nil && version >= oldestNode {
		return node, nil
	}
	dir, err := npmFolder(ctx, "stress/outside/node", "ci")
	if err != nil {
		return "", err
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	node = filepath.Join(dir, "node_modules", "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	if err := exec.CommandContext(ctx, node, "--version").Run(); err != nil {
		return "", fmt.Errorf("%w: Node.js is %s, the tests need %d or later, and the pinned one does not run here: %w",
			errUnavailable, bytes.TrimSpace(out), oldestNode, err)
	}
	return node, nil
}

// npmFolder returns a folder below .cache in which npm has installed what the
// lock file in source pins, by its hashes and without running any script of a
// package. It is made once for each lock file, beside its place and then
// renamed, so that what is there is whole. The arguments are npm's: ci, which
// wants the lock file to be complete, or install, and flags.
func npmFolder(ctx context.Context, source string, args ...string) (string, error) {
	lock, err := os.ReadFile(filepath.Join(source, "package-lock.json"))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %q\n%s", runtime.GOOS, runtime.GOARCH, args, lock))
	cache, err := filepath.Abs(".cache")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, filepath.Base(source)+"-"+hex.EncodeToString(sum[:6]))
	if isDir(dir) {
		return dir, nil
	}
	fmt.Fprintf(writer(ctx), "installing what %s/package-lock.json names into .cache/%s, once\n", source, filepath.Base(dir))
	return dir, makeNpmFolder(ctx, source, cache, dir, args)
}

func makeNpmFolder(ctx context.Context, source, cache, dir string, args []string) (err error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	building, err := os.MkdirTemp(cache, filepath.Base(dir)+".")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(building)) }()
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(building, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if err := npm(ctx, building, args...); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	if err := os.Rename(building, dir); err != nil && !isDir(dir) {
		return err
	}
	return nil // renamed, or another check was faster
}

// npm runs npm in a folder. It runs no script of a package.
func npm(ctx context.Context, dir string, args ...string) error {
	// The tarballs are wanted once; they do not fill anybody's cache.
	tarballs := filepath.Join(dir, "tarballs")
	args = append(slices.Clone(args), "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--cache="+tarballs)
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	if err := cmd.Run(); err != nil {
		if unreachable.Match(said.Bytes()) {
			return fmt.Errorf("%w: npm cannot reach its registry, which the first run needs", errUnavailable)
		}
		return fmt.Errorf("npm %s: %w\n%s", args[0], err, &said)
	}
	return os.RemoveAll(tarballs)
}

// lockLatest makes a folder with a lock file that pins the latest release of each
// package that the one in source names.
func lockLatest(ctx context.Context, source, dir string) error {
	text, err := os.ReadFile(filepath.Join(source, "package.json"))
	if err != nil {
		return err
	}
	settings, err := os.ReadFile(filepath.Join(source, ".npmrc"))
	if err != nil {
		return err
	}
	if text, err = latest(text); err != nil {
		return fmt.Errorf("%s/package.json: %w", source, err)
	}
	err = errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "package.json"), text, 0o644),
		os.WriteFile(filepath.Join(dir, ".npmrc"), settings, 0o644),
	)
	if err != nil {
		return err
	}
	return npm(ctx, dir, "install", "--package-lock-only")
}

// latest returns a package.json that wants the latest release of each package.
func latest(text []byte) ([]byte, error) {
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	wanted, ok := all["devDependencies"].(map[string]any)
	if !ok || len(wanted) == 0 {
		return nil, errors.New("it names no devDependencies")
	}
	for name := range wanted {
		wanted[name] = "latest"
	}
	return json.MarshalIndent(all, "", "  ")
}

// unreachable is what npm says where there is no network, or no way to the
// registry.
var unreachable = regexp.MustCompile(`\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b`)
