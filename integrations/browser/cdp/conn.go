package cdp

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
)

const (
	// MaxMessage bounds a message of the engine. The accessibility tree of a page with
	// 20,000 elements takes about 12 MiB.
	MaxMessage = 32 << 20
	// maxQueued bounds the calls that the engine has not read yet.
	maxQueued = 256
	// readAtOnce is the size of the buffer of the reader.
	readAtOnce = 64 << 10
)

// Errors of calls.
var (
	ErrClosed = errors.New("cdp: the engine has closed the connection")
	ErrTooBig = errors.New("cdp: the answer of the engine is too long")
)

// Failure is an error that the engine answers.
type Failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Method  string `json:"-"`
}

// Error implements error.
func (f *Failure) Error() string {
	return fmt.Sprintf("cdp: %s: %s (%d)", f.Method, f.Message, f.Code)
}

// Event is what the engine tells unasked.
type Event struct {
	Session string // empty: of the engine itself
	Method  string
	Params  json.RawMessage
}

// Decode reads the parameters of an event. What is not as expected stays empty: the
// caller treats it as it treats any other text of a page.
func (e *Event) Decode(to any) { _ = json.Unmarshal(e.Params, to) }

// answer is what a call gets.
type answer struct {
	result json.RawMessage
	err    error
}

// Conn is a connection to an engine.
type Conn struct {
	in     io.ReadCloser
	out    io.WriteCloser
	events func(Event)
	queue  chan []byte
	closed chan struct{} // when nothing more is read

	mu    sync.Mutex
	next  int64
	calls map[int64]chan<- answer // nil: the connection is closed
}

// New speaks over two pipes. The function gets each event in order, on the goroutine that
// reads: it must not wait, and uses Send for what it wants of the engine.
func New(in io.ReadCloser, out io.WriteCloser, events func(Event)) *Conn {
	c := &Conn{
		in: in, out: out, events: events,
		queue: make(chan []byte, maxQueued), closed: make(chan struct{}), calls: map[int64]chan<- answer{},
	}
	go c.read()
	go c.write()
	return c
}

// Close ends the connection. The engine ends with it.
func (c *Conn) Close() {
	_ = c.in.Close()
	_ = c.out.Close()
}

// Closed is closed when the engine has closed the connection.
func (c *Conn) Closed() <-chan struct{} { return c.closed }

// request is a message to the engine.
type request struct {
	ID      int64  `json:"id"`
	Session string `json:"sessionId,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// Call asks the engine and waits for its answer. The result may be nil.
func (c *Conn) Call(ctx context.Context, session, method string, params, result any) error {
	got := make(chan answer, 1)
	id, err := c.ask(ctx, session, method, params, got)
	if err != nil {
		return err
	}
	select {
	case a := <-got:
		return a.read(method, result)
	case <-ctx.Done():
		c.forget(id)
		return fmt.Errorf("cdp: %s: %w", method, context.Cause(ctx))
	case <-c.closed:
		return ErrClosed
	}
}

// Send asks the engine and does not wait. A connection whose engine reads nothing is
// closed.
func (c *Conn) Send(session, method string, params any) {
	_, text, err := c.request(session, method, params, nil)
	if err == nil {
		select {
		case c.queue <- text:
			return
		default:
		}
	}
	c.Close()
}

// request numbers a request and notes where its answer goes.
func (c *Conn) request(session, method string, params any, got chan<- answer) (id int64, text []byte, err error) {
	c.mu.Lock()
	if c.calls == nil {
		c.mu.Unlock()
		return 0, nil, ErrClosed
	}
	c.next++
	id = c.next
	if got != nil {
		c.calls[id] = got
	}
	c.mu.Unlock()
	text, err = json.Marshal(request{ID: id, Session: session, Method: method, Params: params})
	if err != nil {
		c.forget(id)
		return 0, nil, fmt.Errorf("cdp: %s: %w", method, err)
	}
	return id, append(text, 0), nil
}

// ask puts a request into the queue and waits for a place.
func (c *Conn) ask(ctx context.Context, session, method string, params any, got chan<- answer) (int64, error) {
	id, text, err := c.request(session, method, params, got)
	if err != nil {
		return 0, err
	}
	select {
	case c.queue <- text:
		return id, nil
	case <-ctx.Done():
		c.forget(id)
		return 0, fmt.Errorf("cdp: %s: %w", method, context.Cause(ctx))
	case <-c.closed:
		return 0, ErrClosed
	}
}

func (c *Conn) forget(id int64) {
	c.mu.Lock()
	delete(c.calls, id)
	c.mu.Unlock()
}

func (a *answer) read(method string, result any) error {
	var failed *Failure
	if errors.As(a.err, &failed) {
		failed.Method = method
	}
	if a.err != nil || result == nil {
		return a.err
	}
	if err := json.Unmarshal(a.result, result); err != nil {
		return fmt.Errorf("cdp: %s: %w", method, err)
	}
	return nil
}

func (c *Conn) write() {
	for {
		select {
		case text := <-c.queue:
			if _, err := c.out.Write(text); err != nil {
				c.Close()
				return
			}
		case <-c.closed:
			return
		}
	}
}

// message is what the engine sends: an answer with an id, or an event.
type message struct {
	ID      int64           `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *Failure        `json:"error"`
}

func (c *Conn) read() {
	defer c.finish()
	r := bufio.NewReaderSize(c.in, readAtOnce)
	for {
		text, err := next(r)
		switch {
		case errors.Is(err, ErrTooBig):
			c.answered(idOf(text), answer{err: ErrTooBig})
		case err != nil:
			return
		default:
			c.handle(text)
		}
	}
}

// next reads a message up to its zero byte. Of one that is too long it returns the
// beginning and ErrTooBig.
func next(r *bufio.Reader) ([]byte, error) {
	var text []byte
	tooBig := false
	for {
		part, err := r.ReadSlice(0)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if tooBig = tooBig || len(text)+len(part) > MaxMessage; !tooBig {
			text = append(text, part...)
		}
		switch {
		case err != nil: // the message goes on
		case tooBig:
			return text, ErrTooBig
		default:
			return text[:len(text)-1], nil
		}
	}
}

// idOf reads the id at the beginning of an answer; 0: there is none.
func idOf(text []byte) int64 {
	const begin = `{"id":`
	if !bytes.HasPrefix(text, []byte(begin)) {
		return 0
	}
	text = text[len(begin):min(len(text), 40)]
	if end := bytes.IndexAny(text, ",}"); end >= 0 {
		id, _ := strconv.ParseInt(string(text[:end]), 10, 64) // 0 is nobody's
		return id
	}
	return 0
}

func (c *Conn) handle(text []byte) {
	var m message
	if json.Unmarshal(text, &m) != nil {
		return
	}
	switch {
	case m.ID != 0 && m.Error != nil:
		c.answered(m.ID, answer{err: m.Error})
	case m.ID != 0:
		c.answered(m.ID, answer{result: m.Result})
	case m.Method != "" && c.events != nil:
		c.events(Event{Session: m.Session, Method: m.Method, Params: m.Params})
	}
}

func (c *Conn) answered(id int64, a answer) {
	c.mu.Lock()
	got := c.calls[id]
	delete(c.calls, id)
	c.mu.Unlock()
	if got != nil {
		got <- a
	}
}

// finish ends all calls.
func (c *Conn) finish() {
	c.mu.Lock()
	c.calls = nil
	c.mu.Unlock()
	close(c.closed)
	c.Close()
}
