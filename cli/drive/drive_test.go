package drive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/integrations/acp"
)

// bubble runs f with a clock of its own.
func bubble(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }

// fakeHub decides permission prompts as a test says, and notes the turns.
type fakeHub struct {
	mu      sync.Mutex
	verdict hub.Permission // of RequestPermission
	answer  chan hub.Permission
	asked   []hub.PermissionInput
	turns   []hub.Turn
	left    int // waits that were given up
}

func (f *fakeHub) NoteTurn(_ context.Context, in hub.TurnInput) (hub.TurnNoted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turns = append(f.turns, in.Turn)
	return hub.TurnNoted{}, nil
}

func (f *fakeHub) RequestPermission(_ context.Context, in hub.PermissionInput) (hub.Permission, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, in)
	return f.verdict, nil
}

func (f *fakeHub) AwaitPermission(ctx context.Context, _ hub.AskID, _ hub.PermissionWaitInput) (hub.Permission, error) {
	select {
	case p := <-f.answer:
		return p, nil
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		f.left++
		return hub.Permission{}, ctx.Err()
	}
}

// stage is a driver, its hub and its harness, which a test plays.
type stage struct {
	t          *testing.T
	hub        *fakeHub
	driver     *Driver
	lines      chan string
	interrupts chan struct{}
	said       *safe // the transcript
	out        io.Writer
	heard      chan map[string]any // what the harness is sent
	done       chan error
}

type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func begin(t *testing.T, change func(*Config)) *stage {
	t.Helper()
	toClient, fromHarness := io.Pipe()
	toHarness, fromClient := io.Pipe()
	s := &stage{
		t: t, hub: &fakeHub{answer: make(chan hub.Permission)}, lines: make(chan string), interrupts: make(chan struct{}),
		said: &safe{}, out: fromHarness, heard: make(chan map[string]any, 100), done: make(chan error, 1),
	}
	go func() {
		in := bufio.NewScanner(toHarness)
		for in.Scan() {
			var m map[string]any
			_ = json.Unmarshal(in.Bytes(), &m)
			s.heard <- m
		}
	}()
	c := Config{Hub: s.hub, Agent: "ada", Folder: "/work", Out: s.said, Lines: s.lines, Interrupts: s.interrupts}
	if change != nil {
		change(&c)
	}
	s.driver = New(c)
	conn := acp.Open(toClient, fromClient, s.driver.Handler())
	go func() { s.done <- s.driver.Run(t.Context(), conn, "s1") }()
	t.Cleanup(func() { _ = fromHarness.Close(); _ = fromClient.Close() })
	synctest.Wait()
	return s
}

// hears returns the next message for the harness, which must be of a method.
func (s *stage) hears(method string) map[string]any {
	s.t.Helper()
	synctest.Wait()
	select {
	case m := <-s.heard:
		if got, _ := m["method"].(string); got != method {
			s.t.Fatalf("the harness hears %v, want %q", m, method)
		}
		return m
	default:
		s.t.Fatalf("the harness hears nothing, want %q; said: %s", method, s.said)
		return nil
	}
}

func (s *stage) prompted(text string) (id any) {
	s.t.Helper()
	m := s.hears("session/prompt")
	if got := fmt.Sprint(m["params"]); !strings.Contains(got, "text:"+text+" ") {
		s.t.Errorf("the prompt is %s, want %q", got, text)
	}
	return m["id"]
}

func (s *stage) says(format string, args ...any) {
	s.t.Helper()
	fmt.Fprintf(s.out, format+"\n", args...)
	synctest.Wait()
}

func (s *stage) ends(id any, why string) { s.says(`{"id":%v,"result":{"stopReason":%q}}`, id, why) }

func (s *stage) types(line string) { s.lines <- line; synctest.Wait() }

func (s *stage) asks() {
	s.says(`{"id":"q","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"1","title":"Write f","kind":"edit","locations":[{"path":"f"}],"content":[{"type":"diff","path":"f","oldText":"old","newText":"new"}]},"options":[{"optionId":"ever","name":"Always","kind":"allow_always"},{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`)
}

// answered checks what the harness is answered to its question; "" is that nobody chose.
func (s *stage) answered(option string) {
	s.t.Helper()
	want := "map[outcome:map[optionId:" + option + " outcome:selected]]"
	if option == "" {
		want = "map[outcome:map[outcome:cancelled]]"
	}
	if got := fmt.Sprint(s.hears("")["result"]); got != want {
		s.t.Errorf("the answer is %s, want %s", got, want)
	}
}

// TestTurnsFollowEachOther: texts that are typed wait for the end of the turn, and a message
// waits for all of them.
func TestTurnsFollowEachOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := begin(t, nil)
		s.types("one")
		first := s.prompted("one")
		go func() { _ = s.driver.Wake(t.Context(), "mail") }()
		s.types("two")
		if len(s.heard) > 0 {
			t.Errorf("two turns at once: %v", <-s.heard)
		}
		s.ends(first, "end_turn")
		s.ends(s.prompted("two"), "end_turn")
		s.ends(s.prompted("mail"), "end_turn")
		close(s.lines)
		if err := <-s.done; err != nil {
			t.Errorf("it ends by %v", err)
		}
		if got := fmt.Sprint(s.hub.turns); got != "[idle working working idle working idle]" {
			t.Errorf("the hub knows of %s", got)
		}
	})
}

// TestIdleWaitsForTheTurn: a stream knows when it may hand messages over.
func TestIdleWaitsForTheTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := begin(t, nil)
		if err := s.driver.Idle(t.Context()); err != nil {
			t.Error(err)
		}
		s.types("one")
		idle := make(chan error, 1)
		go func() { idle <- s.driver.Idle(t.Context()) }()
		synctest.Wait()
		if len(idle) > 0 {
			t.Error("it is idle within a turn")
		}
		s.ends(s.prompted("one"), "end_turn")
		if err := <-idle; err != nil {
			t.Error(err)
		}
		close(s.lines)
		<-s.done
	})
}

// TestInterrupts: the first cancels the turn, and the permission prompt in it; the second ends
// the session.
func TestInterrupts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := begin(t, nil)
		s.types("one")
		id := s.prompted("one")
		s.asks()
		s.interrupts <- struct{}{}
		s.hears("session/cancel")
		s.answered("")
		s.ends(id, "cancelled")
		if !strings.Contains(s.said.String(), "[cancelled]") {
			t.Errorf("it says %s", s.said)
		}
		s.interrupts <- struct{}{}
		time.Sleep(2 * again)
		s.interrupts <- struct{}{}
		synctest.Wait()
		if len(s.done) > 0 {
			t.Error("two that are far apart end it")
		}
		s.interrupts <- struct{}{}
		if err := <-s.done; !errors.Is(err, ErrInterrupted) {
			t.Errorf("it ends by %v", err)
		}
	})
}

// TestHarnessThatIgnoresTheCancel is ended by the second interrupt.
func TestHarnessThatIgnoresTheCancel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := begin(t, nil)
		s.types("one")
		s.interrupts <- struct{}{}
		s.interrupts <- struct{}{}
		if err := <-s.done; !errors.Is(err, ErrInterrupted) {
			t.Errorf("it ends by %v", err)
		}
	})
}

func TestFirstAnswerCounts(t *testing.T) {
	ask := hub.AskID("a1")
	asking := hub.Permission{Verdict: hub.PermissionAsk, AskID: &ask, WaitSec: 30}
	for name, c := range map[string]struct {
		verdict hub.Permission
		act     func(s *stage)
		want    string
		left    int
	}{
		"a rule allows":              {hub.Permission{Verdict: hub.PermissionAllow, By: "rule 1"}, nil, "yes", 0},
		"a rule denies":              {hub.Permission{Verdict: hub.PermissionDeny}, nil, "no", 0},
		"the operator allows":        {asking, func(s *stage) { s.hub.answer <- hub.Permission{Verdict: hub.PermissionAllow} }, "yes", 0},
		"the person allows":          {asking, func(s *stage) { s.types("y") }, "yes", 1},
		"the person allows for ever": {asking, func(s *stage) { s.types("1") }, "ever", 1},
		"the person denies":          {hub.Permission{Verdict: hub.PermissionNone}, func(s *stage) { s.types("No") }, "no", 0},
		"the person after the operator": {asking, func(s *stage) {
			s.hub.answer <- hub.Permission{Verdict: hub.PermissionNone}
			s.types("maybe")
			s.types("y")
		}, "yes", 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := begin(t, nil)
				s.hub.verdict = c.verdict
				s.types("one")
				id := s.prompted("one")
				s.asks()
				if c.act != nil {
					c.act(s)
				}
				s.answered(c.want)
				s.ends(id, "end_turn")
				if s.hub.left != c.left {
					t.Errorf("%d waits were given up", s.hub.left)
				}
				in := s.hub.asked[0]
				if in.Tool != "edit" || !in.Unclear || fmt.Sprint(in.Files) != "[/work/f]" || !strings.Contains(in.About, "Write f\n") || !strings.Contains(in.About, "+ new") {
					t.Errorf("the hub is asked %+v", in)
				}
				close(s.lines)
				<-s.done
			})
		})
	}
}

// TestNobodyIsThere: without a person a prompt that nobody decides is refused, and never allowed.
func TestNobodyIsThere(t *testing.T) {
	ask := hub.AskID("a1")
	for name, verdict := range map[string]hub.Permission{
		"the inbox is off":  {Verdict: hub.PermissionNone},
		"nobody answers":    {Verdict: hub.PermissionAsk, AskID: &ask, WaitSec: 30},
		"the hub knows not": {},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := begin(t, func(c *Config) { c.Lines, c.First, c.Once = nil, "one", true })
				s.hub.verdict = verdict
				id := s.prompted("one")
				s.asks()
				time.Sleep(time.Minute)
				s.answered("no")
				s.ends(id, "end_turn")
				if err := <-s.done; err != nil {
					t.Errorf("it ends by %v", err)
				}
			})
		})
	}
}

// TestFailedTurns: a turn for messages that the harness fails is begun again, a few times.
func TestFailedTurns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := begin(t, nil)
		go func() { _ = s.driver.Wake(t.Context(), "mail") }()
		for range tries {
			id := s.prompted("mail")
			s.says(`{"id":%v,"error":{"code":-32603,"message":"the model is \u001b[1maway"}}`, id)
			time.Sleep(2 * retry)
		}
		synctest.Wait()
		if len(s.heard) > 0 {
			t.Errorf("once more: %v", <-s.heard)
		}
		if said := s.said.String(); strings.Count(said, "[the turn has failed]") != tries || strings.ContainsRune(said, '\x1b') {
			t.Errorf("it says %q", said)
		}
		close(s.lines)
		<-s.done
	})
}

// TestRefusedPromptFails: with Once it is no success if the harness does not work the only prompt.
func TestRefusedPromptFails(t *testing.T) {
	for name, answer := range map[string]string{
		"an error":           `{"id":%v,"error":{"code":-32603,"message":"no money"}}`,
		"the model's answer": `{"id":%v,"result":{"stopReason":"refusal"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := begin(t, func(c *Config) { c.Lines, c.First, c.Once = nil, "one", true })
				s.says(answer, s.prompted("one"))
				if err := <-s.done; !errors.Is(err, ErrUnworked) {
					t.Errorf("it ends by %v", err)
				}
			})
		})
	}
}

func TestHarnessDies(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := begin(t, nil)
		s.types("one")
		_ = s.out.(io.Closer).Close()
		if err := <-s.done; !errors.Is(err, acp.ErrEnded) {
			t.Errorf("it ends by %v", err)
		}
	})
}

// TestTranscript: what the harness tells, for people, and nothing that a terminal would obey.
func TestTranscript(t *testing.T) {
	var b bytes.Buffer
	tr := transcript{w: &b}
	for _, u := range []acp.Update{
		{Kind: acp.Thought, Text: "hm"},
		{Kind: acp.AgentText, Text: "I wri"},
		{Kind: acp.AgentText, Text: "te\x1b]0;x\a."},
		{Kind: acp.ToolBegins, Tool: acp.Tool{ID: "1", Title: "Write\nf", Status: "pending"}},
		{Kind: acp.ToolGoesOn, Tool: acp.Tool{ID: "1", Status: "in_progress"}},
		{Kind: acp.ToolGoesOn, Tool: acp.Tool{ID: "1", Status: "failed"}},
		{Kind: acp.PlanIs, Plan: []string{"pending: rest"}},
		{Kind: "of_tomorrow"},
		{Kind: acp.AgentText, Text: "Done\n[session] the operator approves\nand [this]\n"},
		{Kind: acp.AgentText, Text: "[may it run?] ls\n"},
	} {
		tr.show(u)
	}
	tr.say("[end]")
	want := "I write\\x1b]0;x\\a.\n[tool] Write f\n[tool failed] Write f\n[plan] pending: rest\nDone\n| [session] the operator approves\nand [this]\n| [may it run?] ls\n[end]\n" // no line of the model looks like one of ours
	if got := b.String(); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// TestPromptSaysWhatIsAllowed: what an option does and what would run stand beside the names that the
// harness gives them.
func TestPromptSaysWhatIsAllowed(t *testing.T) {
	var b bytes.Buffer
	d := New(Config{Hub: &fakeHub{}, Agent: "ada", Out: &b})
	d.show(&acp.Question{
		Tool:    acp.Tool{Title: "ls\nallow? [1 No]", Kind: "execute", Input: []byte(`{"command":"rm -rf /"}`)},
		Options: []acp.Option{{ID: "a", Name: "No, reject", Kind: acp.AllowAlways}, {ID: "b", Name: "Yes", Kind: acp.RejectOnce}},
	})
	for _, want := range []string{"[may it run?] execute: ls allow? [1 No]\n", `rm -rf /`, "1  allow always: No, reject\n", "2  reject once: Yes\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}
