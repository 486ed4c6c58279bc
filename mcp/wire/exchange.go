package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// RequestSeq numbers the requests of a session from 1 on, because a client may use
// the id of an answered request again. 0 is no request.
type RequestSeq uint64

// exchange holds the requests of the client that have no answer yet. It learns of
// requests and cancellations in the order in which the client sends them, before
// the SDK does.
type exchange struct {
	feeds *Feeds

	mu      sync.Mutex
	last    RequestSeq
	open    map[jsonrpc.ID]*request
	done    jsonrpc.ID    // of the request that was answered last
	late    int           // requests in a row, done among them, that were cancelled after their answer
	taken   bool          // that of done is counted
	writing int           // answers
	moved   chan struct{} // closed when an answer has been written; nil: nobody waits
}

// request is one that has no answer yet.
type request struct {
	seq       RequestSeq
	cancelled bool
}

func newExchange(f *Feeds) *exchange {
	return &exchange{feeds: f, open: map[jsonrpc.ID]*request{}}
}

// begin notes a request; false if one with its id has no answer yet.
func (x *exchange) begin(id jsonrpc.ID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open[id] != nil {
		return false
	}
	x.last++
	x.open[id] = &request{seq: x.last}
	return true
}

// lateHabit is the number of requests in a row that a client cancels after their answers until
// that is taken for its habit. Some clients end the signal of each call when the call is over,
// and send a cancellation for it. Such a one has not crossed the answer, and takes nothing back.
const lateHabit = 3

// cancel notes that the client does not want the answer to a request, even where
// that has just been given.
func (x *exchange) cancel(id jsonrpc.ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.open[id]; r != nil {
		r.cancelled = true
		return
	}
	if id == x.done && !x.taken {
		x.late++
		x.taken = true
	}
	if x.late >= lateHabit || x.feeds.LateCancels != nil && x.feeds.LateCancels() {
		return
	}
	x.feeds.undo(id)
}

// seqOf returns the sequence number of the open request with an id; 0 if there is none.
func (x *exchange) seqOf(id jsonrpc.ID) RequestSeq {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.open[id]; r != nil {
		return r.seq
	}
	return 0
}

// answer notes that a request is about to be answered. From now on its id is free.
func (x *exchange) answer(a *jsonrpc.Response) RequestSeq {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.writing++
	r := x.open[a.ID]
	if r == nil {
		return 0
	}
	delete(x.open, a.ID)
	if !x.taken {
		x.late = 0
	}
	x.done, x.taken = a.ID, false
	if a.Error != nil || r.cancelled {
		x.feeds.drop(r.seq)
		return r.seq
	}
	x.feeds.give(r.seq, a.ID)
	return r.seq
}

// answered notes that the answer to a request has been written, or could not be.
func (x *exchange) answered(t RequestSeq, written bool) {
	x.feeds.settle(t, written)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.writing--
	if x.moved != nil {
		close(x.moved)
		x.moved = nil
	}
}

// drained waits until every request has its answer, or the time is over.
func (x *exchange) drained(most time.Duration) {
	t := time.NewTimer(most)
	defer t.Stop()
	for {
		x.mu.Lock()
		if len(x.open) == 0 && x.writing == 0 {
			x.mu.Unlock()
			return
		}
		if x.moved == nil {
			x.moved = make(chan struct{})
		}
		moved := x.moved
		x.mu.Unlock()
		select {
		case <-moved:
		case <-t.C:
			return
		}
	}
}

// Open returns the transport of one session over a client's lines, which tells f what
// becomes of the answers. Closing in ends the client's messages.
func Open(in io.Reader, out io.Writer, f *Feeds) (messages io.Closer, t *Transport) {
	w := &frameWriter{w: out}
	x := newExchange(f)
	r := filter(in, w, x, maxFrame)
	return r, &Transport{IOTransport: sdk.IOTransport{Reader: r, Writer: w, MaxLineLength: -1}, exchange: x}
}

// Transport is the SDK's over lines, with the exchange told of every answer and
// each request bearing its sequence number.
type Transport struct {
	sdk.IOTransport
	// Heard is given the notifications of the client before the SDK, and reports whether one was for it; nil: none is.
	// It must not wait.
	Heard    func(method string, params json.RawMessage) bool
	exchange *exchange
	at       atomic.Pointer[connection]
}

// Notify sends a notification that the SDK does not know.
func (t *Transport) Notify(ctx context.Context, method string, params any) error {
	c := t.at.Load()
	if c == nil {
		return errors.New("there is no client yet")
	}
	b, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.Write(ctx, &jsonrpc.Request{Method: method, Params: b})
}

// Connect implements sdk.Transport.
func (t *Transport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.IOTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	at := &connection{c, t.exchange, t.Heard}
	t.at.Store(at)
	return at, nil
}

// connection leaves out what the SDK's has for batches: none gets past the filter.
type connection struct {
	sdk.Connection
	exchange *exchange
	heard    func(method string, params json.RawMessage) bool // see Transport
}

// seqHeader is where the SDK hands the sequence number of a request on to a tool: it has no other place
// for what a transport knows of a request.
const seqHeader = "Request-Seq"

// Read implements sdk.Connection.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := c.Connection.Read(ctx)
		r, ok := msg.(*jsonrpc.Request)
		switch {
		case !ok:
		case r.IsCall():
			t := strconv.FormatUint(uint64(c.exchange.seqOf(r.ID)), 10)
			r.Extra = &sdk.RequestExtra{Header: http.Header{seqHeader: {t}}}
		case err == nil && c.heard != nil && c.heard(r.Method, r.Params):
			continue
		}
		return msg, err
	}
}

// Write implements sdk.Connection.
func (c *connection) Write(ctx context.Context, msg jsonrpc.Message) error {
	a, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	t := c.exchange.answer(a)
	err := c.Connection.Write(ctx, msg)
	c.exchange.answered(t, err == nil)
	return err
}

// RequestSeqIn returns the sequence number that a request bears; 0 if it bears none.
func RequestSeqIn(extra *sdk.RequestExtra) RequestSeq {
	if extra == nil {
		return 0
	}
	n, _ := strconv.ParseUint(extra.Header.Get(seqHeader), 10, 64)
	return RequestSeq(n)
}

// maxID is the largest whole number up to which JSON is read alike everywhere.
const maxID = 1<<53 - 1

// ownID reports whether an answer of the SDK would bear this id: a text of valid
// Unicode, or a whole number that is not too large.
func ownID(raw json.RawMessage) bool {
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		return json.Unmarshal(raw, &s) == nil && !strings.ContainsRune(s, '\ufffd')
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && n == math.Trunc(n) && math.Abs(n) <= maxID
}
