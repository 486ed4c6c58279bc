package ceiling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// server is all the state there is.
type server struct {
	parked atomic.Int64

	mu   sync.Mutex
	id   int64         // of the last post
	row  []byte        // its row
	wake chan struct{} // closed by the next post

	leases sync.Mutex
	fence  int64
	held   map[string]lease
}

type lease struct {
	owner string
	fence int64
}

// Handler returns a server's handler.
func Handler() http.Handler {
	s := &server{wake: make(chan struct{}), held: map[string]lease{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.post)
	mux.HandleFunc("GET /v1/events", s.events)
	mux.HandleFunc("POST /v1/claims", s.claim)
	mux.HandleFunc("POST /v1/claims/release", s.release)
	mux.HandleFunc("GET /v1/app/status", s.status)
	mux.HandleFunc("GET /readyz", s.status)
	return mux
}

// Serve answers on a loopback port of the system's choice until ctx ends; ready
// is called with the address.
func Serve(ctx context.Context, ready func(addr string)) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("ceiling: %w", err)
	}
	ready(listener.Addr().String())
	h := &http.Server{Handler: Handler(), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { h.Close() })
	defer stop()
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("ceiling: %w", err)
	}
	return nil
}

// request is what the server decodes; json.Unmarshal reads the rest too.
type request struct {
	FromAgent    string `json:"from_agent"`
	Channel      string `json:"channel"`
	Body         string `json:"body"`
	ClaimKey     string `json:"claim_key"`
	OwnerAgentID string `json:"owner_agent_id"`
	AgentID      string `json:"agent_id"`
	TTLSec       int    `json:"ttl_sec"`
}

// decode reads the request's body; it answers false after an error.
func decode(w http.ResponseWriter, r *http.Request, in *request) bool {
	b, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(b, in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return err == nil
}

func answer(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = []string{"application/json; charset=utf-8"}
	h["X-Hub-Instance"] = []string{"00000000-0000-0000-0000-000000000000"}
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // a client that left needs no answer
}

func (s *server) post(w http.ResponseWriter, r *http.Request) {
	var in request
	if !decode(w, r, &in) {
		return
	}
	s.mu.Lock()
	s.id++
	row := appendRow(make([]byte, 0, 512+len(in.Body)), s.id, &in)
	s.row = row
	close(s.wake)
	s.wake = make(chan struct{})
	s.mu.Unlock()

	b := append(make([]byte, 0, len(row)+24), `{"ok":true,"result":`...)
	b = append(b, row...)
	answer(w, http.StatusCreated, append(b, '}'))
}

// appendRow appends a row of the hub's shape. Strings go in as they came, for
// the load generator's need no escaping.
func appendRow(b []byte, id int64, in *request) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"ts":"2026-01-01T00:00:00.000Z","from_agent":"`...)
	b = append(b, in.FromAgent...)
	b = append(b, `","to_agent":null,"channel":"`...)
	b = append(b, in.Channel...)
	b = append(b, `","kind":"chat","body":"`...)
	b = append(b, in.Body...)
	return append(b, `","truncated":null,"attachments":[],"reply_to":null,"thread_id":null,"metadata":{},`+
		`"room_id":null,"parent_task_id":null,"authority":"agent","assurance":"asserted"}`...)
}

// events parks until there is a row above since_id, as a hub does.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	since, _ := strconv.ParseInt(q.Get("since_id"), 10, 64)
	timeout, _ := strconv.ParseFloat(q.Get("timeout"), 64)
	s.mu.Lock()
	id, row, wake := s.id, s.row, s.wake
	s.mu.Unlock()
	if id <= since {
		timer := time.NewTimer(time.Duration(timeout * float64(time.Second)))
		defer timer.Stop()
		s.parked.Add(1)
		defer s.parked.Add(-1)
		select {
		case <-wake:
			s.mu.Lock()
			id, row = s.id, s.row
			s.mu.Unlock()
		case <-timer.C:
			row = nil
		case <-r.Context().Done():
			return
		}
	}
	b := append(make([]byte, 0, len(row)+64), `{"ok":true,"result":[`...)
	b = append(b, row...)
	b = append(b, `],"next_since_id":`...)
	b = strconv.AppendInt(b, id, 10)
	answer(w, http.StatusOK, append(b, '}'))
}

func (s *server) claim(w http.ResponseWriter, r *http.Request) {
	var in request
	if !decode(w, r, &in) {
		return
	}
	s.leases.Lock()
	held, taken := s.held[in.ClaimKey]
	if !taken {
		s.fence++
		held = lease{owner: in.OwnerAgentID, fence: s.fence}
		s.held[in.ClaimKey] = held
	}
	s.leases.Unlock()
	if taken && held.owner != in.OwnerAgentID {
		answer(w, http.StatusOK, appendClaim(nil, &in, held, ",\"acquired\":false"))
		return
	}
	answer(w, http.StatusCreated, appendClaim(nil, &in, held, ",\"acquired\":true"))
}

func (s *server) release(w http.ResponseWriter, r *http.Request) {
	var in request
	if !decode(w, r, &in) {
		return
	}
	s.leases.Lock()
	held, taken := s.held[in.ClaimKey]
	if taken = taken && held.owner == in.AgentID; taken {
		delete(s.held, in.ClaimKey)
	}
	s.leases.Unlock()
	if !taken {
		answer(w, http.StatusNotFound, []byte(`{"ok":false,"code":"not_holder"}`))
		return
	}
	answer(w, http.StatusOK, appendClaim(nil, &in, held, ""))
}

func appendClaim(b []byte, in *request, held lease, acquired string) []byte {
	b = append(b, `{"ok":true,"result":{"claim_key":"`...)
	b = append(b, in.ClaimKey...)
	b = append(b, `","thread_id":null,"task_message_id":null,"owner_agent_id":"`...)
	b = append(b, held.owner...)
	b = append(b, `","claimed_at":"2026-01-01T00:00:00.000Z","expires_at":"2026-01-01T00:05:00.000Z",`+
		`"released_at":null,"metadata":{},"fence":`...)
	b = strconv.AppendInt(b, held.fence, 10)
	b = append(b, '}')
	b = append(b, acquired...)
	return append(b, '}')
}

// status tells how many polls are parked, in the place where a hub tells it.
func (s *server) status(w http.ResponseWriter, _ *http.Request) {
	b := append([]byte(nil), `{"ok":true,"result":{"counts":{"parked_polls":`...)
	b = strconv.AppendInt(b, s.parked.Load(), 10)
	answer(w, http.StatusOK, append(b, `}}}`...))
}
