package notify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

var question = hub.Ask{AskID: "ask_1", AgentID: "dev-a", Question: "Deploy\n\x1b[31mnow?", MessageID: 7}

// TestArguments: a value stands only where the operator put its name. It is not expanded
// again and never becomes an option.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		name     string
		question string
		args     []string
		want     []string
	}{
		{"plain", "go?", []string{"/x", "{agent} asks", "{question}"}, []string{"/x", "dev-a asks", "go?"}},
		{"the executable is not expanded", "go?", []string{"/x{question}", "a"}, []string{"/x{question}", "a"}},
		{"expanded once", "{agent}", []string{"/x", "{question}"}, []string{"/x", "{agent}"}},
		{"no option", "--rm=/", []string{"/x", "{question}"}, []string{"/x", " --rm=/"}},
		{"the operator's option", "-q", []string{"/x", "--text={question}"}, []string{"/x", "--text=-q"}},
		{"a shell's characters", "$(id); `id`", []string{"/x", "{question}"}, []string{"/x", "$(id); `id`"}},
		{"characters of a terminal", "a\nb\x1b[31m", []string{"/x", "{question}"}, []string{"/x", `a\nb\x1b[31m`}},
		{"long", strings.Repeat("ä", 1000), []string{"/x", "{question}"}, []string{"/x", strings.Repeat("ä", shownChars-1) + "…"}},
	} {
		a := question
		a.Question = c.question
		if got := Arguments(c.args, valuesOf(&a)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// runner notes the plan and ends the program in a way.
type runner struct {
	plan    hub.SpawnPlan
	end     hub.SpawnEnd
	refused error
	stopped chan struct{} // nil: the program ends by itself
}

func (r *runner) Check(*hub.SpawnPlan) error { return r.refused }

func (r *runner) Start(plan *hub.SpawnPlan, ended func(hub.SpawnEnd)) (hub.SpawnControl, error) {
	r.plan = *plan
	if r.stopped == nil {
		go ended(r.end)
		return hub.SpawnControl{Stop: func(string) {}}, nil
	}
	return hub.SpawnControl{Stop: func(string) { go ended(r.end) }}, nil
}

func TestProgram(t *testing.T) {
	code := func(n int) *int { return &n }
	for _, c := range []struct {
		name string
		r    runner
		want string
	}{
		{"good", runner{end: hub.SpawnEnd{ExitCode: code(0)}}, ""},
		{"bad", runner{end: hub.SpawnEnd{ExitCode: code(3)}}, "the program ended with exit code 3"},
		{"late", runner{end: hub.SpawnEnd{Stopped: "its time was over"}}, "the program was stopped: its time was over"},
		{"killed", runner{end: hub.SpawnEnd{Signal: "SIGKILL"}}, "the program was ended by SIGKILL"},
		{"missing", runner{refused: errors.New("there is no such file")}, "there is no such file"},
	} {
		n := Notifier{Runner: &c.r, Dir: "/own"}
		got := n.Notify(t.Context(), hub.Notify{Command: []string{"/x", "{id}"}}, question)
		if got.CommandError != c.want || got.WebhookError != "" {
			t.Errorf("%s: %+v", c.name, got)
		}
		if c.r.refused == nil && (c.r.plan.Args[1] != "ask_1" || c.r.plan.Vars["HUB_ASK_AGENT"] != "dev-a" || c.r.plan.Timeout != Timeout || c.r.plan.Dir != "/own") {
			t.Errorf("%s: the plan is %+v", c.name, c.r.plan)
		}
	}
	r := runner{stopped: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the hub stops"))
	if got := (&Notifier{Runner: &r}).Notify(ctx, hub.Notify{Command: []string{"/x"}}, question); got.CommandError != "the hub stops" {
		t.Errorf("a hub that stops: %+v", got)
	}
	if got := (&Notifier{}).Notify(t.Context(), hub.Notify{Command: []string{"/x"}}, question); got.CommandError == "" {
		t.Error("without a runner nothing is said")
	}
}

func TestWebhook(t *testing.T) {
	var got []string
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ask", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, string(body))
	})
	mux.Handle("/moved", http.RedirectHandler("/ask", http.StatusTemporaryRedirect))
	server := httptest.NewServer(mux)
	defer server.Close()
	var n Notifier
	for path, want := range map[string]string{"/ask": "", "/none": "the webhook answered 404 Not Found", "/moved": "the webhook answered 307 Temporary Redirect"} {
		if out := n.Notify(t.Context(), hub.Notify{Webhook: server.URL + path}, question); out.WebhookError != want || out.CommandError != "" {
			t.Errorf("%s: %+v", path, out)
		}
	}
	var sent struct {
		Ask hub.Ask `json:"ask"`
	}
	if len(got) != 1 {
		t.Fatalf("the webhook got %d calls", len(got))
	}
	require.NoError(t, json.Unmarshal([]byte(got[0]), &sent))
	if sent.Ask.Question != question.Question || sent.Ask.AskID != question.AskID {
		t.Errorf("the webhook got %s", got[0])
	}
}

// TestQuestionsStayHere: a name that leads to another machine gets nothing, unless the
// setting allows it.
func TestQuestionsStayHere(t *testing.T) {
	out := (&Notifier{}).Notify(t.Context(), hub.Notify{Webhook: "http://192.0.2.1:9/"}, question)
	if !strings.Contains(out.WebhookError, "192.0.2.1:9 is not on this machine") {
		t.Errorf("%+v", out)
	}
}
