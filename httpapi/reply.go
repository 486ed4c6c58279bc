package httpapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/answers"
)

// reply is the success of a handler. Exactly one of result, row and page counts.
type reply struct {
	status   int // 0: 200
	result   any
	row      hub.EncodedMessage
	page     *hub.Page
	acquired *bool
	circle   []hub.AgentID // of agents that would wait for each other
	next     hub.Cursor    // of a list that goes on
	behind   *int64        // of a search
	// recipient is set after a post to an agent that cannot be reached now.
	recipient *hub.Recipient
	muted     *hub.Mute // of the sender of a post
	replayed  bool
	done      bool // the handler has written the answer itself
}

var (
	yes, no = true, false

	jsonType     = []string{api.ContentType}
	replayedTrue = []string{"true"}
)

func granted(acquired bool) *bool {
	if acquired {
		return &yes
	}
	return &no
}

// list returns an empty list for nil, so that JSON shows [] and not null.
func list[T any](rows []T) []T {
	if rows == nil {
		return []T{}
	}
	return rows
}

// listed returns the reply with a page of a list.
func listed[T any](rows []T, next hub.Cursor, err error) (reply, error) {
	return reply{result: list(rows), next: next}, err
}

// oneRow returns the reply with one row.
func oneRow[T any](row T, err error) (reply, error) { return plain(row), err }

// plain returns the reply with one row that no idempotency key guards.
func plain[T any](row T) reply { return reply{result: row} }

// changed returns the reply to a write that makes no row: 200.
func changed[T any](out hub.Outcome[T]) reply {
	return reply{result: out.Row, replayed: out.Replayed}
}

// added returns the reply to a write that always makes a row: 201.
func added[T any](out hub.Outcome[T]) reply {
	return reply{status: http.StatusCreated, result: out.Row, replayed: out.Replayed}
}

// created returns the reply to a write that may find its row: 201 if it made
// the row, else 200.
func created[T any](out hub.Outcome[T]) reply {
	if out.Created {
		return added(out)
	}
	return changed(out)
}

// write sends a success.
func (s *Server) write(c *call, rep *reply) error {
	buffer := buffers.Get().(*[]byte)
	defer putBuffer(buffer)
	header := c.w.Header()
	if rep.replayed {
		header[api.HeaderReplayed] = replayedTrue
	}
	if rep.page != nil {
		*buffer = sendPage(c.w, header, rep.page, (*buffer)[:0])
		rep.status = http.StatusOK
		return nil
	}
	b := append((*buffer)[:0], `{"ok":true,"result":`...)
	var long hub.EncodedMessage // a row that is not copied, but goes behind the first bytes of b
	behind := len(b)
	if len(rep.row) > part {
		long = rep.row
	} else if rep.row != nil {
		b = append(b, rep.row...)
	} else if a, ok := rep.result.(hub.JSONAppender); ok {
		b = a.AppendJSON(b)
	} else {
		encoded, err := json.Marshal(rep.result)
		if err != nil {
			return err
		}
		b, rep.result = append(b, encoded...), nil // the rows need not stay while a client reads
	}
	b, err := rep.appendRest(b)
	if err != nil {
		return err
	}
	*buffer = b
	if rep.status == 0 {
		rep.status = http.StatusOK
	}
	if len(b)+len(long) > part {
		if err := s.shareAnswers(c, len(b), len(long)); err != nil {
			return err
		}
	}
	if long == nil {
		send(c.w, header, rep.status, b)
		return nil
	}
	begin(c.w, header, rep.status, len(b)+len(long))
	for _, piece := range [][]byte{b[:behind], long, b[behind:]} {
		if _, err := c.w.Write(piece); err != nil {
			return nil // the client is gone
		}
	}
	return nil
}

// appendRest appends the members behind the result, and the end.
func (rep *reply) appendRest(b []byte) ([]byte, error) {
	if rep.acquired != nil {
		b = append(b, `,"acquired":`...)
		b = strconv.AppendBool(b, *rep.acquired)
	}
	if rep.circle != nil {
		encoded, err := json.Marshal(rep.circle)
		if err != nil {
			return nil, err
		}
		b = append(b, `,"circle":`...)
		b = append(b, encoded...)
	}
	if rep.next != "" {
		b = append(b, `,"next_cursor":"`...)
		b = append(b, rep.next...) // letters, digits, - and _
		b = append(b, '"')
	}
	if rep.behind != nil {
		b = append(b, `,"behind":`...)
		b = strconv.AppendInt(b, *rep.behind, 10)
	}
	if rep.muted != nil {
		encoded, err := json.Marshal(rep.muted)
		if err != nil {
			return nil, err
		}
		b = append(b, `,"muted":`...)
		b = append(b, encoded...)
	}
	if rep.recipient != nil {
		encoded, err := json.Marshal(rep.recipient)
		if err != nil {
			return nil, err
		}
		b = append(b, `,"recipient":`...)
		b = append(b, encoded...)
	}
	return append(b, '}'), nil
}

// maxAnswers bounds the encoded lists and rows that are under way, those of more than part
// bytes, in bytes.
const maxAnswers = 64 << 20

// shareAnswers counts a long answer until it is written: encoded is new memory, and row is
// that of a message. A read for which there is no room is refused; its message counts in the
// hub. A call that has changed something is answered in any case; see hasRoom. So is the
// operator. Error: overloaded.
func (s *Server) shareAnswers(c *call, encoded, row int) error {
	bytes, agent := int64(encoded), answers.Of(&c.caller)
	if c.route.Changes() || c.caller.Operator {
		bytes += int64(row)
		s.answers.Add(agent, bytes)
	} else if !s.answers.Take(agent, bytes, maxAnswers) {
		return answers.Full(maxAnswers)
	}
	c.answerBytes = bytes
	return nil
}

// hasRoom refuses a message whose row will be a long answer, before anything is changed, if
// its agent has as many long answers under way as it may have. Error: overloaded.
func (c *call) hasRoom() error {
	if c.bodyBytes <= part || c.route.Body.Bound != api.BoundMessage || c.caller.Operator {
		return nil
	}
	c.caller.Acts = c.agent
	if c.server.answers.Left(answers.Of(&c.caller), maxAnswers) < 0 {
		return answers.Full(maxAnswers)
	}
	return nil
}

// endAnswer gives back the memory of the answer.
func (c *call) endAnswer() {
	if c.answerBytes > 0 {
		c.server.answers.Add(answers.Of(&c.caller), -c.answerBytes)
		c.answerBytes = 0
	}
	if c.answered != nil {
		c.answered()
	}
}

// part is how much of an answer is written at a time, in bytes. A longer answer may not fit
// into the buffers of its connection.
const part = 64 << 10

// boundWrite gives an answer its time from now on. The deadline of net/http counts from the
// request: a call that waited or took longer would lose its answer.
func (s *Server) boundWrite(w http.ResponseWriter) {
	// An error means that the connection is gone or belongs to a test; the write will show it.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.config.WriteTimeout))
}

// sendPage sends rows in their stored encoding: a short page in one write, a
// long one in parts, so that memory does not hold its rows twice. It returns b,
// which may have grown, for reuse.
func sendPage(w http.ResponseWriter, header http.Header, page *hub.Page, b []byte) []byte {
	const (
		first = `{"ok":true,"result":[`
		next  = `],"next_since_id":`
	)
	size := 0
	for _, row := range page.Rows {
		size += len(row) + 1
	}
	b = append(b, first...)
	long := size > part
	if long {
		var digits [20]byte
		size += len(first) - 1 + len(next) + len(strconv.AppendInt(digits[:0], int64(page.NextSinceID), 10)) + 1
		begin(w, header, http.StatusOK, size)
	}
	for i, row := range page.Rows {
		if i > 0 {
			b = append(b, ',')
		}
		if long && len(b)+len(row) > part {
			if _, err := w.Write(b); err != nil {
				return b // the client is gone
			}
			b = b[:0]
		}
		if len(row) > part {
			if _, err := w.Write(row); err != nil {
				return b
			}
			continue
		}
		b = append(b, row...)
	}
	b = append(b, next...)
	b = strconv.AppendInt(b, int64(page.NextSinceID), 10)
	if page.Circle != nil && !long { // a call that did not wait has no rows
		b = append(b, `,"circle":[`...)
		for i, agent := range page.Circle {
			if i > 0 {
				b = append(b, ',')
			}
			b = hub.AppendJSONString(b, string(agent))
		}
		b = append(b, ']')
	}
	b = append(b, '}')
	if !long {
		send(w, header, http.StatusOK, b)
		return b
	}
	_, _ = w.Write(b)
	return b
}

// begin writes the header of a JSON answer of a length in bytes.
func begin(w http.ResponseWriter, header http.Header, status, length int) {
	header["Content-Type"] = jsonType
	header["Content-Length"] = []string{strconv.Itoa(length)}
	w.WriteHeader(status)
}

// send writes one JSON answer. net/http finds the length of a short one itself.
func send(w http.ResponseWriter, header http.Header, status int, b []byte) {
	const short = 2000 // bytes; net/http buffers 2048
	header["Content-Type"] = jsonType
	if len(b) > short {
		header["Content-Length"] = []string{strconv.Itoa(len(b))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that is gone needs no answer
}

// asError returns the error to send to the client for err.
func (s *Server) asError(r *http.Request, err error) *hub.Error {
	var e *hub.Error
	if errors.As(err, &e) {
		wire := *e // may be shared
		if wire.Code == "" {
			wire.Code = hub.CodeInternal
		}
		if wire.Status == 0 {
			wire.Status = cmp.Or(hub.InfoOf(wire.Code).Status, http.StatusInternalServerError)
		}
		return &wire
	}
	if r.Context().Err() != nil {
		return hub.NewError(hub.CodeTimedOut, "the caller went away").WithRetryAfter(1)
	}
	s.config.Logger.Error("call failed", "method", r.Method, "error", err)
	return internalError()
}

func internalError() *hub.Error {
	return hub.NewError(hub.CodeInternal, "the hub made a mistake; its log says more")
}

// fail sends an error envelope.
func (s *Server) fail(w http.ResponseWriter, e *hub.Error) {
	wire := *e // may be shared
	wire.Fix = cmp.Or(wire.FixFor(hub.ForHTTP), hub.GeneralFix)
	e = &wire
	b, err := json.Marshal(api.FailureOf(e))
	if err != nil { // the detail cannot be encoded as JSON
		s.config.Logger.Error("an error's detail is no JSON", "code", e.Code, "error", err)
		b, _ = json.Marshal(api.FailureOf(&hub.Error{Message: e.Message, Code: e.Code, Status: e.Status, Fix: e.Fix}))
	}
	header := w.Header()
	if e.RetryAfter > 0 {
		header["Retry-After"] = []string{strconv.Itoa(e.RetryAfter)}
	}
	send(w, header, e.Status, b)
}
