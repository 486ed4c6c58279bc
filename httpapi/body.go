package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"

	"hubcli/hub"
)

const (
	maxSmallBody = 1 << 20   // bytes of any body that carries no message
	firstBuffer  = 2 << 10   // initial size of a body's buffer, in bytes
	maxPooled    = 128 << 10 // larger buffers are left to the collector
)

// body is the content of one request and its share of the bytes in flight.
type body struct {
	server *Server
	data   []byte
	buffer *[]byte // from buffers
}

// buffers holds *[]byte of various capacity, for bodies and answers.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, firstBuffer)
	return &b
}}

func putBuffer(b *[]byte) {
	if cap(*b) <= maxPooled {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

func (b *body) free() {
	b.server.bodyBytes.Add(-int64(cap(b.data)))
	*b.buffer = b.data
	b.data = nil
	putBuffer(b.buffer)
}

// readBody reads a body of at most limit bytes. Memory grows with the bytes
// received, not with the announced Content-Length, and all bodies together stay
// within their budget.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, limit int64) (body, error) {
	if r.ContentLength > limit {
		return body{}, tooLarge(w, limit)
	}
	buffer := buffers.Get().(*[]byte)
	b := body{server: s, data: (*buffer)[:0], buffer: buffer}
	if all := s.bodyBytes.Add(int64(cap(b.data))); all > s.config.MaxBodiesInFlight && cap(b.data) > firstBuffer {
		// An earlier body left a large buffer, for which there is no room now.
		s.bodyBytes.Add(firstBuffer - int64(cap(b.data)))
		b.data = make([]byte, 0, firstBuffer)
	}
	for {
		if len(b.data) == cap(b.data) {
			if err := b.grow(w, limit); err != nil {
				b.free()
				return body{}, err
			}
		}
		n, err := r.Body.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		if int64(len(b.data)) > limit {
			b.free()
			return body{}, tooLarge(w, limit)
		}
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			b.free()
			return body{}, readFailed(w, err)
		}
	}
}

// grow doubles the buffer if the bodies' budget has room for it.
func (b *body) grow(w http.ResponseWriter, limit int64) error {
	more := int64(cap(b.data))
	if int64(len(b.data)) > limit {
		return tooLarge(w, limit)
	}
	if b.server.bodyBytes.Add(more) > b.server.config.MaxBodiesInFlight {
		b.server.bodyBytes.Add(-more)
		w.Header()["Connection"] = closeConnection
		return hub.NewError(hub.CodeOverloaded, "the hub is reading as many request bodies as it has memory for").
			WithRetryAfter(1).WithFix("send the same call again after a second")
	}
	grown := make([]byte, len(b.data), 2*more)
	copy(grown, b.data)
	b.data = grown
	return nil
}

var closeConnection = []string{"close"}

func tooLarge(w http.ResponseWriter, limit int64) *hub.Error {
	w.Header()["Connection"] = closeConnection
	return hub.NewError(hub.CodeRequestTooLarge, "the request body is too large").
		With("limit", limit).WithFix("send less in one call")
}

// readFailed returns why a body did not arrive completely. Usually the client
// is gone and does not read the answer.
func readFailed(w http.ResponseWriter, err error) *hub.Error {
	w.Header()["Connection"] = closeConnection
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return hub.NewError(hub.CodeTimedOut, "the request body came in too slowly").WithRetryAfter(1).
			WithFix("send the same call again")
	}
	return hub.NewError(hub.CodeInvalidJSON, "the request body ended early")
}
