package top

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"hubcli/hub"
	"hubcli/overview"
)

// withAsks is a snapshot with open questions, the oldest first.
func withAsks(asks ...hub.Ask) *overview.Snapshot {
	s := snapshot(1)
	s.Asks = asks
	s.Derive()
	return s
}

func question(n int, text string) hub.Ask {
	a := hub.Ask{AskID: hub.AskID(fmt.Sprint("ask_", n)), AgentID: hub.AgentID(fmt.Sprint("dev-", n)), Question: text, Options: []string{"yes", "no"}, CreatedAt: start + hub.Time(n)}
	a.Digest = a.DigestOf()
	return a
}

// look has the model read the questions again.
func look(m *Model, asks ...hub.Ask) {
	_, cmd := m.Update(gathered{snap: withAsks(asks...), at: m.now()})
	run(m, cmd)
}

// run does what a command says, in a bubble, where the commands that wait for a time take none.
func run(m *Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, one := range msg {
			run(m, one)
		}
	case ended:
		m.Update(msg)
	}
}

// TestClosedQuestionStaysUnderTheCursor, marked, so that the key that was meant for it answers
// no other one; and rows do not change their places while keys are pressed.
func TestClosedQuestionStaysUnderTheCursor(t *testing.T) {
	synctest.Test(t, closedQuestionStaysUnderTheCursor)
}

func closedQuestionStaysUnderTheCursor(t *testing.T) {
	f := &fake{}
	one, two, three := question(1, "Run the tests?"), question(2, "Delete the database?"), question(3, "Deploy?")
	m := shown(t, f, 100, 24, withAsks(one, two))
	press(m, "4")
	lineWith(t, m, "> ask_1")
	look(m, two, three)
	if got := lineWith(t, m, "> ask_1"); !strings.Contains(got, "answered by eva 3s ago: never | Run the") {
		t.Errorf("%q", got)
	}
	lineWith(t, m, "4 Asks 2 ")
	press(m, "a")
	lineWith(t, m, "nothing to answer: ask_1 is answered by eva 3s ago: never")
	if m.mode != browsing {
		t.Fatal("an answer to a closed question is typed")
	}
	for i, id := range []string{"ask_1", "ask_2", "ask_3"} {
		if got := m.lists[asksView].all[i].ask.AskID; string(got) != id {
			t.Errorf("place %d has %s", i, got)
		}
	}
	press(m, "j", "a", "no", "enter")
	if m.note != "sending" {
		t.Errorf("%q", m.note)
	}
	// At rest the closed ones leave, but not from under the cursor.
	press(m, "k", "k")
	later(m, calm)
	look(m, three)
	lineWith(t, m, "> ask_1")
	if n := len(m.lists[asksView].all); n != 2 {
		t.Errorf("%d rows", n)
	}
}

// TestRowsKeepTheirPlacesWhileKeysArePressed: the one that is over stays where it was, and the new
// one comes last, wherever the hub has it.
func TestRowsKeepTheirPlacesWhileKeysArePressed(t *testing.T) {
	one, two, three, four := question(1, "Run the tests?"), question(2, "Go on?"), question(3, "Deploy?"), question(4, "Delete it?")
	four.CreatedAt = start // before the others
	m := shown(t, &fake{}, 100, 24, withAsks(one, two, three))
	places := func() string {
		var ids []string
		for line := range strings.Lines(screen(m)) {
			if id, _, _ := strings.Cut(strings.TrimLeft(line, "> "), " "); strings.HasPrefix(id, "ask_") {
				ids = append(ids, id)
			}
		}
		return strings.Join(ids, " ")
	}
	press(m, "4", "G")
	lineWith(t, m, "> ask_3")
	m.Update(gathered{snap: withAsks(four, two, three), at: m.now()})
	if got := places(); got != "ask_1 ask_2 ask_3 ask_4" {
		t.Errorf("while keys are pressed the rows are %s", got)
	}
	later(m, calm)
	m.Update(gathered{snap: withAsks(four, two, three), at: m.now()})
	if got := places(); got != "ask_4 ask_2 ask_3" {
		t.Errorf("later the rows are %s", got)
	}
	lineWith(t, m, "> ask_3")
}

// TestAnswerIsForTheQuestionThatWasShown: what is typed for a question that is closed meanwhile
// is sent to none, and the words are not keys.
func TestAnswerIsForTheQuestionThatWasShown(t *testing.T) {
	synctest.Test(t, answerIsForTheQuestionThatWasShown)
}

func answerIsForTheQuestionThatWasShown(t *testing.T) {
	f := &fake{}
	one, two := question(1, "What tone?"), question(2, "Run terraform destroy?")
	one.Options = nil
	m := shown(t, f, 120, 24, withAsks(one, two))
	press(m, "4", "a", "Plain words, ")
	look(m, two)
	if cmd := press(m, "no quotes, 1 line each", "enter"); cmd != nil {
		t.Error("it is sent")
	}
	lineWith(t, m, "not sent, ask_1 is answered by eva 3s ago: never; esc leaves your words")
	if got := string(m.input.text); got != "Plain words, no quotes, 1 line each" || m.mode != typing {
		t.Errorf("%q is kept", got)
	}
	press(m, "esc")
	lineWith(t, m, "> ask_1")
	if len(f.said) > 0 {
		t.Errorf("%q", f.said)
	}
	// Another question that has come to the same id is another row.
	reset := one
	reset.Question = "Delete all?"
	reset.Digest = reset.DigestOf()
	look(m, reset)
	if r := m.selected(); !r.gone || r.ask.Question != "What tone?" {
		t.Errorf("%+v", r)
	}
}

// TestNewRowUnderTheCursorTakesNoKey for a moment: the human had seen another row, or none.
func TestNewRowUnderTheCursorTakesNoKey(t *testing.T) {
	synctest.Test(t, newRowUnderTheCursorTakesNoKey)
}

func newRowUnderTheCursorTakesNoKey(t *testing.T) {
	m := shown(t, &fake{}, 100, 24, withAsks())
	press(m, "4")
	look(m, question(1, "Deploy?"))
	later(m, settles-time.Millisecond)
	m.Update(tea.KeyPressMsg{Code: 'a', Text: "a"})
	lineWith(t, m, "this ask has only just come here, so nothing was done: press the key again")
	later(m, time.Millisecond)
	m.Update(tea.KeyPressMsg{Code: 'a', Text: "a"})
	lineWith(t, m, "answer ask_1 of dev-1, Deploy?:")
}

// TestNearlyAnOptionIsAskedAbout, and goes as words with ctrl+t.
func TestNearlyAnOptionIsAskedAbout(t *testing.T) {
	f := &fake{}
	m := shown(t, f, 120, 24, withAsks(question(1, "Deploy?")))
	if cmd := press(m, "4", "a", "yse", "enter"); cmd != nil || m.mode != typing {
		t.Error("it is taken")
	}
	lineWith(t, m, `"yse" is no option of ask_1: did you mean yes? (ctrl+t sends your words): yse`)
	press(m, "back", "back", "es")
	m.Update(press(m, "enter")())
	press(m, "a", "yse")
	_, cmd := m.Update(tea.KeyPressMsg{Code: 't', Mod: tea.ModCtrl})
	m.Update(cmd())
	if got := strings.Join(f.said, " "); got != "ask_1=yes ask_1=yse" {
		t.Errorf("%q", got)
	}
}

var (
	acts = flag.Int("acts", 20_000, "random acts of TestRandomActsAnswerWhatWasShown")
	seed = flag.Uint64("seed", 1, "of the random acts")
)

// crowd is a hub whose questions come and go. It notes each answer.
type crowd struct {
	fake
	open []hub.Ask
	got  []hub.Ask
}

func (c *crowd) Answer(_ context.Context, a *hub.Ask, text string) (string, error) {
	i := slices.IndexFunc(c.open, func(o hub.Ask) bool { return o.AskID == a.AskID })
	if i < 0 {
		return "", hub.NewError(hub.CodeAskClosed, "the question is closed")
	}
	if c.open[i].DigestOf() != a.Digest {
		return "", hub.NewError(hub.CodeAskChanged, "this is not the question that the answer is for")
	}
	c.got = append(c.got, c.open[i])
	c.open = slices.Delete(c.open, i, i+1)
	return "answered " + text, nil
}

// watcher reads the screen as a human does, and knows nothing of the model.
type watcher struct {
	row   string // what the cursor is on
	since time.Time
	moved bool   // the last key moved the cursor
	began string // the question that the cursor was on when the prompt came; empty: nobody types
}

// look reads the line with the cursor. byKey says that the human has just pressed a key.
func (w *watcher) look(m *Model, byKey bool) {
	row := ""
	for line := range strings.Lines(ansi.Strip(m.View().Content)) {
		if rest, ok := strings.CutPrefix(line, "> "); ok {
			row, _, _ = strings.Cut(rest, " ")
		} else if rest, ok := strings.CutPrefix(line, "ask        "); ok { // its page
			row = strings.TrimSpace(rest)
		}
	}
	if !strings.HasPrefix(row, "ask_") {
		row = ""
	}
	if row != w.row {
		w.row, w.since, w.moved = row, m.now(), byKey
	}
}

// keysOf are keys by their names or their texts.
func keysOf(names ...string) (keys []tea.KeyPressMsg) {
	for _, name := range names {
		key, ok := named[name]
		if !ok {
			key = tea.KeyPressMsg{Code: rune(name[0]), Text: name}
		}
		keys = append(keys, key)
	}
	return keys
}

// TestRandomActsAnswerWhatWasShown: whatever comes and goes while keys are pressed, an answer is
// for the question on which the cursor stood when the human began to answer. It had stood there
// long enough to be seen, or a key had moved it there.
func TestRandomActsAnswerWhatWasShown(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 0))
	h, answered, refused := &crowd{}, 0, 0
	var m *Model
	var w *watcher
	ids := map[int]int{} // how often an id was used again, as after a restore
	browse := keysOf("j", "k", "a", "a", "a", "a", "enter", "esc", "1", "4", "4", "4", "4", "g", "G")
	write := keysOf("y", "n", "yes", "1", "2", "enter", "enter", "enter", "enter", "esc", "ctrl+t", "a")
	for act := range *acts {
		if act%1000 == 0 { // it is started anew, and the first question comes where there was none
			h.open, w, m = nil, &watcher{}, shown(t, h, 100, 16, withAsks())
			press(m, "4")
		}
		switch n := rng.IntN(100); {
		case n < 12 && len(h.open) < 12: // one comes
			id := 1 + rng.IntN(99)
			if slices.ContainsFunc(h.open, func(a hub.Ask) bool { return a.AskID == hub.AskID(fmt.Sprint("ask_", id)) }) {
				continue
			}
			ids[id]++
			a := question(id, fmt.Sprintf("Question %d of %d?", ids[id], id))
			if a.CreatedAt += hub.Time(act); rng.IntN(2) == 0 {
				a.Permission = &hub.PermissionPrompt{Tool: "Bash"}
			}
			a.Digest = a.DigestOf()
			h.open = append(h.open, a)
		case n < 20 && len(h.open) > 0: // one goes
			i := rng.IntN(len(h.open))
			h.open = slices.Delete(h.open, i, i+1)
		case n < 40:
			m.Update(gathered{snap: withAsks(slices.Clone(h.open)...), at: m.now()})
			w.look(m, false)
		case n < 60:
			later(m, time.Duration(rng.IntN(900))*time.Millisecond)
		case n < 62:
			later(m, calm)
		default:
			keys, wasTyping := browse, m.mode == typing
			if wasTyping {
				keys = write
			}
			key := keys[rng.IntN(len(keys))]
			w.look(m, false)
			_, cmd := m.Update(key)
			if m.mode == typing && !wasTyping {
				w.began = ""
				if w.moved || m.now().Sub(w.since) >= settles {
					w.began = w.row
				}
			}
			if cmd != nil && wasTyping {
				before := len(h.got)
				msg := cmd()
				if len(h.got) > before {
					answered++
					if got := h.got[before]; string(got.AskID) != w.began {
						t.Fatalf("act %d of seed %d: %s (%s) was answered, and the human meant %q", act, *seed, got.AskID, got.Question, w.began)
					}
				} else {
					refused++
				}
				m.Update(msg)
			}
			w.look(m, true)
		}
	}
	if answered < *acts/200 || refused == 0 {
		t.Errorf("%d answers and %d refusals in %d acts: the test proves little", answered, refused, *acts)
	}
	t.Logf("%d acts: %d answers, %d refused as closed or changed", *acts, answered, refused)
}
