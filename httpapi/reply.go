package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"hubcli/api"
	"hubcli/hub"
)

// reply is the success of a handler. Exactly one of result, row and page counts.
type reply struct {
	status   int // 0: 200
	result   any
	row      hub.EncodedMessage
	page     *hub.Page
	acquired *bool
	replayed bool
	done     bool // the handler has written the answer itself
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

// list keeps an empty listing from being null.
func list[T any](rows []T) []T {
	if rows == nil {
		return []T{}
	}
	return rows
}

// created is the reply to a write that is 201 if it made the row.
func created[T any](out hub.Outcome[T], made bool) reply {
	rep := reply{result: out.Row, replayed: out.Replayed}
	if made {
		rep.status = http.StatusCreated
	}
	return rep
}

// write sends a success. Rows of a feed are copied as they were encoded once.
func (s *Server) write(c *call, rep *reply) error {
	buffer := buffers.Get().(*[]byte)
	defer putBuffer(buffer)
	b := append((*buffer)[:0], `{"ok":true,"result":`...)
	switch {
	case rep.page != nil:
		b = append(b, '[')
		for i, row := range rep.page.Rows {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, row...)
		}
		b = append(b, `],"next_since_id":`...)
		b = strconv.AppendInt(b, int64(rep.page.NextSinceID), 10)
	case rep.row != nil:
		b = append(b, rep.row...)
	default:
		encoded, err := json.Marshal(rep.result)
		if err != nil {
			return err
		}
		b = append(b, encoded...)
	}
	if rep.acquired != nil {
		b = append(b, `,"acquired":`...)
		b = strconv.AppendBool(b, *rep.acquired)
	}
	b = append(b, '}')
	*buffer = b
	header := c.w.Header()
	if rep.replayed {
		header[api.HeaderReplayed] = replayedTrue
	}
	if rep.status == 0 {
		rep.status = http.StatusOK
	}
	send(c.w, header, rep.status, b)
	return nil
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

// asError returns what to tell the client of err.
func (s *Server) asError(r *http.Request, err error) *hub.Error {
	var e *hub.Error
	if errors.As(err, &e) {
		if e.Status == 0 || e.Code == "" {
			wire := *e // may be shared
			if wire.Code == "" {
				wire.Code = hub.CodeInternal
			}
			if wire.Status = hub.NewError(wire.Code, "").Status; wire.Status == 0 {
				wire.Status = http.StatusInternalServerError
			}
			return &wire
		}
		return e
	}
	if r.Context().Err() != nil {
		return hub.NewError(hub.CodeTimedOut, "the caller went away").WithRetryAfter(1)
	}
	s.config.Logger.Error("call failed", "method", r.Method, "error", err)
	return internalError()
}

func internalError() *hub.Error {
	return hub.NewError(hub.CodeInternal, "the hub made a mistake; its log says more").
		WithFix("report it, with the lines of the hub's log")
}

// fail sends an error envelope.
func (s *Server) fail(w http.ResponseWriter, e *hub.Error) {
	b, err := json.Marshal(api.FailureOf(e))
	if err != nil { // a detail that JSON cannot show
		s.config.Logger.Error("an error's detail is no JSON", "code", e.Code, "error", err)
		b, _ = json.Marshal(api.FailureOf(&hub.Error{Message: e.Message, Code: e.Code, Status: e.Status, Fix: e.Fix}))
	}
	header := w.Header()
	if e.RetryAfter > 0 {
		header["Retry-After"] = []string{strconv.Itoa(e.RetryAfter)}
	}
	send(w, header, e.Status, b)
}
