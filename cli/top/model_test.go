package top

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/overview"
)

const start = hub.Time(1_000_000_000)

// fake is a hub that notes what is said and answered.
type fake struct {
	said []string
	err  error
}

func (f *fake) Snapshot(context.Context) (*overview.Snapshot, error) { return snapshot(3), f.err }

func (f *fake) Log(context.Context, hub.MessageID, time.Duration) ([]hub.Message, hub.MessageID, error) {
	return nil, 0, f.err
}

func (f *fake) Say(_ context.Context, to Target, text string) (string, error) {
	f.said = append(f.said, fmt.Sprintf("%s|%s|%s", to.Agent, to.Channel, text))
	return "posted #7 to " + to.Name, f.err
}

func (f *fake) Meant(a *hub.Ask, text string, asIt bool) (string, error) {
	if near := a.Near(text); len(near) > 0 && !asIt {
		return "", fmt.Errorf("%q is no option of %s: did you mean %s?", text, a.AskID, near[0])
	}
	return text, nil
}

func (f *fake) Answer(_ context.Context, a *hub.Ask, text string) (string, error) {
	f.said = append(f.said, string(a.AskID)+"="+text)
	return "answered " + string(a.AskID), f.err
}

func (f *fake) Ended(context.Context, *hub.Ask) (string, error) {
	return "answered by eva 3s ago: never", f.err
}

// snapshot has n agents dev-0, dev-1 … in a room; each waits for the next.
func snapshot(n int) *overview.Snapshot {
	s := &overview.Snapshot{At: start, BaseURL: "http://h", Hub: hub.AppStatus{Version: "1.2.3", InstanceID: "i_1"}}
	s.Rooms = []hub.Room{{RoomID: "r_1", Slug: "checkout", Channel: "room-r_1", Topic: "the till"}}
	for i := range n {
		id, task := hub.AgentID(fmt.Sprint("dev-", i)), hub.TaskID(i+1)
		since := start - 60_000
		s.Agents = append(s.Agents, hub.LiveAgent{
			Session: hub.Session{AgentID: id}, Presence: hub.PresenceLive, Activity: hub.ActivityWorking, ActivitySince: &since,
			Details: &hub.AgentDetails{Rooms: []hub.RoomID{"r_1"}, Unread: i, CurrentTaskID: &task, Watching: []string{fmt.Sprint("message-from:dev-", i+1)}},
		})
		s.Tasks = append(s.Tasks, hub.Task{TaskID: task, Title: "mend the till", Status: hub.TaskWorking, Assignee: &id, Ready: true})
	}
	s.Asks = []hub.Ask{{AskID: "q_1", AgentID: "dev-1", Question: "Push now?", Options: []string{"yes", "no"}, CreatedAt: start}}
	s.Derive()
	return s
}

func messages(from, n int) []hub.Message {
	rows := make([]hub.Message, n)
	for i := range rows {
		rows[i] = hub.Message{ID: hub.MessageID(from + i), FromAgent: "dev-1", Channel: "general", Body: fmt.Sprint("text ", from+i), Authority: hub.AuthorityAgent}
	}
	return rows
}

// shown makes a model of a size that has read a snapshot.
func shown(t testing.TB, h Hub, width, height int, s *overview.Snapshot) *Model {
	m := New(t.Context(), h, s.At.Std, overview.Colors)
	m.Init()
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.Update(gathered{snap: s, at: s.At.Std()})
	later(m, settles)
	return m
}

// later moves the clock of a model.
func later(m *Model, d time.Duration) {
	now := m.now().Add(d)
	m.now = func() time.Time { return now }
}

var named = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp},
	"space": {Code: tea.KeySpace, Text: " "}, "back": {Code: tea.KeyBackspace}, "left": {Code: tea.KeyLeft}, "end": {Code: tea.KeyEnd},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+t": {Code: 't', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome},
}

// press presses keys: names, or texts that are typed. It returns the last command.
func press(m *Model, keys ...string) (cmd tea.Cmd) {
	for _, k := range keys {
		if key, ok := named[k]; ok {
			_, cmd = m.Update(key)
			continue
		}
		for _, r := range k {
			later(m, settles) // the human looks before each key
			_, cmd = m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return cmd
}

// screen is what the terminal shows, without colors.
func screen(m *Model) string { return ansi.Strip(m.View().Content) }

func lineWith(t *testing.T, m *Model, text string) string {
	t.Helper()
	for line := range strings.Lines(screen(m)) {
		if strings.Contains(line, text) {
			return strings.TrimRight(line, " \n")
		}
	}
	t.Fatalf("no line has %q:\n%s", text, screen(m))
	return ""
}

func TestViews(t *testing.T) {
	m := shown(t, &fake{}, 100, 30, snapshot(3))
	m.Update(logged{rows: messages(1, 3), next: 3})
	if got := lineWith(t, m, "1 Agents"); got != " 1 Agents 3  2 Rooms 1  3 Waits 4  4 Asks 1  5 Log 3" {
		t.Errorf("tabs: %q", got)
	}
	for _, c := range []struct{ key, head, row string }{
		{"1", "AGENT", "> dev-0"}, {"2", "ROOM", "> checkout"}, {"3", "WAITER", "> dev-1"}, {"4", "QUESTION", "> q_1"}, {"5", "TEXT", "> " + clock(0)},
	} {
		press(m, c.key)
		lineWith(t, m, c.head)
		lineWith(t, m, c.row)
	}
	press(m, "tab")
	lineWith(t, m, "> dev-0")
	press(m, "shift+tab")
	lineWith(t, m, "text 3")
}

func TestSelectionStaysWithItsRow(t *testing.T) {
	m := shown(t, &fake{}, 80, 24, snapshot(50))
	press(m, "down", "j", "j", "up")
	lineWith(t, m, "> dev-2 ")
	next := snapshot(50)
	next.Agents = next.Agents[1:]
	m.Update(gathered{snap: next})
	lineWith(t, m, "> dev-2 ")
	press(m, "G")
	lineWith(t, m, "> dev-49 ")
	// A row that has gone stays under the cursor, and is marked.
	next = snapshot(10)
	m.Update(gathered{snap: next})
	if got := lineWith(t, m, "> dev-49 "); !strings.HasSuffix(got, "(gone)") {
		t.Errorf("%q", got)
	}
	lineWith(t, m, "1 Agents 10 ")
	later(m, calm)
	m.Update(gathered{snap: next})
	lineWith(t, m, "> dev-49 ")
	press(m, "g")
	later(m, calm)
	m.Update(gathered{snap: next})
	press(m, "pgdown")
	lineWith(t, m, "> dev-9 ")
	m.Update(gathered{snap: snapshot(0)})
	later(m, calm)
	m.Update(gathered{snap: snapshot(0)})
	lineWith(t, m, "> dev-9 ")
	m = shown(t, &fake{}, 80, 24, snapshot(0))
	lineWith(t, m, "no agent is here")
	press(m, "enter", "s", "j", "k", "G")
}

func TestRowsAreFiltered(t *testing.T) {
	m := shown(t, &fake{}, 80, 24, snapshot(20))
	press(m, "/", "DEV-1")
	if strings.Contains(screen(m), "dev-2 ") || m.View().Cursor == nil {
		t.Errorf("%s", screen(m))
	}
	press(m, "enter")
	lineWith(t, m, "/DEV-1: 13 of 20 rows; esc shows all")
	press(m, "/", "ctrl+u", "zebra", "enter")
	lineWith(t, m, "no agent has the text zebra: esc shows all")
	press(m, "esc")
	lineWith(t, m, "dev-2 ")
	press(m, "/", "dev-3", "esc")
	lineWith(t, m, "dev-2 ")
}

func TestDetails(t *testing.T) {
	m := shown(t, &fake{}, 80, 24, snapshot(3))
	m.Update(logged{rows: messages(1, 3), next: 3})
	press(m, "j", "enter")
	for _, want := range []string{"agent      dev-1", "TASKS", "2 working, dev-1: mend the till", "dev-0 waits for dev-1: message-from:dev-1", "dev-1 in general: text 3"} {
		lineWith(t, m, want)
	}
	next := snapshot(3)
	next.Agents[1].DisplayName = "Renamed"
	m.Update(gathered{snap: next})
	lineWith(t, m, "name       Renamed")
	press(m, "esc")
	lineWith(t, m, "> dev-1")
	press(m, "2", "enter")
	lineWith(t, m, "topic      the till")
	press(m, "3", "enter")
	lineWith(t, m, "waits for  operator")
	press(m, "4", "enter")
	lineWith(t, m, "Push now?")
	press(m, "5", "enter")
	lineWith(t, m, "message    #3")
	press(m, "?")
	lineWith(t, m, "this page")
	press(m, "q")
	if cmd := press(m, "q"); cmd == nil || cmd() != tea.Quit() {
		t.Error("q does not quit")
	}
}

// TestLongMessageIsRead to its end.
func TestLongMessageIsRead(t *testing.T) {
	m := shown(t, &fake{}, 80, 24, snapshot(1))
	long := messages(1, 1)
	long[0].Body = strings.Repeat("word ", 2000) + "\nthe end"
	m.Update(logged{rows: long, next: 1})
	press(m, "5", "enter", "G")
	lineWith(t, m, "the end")
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	lineWith(t, m, "the end")
	press(m, "g")
	lineWith(t, m, "message    #1")
}

func TestSay(t *testing.T) {
	f := &fake{}
	m := shown(t, f, 80, 24, snapshot(3))
	press(m, "j", "s", "hello", "space", "q")
	lineWith(t, m, "say to dev-1: hello q")
	m.Update(press(m, "enter")())
	lineWith(t, m, "posted #7 to dev-1")
	press(m, "2", "s", "x", "left", "all, ", "enter")
	m.Update(press(m, "2", "s", "to the room", "enter")())
	if got := strings.Join(f.said, " "); got != "dev-1||hello q |room-r_1|to the room" {
		t.Errorf("%q", got)
	}
	press(m, "s", "never mind", "esc")
	if cmd := press(m, "s", "enter"); cmd != nil || m.mode != browsing {
		t.Error("an empty text is said")
	}
	f.err = hub.NewError(hub.CodeUnreachable, "no hub answers").WithFix("start one")
	m.Update(press(m, "s", "x", "enter")())
	lineWith(t, m, "not sent, and kept for the next try: no hub answers (start one)")
	press(m, "4", "enter", "s", "ctrl+u", "from the page", "enter")
	if m.mode != reading {
		t.Error("the page is closed")
	}
}

// TestUnsentTextIsKept: what was typed while the hub was away is there again, for the
// same target only, and the failure is not shown for ever.
func TestUnsentTextIsKept(t *testing.T) {
	f := &fake{err: hub.NewError(hub.CodeUnreachable, "no hub answers")}
	m := shown(t, f, 80, 24, snapshot(3))
	m.Update(press(m, "s", "stop at noon", "enter")())
	lineWith(t, m, "not sent, and kept for the next try: no hub answers")
	now := m.now()
	m.Update(gathered{snap: snapshot(3), at: now.Add(failureShown)})
	lineWith(t, m, "not sent")
	m.Update(gathered{snap: snapshot(3), at: now.Add(failureShown + time.Second)})
	if strings.Contains(screen(m), "not sent") {
		t.Error("a stale failure is shown")
	}
	press(m, "j", "s")
	lineWith(t, m, "say to dev-1:")
	if len(m.input.text) > 0 {
		t.Error("the text for another agent is offered")
	}
	f.err = nil
	press(m, "esc", "k", "s")
	lineWith(t, m, "say to dev-0: stop at noon")
	m.Update(press(m, "enter")())
	press(m, "s")
	if got := strings.Join(f.said, " "); got != "dev-0||stop at noon dev-0||stop at noon" || len(m.input.text) > 0 {
		t.Errorf("%q, and %q is offered", got, string(m.input.text))
	}
	// What failed while the hub was away is over when it is back.
	press(m, "esc")
	f.err = hub.NewError(hub.CodeUnreachable, "no hub answers")
	m.Update(press(m, "s", "again", "enter")())
	m.Update(gathered{err: f.err, at: now})
	lineWith(t, m, "not sent")
	m.Update(gathered{snap: snapshot(3), at: now})
	if strings.Contains(screen(m), "not sent") {
		t.Error("a failure is shown though the hub is back")
	}
}

// TestQuestionsShowTimeAndKey: the time that is left, and that a answers.
func TestQuestionsShowTimeAndKey(t *testing.T) {
	s := snapshot(3)
	s.Asks[0].DeadlineAt = new(start + 90_000)
	m := shown(t, &fake{}, 80, 24, s)
	press(m, "4")
	lineWith(t, m, "LEFT")
	if got := lineWith(t, m, "> q_1"); !strings.Contains(got, " 1m ") {
		t.Errorf("%q", got)
	}
	press(m, "enter")
	lineWith(t, m, "a answer")
	press(m, "a")
	lineWith(t, m, "answer q_1 of dev-1, Push now?:")
	press(m, "esc", "1", "enter")
	if strings.Contains(screen(m), "a answer") {
		t.Error("the page of an agent offers to answer")
	}
}

// TestPastedTextIsOneLine, without what a terminal would obey.
func TestPastedTextIsOneLine(t *testing.T) {
	f := &fake{}
	m := shown(t, f, 80, 24, snapshot(3))
	press(m, "s")
	m.Update(tea.PasteMsg{Content: "two\nlines\x1b[2J\u202e \xff" + strings.Repeat("x", 200)})
	press(m, "ctrl+w", "end")
	press(m, "enter")()
	if len(f.said) != 1 || f.said[0] != "dev-0||two lines[2J" {
		t.Errorf("%q", f.said)
	}
	m.Update(tea.PasteMsg{Content: "nowhere"})
}

func TestAnswer(t *testing.T) {
	m := shown(t, &fake{}, 80, 24, snapshot(3))
	press(m, "a")
	lineWith(t, m, "select a question in the view of asks (4)")
	f := &fake{}
	m = shown(t, f, 80, 24, snapshot(3))
	m.Update(press(m, "4", "a", "yes", "enter")())
	if len(f.said) != 1 || f.said[0] != "q_1=yes" {
		t.Errorf("%q", f.said)
	}
	lineWith(t, m, "answered q_1")
}

// TestLostHubIsShown with the last that was read, and tried again.
func TestLostHubIsShown(t *testing.T) {
	m := shown(t, &fake{}, 100, 24, snapshot(3))
	lost := gathered{err: hub.NewError(hub.CodeUnreachable, "no hub answers").WithFix("start one"), at: start.Std()}
	if _, cmd := m.Update(lost); cmd == nil {
		t.Fatal("it is not tried again")
	}
	lost.at = lost.at.Add(30 * time.Second)
	m.Update(lost)
	lineWith(t, m, "LOST for 30s: no hub answers (start one); trying again")
	lineWith(t, m, "> dev-0")
	if _, cmd := m.Update(refresh{}); cmd == nil {
		t.Fatal("it is not read again")
	}
	if _, cmd := m.Update(refresh{}); cmd != nil {
		t.Error("two readings are under way at once")
	}
	m.Update(gathered{snap: snapshot(3)})
	lineWith(t, m, "hub 1.2.3 at http://h")
}

func TestLogFollows(t *testing.T) {
	m := shown(t, &fake{}, 80, 24, snapshot(3))
	m.Update(logged{rows: messages(1, 30), next: 30})
	press(m, "5")
	lineWith(t, m, "text 30")
	m.Update(logged{rows: messages(31, 5), next: 35})
	if got := lineWith(t, m, "text 35"); !strings.HasPrefix(got, "> ") {
		t.Errorf("%q", got)
	}
	press(m, "k", "k")
	m.Update(logged{rows: messages(36, 2000), next: 2035})
	if len(m.log) != keptLog || m.logAt != 2035 {
		t.Errorf("%d messages, at %d", len(m.log), m.logAt)
	}
	if _, cmd := m.Update(logged{err: errors.New("lost")}); cmd == nil {
		t.Error("the log is not read again")
	}
	if _, cmd := m.Update(relog{}); cmd == nil || m.logAt != 2035 {
		t.Error("the log does not go on")
	}
}

// TestOtherStoreBeginsANewLog: its messages count from 1, and what an earlier call
// brings is of the old store.
func TestOtherStoreBeginsANewLog(t *testing.T) {
	m := shown(t, &fake{}, 80, 24, snapshot(3))
	m.Update(logged{rows: messages(1, 30), next: 30})
	other := snapshot(3)
	other.Hub.InstanceID = "i_2"
	m.Update(gathered{snap: other})
	m.Update(logged{rows: messages(31, 1), next: 31})
	if _, cmd := m.Update(relog{}); cmd != nil || len(m.log) != 0 || m.logAt != 0 {
		t.Errorf("%d messages, at %d", len(m.log), m.logAt)
	}
	m.Update(logged{generation: 1, rows: messages(1, 1), next: 1})
	if len(m.log) != 1 {
		t.Errorf("%d messages", len(m.log))
	}
}

// hostile makes every text of a snapshot one that tries to leave its place.
func hostile(name string) *overview.Snapshot {
	s := snapshot(3)
	s.Rooms[0].Slug, s.Rooms[0].Topic, s.Rooms[0].Name, s.Rooms[0].Channel = name, name, name, hub.ChannelName(name)
	for i := range s.Agents {
		a := &s.Agents[i]
		a.AgentID, a.DisplayName, a.PromptTool, a.Capabilities = hub.AgentID(fmt.Sprint(name, i)), name, name, []string{name}
		a.Details.Label, a.Details.Watching = name, []string{name, "message-from:dev-1"}
		a.Activity = []hub.Activity{hub.ActivityAtPrompt, hub.Activity(name), hub.ActivityWaiting}[i]
		s.Tasks[i].Title = name
		s.Tasks[i].Assignee = &a.AgentID
	}
	s.Asks[0] = hub.Ask{AskID: hub.AskID(name), AgentID: s.Agents[0].AgentID, Question: name, Options: []string{name}}
	s.Claims = []hub.Claim{{ClaimKey: hub.ClaimKey(name), OwnerAgentID: s.Agents[0].AgentID, Waiters: []hub.LeaseWaiter{{AgentID: s.Agents[1].AgentID}}}}
	s.Hub.Journal.State = hub.JournalState(name)
	s.Derive()
	return s
}

var hostileNames = []string{
	"\x1b[31mred\x1b]0;title\x07", "\x1b[2J\x1b[H", "a\u202eb\u2066c\u200f", "z\u200be\u2060ro\ufeff", strings.Repeat("long", 75), strings.Repeat("long ", 60),
	"two\nlines\r\tand a tab", strings.Repeat("世界", 150), "e" + strings.Repeat("\u0301", 300), strings.Repeat("👩\u200d🚀", 40), "bad \xff byte", "\u0085\u009b31m",
	strings.Repeat("\u200d", 50), "",
}

// TestEveryLineFits: whatever agents are called, the screen has as many lines as the
// terminal, none is wider, and nothing but the colors of the view reaches the terminal.
func TestEveryLineFits(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {100, 30}, {200, 60}, {40, 10}, {20, 5}, {1, 1}, {3, 2}} {
		for _, name := range hostileNames {
			m := shown(t, &fake{}, size[0], size[1], hostile(name))
			log := messages(1, 3)
			log[1].Body, log[1].FromAgent, log[1].Channel, log[1].Kind = name, hub.AgentID(name), hub.ChannelName(name), hub.Kind(name)
			m.Update(logged{rows: log, next: 3})
			for _, view := range []string{"1", "2", "3", "4", "5"} {
				for _, keys := range [][]string{{}, {"enter"}, {"G"}, {"s"}, {"/", "x"}, {"?"}, {"t"}, {"a"}, {"a", "yes", "enter"}} {
					press(m, "esc", "esc", view, "g")
					press(m, keys...)
					checkScreen(t, fmt.Sprintf("%v %q %s %v", size, name, view, keys), m)
				}
				press(m, "esc", "esc")
			}
			m.Update(gathered{err: errors.New(name)})
			m.Update(answered{text: name})
			checkScreen(t, fmt.Sprintf("%v %q lost", size, name), m)
		}
	}
}

var own = []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[7m", "\x1b[31m", "\x1b[32m", "\x1b[33m"}

func checkScreen(t *testing.T, what string, m *Model) {
	t.Helper()
	lines := strings.Split(m.View().Content, "\n")
	if len(lines) != m.height {
		t.Errorf("%s: %d lines, want %d", what, len(lines), m.height)
	}
	for _, line := range lines {
		if w := ansi.StringWidth(line); w > m.width {
			t.Errorf("%s: %d cells, want at most %d: %q", what, w, m.width, line)
		}
		for _, code := range own {
			line = strings.ReplaceAll(line, code, "")
		}
		if strings.ContainsFunc(line, peertext.Hidden) || strings.Contains(line, "\t") {
			t.Errorf("%s: %q", what, line)
		}
	}
	if c := m.View().Cursor; c != nil && (c.X < 0 || c.X >= m.width || c.Y != m.height-1) {
		t.Errorf("%s: the caret is at %d, %d", what, c.X, c.Y)
	}
}

// TestWithoutColors leaves the mark of the selected row.
func TestWithoutColors(t *testing.T) {
	m := shown(t, &fake{}, 80, 24, snapshot(3))
	m.paint = overview.NoPaint
	content := m.View().Content
	for _, code := range []string{"\x1b[1m", "\x1b[2m", "\x1b[3"} {
		if strings.Contains(content, code) {
			t.Errorf("%q is in %q", code, content)
		}
	}
	lineWith(t, m, "> dev-0")
}

// BenchmarkView shows 200 agents; a screen must take less than 5 ms.
func BenchmarkView(b *testing.B) {
	m := shown(b, &fake{}, 200, 60, snapshot(200))
	for b.Loop() {
		_ = m.View()
	}
}

// BenchmarkTake takes a snapshot of 200 agents with a full log.
func BenchmarkTake(b *testing.B) {
	m := shown(b, &fake{}, 200, 60, snapshot(200))
	m.Update(logged{rows: messages(1, keptLog), next: keptLog})
	s := snapshot(200)
	for b.Loop() {
		m.Update(gathered{snap: s})
	}
}
