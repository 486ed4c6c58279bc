//go:build unix

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/internal/identity"
	"hubcli/internal/packer"
	"hubcli/internal/require"
)

// carry lets the package carry a program for the time of a test, and returns the cache of a user who
// has none.
func carry(t *testing.T, program string) (cache string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(program))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	before, known := carried, digest
	t.Cleanup(func() { carried, digest = before, known })
	sum := sha256.Sum256([]byte(program))
	carried, digest = b.Bytes(), hex.EncodeToString(sum[:])
	cache = filepath.Join(t.TempDir(), "cache")
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", filepath.Dir(cache)) // of systems that know no XDG_CACHE_HOME
	if got, err := os.UserCacheDir(); err == nil {
		cache = got
	}
	return cache
}

// TestUnpacking: the program is unpacked once, is nobody else's, and is there as a whole whoever unpacks it at
// once. Another version takes the place of one before.
func TestUnpacking(t *testing.T) {
	cache := carry(t, "first")
	paths := make([]string, 8)
	var all sync.WaitGroup
	for i := range paths {
		all.Go(func() {
			path, err := unpacked()
			if err != nil {
				t.Error(err)
			}
			paths[i] = path
		})
	}
	all.Wait()
	text, err := os.ReadFile(paths[0])
	if err != nil || string(text) != "first" {
		t.Fatalf("unpacked %q, %v", text, err)
	}
	info, err := os.Stat(paths[0])
	require.NoError(t, err)
	if info.Mode().Perm() != mode || filepath.Dir(paths[0]) != filepath.Join(cache, "hubcli") {
		t.Errorf("it is %s with %v", paths[0], info.Mode())
	}
	again, err := unpacked()
	later, err2 := os.Stat(again)
	if err != nil || err2 != nil || again != paths[7] || !os.SameFile(info, later) && later.ModTime().Before(info.ModTime()) {
		t.Errorf("the second time it is %s, %v", again, err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(cache, "hubcli", "mine"), nil, 0o600))
	second := sha256.Sum256([]byte("second"))
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte("second"))
	require.NoError(t, z.Close())
	carried, digest = b.Bytes(), hex.EncodeToString(second[:])
	if _, err := unpacked(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(cache, "hubcli"))
	if err != nil || len(left) != 3 || left[1].Name() != "lock" || left[2].Name() != "mine" {
		t.Errorf("the cache has %v, %v", left, err)
	}
}

// TestOneUnpacksForAll: of many first starts at once one unpacks, and the others wait for it. The lock of one that
// was killed meanwhile stops nobody.
func TestOneUnpacksForAll(t *testing.T) {
	cache := carry(t, strings.Repeat("the program ", 1<<18))
	holder := exec.Command(os.Args[0], "-test.run=^TestHoldsTheLock$")
	holder.Env = append(os.Environ(), holdsLock+"="+filepath.Join(cache, "hubcli"))
	said, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	const starts = 16
	files := make([]os.FileInfo, starts)
	var all sync.WaitGroup
	for i := range files {
		all.Go(func() {
			path, err := unpacked()
			if err == nil {
				files[i], err = os.Stat(path)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(100 * time.Millisecond) // some of them wait by now
	if left, err := os.ReadDir(filepath.Join(cache, "hubcli")); err != nil || len(left) != 1 {
		t.Errorf("beside the lock that another process holds there is %v, %v", left, err)
	}
	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait() // it was killed
	all.Wait()
	for i, f := range files {
		if f == nil || !os.SameFile(f, files[0]) {
			t.Errorf("start %d has unpacked another file", i)
		}
	}
}

// holdsLock names the folder whose lock a process of the test is to hold.
const holdsLock = "HUBCLI_TEST_HOLDS_LOCK"

// TestHoldsTheLock is the process that TestOneUnpacksForAll kills.
func TestHoldsTheLock(t *testing.T) {
	dir := os.Getenv(holdsLock)
	if dir == "" {
		t.Skip("needs TestOneUnpacksForAll, which runs it")
	}
	_, err := identity.Lock(dir, time.Second)
	require.NoError(t, err)
	fmt.Println("held")
	time.Sleep(time.Minute)
}

// TestWhatOthersCouldHaveChangedIsNotRun: a program that was cut, changed or can be written by others is unpacked
// anew, and a cache of others is not used at all.
func TestWhatOthersCouldHaveChangedIsNotRun(t *testing.T) {
	cache := carry(t, "the program")
	path, err := unpacked()
	require.NoError(t, err)
	for name, harm := range map[string]func() error{
		"cut":                func() error { return os.Truncate(path, 3) },
		"changed":            func() error { return os.WriteFile(path, []byte("the progrAm"), 0o700) },
		"writable by others": func() error { return os.Chmod(path, 0o722) },
		"a link":             func() error { return replaceByLink(path) },
	} {
		require.NoError(t, harm())
		again, err := unpacked()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		info, err := os.Lstat(again)
		text, readErr := os.ReadFile(again)
		if err != nil || readErr != nil || string(text) != "the program" || info.Mode() != mode {
			t.Errorf("%s: it holds %q with %v, %v, %v", name, text, info.Mode(), err, readErr)
		}
	}
	require.NoError(t, os.Chmod(filepath.Join(cache, "hubcli"), 0o777))
	if path, err := unpacked(); err == nil {
		t.Errorf("in a folder that others can write to it is %s", path)
	}
	carried = bytes.Clone(carried)
	carried[len(carried)/2] ^= 1
	if err := write(&bytes.Buffer{}); err == nil {
		t.Error("a damaged program is written")
	}
}

func replaceByLink(path string) error {
	other := path + "-other"
	if err := os.Rename(path, other); err != nil {
		return err
	}
	return os.Symlink(other, path)
}

// delivered is hubcli as it is delivered, for one user.
type delivered struct {
	t    *testing.T
	path string
	home string
	port int
}

func (d *delivered) run(args ...string) (string, error) {
	d.t.Helper()
	cmd := exec.CommandContext(context.Background(), d.path, args...)
	cmd.Dir = d.home
	cmd.Env = []string{
		"HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "XDG_CACHE_HOME=" + filepath.Join(d.home, ".cache"), "HUB_DATA_ROOT=" + filepath.Join(d.home, "data"),
		"HUB_BASE_URL=http://127.0.0.1:" + strconv.Itoa(d.port),
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (d *delivered) does(words string, args ...string) {
	d.t.Helper()
	if out, err := d.run(args...); err != nil || !strings.Contains(out, words) {
		d.t.Errorf("%v prints %q (%v), want %q", args, out, err, words)
	}
}

// TestDelivered: the one file, copied anywhere, is the hub and all its commands. Where the cache can hold
// no program it runs from memory, where the system does that.
func TestDelivered(t *testing.T) {
	if testing.Short() {
		t.Skip("needs half a minute to build the executable")
	}
	path := filepath.Join(t.TempDir(), "hubcli")
	require.NoError(t, packer.Build(t.Context(), packer.Options{Root: "../..", Platform: runtime.GOOS + "/" + runtime.GOARCH, Out: path, Commit: "0123456789ab"}))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := free.Addr().(*net.TCPAddr).Port
	require.NoError(t, free.Close())
	for _, cached := range []bool{true, false} {
		if !cached && runtime.GOOS != "linux" {
			break
		}
		d := &delivered{t: t, path: path, home: t.TempDir(), port: port}
		if !cached {
			require.NoError(t, os.WriteFile(filepath.Join(d.home, ".cache"), nil, 0o600))
		}
		d.does("+0123456789ab\n", "--version")
		d.does("hub started at", "ensure", "--port", strconv.Itoa(port))
		d.does("posted #", "post", "--agent", "ann", "hello")
		d.does("hello", "poll", "--agent", "ben", "--timeout", "0")
		d.does("2 agents", "status")
		if out, _ := d.run("app", "doctor"); cached == strings.Contains(out, "warn  cache     this program runs from memory") {
			t.Errorf("with a cache (%t) the doctor says %s", cached, out)
		}
		d.does(fmt.Sprintf("127.0.0.1:%d", port), "app", "status")
		if out, err := d.run("nonsense"); err == nil || !strings.Contains(out, "hubcli has no command") {
			t.Errorf("nonsense prints %q, %v", out, err)
		}
		// What adapters write is the file that people start, not what was unpacked.
		d.does("codex", "adapter", "install", "codex", "--yes")
		if text, err := os.ReadFile(filepath.Join(d.home, ".codex", "config.toml")); err != nil || !strings.Contains(string(text), strconv.Quote(path)) {
			t.Errorf("the adapter has written %s, %v", text, err)
		}
		d.does("hub stopped", "stop", "--port", strconv.Itoa(port))
	}
}
