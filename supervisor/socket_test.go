package supervisor_test

import (
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/internal/hubfile"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/persistence"
	"hubcli/supervisor"
)

// at starts a hub on a store folder and in a data root of a short path.
func at(t *testing.T, store, data string) *testhub.Hub {
	t.Helper()
	return testhub.Start(t, testhub.Dir(store), testhub.With(func(c *supervisor.Config) { c.DataRoot = data }))
}

func noteOf(t *testing.T, h *testhub.Hub, data string) hubfile.Note {
	t.Helper()
	n, err := hubfile.Find(data, netip.MustParseAddrPort(strings.TrimPrefix(h.URL, "http://")))
	require.NoError(t, err)
	return n
}

// over sends a request over a socket and returns its status and code.
func over(t *testing.T, path, method, url string, headers ...string) (status int, body string) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

// TestOperatorsSocket: it lies below the data root, for this user alone, serves the same
// calls as the port by the same rules, and is gone with the hub.
func TestOperatorsSocket(t *testing.T) {
	dir := testhub.ShortDir(t)
	store, data := filepath.Join(dir, "s"), filepath.Join(dir, "d")
	h := at(t, store, data)
	n := noteOf(t, h, data)
	if noted, err := persistence.ReadSocket(store); filepath.Dir(n.Socket) != filepath.Join(data, "run") || n.Store != store || noted != n.Socket {
		t.Fatalf("the hub noted %+v, in the store %s, %v", n, noted, err)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]fs.FileMode{n.Socket: 0o600, filepath.Dir(n.Socket): 0o700} {
			if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
			}
		}
	}
	token := api.HeaderOperator + ": " + h.Store.OperatorToken()
	for _, tt := range []struct {
		method, url string
		headers     []string
		status      int
		holds       string
	}{
		{"GET", "http://hub/v1/hub-info", nil, 200, string(h.Store.InstanceID())},
		{"GET", "http://anything.example:99/v1/shutdown", []string{token}, 200, `"pending":false`},
		{"GET", "http://hub/v1/shutdown", nil, 403, "operator_required"},
		{"GET", "http://hub/v1/shutdown", []string{api.HeaderOperator + ": guess"}, 403, "operator_required"},
		{"GET", "http://hub/v1/shutdown", []string{token, "Origin: http://evil.example"}, 403, "forbidden_origin"},
		{"GET", "http://hub/v1/shutdown", []string{token, "Sec-Fetch-Site: cross-site"}, 403, "forbidden_origin"},
		{"GET", "http://hub/v1/hub-info?nonce=0123456789abcdef", nil, 200, "allow_remote"},
		{"GET", "http://hub/v1/nothing", nil, 404, "not_found"},
	} {
		if status, body := over(t, n.Socket, tt.method, tt.url, tt.headers...); status != tt.status || !strings.Contains(body, tt.holds) || strings.Contains(body, `"proof"`) {
			t.Errorf("%s %v = %d %s", tt.url, tt.headers, status, body)
		}
	}
	require.NoError(t, h.Stop())
	if _, err := os.Lstat(n.Socket); !os.IsNotExist(err) {
		t.Errorf("after the stop the socket is there: %v", err)
	}
	if after := noteOf(t, h, data); after.InstanceID != n.InstanceID {
		t.Errorf("after the stop the note is %+v", after)
	}
}

// TestTheSocketOfAKilledHubGivesWay, and no other file does; then the socket is elsewhere.
func TestTheSocketOfAKilledHubGivesWay(t *testing.T) {
	dir := testhub.ShortDir(t)
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", dir)
	store, data := filepath.Join(dir, "s"), filepath.Join(dir, "d")
	first := at(t, store, data)
	path := noteOf(t, first, data).Socket
	require.NoError(t, first.Stop())
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())

	h := at(t, store, data)
	if n := noteOf(t, h, data); n.Socket != path {
		t.Errorf("the socket is %s", n.Socket)
	}
	if status, body := over(t, path, "GET", "http://hub/healthz"); status != 200 {
		t.Errorf("over the new socket: %d %s", status, body)
	}
	require.NoError(t, h.Stop())

	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	h = at(t, store, data)
	n := noteOf(t, h, data)
	if n.Socket == path || hubfile.Private(filepath.Dir(n.Socket)) != nil {
		t.Errorf("the socket is %s", n.Socket)
	}
	if status, body := over(t, n.Socket, "GET", "http://hub/healthz"); status != 200 {
		t.Errorf("over the socket elsewhere: %d %s", status, body)
	}
	require.NoError(t, h.Stop())
	if b, err := os.ReadFile(path); string(b) != "mine" {
		t.Errorf("the file in the way holds %q, %v", b, err)
	}
	if _, err := os.Lstat(n.Socket); !os.IsNotExist(err) {
		t.Errorf("after the stop the socket elsewhere is there: %v", err)
	}
}

// TestALongPathOfADataRoot: the socket lies below the data root, or in a folder of the system.
func TestALongPathOfADataRoot(t *testing.T) {
	dir := testhub.ShortDir(t)
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", dir)
	long := filepath.Join(dir, strings.Repeat("l", 60), strings.Repeat("l", 60))
	for name, data := range map[string]string{"a short data root": filepath.Join(dir, "d"), "a long data root": filepath.Join(long, "d")} {
		t.Run(name, func(t *testing.T) {
			h := at(t, filepath.Join(long, "s"), data)
			n := noteOf(t, h, data)
			if short := !strings.HasPrefix(data, long); short != (filepath.Dir(n.Socket) == filepath.Join(data, "run")) {
				t.Errorf("the socket is %q", n.Socket)
			}
			if err := hubfile.Private(filepath.Dir(n.Socket)); err != nil {
				t.Error(err)
			}
			if status, body := over(t, n.Socket, "GET", "http://hub/healthz"); status != 200 {
				t.Errorf("over %s: %d %s", n.Socket, status, body)
			}
			require.NoError(t, h.Stop())
			if _, err := os.Lstat(n.Socket); !os.IsNotExist(err) {
				t.Errorf("after the stop the socket is there: %v", err)
			}
		})
	}
}

// TestAFolderOfARandomName: without room below the data root, nobody can take the place of the
// socket. A stop removes the folder, and a start removes that of a killed hub, and no other.
func TestAFolderOfARandomName(t *testing.T) {
	dir := testhub.ShortDir(t)
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hubcli-"+strconv.Itoa(os.Getuid())), nil, 0o600)) // another user's
	long := filepath.Join(dir, strings.Repeat("l", 60), strings.Repeat("l", 60))
	store, data := filepath.Join(long, "s"), filepath.Join(long, "d")
	h := at(t, store, data)
	path := noteOf(t, h, data).Socket
	folder := filepath.Dir(path)
	if status, body := over(t, path, "GET", "http://hub/healthz"); status != 200 || filepath.Dir(folder) != dir || hubfile.Private(folder) != nil {
		t.Fatalf("over %q: %d %s", path, status, body)
	}
	require.NoError(t, h.Stop())
	if _, err := os.Lstat(folder); !os.IsNotExist(err) {
		t.Errorf("after the stop the folder is there: %v", err)
	}
	for name, tt := range map[string]struct {
		more string // what lies beside the socket
		mode fs.FileMode
		gone bool
	}{
		"a killed hub's":     {"", 0o700, true},
		"with another file":  {"mine", 0o700, false},
		"open to others":     {"", 0o755, false},
		"with another name":  {"", 0o700, false},
		"of another socket":  {"", 0o700, false},
		"without the socket": {"", 0o700, true},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.mode != 0o700 && runtime.GOOS == "windows" {
				t.Skip("needs a system whose folders have a mode")
			}
			was := filepath.Join(t.TempDir(), "hubcli-op-1")
			sock := filepath.Base(path)
			switch name {
			case "with another name":
				was = filepath.Join(filepath.Dir(was), "mine")
			case "of another socket":
				sock = "op-0123456789abcdef.sock"
			}
			require.NoError(t, os.Mkdir(was, 0o700))
			if name != "without the socket" {
				near := filepath.Join(dir, "near.sock") // the path below is too long
				l, err := net.ListenUnix("unix", &net.UnixAddr{Name: near, Net: "unix"})
				require.NoError(t, err)
				l.SetUnlinkOnClose(false)
				require.NoError(t, l.Close())
				require.NoError(t, os.Rename(near, filepath.Join(was, sock)))
			}
			if tt.more != "" {
				require.NoError(t, os.WriteFile(filepath.Join(was, tt.more), nil, 0o600))
			}
			require.NoError(t, os.Chmod(was, tt.mode))
			require.NoError(t, os.WriteFile(filepath.Join(store, "SOCKET"), []byte(filepath.Join(was, sock)+"\n"), 0o600))
			h := at(t, store, data)
			if _, err := os.Lstat(was); os.IsNotExist(err) != tt.gone {
				t.Errorf("the folder: %v; gone should be %v", err, tt.gone)
			}
			require.NoError(t, h.Stop())
		})
	}
}

// TestASocketIsItsHubsAlone: a start that is refused leaves the socket of the hub that serves
// the store, and a hub leaves what has taken the place of its own.
func TestASocketIsItsHubsAlone(t *testing.T) {
	dir := testhub.ShortDir(t)
	store, data := filepath.Join(dir, "s"), filepath.Join(dir, "d")
	h := at(t, store, data)
	path := noteOf(t, h, data).Socket
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if _, err := supervisor.Start(supervisor.Config{Storage: store, DataRoot: data, Listener: l, Version: "test"}); err == nil {
		t.Fatal("two hubs serve one store")
	}
	if _, err := hubfile.Find(data, l.Addr().(*net.TCPAddr).AddrPort()); !os.IsNotExist(err) {
		t.Errorf("a start that was refused is noted: %v", err)
	}
	if status, body := over(t, path, "GET", "http://hub/healthz"); status != 200 {
		t.Errorf("after a start that was refused: %d %s", status, body)
	}
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, []byte("another's"), 0o600))
	require.NoError(t, h.Stop())
	if b, err := os.ReadFile(path); string(b) != "another's" {
		t.Errorf("the hub removed what was not its own: %q, %v", b, err)
	}
}

// TestTheOperatorHasPlaces when agents have taken all connections.
func TestTheOperatorHasPlaces(t *testing.T) {
	dir := testhub.ShortDir(t)
	data := filepath.Join(dir, "d")
	h := testhub.Start(t, testhub.Dir(filepath.Join(dir, "s")), testhub.With(func(c *supervisor.Config) { c.DataRoot, c.MaxConnections = data, 1 }))
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	if status, body := over(t, noteOf(t, h, data).Socket, "GET", "http://hub/healthz"); status != 200 {
		t.Errorf("with a full port: %d %s", status, body)
	}
}
