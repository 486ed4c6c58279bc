package readable

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
)

// savedReplay is the data of a page that replays a room, as the page reads it.
type savedReplay struct {
	Name        string            `json:"name"`
	LeftOut     bool              `json:"left_out"`
	FromCapsule bool              `json:"from_capsule"`
	Messages    []hub.Message     `json:"messages"`
	Rows        []json.RawMessage `json:"rows"`
	Lists       [][]int           `json:"lists"`
	Moments     []struct {
		TS    hub.Time       `json:"ts"`
		Kept  bool           `json:"kept"`
		Lists map[string]int `json:"lists"`
	} `json:"moments"`
}

func replayOf(t *testing.T, page []byte) (r savedReplay) {
	t.Helper()
	_, data, found := strings.Cut(string(page), `id="replay">`)
	data, _, ended := strings.Cut(data, "</script>")
	if !found || !ended {
		t.Fatal("the page holds no replay")
	}
	require.NoError(t, json.Unmarshal([]byte(data), &r))
	return r
}

// there lists what stood beside the messages at a time: a list, and a member of its rows.
func (r *savedReplay) there(t *testing.T, at hub.Time, list, member string) (found []string) {
	t.Helper()
	for i := len(r.Moments) - 1; i >= 0; i-- {
		if r.Moments[i].TS > at && i > 0 {
			continue
		}
		for _, place := range r.Lists[r.Moments[i].Lists[list]] {
			var row map[string]any
			require.NoError(t, json.Unmarshal(r.Rows[place], &row))
			found = append(found, fmt.Sprint(row[member]))
		}
		return found
	}
	return nil
}

// TestReplaysOfABundle: the page of a room tells what the times of its lines tell, and nothing
// that went to one agent alone.
func TestReplaysOfABundle(t *testing.T) {
	p := shop()
	p.messages["r1"][2].Kind = hub.KindTaskRequest
	p.tasks = append(p.tasks, capsule.Task{ID: 3, Room: "r1", Title: "In private", Status: hub.TaskOpen, Version: 1, CreatedBy: "ann", CreatedAt: at(3), UpdatedAt: at(3), Direct: true, Asked: "bob"})
	slices.SortFunc(p.tasks, func(a, b capsule.Task) int { return int(a.ID - b.ID) })
	out := render(t, p.reader(t), Bundle)
	r := replayOf(t, out["replays/api.html"])
	if r.Name != "API" || !r.FromCapsule || r.LeftOut || len(r.Messages) != 5 {
		t.Errorf("%q from a capsule %t, cut %t, %d messages", r.Name, r.FromCapsule, r.LeftOut, len(r.Messages))
	}
	for _, private := range []string{"between us", "In private"} {
		if strings.Contains(string(out["replays/api.html"]), private) {
			t.Errorf("the replay tells %q", private)
		}
	}
	for _, c := range []struct {
		at           int
		list, member string
		want         string
	}{
		{0, "decisions", "title", ""},
		{999, "decisions", "title", "Use JSON"},
		{11, "tasks", "title", "Write the parser"},
		{11, "tasks", "status", ""},
		{300, "tasks", "title", "Test it"},
		{300, "tasks", "status", "open"},
		{300, "ended_tasks", "title", "Write the parser"},
		{300, "ended_tasks", "assignee", "bob"},
		{1, "memories", "text", ""},
		{300, "memories", "text", "Be kind. 6970"},
		{300, "artifacts", "title", "plan.md logo"},
		{300, "artifacts", "version", "2 1"},
		{1, "runs", "title", ""},
		{300, "runs", "status", "running"},
		{999, "seats", "agent_id", ""},
	} {
		if got := strings.Join(r.there(t, at(c.at), c.list, c.member), " "); got != c.want {
			t.Errorf("after %d minutes %s of %s: %q, want %q", c.at, c.member, c.list, got, c.want)
		}
	}
	if r := replayOf(t, out["replays/web.html"]); len(r.Messages) != 0 || strings.Join(r.there(t, at(999), "memories", "text"), " ") != "Be kind." {
		t.Errorf("the room without messages: %+v", r)
	}
	knowledge := shop()
	knowledge.manifest.Scope, knowledge.messages, knowledge.tasks = capsule.ScopeKnowledge, nil, nil
	for name := range render(t, knowledge.reader(t), Bundle) {
		if strings.HasPrefix(name, "replays/") {
			t.Errorf("%s, though nothing was said", name)
		}
	}
}

// TestMomentOfAPast: what a past says of random moments is what the lines say by their times.
func TestMomentOfAPast(t *testing.T) {
	random := rand.New(rand.NewPCG(1, uint64(len(t.Name()))))
	some := func(from hub.Time) *hub.Time {
		if random.IntN(3) == 0 {
			return nil
		}
		later := from + hub.Time(random.IntN(500))
		return &later
	}
	p := &past{room: &room{Room: capsule.Room{ID: "r1", CreatedAt: 1}}, to: 2_000}
	var tasks []capsule.Task
	var memories []capsule.Memory
	for n := range 300 {
		begun := hub.Time(1 + random.IntN(1_000))
		ended := some(begun)
		updated := begun
		if ended != nil {
			updated = *ended
		}
		tasks = append(tasks, capsule.Task{ID: capsule.Number(n + 1), Title: fmt.Sprint("t", n), Status: hub.TaskDone, Assignee: "ann", CreatedAt: begun, UpdatedAt: updated, CompletedAt: ended})
		memories = append(memories, capsule.Memory{ID: capsule.Ref(fmt.Sprint("k", n)), Text: "x", CreatedAt: begun, ReplacedAt: some(begun)})
		p.addTask(&tasks[n])
		p.addMemory(&memories[n])
	}
	p.sort()
	for range 200 {
		at := hub.Time(1 + random.IntN(1_999))
		m, err := p.Moment(t.Context(), hub.MomentQuery{At: at})
		require.NoError(t, err)
		live, known := 0, 0
		for i := range tasks {
			if tasks[i].CreatedAt <= at && (tasks[i].CompletedAt == nil || *tasks[i].CompletedAt > at) {
				live++
			}
			if memories[i].CreatedAt <= at && (memories[i].ReplacedAt == nil || *memories[i].ReplacedAt > at) {
				known++
			}
		}
		if m.TaskCount != live || len(m.Tasks) != min(live, shownTasks) || m.MemoryCount != known || len(m.Memories) != min(known, shownThings) {
			t.Errorf("at %d: %d tasks, want %d; %d memories, want %d", at, m.TaskCount, live, m.MemoryCount, known)
		}
		for _, task := range m.Tasks {
			if task.CompletedAt != nil || task.UpdatedAt > at && (task.Status != "" || task.Assignee != nil) {
				t.Errorf("at %d: of task %d is told what came later", at, task.TaskID)
			}
		}
	}
}

// TestPastIsBounded: however much a room has, the latest of it is kept.
func TestPastIsBounded(t *testing.T) {
	p := &past{room: &room{Room: capsule.Room{ID: "r1"}}}
	long := strings.Repeat("é", 10_000)
	for n := range 3 * pastMessages {
		m := capsule.Message{ID: capsule.Number(n + 1), TS: hub.Time(n), Body: "x"}
		require.NoError(t, p.addMessage(&m))
		p.addDecision(&capsule.Decision{Title: long, Note: long, CreatedAt: hub.Time(n)})
		if len(p.messages) > 2*pastMessages || len(p.decisions) > 2*pastThings {
			t.Fatal("it grows")
		}
	}
	p.sort()
	if len(p.messages) != pastMessages || !p.cut || p.said[0] != 2*pastMessages || len(p.said) != pastMessages {
		t.Errorf("%d messages from %d on", len(p.messages), p.said[0])
	}
	if title := p.decisions[0].Title; len(title) > pastText+len("…") || !strings.HasSuffix(title, "é…") {
		t.Errorf("a title of %d bytes", len(title))
	}
	for range 3_000 {
		m := capsule.Message{ID: 1, TS: 3 * pastMessages, Body: long}
		require.NoError(t, p.addMessage(&m))
	}
	p.sort()
	if p.size > pastBytes || p.size < pastBytes/2 {
		t.Errorf("%d bytes", p.size)
	}
}
