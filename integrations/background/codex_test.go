package background

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hubcli/internal/require"
)

// appServer plays Codex's end of one connection. answer returns the messages with which one is answered; none ends
// the connection.
func appServer(t *testing.T, answer func(method string, id any) []string) (socket string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs Unix sockets")
	}
	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // the path of t.TempDir may be too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket = filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		conn, err := websocket.Accept(w, req, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for {
			_, text, err := conn.Read(req.Context())
			if err != nil {
				return
			}
			var m struct {
				ID     any    `json:"id"`
				Method string `json:"method"`
			}
			if json.Unmarshal(text, &m) != nil || m.ID == nil {
				continue
			}
			said := answer(m.Method, m.ID)
			for _, text := range said {
				if conn.Write(req.Context(), websocket.MessageText, []byte(text)) != nil {
					return
				}
			}
			if said == nil {
				return
			}
		}
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return socket
}

// TestCodexSession: a thread is begun and its turn, whatever else the server tells and asks meanwhile.
func TestCodexSession(t *testing.T) {
	var asked []string
	socket := appServer(t, func(method string, id any) []string {
		asked = append(asked, method)
		result := `{"thread":{"id":"t1"},"long":"` + strings.Repeat("x", 1<<20) + `"}`
		return []string{`{"method":"thread/started","params":{}}`, `{"id":1,"method":"item/requestApproval"}`, "no JSON", fmt.Sprintf(`{"id":%v,"result":%s}`, id, result)}
	})
	c, err := DialCodex(t.Context(), socket, "1")
	require.NoError(t, err)
	defer c.Close()
	id, err := c.Begin(t.Context(), "/work", "")
	require.NoError(t, err)
	if id != "t1" {
		t.Errorf("the session is %q", id)
	}
	_, err = c.Begin(t.Context(), "/work", "t1")
	require.NoError(t, err)
	require.NoError(t, c.Prompt(t.Context(), id, strings.Repeat("go ", 100)))
	if want := []string{"initialize", "thread/start", "thread/resume", "turn/start"}; !slices.Equal(asked, want) {
		t.Errorf("it was asked %q", asked)
	}
}

// TestCodexRefuses: a refusal, nonsense and the end of the server are errors, and none hangs.
func TestCodexRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   string
	}{
		"an error":    {`{"id":%v,"error":{"message":"log in"}}`, "log in"},
		"no session":  {`{"id":%v,"result":{}}`, "named no session"},
		"the end":     {"", errConnection.Error()},
		"other types": {`{"id":%v,"result":{"thread":1}}`, "json"},
	} {
		t.Run(name, func(t *testing.T) {
			socket := appServer(t, func(method string, id any) []string {
				switch {
				case method == "initialize":
					return []string{fmt.Sprintf(`{"id":%v,"result":{}}`, id)}
				case c.answer == "":
					return nil
				}
				return []string{fmt.Sprintf(c.answer, id)}
			})
			codex, err := DialCodex(t.Context(), socket, "1")
			require.NoError(t, err)
			defer codex.Close()
			if _, err := codex.Begin(t.Context(), "/work", ""); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it begins with %v", err)
			}
		})
	}
}

// TestCodexDoesNotListen: a client gives up in time if no server ever comes.
func TestCodexDoesNotListen(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("late"))
	defer cancel()
	if c, err := DialCodex(ctx, filepath.Join(t.TempDir(), "s"), "1"); err == nil {
		c.Close()
		t.Error("it is connected")
	}
}

// TestCodexArgs: a value is one string of TOML, whatever is in it.
func TestCodexArgs(t *testing.T) {
	got := CodexArgs("/tmp/s", [][2]string{{"HUB_AGENT", `a"b\`}})
	if want := []string{"app-server", "--listen", "unix:///tmp/s", "-c", `mcp_servers.hub.env.HUB_AGENT="a\"b\\"`}; !slices.Equal(got, want) {
		t.Errorf("the arguments are %q", got)
	}
}

// TestDialOfAServerThatHasEnded: the reason is told, and not how the last try failed.
func TestDialOfAServerThatHasEnded(t *testing.T) {
	why := errors.New("its server has ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := DialCodex(ctx, filepath.Join(t.TempDir(), "socket"), "1.2.3"); err != why { //nolint:errorlint // nothing around it
		t.Errorf("got %v, want %v", err, why)
	}
}
