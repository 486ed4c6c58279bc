package overview

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
)

const now = hub.Time(1_000_000_000)

func ago(sec int) *hub.Time { t := now - hub.Time(sec)*1000; return &t }

func agentID(id hub.AgentID) *hub.AgentID { return &id }

func live(id hub.AgentID, activity hub.Activity, watching ...string) hub.LiveAgent {
	return hub.LiveAgent{
		Session: hub.Session{AgentID: id, LastSeen: now}, Presence: hub.PresenceLive, Activity: activity, ActivitySince: ago(60),
		Details: &hub.AgentDetails{Watching: watching},
	}
}

func task(id hub.TaskID, status hub.TaskStatus, assignee hub.AgentID, blockers ...hub.TaskID) hub.Task {
	t := hub.Task{TaskID: id, Title: fmt.Sprint("t", id), Status: status, CreatedBy: "lead", BlockedBy: blockers, UpdatedAt: *ago(5)}
	if assignee != "" {
		t.Assignee = &assignee
	}
	return t
}

func claim(key hub.ClaimKey, owner hub.AgentID, left int, waiters ...hub.AgentID) hub.Claim {
	c := hub.Claim{ClaimKey: key, OwnerAgentID: owner, ClaimedAt: *ago(100), ExpiresAt: now + hub.Time(left)*1000}
	for _, w := range waiters {
		c.Waiters = append(c.Waiters, hub.LeaseWaiter{AgentID: w, Since: *ago(30)})
	}
	return c
}

// derived is a snapshot of rows with what follows from them.
func derived(s *Snapshot) *Snapshot {
	s.At = now
	if s.Hub.Journal.State == "" {
		s.Hub.Journal.State = hub.JournalOK
	}
	s.Derive()
	return s
}

func TestWaits(t *testing.T) {
	offered := task(7, hub.TaskOpen, "a")
	offered.OfferedTo = agentID("b")
	free := task(8, hub.TaskOpen, "")
	free.OfferedTo = agentID("b")
	ofOperator := free
	ofOperator.CreatedBy = hub.AgentOperator
	run := hub.RunID("run_1")
	inRun := task(9, hub.TaskWorking, "b")
	inRun.RunID = &run
	prompt := live("a", hub.ActivityAtPrompt)
	prompt.PromptTool = "Bash"
	for _, c := range []struct {
		name string
		s    Snapshot
		want []string
	}{
		{"a waiter of a claim waits for its holder", Snapshot{Claims: []hub.Claim{claim("k", "a", 90, "b", "c")}}, []string{"b a lease claim k", "c a lease claim k"}},
		{"a waiter of a lock waits for its holder", Snapshot{Locks: []hub.Lock{{FilePath: "f", AgentID: "a", Waiters: []hub.LeaseWaiter{{AgentID: "b"}}}}}, []string{"b a lease lock f"}},
		{"no agent waits for itself", Snapshot{Claims: []hub.Claim{claim("k", "a", 90, "a")}, Tasks: []hub.Task{task(1, hub.TaskOpen, "a", 2), task(2, hub.TaskOpen, "a")}}, nil},
		{"the assignee waits for the assignee of an open blocker", Snapshot{Tasks: []hub.Task{task(1, hub.TaskOpen, "a", 2), task(2, hub.TaskWorking, "b")}}, []string{"a b task task 2, for task 1"}},
		{"a blocker that has ended or that nobody has makes nobody wait", Snapshot{Tasks: []hub.Task{task(1, hub.TaskOpen, "a", 2, 3), task(3, hub.TaskOpen, "")}}, nil},
		{"a task that nobody has does not wait", Snapshot{Tasks: []hub.Task{task(1, hub.TaskOpen, "", 2), task(2, hub.TaskWorking, "b")}}, nil},
		{"an offer waits for the agent it is offered to", Snapshot{Tasks: []hub.Task{offered}}, []string{"a b offer offer of task 7"}},
		{"an offer of a task that nobody has is its creator's", Snapshot{Tasks: []hub.Task{free}}, []string{"lead b offer offer of task 8"}},
		{"the human does not wait", Snapshot{Tasks: []hub.Task{ofOperator}}, nil},
		{"a watch waits for the agent that it names", Snapshot{Agents: []hub.LiveAgent{live("a", hub.ActivityWaiting, "message-from:b", "seat-idle:c", "for-me", "later:x")}}, []string{"a b message message-from:b", "a c idle seat-idle:c"}},
		{"a watch on tasks waits for those that have them", Snapshot{Tasks: []hub.Task{inRun}, Agents: []hub.LiveAgent{live("a", hub.ActivityWaiting, "tasks-complete:9,10")}}, []string{"a b tasks tasks-complete:9,10"}},
		{"a watch on a run waits for those that have its tasks", Snapshot{Tasks: []hub.Task{inRun}, Agents: []hub.LiveAgent{live("a", hub.ActivityWaiting, "run-complete:run_1")}}, []string{"a b tasks run-complete:run_1"}},
		{"an agent at a prompt waits for the human", Snapshot{Agents: []hub.LiveAgent{prompt}}, []string{"a operator prompt a prompt for Bash"}},
		{"an agent that asks waits for the human, and comes first", Snapshot{Asks: []hub.Ask{{AskID: "q_1", AgentID: "z", Question: "really?"}}, Claims: []hub.Claim{claim("k", "a", 90, "b")}}, []string{"z operator ask really?", "b a lease claim k"}},
		{"the same wait is one", Snapshot{Claims: []hub.Claim{claim("k", "a", 90, "b", "b")}}, []string{"b a lease claim k"}},
	} {
		var got []string
		for _, w := range derived(&c.s).Waits {
			got = append(got, fmt.Sprint(w.Waiter, " ", w.For, " ", w.Reason, " ", w.What))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCircles(t *testing.T) {
	for _, c := range []struct{ waits, want string }{
		{"", ""},
		{"a>b b>c", ""},
		{"a>b b>a", "a b"},
		{"x>a a>b b>c c>a", "a b c"},
		{"a>b b>c c>a b>a", "a b; c a b"},
		{"d>c c>d a>b b>a", "a b; c d"},
		{"a>operator b>operator", ""},
	} {
		var rows []hub.Wait
		for _, pair := range strings.Fields(c.waits) {
			from, to, _ := strings.Cut(pair, ">")
			rows = append(rows, hub.Wait{Waiter: hub.AgentID(from), For: hub.AgentID(to)})
		}
		var got []string
		for _, circle := range circles(rows) {
			got = append(got, strings.Trim(fmt.Sprint(circle), "[]"))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", c.waits, got, c.want)
		}
	}
}

func TestTrouble(t *testing.T) {
	prompt := live("a", hub.ActivityAtPrompt)
	prompt.ActivitySince, prompt.PromptTool = ago(180), "Bash"
	brief := live("a", hub.ActivityAtPrompt)
	away := live("a", hub.ActivityIdle)
	away.Presence, away.LastSeen = hub.PresenceAway, *ago(300)
	working := []hub.Task{task(1, hub.TaskWorking, "a")}
	for _, c := range []struct {
		name string
		s    Snapshot
		want []string
	}{
		{"nothing", Snapshot{Agents: []hub.LiveAgent{live("a", hub.ActivityWorking)}, Tasks: working, Claims: []hub.Claim{claim("k", "a", 10)}}, nil},
		{"a full disk", Snapshot{Hub: hub.AppStatus{Journal: hub.JournalStatus{State: hub.JournalFull, FreeBytes: 3 << 20}}}, []string{"hub: the disk of the hub is full (3 MiB free): it refuses all writes"}},
		{"a failed journal", Snapshot{Hub: hub.AppStatus{Journal: hub.JournalStatus{State: hub.JournalFailed}}}, []string{"hub: a write of the hub to its disk failed: it is about to exit"}},
		{"a state of a later hub", Snapshot{Hub: hub.AppStatus{Journal: hub.JournalStatus{State: "odd"}}}, []string{"hub: the journal of the hub is odd"}},
		{"an owner in quarantine", Snapshot{Hub: hub.AppStatus{Quarantined: []hub.QuarantinedActor{{Owner: "room/r_1", Reason: "odd"}}}}, []string{"hub: room/r_1 is in quarantine and refuses all calls: odd"}},
		{
			"a deadlock",
			Snapshot{Claims: []hub.Claim{claim("k", "a", 90, "b"), claim("l", "b", 90, "a")}},
			[]string{"circle: a and b wait for each other: a for b (claim l), b for a (claim k)"},
		},
		{"a task behind a failed one", Snapshot{Tasks: []hub.Task{task(5, hub.TaskOpen, "a", 4)}, Agents: []hub.LiveAgent{live("a", hub.ActivityIdle)}, lost: map[hub.TaskID]hub.TaskStatus{4: hub.TaskFailed}}, []string{"stuck: task 5 (t5) waits for task 4, which ended as failed"}},
		{"a task that goes on behind a failed one", Snapshot{Tasks: []hub.Task{task(5, hub.TaskInputRequired, "a", 4)}, lost: map[hub.TaskID]hub.TaskStatus{4: hub.TaskFailed}}, nil},
		{"long at a prompt", Snapshot{Agents: []hub.LiveAgent{prompt}}, []string{"prompt: a waits at a prompt of its program for 3m (Bash)"}},
		{"not yet long at a prompt", Snapshot{Agents: []hub.LiveAgent{brief}}, nil},
		{"asleep", Snapshot{Hub: hub.AppStatus{Asleep: []hub.AsleepAgent{{AgentID: "a", Unread: 2, Since: *ago(600)}}}}, []string{"asleep: a sleeps over 2 direct messages, for 10m"}},
		{"ended, with mail that it has not read", Snapshot{Hub: hub.AppStatus{Asleep: []hub.AsleepAgent{{AgentID: "a", Unread: 2, Since: *ago(600), Closed: true}}}}, nil},
		{"away with a task", Snapshot{Agents: []hub.LiveAgent{away}, Tasks: working}, []string{"away: a made no call for 5m and has task 1 under way (t1)"}},
		{"gone with a task", Snapshot{Tasks: working}, []string{"away: a is gone and has task 1 under way (t1)"}},
		{"perhaps gone: not all agents were read", Snapshot{Tasks: working, Cut: []string{"agents"}}, nil},
		{"away without a task", Snapshot{Agents: []hub.LiveAgent{away}}, nil},
		{"a claim that ends while others wait", Snapshot{Claims: []hub.Claim{claim("k", "a", 29, "b", "c"), claim("l", "a", 31, "b")}}, []string{"expires: claim k of a ends in 29s, and 2 agents wait for it"}},
		{
			"the worst first",
			Snapshot{Tasks: working, Hub: hub.AppStatus{Journal: hub.JournalStatus{State: hub.JournalFailed}}},
			[]string{"hub: a write of the hub to its disk failed: it is about to exit", "away: a is gone and has task 1 under way (t1)"},
		},
	} {
		var got []string
		for _, w := range derived(&c.s).Trouble {
			got = append(got, string(w.Kind)+": "+w.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWaitsAreOfAgentsThatAreThere: whatever the rows are, each wait names a waiter and
// an agent to wait for that a row of the same kind names, and each circle closes.
func TestWaitsAreOfAgentsThatAreThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, named := drawSnapshot(t)
		derived(s)
		for _, w := range s.Waits {
			if !named[w.Waiter] || w.Waiter == w.For || w.Waiter.Reserved() {
				t.Fatalf("%+v has a waiter that no row names", w)
			}
			if w.For != Human && !named[w.For] {
				t.Fatalf("%+v waits for an agent that no row names", w)
			}
		}
		for _, circle := range s.Circles {
			for i, from := range circle {
				to := circle[(i+1)%len(circle)]
				if !slices.ContainsFunc(s.Waits, func(w hub.Wait) bool { return w.Waiter == from && w.For == to }) {
					t.Fatalf("the circle %v has no wait of %s for %s", circle, from, to)
				}
			}
		}
		for _, line := range Page(s, PageOptions{Width: 80, All: true}) {
			if Width(line) > 80 {
				t.Fatalf("a line is too wide: %q", line)
			}
		}
	})
}

// drawSnapshot makes any rows, and returns the agents that they name.
func drawSnapshot(t *rapid.T) (*Snapshot, map[hub.AgentID]bool) {
	named := map[hub.AgentID]bool{}
	agent := func() hub.AgentID {
		id := hub.AgentID(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "agent"))
		named[id] = true
		return id
	}
	maybe := func() *hub.AgentID {
		if !rapid.Bool().Draw(t, "some") {
			return nil
		}
		return agentID(agent())
	}
	s := &Snapshot{}
	for id := range rapid.IntRange(0, 6).Draw(t, "tasks") {
		row := task(hub.TaskID(id+1), rapid.SampledFrom(hub.TaskStatuses()[:3]).Draw(t, "status"), "")
		row.CreatedBy, row.Assignee, row.OfferedTo = agent(), maybe(), maybe()
		for range rapid.IntRange(0, 2).Draw(t, "blockers") {
			row.BlockedBy = append(row.BlockedBy, hub.TaskID(rapid.IntRange(1, 8).Draw(t, "blocker")))
		}
		s.Tasks = append(s.Tasks, row)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "claims") {
		s.Claims = append(s.Claims, claim(hub.ClaimKey(fmt.Sprint("k", i)), agent(), 10*i, agent(), agent()))
	}
	for range rapid.IntRange(0, 4).Draw(t, "agents") {
		row := live(agent(), rapid.SampledFrom([]hub.Activity{hub.ActivityAtPrompt, hub.ActivityWaiting, hub.ActivityIdle}).Draw(t, "activity"))
		row.Details.Watching = []string{"message-from:" + string(agent()), fmt.Sprint("tasks-complete:", rapid.IntRange(1, 8).Draw(t, "task"))}
		s.Agents = append(s.Agents, row)
	}
	if rapid.Bool().Draw(t, "ask") {
		s.Asks = append(s.Asks, hub.Ask{AskID: "q_1", AgentID: agent(), Question: "?"})
	}
	return s, named
}

// TestQuestionsAreShownTheOldestFirst: a permission prompt has no message, and still stands where
// it was asked.
func TestQuestionsAreShownTheOldestFirst(t *testing.T) {
	prompt := &hub.PermissionPrompt{Tool: "Bash"}
	s := Snapshot{Asks: []hub.Ask{
		{AskID: "ask_1", MessageID: 5, CreatedAt: 10}, {AskID: "ask_4", Permission: prompt, CreatedAt: 30}, {AskID: "ask_2", Permission: prompt, CreatedAt: 20}, {AskID: "ask_3", MessageID: 6, CreatedAt: 25},
	}}
	s.Derive()
	for i, a := range s.Asks {
		if want := hub.AskID(fmt.Sprint("ask_", i+1)); a.AskID != want {
			t.Errorf("place %d has %s, want %s", i, a.AskID, want)
		}
	}
}
