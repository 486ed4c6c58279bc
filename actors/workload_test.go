package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
)

// ledger is what clients have been promised.
type ledger struct {
	mu       sync.Mutex
	messages map[hub.MessageID]string // row
	channels map[hub.ChannelName]bool
	granted  map[hub.ClaimKey]hub.Claim // the latest acknowledged grant
	released map[hub.ClaimKey]hub.Fence // the latest acknowledged release
	sessions map[hub.AgentID]uint64     // incarnation
	done     map[hub.TaskID]bool
	keyed    map[string]keyedPost
	projects map[string]bool // by name
	rooms    map[hub.RoomID]hub.Room
	runs     map[hub.RunID]int // tasks that are in it
	memories map[hub.MemoryID]hub.Memory
}

// keyedPost is a post with an idempotency key and what it was answered.
type keyedPost struct {
	in  hub.PostInput
	row string
}

func newLedger() *ledger {
	return &ledger{
		messages: map[hub.MessageID]string{}, channels: map[hub.ChannelName]bool{}, granted: map[hub.ClaimKey]hub.Claim{},
		released: map[hub.ClaimKey]hub.Fence{}, sessions: map[hub.AgentID]uint64{}, done: map[hub.TaskID]bool{},
		keyed: map[string]keyedPost{}, projects: map[string]bool{}, rooms: map[hub.RoomID]hub.Room{},
		runs: map[hub.RunID]int{}, memories: map[hub.MemoryID]hub.Memory{},
	}
}

func (l *ledger) clone() *ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &ledger{
		messages: maps.Clone(l.messages), channels: maps.Clone(l.channels), granted: maps.Clone(l.granted),
		released: maps.Clone(l.released), sessions: maps.Clone(l.sessions), done: maps.Clone(l.done), keyed: maps.Clone(l.keyed),
		projects: maps.Clone(l.projects), rooms: maps.Clone(l.rooms), runs: maps.Clone(l.runs),
		memories: maps.Clone(l.memories),
	}
}

func (l *ledger) note(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// client sends random commands of all kinds and notes what it was promised.
type client struct {
	r    *rig
	l    *ledger
	rng  *rand.Rand
	name string
	n    int
}

// load runs clients, each with n commands, and waits for them.
func load(r *rig, l *ledger, seed uint64, clients, n int) {
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			c := &client{r: r, l: l, rng: rand.New(rand.NewPCG(seed, uint64(i))), name: fmt.Sprint("c", i)}
			for range n {
				c.command(context.Background())
			}
		})
	}
	wg.Wait()
	select {
	case <-r.Failed():
		r.t.Errorf("the hub failed under load: %v", r.Cause())
	default:
	}
}

var (
	someAgents   = names[hub.AgentID]("agent", 6)
	someChannels = append(names[hub.ChannelName]("room", 4), "general")
	someThreads  = []hub.ThreadID{"", "", "t1", "t2", "t3"}
)

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

func (c *client) command(ctx context.Context) {
	c.n++
	agent, key := pick(c.rng, someAgents), hub.ClaimKey(fmt.Sprintf("ns%d:%d", c.rng.IntN(4), c.rng.IntN(3)))
	switch c.rng.IntN(19) {
	case 0:
		if out, err := c.r.Register(ctx, hub.RegisterInput{AgentID: agent, Capabilities: []string{"x"}}); err == nil {
			c.l.note(func() { c.l.sessions[agent] = max(c.l.sessions[agent], out.Row.Incarnation) })
			if c.rng.IntN(3) == 0 {
				_, _ = c.r.CloseSession(ctx, out.Row.SessionID, "")
			} else if c.rng.IntN(3) == 0 {
				_, _ = c.r.Resume(ctx, hub.ResumeInput{PriorSessionID: out.Row.SessionID, ResumeKey: out.Row.ResumeKey})
			}
		}
	case 1:
		_, _ = c.r.Rename(ctx, agent, hub.RenameInput{DisplayName: fmt.Sprint("name", c.n)})
	case 2:
		ch := pick(c.rng, someChannels[:4])
		if _, err := c.r.CreateChannel(ctx, hub.ChannelInput{Name: ch, CreatedBy: agent}); err == nil {
			c.l.note(func() { c.l.channels[ch] = true })
		}
	case 3, 4:
		g, err := c.r.Claim(ctx, hub.ClaimInput{OwnerAgentID: agent, ClaimKey: key, TTLSec: 3600, ThreadID: pick(c.rng, someThreads)})
		if err == nil && g.Acquired {
			c.l.note(func() {
				if was := c.l.granted[key]; was.Fence < g.Row.Fence {
					c.l.granted[key] = g.Row
				}
			})
		}
	case 5:
		if out, err := c.r.ReleaseClaim(ctx, hub.ClaimHoldInput{AgentID: agent, ClaimKey: key}); err == nil {
			c.l.note(func() { c.l.released[key] = max(c.l.released[key], out.Row.Fence) })
		}
	case 6:
		_, _ = c.r.Lock(ctx, hub.LockInput{AgentID: agent, FilePath: fmt.Sprint("/f", c.rng.IntN(5)), TTLSec: 3600})
	case 7:
		_, _ = c.r.ReleaseLock(ctx, hub.LockHoldInput{AgentID: agent, FilePath: fmt.Sprint("/f", c.rng.IntN(5))})
	case 8:
		id := hub.TaskID(c.rng.IntN(60) + 1)
		if t, err := c.r.CompleteTask(ctx, id, hub.CompleteInput{AgentID: agent}); err == nil && t.Row.Status == hub.TaskDone {
			c.l.note(func() { c.l.done[id] = true })
		}
	case 9:
		status := pick(c.rng, []hub.TaskStatus{hub.TaskWorking, hub.TaskFailed, hub.TaskInputRequired})
		_, _ = c.r.UpdateTask(ctx, hub.TaskID(c.rng.IntN(60)+1), hub.TaskUpdateInput{AgentID: agent, Status: &status})
	case 10:
		c.family(ctx, agent)
	case 11:
		c.place(ctx, agent)
	case 12, 13:
		c.batch(ctx, agent)
	case 14:
		c.remember(ctx, agent)
	default:
		c.post(ctx, agent)
	}
}

// place makes a project or a room of one; many are refused.
func (c *client) place(ctx context.Context, agent hub.AgentID) {
	project := fmt.Sprint("project ", c.rng.IntN(4))
	if _, err := c.r.CreateProject(ctx, hub.ProjectInput{Name: project, CreatedBy: agent}); err == nil {
		c.l.note(func() { c.l.projects[project] = true })
	}
	in := hub.RoomInput{Project: project, Name: fmt.Sprint("Room of ", c.name, c.rng.IntN(4)), CreatedBy: agent}
	if in.Force = c.rng.IntN(3) == 0; in.Force {
		in.ForceReason = "needed"
	}
	if out, err := c.r.CreateRoom(ctx, in); err == nil {
		c.l.note(func() { c.l.rooms[out.Row.RoomID] = out.Row })
	}
}

// remember keeps, replaces or forgets something in a room that was acknowledged,
// or in its project.
func (c *client) remember(ctx context.Context, agent hub.AgentID) {
	var room hub.RoomID
	c.l.note(func() {
		if all := slices.Sorted(maps.Keys(c.l.rooms)); len(all) > 0 {
			room = pick(c.rng, all)
		}
	})
	in := hub.MemoryInput{
		RoomID: room, Key: pick(c.rng, []string{"", "k1", "k2", "k3"}), Text: fmt.Sprint(c.name, "/", c.n), By: agent,
		Scope: pick(c.rng, []hub.MemoryScope{hub.ScopeRoom, hub.ScopeProject}),
	}
	if in.Key != "" && c.rng.IntN(4) == 0 {
		in.Text = ""
	}
	if out, err := c.r.Remember(ctx, in); err == nil {
		c.l.note(func() { c.l.memories[out.Row.MemoryID] = out.Row })
	} else if in.Text != "" && room != "" && codeOf(err) != hub.CodeStoreFailed && codeOf(err) != hub.CodeStopping && codeOf(err) != hub.CodeStorageFull {
		c.r.t.Errorf("remember %+v: %v", in, err)
	}
}

// batch works with runs and offers; many commands are refused.
func (c *client) batch(ctx context.Context, agent hub.AgentID) {
	id := hub.TaskID(c.rng.IntN(60) + 1)
	var out hub.Outcome[hub.Run]
	var err error
	switch run := c.someRun(); {
	case run == "" || c.rng.IntN(6) == 0:
		out, err = c.r.CreateRun(ctx, hub.RunInput{Title: c.name, CreatedBy: agent})
	case c.rng.IntN(3) == 0:
		out, err = c.r.AddRunTasks(ctx, run, hub.RunTasksInput{TaskIDs: []hub.TaskID{id}, AgentID: agent})
	default:
		var m hub.Message
		if m, err = c.r.tryPost(ctx, hub.PostInput{
			FromAgent: agent, Kind: hub.KindTask, Body: c.name, Metadata: json.RawMessage(`{"run_id":"` + string(run) + `"}`),
		}); err == nil && c.rng.IntN(2) == 0 { // it ends, and with it perhaps the run
			_, _ = c.r.CompleteTask(ctx, m.ID, hub.CompleteInput{AgentID: agent})
		}
		out.Row.RunID, out.Row.Counts.Total = run, 1
	}
	if err == nil {
		c.l.note(func() { c.l.runs[out.Row.RunID] = max(c.l.runs[out.Row.RunID], out.Row.Counts.Total) })
	}
	if _, err := c.r.HandoffTask(ctx, id, hub.HandoffInput{AgentID: agent, ToAgent: someAgents[0]}); err == nil && c.rng.IntN(2) == 0 {
		_, _ = c.r.AcceptTask(ctx, id, hub.OfferInput{AgentID: someAgents[0]})
	}
}

// someRun returns a run that was acknowledged, or "".
func (c *client) someRun() (run hub.RunID) {
	c.l.note(func() {
		if all := slices.Sorted(maps.Keys(c.l.runs)); len(all) > 0 {
			run = all[c.rng.IntN(len(all))]
		}
	})
	return run
}

// family opens a task with a subtask and answers the subtask, which ends both in
// one record of two messages.
func (c *client) family(ctx context.Context, agent hub.AgentID) {
	parent := hub.TaskID(0)
	for _, kind := range []hub.Kind{hub.KindTask, hub.KindTaskRequest, hub.KindTaskResult} {
		in := hub.PostInput{FromAgent: agent, Kind: kind, Body: c.name, ParentTaskID: parent}
		if kind == hub.KindTaskResult {
			in.ParentTaskID, in.ReplyTo = 0, parent
		}
		m, err := c.r.tryPost(ctx, in)
		if err != nil {
			return
		}
		parent = m.ID
	}
}

func (c *client) post(ctx context.Context, agent hub.AgentID) {
	in := hub.PostInput{
		FromAgent: agent, Channel: pick(c.rng, someChannels), ThreadID: pick(c.rng, someThreads), Body: fmt.Sprint(c.name, "/", c.n),
		Kind: pick(c.rng, []hub.Kind{hub.KindChat, hub.KindChat, hub.KindTask, hub.KindTaskRequest, hub.KindTaskResult, hub.KindArtifact}),
	}
	if c.rng.IntN(3) == 0 {
		in.ToAgent = pick(c.rng, someAgents)
	}
	if in.Kind.OpensTask() && c.rng.IntN(2) == 0 {
		in.ParentTaskID = hub.TaskID(c.rng.IntN(60) + 1)
	}
	if in.Kind == hub.KindTaskResult {
		in.ReplyTo = hub.MessageID(c.rng.IntN(60) + 1)
	}
	key := ""
	if c.rng.IntN(2) == 0 {
		key = fmt.Sprint(c.name, "-", c.n)
		ctx = withKey(ctx, key, "body")
	}
	out, err := c.r.Post(ctx, in)
	if err != nil {
		return
	}
	m, err := out.Row.Decode()
	if err != nil {
		c.r.t.Errorf("row %s: %v", out.Row, err)
		return
	}
	c.l.note(func() {
		c.l.messages[m.ID] = string(out.Row)
		if key != "" {
			c.l.keyed[key] = keyedPost{in, string(out.Row)}
		}
	})
}

// check compares a hub with what clients of an earlier one were promised.
func (l *ledger) check(t *testing.T, r *rig) {
	t.Helper()
	ctx := asOperator(t.Context())
	for id, want := range l.messages {
		if row, err := r.Message(ctx, id, ""); err != nil || string(row) != want {
			t.Errorf("acknowledged message %d: %s, %v\nwant %s", id, row, err, want)
		}
	}
	for name := range l.channels {
		if ok, err := r.knownChannel(name); err != nil || !ok {
			t.Errorf("acknowledged channel %s: %v, %v", name, ok, err)
		}
	}
	for id, tasks := range l.runs {
		if run, err := r.Run(asOperator(context.Background()), id, ""); err != nil || run.Counts.Total < tasks {
			t.Errorf("acknowledged run %s of %d tasks: %+v, %v", id, tasks, run, err)
		}
	}
	for name := range l.projects {
		if _, err := r.view.FindProject(name); err != nil {
			t.Errorf("acknowledged project %s: %v", name, err)
		}
	}
	for id, want := range l.rooms {
		got, err := r.view.Room(id)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("acknowledged room %s: %+v, %v, want %+v", id, got, err, want)
		}
		if ok, err := r.knownChannel(want.Channel); err != nil || !ok {
			t.Errorf("the channel of acknowledged room %s: %v, %v", id, ok, err)
		}
	}
	for id, want := range l.memories {
		seq, _ := core.SeqOf(core.PrefixMemory, string(id))
		got, err := r.view.Memory(seq)
		if want.ReplacedAt == nil {
			got.ReplacedAt = nil // by a later one
		}
		if err != nil || !reflect.DeepEqual(got.Memory, want) {
			t.Errorf("acknowledged memory %s: %+v, %v, want %+v", id, got.Memory, err, want)
		}
	}
	for agent, incarnation := range l.sessions {
		if row, err := r.view.AgentRow(agent); err != nil || row == nil || row.Session.Incarnation < incarnation {
			t.Errorf("acknowledged session %d of %s: %+v, %v", incarnation, agent, row, err)
		}
	}
	for id := range l.done {
		if task, err := r.Task(ctx, id, ""); err != nil || task.Status != hub.TaskDone {
			t.Errorf("acknowledged completion of %d: %+v, %v", id, task, err)
		}
	}
	claims, _, err := r.Claims(ctx, hub.LeasesQuery{Limit: 1000})
	if err != nil {
		t.Fatalf("claims: %v", err)
	}
	byKey := map[hub.ClaimKey]hub.Claim{}
	for _, c := range claims {
		byKey[c.ClaimKey] = c
	}
	for key, want := range l.granted {
		if got := byKey[key]; got.Fence < want.Fence || got.Fence == want.Fence && got.OwnerAgentID != want.OwnerAgentID {
			t.Errorf("acknowledged grant of %s: fence %d of %s, want %d of %s", key, got.Fence, got.OwnerAgentID, want.Fence, want.OwnerAgentID)
		}
	}
	for key, fence := range l.released {
		if got := byKey[key]; got.Fence < fence || got.Fence == fence && got.ReleasedAt == nil {
			t.Errorf("acknowledged release of %s: %+v", key, got)
		}
	}
	for key, p := range l.keyed {
		out, err := r.Post(withKey(t.Context(), key, "body"), p.in)
		if err != nil || !out.Replayed || string(out.Row) != p.row {
			t.Errorf("repeated post %s: %s, replayed %v, %v", key, out.Row, out.Replayed, err)
		}
	}
	if n, err := r.CreateChannel(t.Context(), hub.ChannelInput{Name: "numbering"}); err != nil || !n.Created {
		t.Errorf("a new channel: %+v, %v", n, err)
	}
	m := r.say("new", "numbering", "x")
	g := r.claim("new", "numbering", 60)
	for id := range l.messages {
		if m.ID <= id {
			t.Errorf("new message %d is not above the acknowledged %d", m.ID, id)
		}
	}
	for _, was := range l.granted {
		if g.Row.Fence <= was.Fence {
			t.Errorf("new fence %d is not above the acknowledged %d", g.Row.Fence, was.Fence)
		}
	}
}
