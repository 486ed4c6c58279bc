package hubfile

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/internal/require"
)

// TestPort: a file names a port and nothing else, or it counts as none and the error says why.
func TestPort(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, portFile)
	long := strings.Repeat("6", maxPortBytes+1)
	for text, want := range map[string]int{
		"6975\n": 6975, "6975": 6975, "1\n": 1, "65535\n": 65535, "": 0, "0\n": 0, "65536\n": 0, "-1": 0, "+6975": 0, "06975": 0,
		"6975 6976": 0, "http://127.0.0.1:6975": 0, "69\x0075": 0, "99999999999999999999": 0, long: 0, "६९७५": 0, "0x1b3f": 0,
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		got, err := LookPort(root)
		if want == 0 && (got != DefaultPort || err == nil || !strings.Contains(err.Error(), file)) {
			t.Errorf("the file %q names the port %d, %v", text, got, err)
		}
		if want != 0 && (got != want || err != nil) {
			t.Errorf("the file %q names the port %d, %v, want %d", text, got, err, want)
		}
	}
	require.NoError(t, os.WriteFile(file, []byte("6975\n"), 0o600))
	if got := BaseURL(root); got != "http://127.0.0.1:6975" {
		t.Errorf("the address is %s", got)
	}
	for _, none := range []string{"", filepath.Join(root, "absent")} {
		if got, err := LookPort(none); got != DefaultPort || err != nil {
			t.Errorf("the data root %q names the port %d, %v", none, got, err)
		}
	}
}

// TestPortOfOthers: what others may have put there sends no program to another port.
func TestPortOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a system whose files have a mode")
	}
	elsewhere := filepath.Join(t.TempDir(), "port")
	require.NoError(t, os.WriteFile(elsewhere, []byte("6975\n"), 0o600))
	for name, make := range map[string]func(file string) error{
		"a file that all may write": func(file string) error {
			return errors.Join(os.WriteFile(file, []byte("6975\n"), 0o600), os.Chmod(file, 0o666))
		},
		"a file that a group may write": func(file string) error {
			return errors.Join(os.WriteFile(file, []byte("6975\n"), 0o600), os.Chmod(file, 0o620))
		},
		"a link":            func(file string) error { return os.Symlink(elsewhere, file) },
		"a link to nothing": func(file string) error { return os.Symlink(elsewhere+".gone", file) },
		"a file of another user": func(file string) error {
			return errors.Join(os.WriteFile(file, []byte("6975\n"), 0o644), os.Chown(file, 65534, 65534))
		},
		"a pipe on which nobody writes": mkfifo,
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "another user") && os.Geteuid() != 0 {
				t.Skip("needs root, to give a file away")
			}
			root := t.TempDir()
			require.NoError(t, make(filepath.Join(root, portFile)))
			if got, err := LookPort(root); got != DefaultPort || err == nil {
				t.Errorf("the port is %d, %v", got, err)
			}
			port, err := ChoosePort(t.Context(), root, DefaultPort)
			if err != nil || port == DefaultPort || Port(root) != port {
				t.Errorf("the file stays: the port %d was chosen, %v, and %d is remembered", port, err, Port(root))
			}
			if b, err := os.ReadFile(elsewhere); err != nil || string(b) != "6975\n" {
				t.Errorf("where the link leads there is %q, %v", b, err)
			}
		})
	}
	t.Run("a folder", func(t *testing.T) {
		root := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(root, portFile), 0o700))
		if got, err := LookPort(root); got != DefaultPort || err == nil {
			t.Errorf("the port is %d, %v", got, err)
		}
		if port, err := ChoosePort(t.Context(), root, DefaultPort); err == nil {
			t.Errorf("the port %d is said to be remembered", port)
		}
	})
}

// TestDataRootOfAnotherUser: the superuser that meets one changes nothing in it.
func TestDataRootOfAnotherUser(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("needs root, to give a folder away")
	}
	root := t.TempDir()
	require.NoError(t, os.Chown(root, 65534, 65534))
	_, err := ChoosePort(t.Context(), root, DefaultPort)
	if more := RememberPort(t.Context(), root, 6975); err == nil || more == nil {
		t.Errorf("a port is remembered for another user: %v, %v", err, more)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("the data root of another user has %v, %v", entries, err)
	}
}

// TestChoosePort: of many that choose at once all get the same port, which is free and is not
// the one that is taken.
func TestChoosePort(t *testing.T) {
	root := filepath.Join(t.TempDir(), "data")
	begin := max(os.Getuid(), 0) % manyPorts
	busy, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(firstPort+(begin+1)%manyPorts))
	if err == nil {
		defer func() { _ = busy.Close() }()
	}
	got := make([]int, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			port, err := ChoosePort(t.Context(), root, DefaultPort)
			if err != nil {
				t.Error(err)
			}
			got[i] = port
			if hub, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
				t.Cleanup(func() { _ = hub.Close() }) // the first caller's, which has the port now
			}
		})
	}
	wg.Wait()
	for _, port := range got {
		if port != got[0] || port == DefaultPort || port != Port(root) {
			t.Fatalf("the ports are %v, and %d is remembered", got, Port(root))
		}
	}
	next, err := ChoosePort(t.Context(), root, got[0])
	if err != nil || next == got[0] || next != Port(root) || busy != nil && next == busy.Addr().(*net.TCPAddr).Port {
		t.Errorf("after %d comes %d, %v; %d is remembered", got[0], next, err, Port(root))
	}
	require.NoError(t, RememberPort(t.Context(), root, 7001))
	if got := Port(root); got != 7001 {
		t.Errorf("%d is remembered", got)
	}
	info, err := os.Stat(filepath.Join(root, portFile))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
}

// TestChoosingWaitsForTheLock, and no longer than its caller.
func TestChoosingWaitsForTheLock(t *testing.T) {
	root := t.TempDir()
	lock, err := lockPort(t.Context(), root)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := ChoosePort(ctx, root, DefaultPort); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another program chooses: %v", err)
	}
	require.NoError(t, lock.Close())
	if _, err := ChoosePort(t.Context(), root, DefaultPort); err != nil {
		t.Error(err)
	}
}
