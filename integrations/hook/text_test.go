package hook

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

func TestQuote(t *testing.T) {
	for _, tt := range []struct {
		in   string
		max  int
		want string
	}{
		{"plain words", 20, `"plain words"`},
		{"  line one\nline\ttwo\r\n", 30, `"line one line two"`},
		{`say "yes"`, 30, `"say 'yes'"`},
		{"\x1b[31mred\x07", 30, `"[31mred"`},
		{"a\u202eb\u200bc\U000e0041d\ufe00e", 30, `"abcde"`},
		{"bad \xff byte", 30, "\"bad \ufffd byte\""},
		{"the quick brown fox", 16, `"the quick..."`},
		{"the quick, brown fox", 14, `"the quick..."`},
		{"unbreakableunbreakable", 10, `"unbreak..."`},
		{"ünïcödé wörds sind läng", 16, `"ünïcödé wörds..."`},
		{"", 10, `""`},
	} {
		if got := quote(tt.in, tt.max); got != tt.want {
			t.Errorf("quote(%q, %d) = %s, want %s", tt.in, tt.max, got, tt.want)
		}
	}
}

// TestShortenKeepsItsBound for any text, and never breaks a character.
func TestShortenKeepsItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := peertext.Plain(rapid.String().Draw(t, "text"))
		max := rapid.IntRange(4, 40).Draw(t, "max")
		got := shorten(s, max)
		if utf8.RuneCountInString(got) > max || !utf8.ValidString(got) {
			t.Fatalf("shorten(%q, %d) = %q", s, max, got)
		}
		if utf8.RuneCountInString(s) <= max && got != s {
			t.Fatalf("shorten(%q, %d) = %q, though it fits", s, max, got)
		}
	})
}

// scenes draws what hubs, rooms and peers may hold, hostile texts included.
func scenes() *rapid.Generator[*scene] {
	return rapid.Custom(func(t *rapid.T) *scene {
		text := func(name string) string { return rapid.StringN(0, 400, -1).Draw(t, name) }
		agent := func(name string) hub.AgentID {
			return hub.AgentID(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._@:+-]{0,63}`).Draw(t, name))
		}
		harness := rapid.SampledFrom([]hub.Harness{hub.HarnessClaudeCode, hub.HarnessCodex, hub.HarnessKimi, hub.HarnessKiro, hub.HarnessGeneric}).Draw(t, "harness")
		id := hub.RoomID("r_" + rapid.StringMatching(`[0-9a-z]{1,8}`).Draw(t, "room"))
		room := &hub.Room{RoomID: id, Name: text("name"), Topic: text("topic"), Channel: id.Channel()}
		s := &scene{Agent: agent("agent"), Harness: harness, Room: room, Project: &hub.Project{Name: text("project")}}
		s.Bridged, s.Begins, s.Woken = rapid.Bool().Draw(t, "bridged"), rapid.Bool().Draw(t, "begins"), rapid.Bool().Draw(t, "woken")
		s.Program = rapid.SampledFrom([]string{"", "/opt/hub/hubcli", "/home/an ne/bin/hubcli"}).Draw(t, "program")
		if rapid.Bool().Draw(t, "elsewhere") {
			s.BaseURL = "http://" + strings.Repeat("h", rapid.IntRange(1, maxURL-7).Draw(t, "host"))
		}
		tasks := func(name string) (list []hub.Task) {
			for range rapid.IntRange(0, 20).Draw(t, name) {
				list = append(list, hub.Task{TaskID: 1 << 50, Title: text("title"), Status: hub.TaskOpen, Ready: true})
			}
			return list
		}
		if rapid.Bool().Draw(t, "status") {
			st := &hub.RoomStatus{OpenTasks: tasks("open")}
			for range rapid.IntRange(0, 30).Draw(t, "seats") {
				st.Seats = append(st.Seats, hub.Seat{
					AgentID: agent("seat"), Role: text("role"), Harness: text("harness"), Folder: text("folder"), Branch: text("branch"),
					Presence: rapid.SampledFrom([]hub.Presence{hub.PresenceLive, hub.PresenceGone}).Draw(t, "presence"), Activity: hub.ActivityIdle,
				})
				st.Decisions = append(st.Decisions, hub.Decision{Title: text("decision")})
			}
			st.SeatCount = len(st.Seats)
			s.Status = st
		}
		a := &hub.Attention{SeenID: 1 << 50, Unread: rapid.IntRange(0, hub.MaxUnread).Draw(t, "unread"), Tasks: tasks("mine")}
		for i := range rapid.IntRange(0, 20).Draw(t, "directed") {
			a.Directed = append(a.Directed, hub.UnreadRow{ID: hub.MessageID(1<<50 + i), FromAgent: agent("from"), Direct: true, Kind: hub.KindTaskRequest, Excerpt: text("excerpt")})
			a.Proposals = append(a.Proposals, hub.WatchAdvice{Condition: "message-from:" + string(agent("of")), Why: text("why")})
		}
		s.Attention = a
		return s
	})
}

// TestTextsAreShortAndClean whatever others have written.
func TestTextsAreShortAndClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scenes().Draw(t, "scene")
		texts := map[string]string{}
		texts["opening"], _ = s.opening()
		texts["advice"] = s.advice()
		if rows := s.Attention.Directed; len(rows) > 0 {
			texts["news"] = s.news(Stop, rows)
			if !strings.Contains(texts["news"], "from "+string(rows[0].FromAgent)+" ") {
				t.Errorf("the first message has no room in %q", texts["news"])
			}
		}
		for name, text := range texts {
			if n := utf8.RuneCountInString(text); n > MaxText || !utf8.ValidString(text) {
				t.Fatalf("%s has %d characters, or is no UTF-8: %q", name, n, text)
			}
			if strings.ContainsFunc(text, peertext.Hidden) {
				t.Fatalf("%s has a character that nobody sees: %q", name, text)
			}
			for line := range strings.Lines(text) {
				if strings.Count(line, `"`)%2 != 0 {
					t.Fatalf("%s has a quote that is not closed: %q", name, line)
				}
			}
		}
		if !strings.HasPrefix(texts["opening"], "You are agent "+string(s.Agent)+" ") || !strings.Contains(texts["opening"], "Read: "+s.poll()) {
			t.Fatalf("the essentials are missing: %q", texts["opening"])
		}
	})
}

// TestOpeningNamesColleagues: the text at the beginning of a session says of each colleague who it is,
// where it works and what it does, and leaves out those who are gone.
func TestOpeningNamesColleagues(t *testing.T) {
	task, since := hub.TaskID(12), hub.Time(1_000_000)
	s := &scene{Agent: "lead", Now: since + 12*60_000, Room: &hub.Room{RoomID: "r_1", Name: "Till", Channel: "room-r_1"}, Project: &hub.Project{Name: "Shop"}, Attention: &hub.Attention{}}
	s.Status = &hub.RoomStatus{SeatCount: 4, Seats: []hub.Seat{
		{AgentID: "lead", Presence: hub.PresenceLive},
		{AgentID: "dev-a", Role: "tester", Harness: "codex", Folder: "shop", Branch: "fix-tax", Presence: hub.PresenceLive, Activity: hub.ActivityWorking, ActivitySince: &since, CurrentTaskID: &task},
		{AgentID: "dev-b", Presence: hub.PresenceAway, Activity: hub.ActivityIdle},
		{AgentID: "adapter-x", Presence: hub.PresenceGone, Activity: hub.ActivityIdle},
	}}
	text, _ := s.opening()
	want := `In the room: dev-a ("tester", codex, in "shop@fix-tax", working 12m, task #12), dev-b (away)` + "\n"
	if !strings.Contains(text+"\n", want) || strings.Contains(text, "adapter-x") {
		t.Errorf("the text is %q, want %q", text, want)
	}
}
