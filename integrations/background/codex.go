package background

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// CodexArgs are the arguments of an app server behind a Unix socket, with variables for the
// bridge.
func CodexArgs(socket string, bridge [][2]string) []string {
	return append([]string{"app-server", "--listen", "unix://" + socket}, CodexBridge(bridge)...)
}

// CodexBridge are the arguments that hand variables to the bridge: Codex hands its own environment to no
// MCP server. With them Codex runs the session of a terminal in its own process, and not in the daemon that
// sessions share and that has one environment.
func CodexBridge(bridge [][2]string) (args []string) {
	for _, v := range bridge {
		value, err := json.Marshal(v[1]) // which is a string of TOML as well
		if err != nil {
			panic(err) // it is a string
		}
		args = append(args, "-c", "mcp_servers.hub.env."+v[0]+"="+string(value))
	}
	return args
}

// CodexAttach are the arguments with which a terminal shows a session.
func CodexAttach(socket, session string) []string {
	return []string{"resume", "--remote", "unix://" + socket, session}
}

// Codex is a client of an app server. While it is connected, the server keeps its sessions. It
// answers no question of the server: those are for a terminal that attaches, and for hooks.
type Codex struct {
	socket *websocket.Conn
	done   chan struct{} // closed when the connection has ended

	mu      sync.Mutex
	last    int
	waiting map[int]chan<- codexAnswer
}

type codexAnswer struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// errConnection says that the app server has gone.
var errConnection = errors.New("codex has ended the connection")

// maxMessage bounds a message, in bytes: those of Codex repeat what tools have answered.
const maxMessage = 64 << 20

// dialSocket opens a WebSocket (RFC 6455) behind a Unix socket.
func dialSocket(ctx context.Context, path string) (*websocket.Conn, error) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}}
	conn, _, err := websocket.Dial(ctx, "ws://localhost/", &websocket.DialOptions{HTTPClient: client}) //nolint:bodyclose // the library has the body
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxMessage)
	return conn, nil
}

// DialCodex connects with an app server as soon as it listens.
func DialCodex(ctx context.Context, socket, version string) (*Codex, error) {
	const look = 50 * time.Millisecond
	w, err := dialSocket(ctx, socket)
	for err != nil && pause.For(ctx, look) {
		w, err = dialSocket(ctx, socket)
	}
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err) // why nobody listens any more says more than the failed try
	}
	c := &Codex{socket: w, done: make(chan struct{}), waiting: map[int]chan<- codexAnswer{}}
	go c.listen()
	type client struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	}
	err = c.call(ctx, "initialize", map[string]any{
		"clientInfo": client{"hubcli", "hubcli", version}, "capabilities": map[string]bool{"experimentalApi": true},
	}, nil)
	if err == nil {
		err = w.Write(ctx, websocket.MessageText, []byte(`{"method":"initialized"}`))
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Begin begins a session in a folder, or goes on with one that is known.
func (c *Codex) Begin(ctx context.Context, folder, known string) (session string, err error) {
	method, in := "thread/start", map[string]any{"cwd": folder}
	if known != "" {
		method, in = "thread/resume", map[string]any{"cwd": folder, "threadId": known}
	}
	var got struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	if err := c.call(ctx, method, in, &got); err != nil {
		return "", err
	}
	if got.Thread.ID == "" {
		return "", errors.New("codex has named no session")
	}
	return got.Thread.ID, nil
}

// Prompt begins a turn with a text, and does not wait for its end.
func (c *Codex) Prompt(ctx context.Context, session, text string) error {
	type input struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	return c.call(ctx, "turn/start", map[string]any{"threadId": session, "input": []input{{"text", text}}}, nil)
}

// Close ends the connection.
func (c *Codex) Close() {
	_ = c.socket.CloseNow()
	<-c.done
}

// listen hands the answers to those who wait for them. What the server tells besides is dropped.
func (c *Codex) listen() {
	defer close(c.done)
	for {
		_, text, err := c.socket.Read(context.Background()) // Close ends it
		if err != nil {
			_ = c.socket.CloseNow()
			return
		}
		var a codexAnswer
		if json.Unmarshal(text, &a) != nil || a.ID == nil || a.Method != "" {
			continue
		}
		c.mu.Lock()
		if to := c.waiting[*a.ID]; to != nil {
			delete(c.waiting, *a.ID)
			to <- a // it has room for one
		}
		c.mu.Unlock()
	}
}

func (c *Codex) call(ctx context.Context, method string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	got := make(chan codexAnswer, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = got
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, id)
	}()
	text, err := json.Marshal(map[string]any{"id": id, "method": method, "params": in})
	if err != nil {
		return err
	}
	if err := c.socket.Write(ctx, websocket.MessageText, text); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("codex has not answered %s: %w", method, context.Cause(ctx))
	case <-c.done:
		return errConnection
	case a := <-got:
		switch {
		case a.Error != nil:
			return fmt.Errorf("codex refuses %s: %s", method, peertext.Excerpt(a.Error.Message, said))
		case out == nil:
			return nil
		}
		return json.Unmarshal(a.Result, out)
	}
}
