package background

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/internal/require"
)

// appServer plays Codex's end of one connection. answer returns the frames with which a message is
// answered.
func appServer(t *testing.T, answer func(method string, id any) []byte) (socket string) {
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
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		sum := sha1.Sum([]byte(req.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
		for {
			text, err := unmask(in)
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
			if _, err := conn.Write(answer(m.Method, m.ID)); err != nil {
				return
			}
		}
	}()
	return socket
}

// unmask reads a frame of a client.
func unmask(in *bufio.Reader) ([]byte, error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	n := int(head[1] &^ masked)
	if n == length16 {
		more := make([]byte, 2)
		if _, err := io.ReadFull(in, more); err != nil {
			return nil, err
		}
		n = int(more[0])<<8 | int(more[1])
	}
	rest := make([]byte, 4+n)
	if _, err := io.ReadFull(in, rest); err != nil {
		return nil, err
	}
	for i := range n {
		rest[4+i] ^= rest[i%4]
	}
	return rest[4:], nil
}

// frames is a text as a server sends it, in as many frames.
func frames(text string, parts int) (b []byte) {
	for i := range parts {
		part := text[len(text)*i/parts : len(text)*(i+1)/parts]
		op := byte(opText)
		if i > 0 {
			op = 0
		}
		if i == parts-1 {
			op |= lastFrame
		}
		b = append(b, op)
		if len(part) < length16 {
			b = append(b, byte(len(part)))
		} else {
			b = append(b, length16, byte(len(part)>>8), byte(len(part)))
		}
		b = append(b, part...)
	}
	return b
}

// TestCodexSession: a thread is begun and its turn, whatever else the server tells and asks meanwhile.
func TestCodexSession(t *testing.T) {
	var asked []string
	ping := []byte{lastFrame | opPing, 2, 'h', 'i'}
	socket := appServer(t, func(method string, id any) []byte {
		asked = append(asked, method)
		result := `{"thread":{"id":"t1"},"long":"` + strings.Repeat("x", 5000) + `"}`
		b := slices.Concat(ping, frames(`{"method":"thread/started","params":{}}`, 1), frames(`{"id":1,"method":"item/requestApproval"}`, 1), frames("no JSON", 1))
		return slices.Concat(b, frames(fmt.Sprintf(`{"id":%v,"result":%s}`, id, result), 3))
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
			socket := appServer(t, func(method string, id any) []byte {
				switch {
				case method == "initialize":
					return frames(fmt.Sprintf(`{"id":%v,"result":{}}`, id), 1)
				case c.answer == "":
					return []byte{lastFrame | opClose, 0}
				}
				return frames(fmt.Sprintf(c.answer, id), 1)
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
