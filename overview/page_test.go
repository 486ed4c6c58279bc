package overview

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/internal/require"
)

// hostile are names that agents may give themselves or their things.
var hostile = []string{
	"\x1b[31mred\x1b]0;title\x07", "a\u202eb\u2066c", "z\u200be\u2060ro", strings.Repeat("long ", 60), "two\nlines\r\tand a tab",
	"世界世界世界", "e" + strings.Repeat("\u0301", 50), "👩\u200d🚀👩\u200d🚀", "bad \xff byte",
}

// TestPageIsSafe: no line is wider than the page, and no hidden character of a name
// reaches the terminal.
func TestPageIsSafe(t *testing.T) {
	room := hub.RoomID("r_1")
	s := &Snapshot{Rooms: []hub.Room{{RoomID: room, ProjectID: "p_1", Slug: "shop"}}}
	for i, name := range hostile {
		a := live(hub.AgentID(name), hub.ActivityAtPrompt, "message-from:"+name, name)
		a.PromptTool, a.Details.Rooms, a.ActivitySince = name, []hub.RoomID{room}, ago(600)
		s.Agents = append(s.Agents, a)
		row := task(hub.TaskID(i+1), hub.TaskWorking, "gone")
		row.Title, row.RoomID = name, &room
		s.Tasks = append(s.Tasks, row)
		s.Claims = append(s.Claims, claim(hub.ClaimKey(name), "gone", 5, hub.AgentID(name)))
		s.Asks = append(s.Asks, hub.Ask{AskID: "q_1", AgentID: hub.AgentID(name), Question: name, Options: hostile})
		s.Rooms[0].Topic = name
	}
	derived(s)
	for _, width := range []int{40, 80, 200} {
		lines := Page(s, PageOptions{Width: width, All: true})
		if len(lines) < 4*len(hostile) {
			t.Fatalf("the page has %d lines alone", len(lines))
		}
		for _, line := range lines {
			if Width(line) > width || strings.ContainsFunc(line, peertext.Hidden) || strings.ContainsAny(line, "\n\t") {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
}

func TestPage(t *testing.T) {
	room, other := hub.RoomID("r_1"), hub.RoomID("r_2")
	dev, lead := live("dev-a", hub.ActivityWorking), live("lead", hub.ActivityWaiting, "message-from:dev-a")
	one, ask, channel := hub.TaskID(1), hub.AskID("ask_1"), room.Channel()
	dev.Details = &hub.AgentDetails{Rooms: []hub.RoomID{room}, Unread: 2, CurrentTaskID: &one, Paused: &hub.Pause{}, Muted: &hub.Mute{}}
	mine := task(1, hub.TaskWorking, "dev-a")
	mine.RoomID, mine.Ready = &room, true
	s := derived(&Snapshot{
		BaseURL: "http://h", Agents: []hub.LiveAgent{dev, lead}, Tasks: []hub.Task{mine},
		Rooms:  []hub.Room{{RoomID: room, ProjectID: "p_1", Slug: "checkout", Topic: "the till"}, {RoomID: other, ProjectID: "p_1", Slug: "stock"}},
		Claims: []hub.Claim{claim("k", "dev-a", 20, "lead")}, Asks: []hub.Ask{{AskID: "q_1", AgentID: "dev-a", Question: "Push?", Options: []string{"yes", "no"}, CreatedAt: *ago(70)}},
		Pauses: []hub.Pause{{RoomID: &room, Words: "the tests are broken", Since: *ago(130)}},
		Mutes:  []hub.Mute{{AgentID: "lead", RoomID: &room, Reason: "too loud", Since: *ago(61), Until: ago(-120)}, {AgentID: "dev-b", Since: *ago(5)}},
		Loops: []hub.Loop{
			{Agents: []hub.AgentID{"dev-a", "lead"}, Stage: hub.LoopStopped, Turns: 12, StopAfter: 12, LastAt: ago(60), AskID: &ask},
			{Agents: []hub.AgentID{"dev-b", "dev-c"}, Stage: hub.LoopApart, StopAfter: 12, AskID: &ask, Until: ago(-1800)},
			{Agents: []hub.AgentID{"dev-a", "dev-b", "lead"}, RoomID: &room, Channel: &channel, Stage: hub.LoopTold, Turns: 20, StopAfter: 36, LastAt: ago(3)},
			{Agents: []hub.AgentID{"dev-b", "lead"}, Stage: hub.LoopSlowed, Turns: 11, LastAt: ago(600), Until: ago(-3000)},
		},
		Hub:      hub.AppStatus{Version: "1.2.3", UptimeSec: 90, Counts: hub.Counts{Messages: 7}},
		projects: map[hub.ProjectID]hub.Project{"p_1": {Slug: "web-shop"}},
	})
	got := Page(s, PageOptions{Width: 80})
	got = got[:len(got)-1] // the counts end with a time of the time zone
	want := `hub 1.2.3 at http://h, up 1m, takes writes

TROUBLE  1
! claim k of dev-a ends in 20s, and 1 agent waits for it

PAUSED
room checkout  2m ago: the tests are broken

MUTED
lead in checkout  1m ago, for 2m more: too loud
dev-b  5s ago

LOOPS
stopped  dev-a, lead in direct messages: 12 turns without progress of 12, the
         last 1m ago; you are asked: hubcli answer ask_1
apart  dev-b, dev-c in direct messages; kept apart for 30m more, or until:
       hubcli answer ask_1 1
told  dev-a, dev-b, lead in room checkout: 20 turns without progress of 36, the
      last 3s ago
slowed  dev-b, lead in direct messages: 11 turns without progress, the last 10m
        ago; what repeats passes in 50m

ASKS
q_1  dev-a, 1m ago: Push? [1 yes | 2 no]

WAITS
  dev-a waits for operator  1m   Push?
  lead  waits for dev-a     30s  claim k
  lead  waits for dev-a     1m   message-from:dev-a

AGENTS  2 live, 0 away
checkout
  dev-a                working 1m           paused, muted, task 1 t1, 2 unread
in no room
  lead                 waiting 1m           until message-from:dev-a

ROOMS
  checkout                     1 agent, 1 task, 1 working     the till
  1 room without agents and open tasks
`
	if text := strings.Join(got, "\n"); text != strings.TrimSuffix(want, "\n")+"\n" {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	if calm := Page(derived(&Snapshot{}), PageOptions{Width: 80}); calm[1] != "no trouble" {
		t.Errorf("%q", calm)
	}
}

// TestPageIsOnePage: it shows the first rows of each part and says how many more there
// are.
func TestPageIsOnePage(t *testing.T) {
	s := &Snapshot{}
	for range 200 {
		s.Agents = append(s.Agents, live("dev", hub.ActivityAtPrompt))
		s.Tasks = append(s.Tasks, task(1, hub.TaskWorking, "gone"))
	}
	derived(s)
	lines := Page(s, PageOptions{Width: 80})
	if text := strings.Join(lines, "\n"); len(lines) > 60 || !strings.Contains(text, "and 176 more: hubcli status --all") || !strings.Contains(text, "and 190 more") {
		t.Errorf("%d lines: %s", len(lines), text)
	}
	if all := Page(s, PageOptions{Width: 80, All: true}); len(all) < 400 {
		t.Errorf("all are %d lines", len(all))
	}
}

// fake is a hub of a few rows, whose lists have many pages.
type fake struct {
	endless bool
	asked   []hub.TasksQuery
	fails   error
}

func (f *fake) AppStatus(context.Context) (hub.AppStatus, error) { return hub.AppStatus{}, f.fails }

func (f *fake) Agents(_ context.Context, q hub.AgentsQuery) ([]hub.LiveAgent, hub.Cursor, error) {
	if !q.Details {
		return nil, "", errors.New("without details")
	}
	return pageOf(f, live("a", hub.ActivityIdle), q.Cursor)
}

func (f *fake) Projects(context.Context, hub.ProjectsQuery) ([]hub.Project, hub.Cursor, error) {
	return []hub.Project{{ProjectID: "p_1", Slug: "web"}}, "", nil
}

func (f *fake) Rooms(_ context.Context, q hub.RoomsQuery) ([]hub.Room, hub.Cursor, error) {
	return pageOf(f, hub.Room{RoomID: "r_1", ProjectID: "p_1", Slug: "till"}, q.Cursor)
}

func (f *fake) Tasks(_ context.Context, q hub.TasksQuery) ([]hub.Task, hub.Cursor, error) {
	f.asked = append(f.asked, q)
	if q.Status != "" {
		return []hub.Task{task(8, q.Status, "a"), task(9, q.Status, "a")}, "", nil
	}
	return pageOf(f, task(1, hub.TaskOpen, "b", 9), q.Cursor)
}

func (f *fake) Claims(_ context.Context, q hub.LeasesQuery) ([]hub.Claim, hub.Cursor, error) {
	return pageOf(f, claim("k", "a", 90, "b"), q.Cursor)
}

func (f *fake) Locks(_ context.Context, q hub.LeasesQuery) ([]hub.Lock, hub.Cursor, error) {
	return pageOf(f, hub.Lock{FilePath: "f"}, q.Cursor)
}

func (f *fake) Asks(_ context.Context, q hub.AsksQuery) ([]hub.Ask, hub.Cursor, error) {
	return pageOf(f, hub.Ask{AskID: "ask_1", AgentID: "a"}, q.Cursor)
}

func (f *fake) Pauses(context.Context) ([]hub.Pause, error) { return []hub.Pause{}, nil }
func (f *fake) Loops(context.Context) ([]hub.Loop, error)   { return []hub.Loop{}, nil }
func (f *fake) Mutes(context.Context) ([]hub.Mute, error)   { return []hub.Mute{}, nil }

// pageOf is a page of a list that has one row, or no end.
func pageOf[T any](f *fake, row T, at hub.Cursor) ([]T, hub.Cursor, error) {
	rows := []T{row}
	if !f.endless {
		return rows, "", nil
	}
	for len(rows) < hub.MaxPageRows {
		rows = append(rows, row)
	}
	return rows, at + "x", nil
}

func TestGather(t *testing.T) {
	f := &fake{}
	s, err := Gather(t.Context(), Source{Hub: f, BaseURL: "http://h"}, now)
	require.NoError(t, err)
	if s.RoomName("r_1") != "till" || s.RoomName("r_9") != "r_9" || len(s.Cut) != 0 || len(s.Asks) != 1 || len(s.Waits) != 2 {
		t.Errorf("%+v", s)
	}
	if len(s.Trouble) != 1 || s.Trouble[0].Kind != hub.TroubleStuck {
		t.Errorf("trouble: %+v", s.Trouble)
	}
}

// TestRoomsOfOneNameAreToldApart by their projects.
func TestRoomsOfOneNameAreToldApart(t *testing.T) {
	s := &Snapshot{
		Rooms:    []hub.Room{{RoomID: "r_1", ProjectID: "p_1", Slug: "till"}, {RoomID: "r_2", ProjectID: "p_2", Slug: "till"}, {RoomID: "r_3", ProjectID: "p_2", Slug: "stock"}},
		projects: map[hub.ProjectID]hub.Project{"p_1": {Slug: "web"}, "p_2": {Slug: "shop"}},
	}
	derived(s)
	if got := s.RoomName("r_1") + " " + s.RoomName("r_2") + " " + s.RoomName("r_3"); got != "web/till shop/till stock" {
		t.Errorf("%s", got)
	}
}

// TestGatherIsBounded: lists without an end are read up to a bound, and named.
func TestGatherIsBounded(t *testing.T) {
	f := &fake{endless: true}
	s, err := Gather(t.Context(), Source{Hub: f}, now)
	require.NoError(t, err)
	if got := strings.Join(s.Cut, " "); got != "agents rooms tasks claims locks asks" || len(s.Tasks) != mostTasks {
		t.Errorf("cut %q, %d tasks", got, len(s.Tasks))
	}
	if text := strings.Join(Page(s, PageOptions{Width: 80}), "\n"); !strings.Contains(text, "only the first rows were read of: agents, rooms, tasks, claims, locks") {
		t.Errorf("%s", text)
	}
}

func TestGatherSaysWhatFailed(t *testing.T) {
	lost := errors.New("no hub answers")
	if _, err := Gather(t.Context(), Source{Hub: &fake{fails: lost}}, now); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}
