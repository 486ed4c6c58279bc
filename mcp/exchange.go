package mcp

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// ticket numbers the requests of a session: an id may come again. 0 is none.
type ticket uint64

// exchange holds the requests of the client that have no answer yet. It learns of
// requests and cancellations in the order in which the client sends them, before
// the SDK does.
type exchange struct {
	feeds *feeds

	mu      sync.Mutex
	last    ticket
	open    map[jsonrpc.ID]*request
	writing int           // answers
	moved   chan struct{} // closed when an answer has been written; nil: nobody waits
}

// request is one that has no answer yet.
type request struct {
	ticket    ticket
	cancelled bool
}

func newExchange(f *feeds) *exchange {
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
	x.open[id] = &request{ticket: x.last}
	return true
}

// cancel notes that the client does not want the answer to a request, even where
// that has just been given.
func (x *exchange) cancel(id jsonrpc.ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.open[id]; r != nil {
		r.cancelled = true
		return
	}
	x.feeds.undo(id)
}

// ticketOf returns the ticket of the request with an id.
func (x *exchange) ticketOf(id jsonrpc.ID) ticket {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.open[id]; r != nil {
		return r.ticket
	}
	return 0
}

// answer notes that a request is about to be answered. From now on its id is free.
func (x *exchange) answer(a *jsonrpc.Response) ticket {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.writing++
	r := x.open[a.ID]
	if r == nil {
		return 0
	}
	delete(x.open, a.ID)
	if a.Error != nil || r.cancelled {
		x.feeds.drop(r.ticket)
		return r.ticket
	}
	x.feeds.give(r.ticket, a.ID)
	return r.ticket
}

// answered notes that the answer to a request has been written, or could not be.
func (x *exchange) answered(t ticket, written bool) {
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

// transport is the SDK's over lines, with the exchange told of every answer and
// each request bearing its ticket.
type transport struct {
	sdk.IOTransport
	exchange *exchange
}

// Connect implements sdk.Transport.
func (t *transport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.IOTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{c, t.exchange}, nil
}

// connection leaves out what the SDK's has for batches: none gets past the filter.
type connection struct {
	sdk.Connection
	exchange *exchange
}

// ticketHeader is where the SDK hands a ticket on to a tool: it has no other place
// for what a transport knows of a request.
const ticketHeader = "Ticket"

// Read implements sdk.Connection.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
		t := strconv.FormatUint(uint64(c.exchange.ticketOf(r.ID)), 10)
		r.Extra = &sdk.RequestExtra{Header: http.Header{ticketHeader: {t}}}
	}
	return msg, err
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

// ticketIn returns the ticket that a request bears.
func ticketIn(extra *sdk.RequestExtra) ticket {
	if extra == nil {
		return 0
	}
	n, _ := strconv.ParseUint(extra.Header.Get(ticketHeader), 10, 64)
	return ticket(n)
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
