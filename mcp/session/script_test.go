package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/hub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted is a hub that answers by a script, without a network, so that tests have
// the time of a bubble. What it hears and what a link says go into one transcript.
//
// The script names an operation and its answers in turn; the last one holds for ever.
// "had" names an agent that there was before. An answer is "ok", the code of an error, "away" (nothing listens), "lost" (the call
// is heard and its answer does not come), or of info the instance of the store.
type scripted struct {
	mu     sync.Mutex
	script map[string]string
	turn   map[string]int
	keys   []string      // idempotency keys of register
	agents []hub.AgentID // of session s1, s2 and so on
	said   []string
}

func (h *scripted) say(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, fmt.Sprintf(format, args...))
}

// transcript returns what was said since the last call.
func (h *scripted) transcript() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() { h.said = nil }()
	return strings.Join(h.said, "\n")
}

// next is the answer to an operation; the lock is held.
func (h *scripted) next(operation, otherwise string) string {
	answers := strings.Fields(h.script[operation])
	if len(answers) == 0 {
		return otherwise
	}
	n := h.turn[operation]
	h.turn[operation]++
	return answers[min(n, len(answers)-1)]
}

func (h *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	said, answer, result := h.answer(r, body)
	if said != "" {
		h.said = append(h.said, said+": "+answer)
	}
	switch answer {
	case "away":
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	case "lost":
		return nil, io.EOF
	}
	e, status := api.Envelope{OK: true}, http.StatusOK
	var err error
	if answer == "ok" {
		e.Result, err = json.Marshal(result)
	} else {
		status = hub.InfoOf(hub.Code(answer)).Status
		e = api.Envelope{Error: answer, Code: hub.Code(answer), Status: status}
	}
	b, err2 := json.Marshal(e)
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {api.ContentType}},
		Body: io.NopCloser(bytes.NewReader(b)), Request: r,
	}, errors.Join(err, err2)
}

// answer decides what a request is answered; said is empty if the transcript leaves
// it out.
func (h *scripted) answer(r *http.Request, body []byte) (said, answer string, result any) {
	act := r.Header.Get(api.HeaderSession)
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/hub-info":
		key := "info"
		if at := key + " at port " + r.URL.Port(); h.script[at] != "" {
			key = at
		}
		if answer = h.next(key, "store"); hub.InfoOf(hub.Code(answer)).Status != 0 || answer == "away" {
			return "", answer, nil
		}
		return "", "ok", hub.Info{InstanceID: hub.InstanceID(answer)}
	case "POST /v1/sessions":
		var in hub.RegisterInput
		_ = json.Unmarshal(body, &in)
		said = "register " + string(in.AgentID)
		if in.Replace != nil && *in.Replace {
			said += " by force"
		}
		key := r.Header.Get(api.HeaderIdempotency)
		if slices.Contains(h.keys, key) {
			said += " again"
		} else {
			h.keys = append(h.keys, key)
		}
		return said, h.next("register", "ok"), h.registered(in.AgentID)
	case "POST /v1/sessions/resume":
		var in hub.ResumeInput
		_ = json.Unmarshal(body, &in)
		return fmt.Sprintf("resume %s by %s", in.PriorSessionID, in.ResumeKey), h.next("resume", "ok"), h.registered(h.agentOf(in.PriorSessionID))
	case "GET /v1/events":
		if since := r.URL.Query().Get("since_id"); since != fmt.Sprint(hub.MaxMessageID) {
			return act + " has read up to " + since, h.next("read", "ok"), []hub.EncodedMessage{}
		}
		return "look at " + act, h.next("look", "ok"), []hub.EncodedMessage{}
	case "GET /v1/agents":
		meta := json.RawMessage(`{}`)
		if h.script["owner"] == "bridge" {
			meta = json.RawMessage(`{"bridge":true}`)
		}
		return "", "ok", []hub.Session{{AgentID: hub.AgentID(r.URL.Query().Get("prefix")), Metadata: meta}}
	case "GET /v1/attention":
		return "", "ok", hub.Attention{}
	case "GET /v1/resolve":
		return "", "ok", hub.Resolved{}
	case "GET /v1/bootstrap":
		return "", "ok", hub.Bootstrap{}
	}
	if id, ok := strings.CutPrefix(r.URL.Path, "/v1/sessions/"); ok && r.Method == http.MethodDelete {
		return "end " + id, "ok", hub.ClosedSession{}
	}
	return "unexpected " + r.Method + " " + r.URL.Path, "invalid", nil
}

// registered is the next session: s1 with the key k1, then s2 with k2.
func (h *scripted) registered(agent hub.AgentID) hub.Registered {
	h.agents = append(h.agents, agent)
	n, had := len(h.agents), 0
	for _, id := range append(h.agents, hub.AgentID(h.script["had"])) {
		if id == agent {
			had++
		}
	}
	return hub.Registered{
		Session:   hub.Session{SessionID: hub.SessionID(fmt.Sprint("s", n)), AgentID: agent, Incarnation: uint64(had)},
		ResumeKey: fmt.Sprint("k", n),
	}
}

func (h *scripted) agentOf(id hub.SessionID) hub.AgentID {
	var n int
	_, _ = fmt.Sscanf(string(id), "s%d", &n)
	if n < 1 || n > len(h.agents) {
		return "nobody"
	}
	return h.agents[n-1]
}

// linkTo opens a link to the scripted hub; the returned function ends both.
func linkTo(t *testing.T, h *scripted, change func(*Config)) (*Link, func()) {
	t.Helper()
	h.mu.Lock()
	h.turn = map[string]int{}
	h.mu.Unlock()
	cfg := Config{Getenv: func(string) string { return "" }, Now: time.Now, Agent: "me"}
	if change != nil {
		change(&cfg)
	}
	l := New(cfg, slog.New(slog.NewTextHandler(t.Output(), nil)))
	l.dial = func(baseURL string) *client.Client { return client.New(client.Config{BaseURL: baseURL, Transport: h}) }
	l.base.Store(l.dial("http://127.0.0.1:6969"))
	life, end := context.WithCancel(t.Context())
	l.Open(life)
	return l, func() {
		end()
		l.Close()
	}
}

// call does what a tool does: it acts in the session and looks at the error.
func (h *scripted) call(t *testing.T, l *Link) {
	t.Helper()
	s, err := l.Session(t.Context())
	if err != nil {
		h.say("refused: %s", codeOf(err))
		return
	}
	if err := look(t.Context(), s); err != nil {
		worth, err := l.Lost(s, err)
		h.say("%s in %s fails: %s, worth repeating: %t", s.Agent, s.ID, codeOf(err), worth)
		return
	}
	h.say("%s in %s acts", s.Agent, s.ID)
}

func codeOf(err error) string {
	var e *hub.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return err.Error()
}
