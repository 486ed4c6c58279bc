package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// Bounds of what a harness may send, and how long it may leave what it is sent unread.
const (
	MaxLine    = 16 << 20 // bytes of one message
	maxStray   = 1_000    // lines that are no messages
	maxAsked   = 16       // questions that are open at once
	maxID      = 200      // bytes of the id of a request
	writeLimit = 20 * time.Second
)

// Codes of JSON-RPC.
const (
	codeBadParams = -32602
	codeNoMethod  = -32601
	codeBusy      = -32001
)

// Handler takes what the harness tells and asks.
type Handler struct {
	// Update is called with each update, one after the other.
	Update func(Update)
	// Ask returns the id of the chosen option, or false if nobody has chosen. Its context
	// ends with the connection. Several calls may run at once.
	Ask func(context.Context, Question) (option string, chosen bool)
	// Stray is called with the beginning of a line that is no message.
	Stray func(line string)
}

// Conn is a connection to a harness. Its methods may be called from any goroutine.
type Conn struct {
	in      *bufio.Reader
	out     io.WriteCloser
	handler Handler

	writing sync.Mutex
	asked   chan struct{} // a place for each open question
	work    sync.WaitGroup

	mu    sync.Mutex
	last  int64
	calls map[int64]chan answer
	ended chan struct{} // closed when nothing more is read
	err   error         // why

	ctx    context.Context
	cancel context.CancelFunc
}

type answer struct {
	result json.RawMessage
	err    error
}

// message is any message of the harness.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data"`
	} `json:"error"`
}

// Open begins to read what the harness writes. Close ends the connection.
func Open(in io.Reader, out io.WriteCloser, h Handler) *Conn {
	c := &Conn{
		in: bufio.NewReaderSize(in, 64<<10), out: out, handler: h,
		asked: make(chan struct{}, maxAsked), calls: map[int64]chan answer{}, ended: make(chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	go c.read()
	return c
}

// Ended is closed when the connection has ended; Err says why.
func (c *Conn) Ended() <-chan struct{} { return c.ended }

// ErrEnded says that the harness has closed its side.
var ErrEnded = errors.New("the program has ended the connection")

// Err returns why the connection has ended.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends what the harness reads, by which it learns that it is to end. The connection
// ends when the harness closes its side.
func (c *Conn) Close() error { return c.out.Close() }

// end notes why the connection has ended; the first reason counts.
func (c *Conn) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = why
	for id, ch := range c.calls {
		ch <- answer{err: why}
		delete(c.calls, id)
	}
	c.cancel()
	close(c.ended)
}

// read takes messages until the connection ends.
func (c *Conn) read() {
	stray := 0
	for {
		line, err := c.line()
		if err != nil {
			c.end(err)
			return
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var m message
		if line[0] == '{' && json.Unmarshal(line, &m) == nil && c.take(&m) {
			continue
		}
		if stray++; stray > maxStray {
			c.end(fmt.Errorf("the program has written more than %d lines that are no messages of the protocol", maxStray))
			return
		}
		if c.handler.Stray != nil {
			c.handler.Stray(string(line[:min(len(line), 500)]))
		}
	}
}

// line reads one line of at most MaxLine bytes.
func (c *Conn) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := c.in.ReadSlice('\n')
		switch {
		case err == nil && whole == nil:
			return part, nil
		case len(whole)+len(part) > MaxLine:
			return nil, fmt.Errorf("the program has written a line of more than %d bytes", MaxLine)
		case err == nil:
			return append(whole, part...), nil
		case errors.Is(err, bufio.ErrBufferFull):
			whole = append(whole, part...)
		case errors.Is(err, io.EOF):
			return nil, ErrEnded
		default:
			return nil, fmt.Errorf("%w: %w", ErrEnded, err)
		}
	}
}

// take handles a message and reports whether it is one.
func (c *Conn) take(m *message) bool {
	id := m.ID
	if bytes.Equal(id, []byte("null")) {
		id = nil
	}
	switch {
	case m.Method == "" && len(id) == 0:
		return false
	case m.Method == "":
		return c.answered(id, m)
	case len(id) == 0:
		return c.told(m)
	case len(id) > maxID || id[0] == '{' || id[0] == '[':
		return false
	}
	c.request(id, m)
	return true
}

// answered hands an answer to the call that waits for it.
func (c *Conn) answered(id json.RawMessage, m *message) bool {
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ch, waits := c.calls[n]
	if !waits {
		return false
	}
	delete(c.calls, n)
	if m.Error == nil {
		ch <- answer{result: m.Result}
		return true
	}
	said := m.Error.Message
	if more := reason(m.Error.Data); more != "" {
		said += ": " + more
	}
	ch <- answer{err: &Error{Code: m.Error.Code, Message: said}}
	return true
}

// reason returns what an error's data say in words.
func reason(data any) string {
	if fields, ok := data.(map[string]any); ok {
		for _, name := range []string{"details", "message", "error"} {
			if text, ok := fields[name].(string); ok {
				return text
			}
		}
	}
	text, _ := data.(string)
	return text
}

// told takes a notification. Those of other methods need no answer.
func (c *Conn) told(m *message) bool {
	if m.Method != "session/update" {
		return true
	}
	u, err := update(m.Params)
	if err != nil {
		return false
	}
	if c.handler.Update != nil {
		c.handler.Update(u)
	}
	return true
}

// request answers a request of the harness.
func (c *Conn) request(id json.RawMessage, m *message) {
	if m.Method != "session/request_permission" {
		c.refuse(id, codeNoMethod, "this client has no method "+strconv.Quote(m.Method[:min(len(m.Method), 100)]))
		return
	}
	q, err := question(m.Params)
	if err != nil {
		c.refuse(id, codeBadParams, "the parameters are not those of session/request_permission")
		return
	}
	select {
	case c.asked <- struct{}{}:
	default:
		c.refuse(id, codeBusy, "too many questions are open")
		return
	}
	c.work.Go(func() {
		defer func() { <-c.asked }()
		outcome := map[string]any{"outcome": "cancelled"}
		if c.handler.Ask != nil {
			if option, chosen := c.handler.Ask(c.ctx, q); chosen {
				outcome = map[string]any{"outcome": "selected", "optionId": option}
			}
		}
		_ = c.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": map[string]any{"outcome": outcome}})
	})
}

func (c *Conn) refuse(id json.RawMessage, code int, why string) {
	_ = c.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}})
}

// send writes one message. A harness that does not read ends the connection.
func (c *Conn) send(m any) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if d, ok := c.out.(interface{ SetWriteDeadline(t time.Time) error }); ok {
		_ = d.SetWriteDeadline(time.Now().Add(writeLimit))
	}
	if _, err := c.out.Write(append(line, '\n')); err != nil {
		err = fmt.Errorf("the program does not read what it is sent: %w", err)
		c.end(err)
		return err
	}
	return nil
}

// call makes a request and waits for its answer.
func (c *Conn) call(ctx context.Context, method string, params, result any) error {
	ch := make(chan answer, 1)
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.err
	}
	c.last++
	id := c.last
	c.calls[id] = ch
	c.mu.Unlock()
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return err
	}
	select {
	case a := <-ch:
		if a.err != nil {
			return a.err
		}
		if err := json.Unmarshal(a.result, result); err != nil {
			return fmt.Errorf("the answer to %s is not as the protocol says: %w", method, err)
		}
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, id)
		return fmt.Errorf("the program has not answered %s: %w", method, context.Cause(ctx))
	}
}
