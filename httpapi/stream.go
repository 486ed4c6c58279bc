package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

func streamHandlers() handlers {
	return handlers{
		"streamEvents": streamEvents,
		"followHub":    followHub,
	}
}

const (
	streamType = "text/event-stream"
	maxKept    = 4 << 10 // bytes that an idle stream keeps for its next event
	// sseHeartbeat is the longest silence of a stream.
	sseHeartbeat = 15 * time.Second
)

// streamEvents sends rows as server-sent events until the client disconnects,
// the session ends or the hub stops. It reads the feed once before the answer
// begins, so that a refusal is an ordinary error.
func streamEvents(c *call) (reply, error) {
	q, err := c.streamQuery()
	if err != nil {
		return reply{}, err
	}
	page, sent, err := c.nextPage(q)
	defer func() { sent() }() // that of the last page
	if err != nil {
		return reply{}, err
	}
	st := newStream(c)
	if c.r.Method == http.MethodHead {
		return reply{done: true}, nil
	}
	q.Wait = c.server.config.Heartbeat
	for st.send(&page) {
		sent()
		q.Since = page.NextSinceID
		began := time.Now()
		err := c.actAs(q.Agent)
		if err == nil {
			err = c.passHolds()
		}
		if err != nil {
			st.end(c.server.asError(c.r, err))
			break
		}
		if page, sent, err = c.nextPage(q); err != nil {
			st.end(c.server.asError(c.r, err))
			break
		}
		// A stopping hub answers parked calls early.
		if len(page.Rows) == 0 && page.NextSinceID <= q.Since && time.Since(began) < q.Wait/2 {
			break
		}
	}
	return reply{done: true}, nil
}

// nextPage reads a page of a stream. A page is under way, and counts as such, until sent is
// called; it may be called twice and after an error.
func (c *call) nextPage(q hub.EventsQuery) (page hub.Page, sent context.CancelFunc, err error) {
	ctx := c.context()
	answer, sent := context.WithCancel(hub.AnswerOf(ctx))
	page, err = c.server.config.Service.Events(hub.WithAnswer(ctx, answer), q)
	return page, sent, err
}

func (c *call) streamQuery() (hub.EventsQuery, error) {
	query := c.query()
	names := query.Names("channel", hub.MaxNameChars)
	for name := range strings.SplitSeq(query.Text("channels"), ",") {
		if name != "" {
			query.Keep(hub.CheckName("channels", name, hub.MaxNameChars))
			names = append(names, name)
		}
	}
	q := hub.EventsQuery{
		Channels:    channels(sortedSet(names)),
		Since:       query.Cursor("since_id"),
		ExcludeSelf: query.Bool("exclude_self"),
		Limit:       hub.DefaultPageRows,
		Peek:        query.Bool("peek"),
		Streamed:    true,
	}
	if last := c.r.Header.Get(api.HeaderLastEventID); last != "" {
		id, ok := parseID(last)
		if !ok && last != "0" {
			query.Keep(hub.Invalid(api.HeaderLastEventID, "Last-Event-ID is not a message id"))
		}
		q.Since = id
	}
	q.Agent = c.reader(query)
	return q, query.Err()
}

// stream writes events, each write under a deadline of its own.
type stream struct {
	call       *call
	controller *http.ResponseController
	buffer     []byte
}

func newStream(c *call) *stream {
	st := &stream{call: c, controller: http.NewResponseController(c.w)}
	_ = st.controller.SetReadDeadline(time.Time{}) // the write fails if the connection is gone
	header := c.w.Header()
	header["Content-Type"] = []string{streamType}
	header["Cache-Control"] = []string{"no-store"}
	header["X-Accel-Buffering"] = []string{"no"}
	c.w.WriteHeader(http.StatusOK)
	return st
}

// send writes the rows of a page. A page without rows is a heartbeat, which
// moves the client's Last-Event-ID to the last examined message. It returns
// false when the stream is over. The turn in which the page was read ends with it.
func (st *stream) send(page *hub.Page) bool {
	defer st.call.giveTurn()
	defer st.call.giveTurnLater()()
	b := st.buffer[:0]
	for _, row := range page.Rows {
		b = append(b, "id: "...)
		b = append(b, rowID(row)...)
		b = append(b, "\ndata: "...)
		b = append(b, row...)
		b = append(b, "\n\n"...)
	}
	if len(page.Rows) == 0 {
		b = append(b, ": heartbeat\nid: "...)
		b = strconv.AppendInt(b, int64(page.NextSinceID), 10)
		b = append(b, "\n\n"...)
	}
	return st.sent(b)
}

// sent writes what was made in the buffer. It returns false when the stream is over.
func (st *stream) sent(b []byte) bool {
	if !st.write(b) {
		return false
	}
	if st.buffer = b; cap(b) > maxKept { // streams are idle most of the time
		st.buffer = nil
	}
	select {
	case <-st.call.server.stopping:
		return false
	default:
		return true
	}
}

// end tells the client why the stream ends.
func (st *stream) end(e *hub.Error) {
	data, err := json.Marshal(api.FailureOf(e))
	if err != nil {
		return
	}
	st.write(append(append([]byte("event: error\ndata: "), data...), "\n\n"...))
}

func (st *stream) write(b []byte) bool {
	_ = st.controller.SetWriteDeadline(time.Now().Add(st.call.server.config.WriteTimeout))
	if _, err := st.call.w.Write(b); err != nil {
		return false
	}
	return st.controller.Flush() == nil
}

// rowID returns the digits of the id with which every encoded row begins.
func rowID(row hub.EncodedMessage) []byte {
	const prefix = `{"id":`
	if len(row) < len(prefix) || string(row[:len(prefix)]) != prefix {
		panic("httpapi: an encoded message does not begin with its id")
	}
	digits := row[len(prefix):]
	for i, b := range digits {
		if b < '0' || b > '9' {
			return digits[:i]
		}
	}
	return digits
}
