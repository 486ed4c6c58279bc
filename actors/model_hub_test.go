package actors

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// call is one step of a history: something that an agent asks, time that passes, a stop or
// a crash. What its numbers mean depends on the kind.
type call struct {
	Kind  string
	Agent hub.AgentID
	Which int // of the keys, tasks, channels and recipients
	N     int // a TTL or a pause in seconds, or what a text says
}

var (
	modelAgents = []hub.AgentID{"ann", "bob", "cy"}
	modelKinds  = []string{
		"say", "say", "tell", "repeat", "poll", "poll", "claim", "claim", "wait", "wait", "wait", "refresh", "release", "release", "lock", "unlock",
		"open", "work", "ask", "finish", "cancel", "remember", "forget", "register", "pause", "pause", "stop", "crash",
	}
)

// TestHubIsAsSimpleAsItsModel plays random histories to a hub and to a simple model of it:
// messages, claims and those who wait for them, locks, tasks, memories and sessions, with pauses of up to two days of
// its time, clean stops and crashes. Each answer must be that of the model, and so must all
// that can be read after each stop and crash. The failing history is printed with its seed.
func TestHubIsAsSimpleAsItsModel(t *testing.T) {
	calls := rapid.Custom(func(t *rapid.T) call {
		return call{
			Kind: rapid.SampledFrom(modelKinds).Draw(t, "kind"), Agent: rapid.SampledFrom(modelAgents).Draw(t, "agent"),
			Which: rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "which"),
			N:     rapid.OneOf(rapid.IntRange(1, 6), rapid.IntRange(1, 60), rapid.IntRange(1, 172_800)).Draw(t, "n"),
		}
	})
	histories, passed := 0, time.Duration(0)
	rapid.Check(t, func(rt *rapid.T) {
		length := rapid.SampledFrom([]int{1, 10, 30, 60, 120}).Draw(rt, "length") // by itself a slice is short
		history := rapid.SliceOfN(calls, length, length).Draw(rt, "history")
		var failure string
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			failure = playHistory(t, history)
			histories, passed = histories+1, passed+time.Since(began)
		})
		if failure != "" {
			rt.Fatal(failure)
		}
	})
	t.Logf("%d histories, in which %.0f seconds passed", histories, passed.Seconds())
}

// playHistory says where the hub and its model differ; "": nowhere.
func playHistory(t *testing.T, history []call) string {
	p := &player{r: start(t, newMemStore()), m: newSimpleHub()}
	p.room = p.r.newRoom("hall").RoomID
	for i, c := range append(history, call{Kind: "crash"}) {
		before := p.m.now
		p.m.now, p.m.settled = p.r.engine.Clock.Now().HubMS, p.m.fence
		if p.m.now < before {
			return fmt.Sprintf("step %d, %+v: the time went back by %d ms", i, c, before-p.m.now)
		}
		began, was := p.m.now, p.r.store.written()
		err := p.step(c)
		if err == nil {
			err = p.early()
		}
		if err != nil {
			return fmt.Sprintf("step %d, %+v: %v", i, c, err)
		}
		if p.r.store.written() > was {
			p.written = began
		}
	}
	p.r.stop()
	return ""
}

// player plays a history to a hub and to a model.
type player struct {
	r       *rig
	m       *simpleHub
	room    hub.RoomID
	written int64 // a hub time up to which the journal goes at least
	opened  []hub.TaskID
}

func (p *player) step(c call) error {
	ctx := context.Background()
	switch c.Kind {
	case "say", "tell", "repeat":
		return p.post(ctx, c)
	case "poll":
		return p.poll(ctx, c.Agent)
	case "wait":
		return p.wait(ctx, c)
	case "claim", "refresh", "release":
		return p.claim(ctx, c)
	case "lock", "unlock":
		return p.lock(ctx, c)
	case "open", "work", "ask", "finish", "cancel":
		return p.task(ctx, c)
	case "remember", "forget":
		return p.remember(ctx, c)
	case "register":
		return p.register(ctx, c.Agent)
	case "pause":
		return p.pass(time.Duration(c.N) * time.Second)
	default:
		return p.again(c.Kind == "crash")
	}
}

// answered compares the code of an answer.
func answered(err error, want hub.Code) error {
	if codeOf(err) != want || err != nil && codeOf(err) == "" {
		return fmt.Errorf("the answer is %q (%v), want %q", codeOf(err), err, want)
	}
	return nil
}

func (p *player) post(ctx context.Context, c call) error {
	in := hub.PostInput{FromAgent: c.Agent, Kind: hub.KindChat, Channel: hub.DefaultChannel, Body: fmt.Sprint(c.N)}
	key := ""
	if c.Kind == "tell" {
		in.ToAgent = modelAgents[c.Which%len(modelAgents)]
	}
	if c.Kind == "repeat" {
		key, in.Body = fmt.Sprint("key-", c.Agent, c.Which), "again"
		ctx = withKey(ctx, key, in.Body)
	}
	out, err := p.r.Post(ctx, in)
	if err := answered(err, ""); err != nil {
		return err
	}
	row, err := out.Row.Decode()
	if err != nil {
		return err
	}
	_, known := p.m.keyed[key]
	if known = known && key != ""; known != out.Replayed {
		return fmt.Errorf("replayed is %v, want %v", out.Replayed, known)
	}
	return p.m.post(key, modelMessage{id: row.ID, from: in.FromAgent, to: in.ToAgent, channel: in.Channel, body: in.Body})
}

// poll reads what is new for an agent. The hub's own messages are not compared.
func (p *player) poll(ctx context.Context, a hub.AgentID) error {
	page, err := p.r.Events(ctx, hub.EventsQuery{Agent: a, Since: p.m.read[a], Limit: 1000})
	if err != nil {
		return err
	}
	want := p.m.poll(a, page.NextSinceID)
	for _, row := range page.Rows {
		got, err := row.Decode()
		if err != nil {
			return err
		}
		if got.FromAgent.Reserved() || got.Kind != hub.KindChat {
			continue
		}
		m := modelMessage{id: got.ID, from: got.FromAgent, channel: got.Channel, body: got.Body}
		if got.ToAgent != nil {
			m.to = *got.ToAgent
		}
		if len(want) == 0 || want[0] != m {
			return fmt.Errorf("%s got %+v, and the next ones are %+v", a, m, want)
		}
		want = want[1:]
	}
	if len(want) > 0 {
		return fmt.Errorf("%s did not get %+v", a, want)
	}
	return nil
}

func (p *player) claim(ctx context.Context, c call) error {
	key, ttl := hub.ClaimKey(fmt.Sprint("key-", c.Which)), min(c.N, hub.MaxTTLSec)
	hold := hub.ClaimHoldInput{OwnerAgentID: c.Agent, AgentID: c.Agent, ClaimKey: key, TTLSec: ttl}
	switch c.Kind {
	case "claim":
		g, err := p.r.Claim(ctx, hub.ClaimInput{OwnerAgentID: c.Agent, ClaimKey: key, TTLSec: ttl})
		if err := answered(err, ""); err != nil {
			return err
		}
		want, acquired, err := p.m.acquire("claim "+string(key), c.Agent, ttl, g.Row.Fence)
		if err != nil {
			return err
		}
		return granted(g.Acquired, acquired, g.Row.OwnerAgentID, g.Row.Fence, want)
	case "refresh":
		g, err := p.r.RefreshClaim(ctx, hold)
		want, code := p.m.renew("claim "+string(key), c.Agent, ttl)
		if err := answered(err, code); err != nil || code != "" {
			return err
		}
		return granted(g.Acquired, true, g.Row.OwnerAgentID, g.Row.Fence, want)
	}
	_, err := p.r.ReleaseClaim(ctx, hold)
	if err := answered(err, p.m.release("claim "+string(key), c.Agent)); err != nil {
		return err
	}
	return p.released("claim " + string(key))
}

func (p *player) lock(ctx context.Context, c call) error {
	path, ttl := fmt.Sprint("/src/file-", c.Which), min(c.N, hub.MaxTTLSec)
	if c.Kind == "unlock" {
		_, err := p.r.ReleaseLock(ctx, hub.LockHoldInput{AgentID: c.Agent, FilePath: path})
		return answered(err, p.m.release("lock "+path, c.Agent))
	}
	g, err := p.r.Lock(ctx, hub.LockInput{AgentID: c.Agent, FilePath: path, TTLSec: ttl})
	if err := answered(err, ""); err != nil {
		return err
	}
	want, acquired, err := p.m.acquire("lock "+path, c.Agent, ttl, g.Row.Fence)
	if err != nil {
		return err
	}
	return granted(g.Acquired, acquired, g.Row.AgentID, g.Row.Fence, want)
}

func granted(got, acquired bool, owner hub.AgentID, fence hub.Fence, want modelLease) error {
	if got != acquired || owner != want.owner || fence != want.fence {
		return fmt.Errorf("acquired %v by %s with fence %d, want %v and %+v", got, owner, fence, acquired, want)
	}
	return nil
}

var modelMoves = map[string]hub.TaskStatus{
	"work": hub.TaskWorking, "ask": hub.TaskInputRequired, "finish": hub.TaskDone, "cancel": hub.TaskCancelled,
}

func (p *player) task(ctx context.Context, c call) error {
	if c.Kind == "open" {
		row, err := p.r.tryPost(ctx, hub.PostInput{FromAgent: c.Agent, Channel: hub.DefaultChannel, Kind: hub.KindTask, Body: fmt.Sprint(c.N)})
		if err := answered(err, ""); err != nil {
			return err
		}
		p.opened = append(p.opened, row.ID)
		p.m.tasks[row.ID] = modelTask{status: hub.TaskOpen, version: 1}
		return nil
	}
	if len(p.opened) == 0 {
		return nil
	}
	id, to := p.opened[c.Which%len(p.opened)], modelMoves[c.Kind]
	got, err := p.r.UpdateTask(ctx, id, hub.TaskUpdateInput{AgentID: c.Agent, Status: &to})
	want, code := p.m.move(id, c.Agent, to)
	if err := answered(err, code); err != nil || code != "" {
		return err
	}
	if is := simpleTask(&got.Row); is != want {
		return fmt.Errorf("task %d is %+v, want %+v", id, is, want)
	}
	return nil
}

func simpleTask(t *hub.Task) modelTask {
	m := modelTask{status: t.Status, version: t.Version}
	if t.Assignee != nil {
		m.assignee = *t.Assignee
	}
	return m
}

func (p *player) remember(ctx context.Context, c call) error {
	in := hub.MemoryInput{RoomID: p.room, Key: fmt.Sprint("key-", c.Which), By: c.Agent}
	if c.Kind == "remember" {
		in.Text = fmt.Sprint(c.N)
	}
	_, err := p.r.Remember(ctx, in)
	return answered(err, p.m.remember(in.Key, in.Text))
}

func (p *player) register(ctx context.Context, a hub.AgentID) error {
	out, err := p.r.Register(ctx, hub.RegisterInput{AgentID: a})
	if err := answered(err, ""); err != nil {
		return err
	}
	if was := p.m.incarnation[a]; out.Row.Incarnation <= was {
		return fmt.Errorf("incarnation %d follows %d", out.Row.Incarnation, was)
	}
	p.m.incarnation[a] = out.Row.Incarnation
	return nil
}

// again stops the hub, or takes its power away, starts it again and compares all that can be
// read. A pause lies between, which is no time of the hub.
func (p *player) again(crash bool) error {
	before := p.r.engine.Clock.Now().HubMS
	var left *memStore
	if crash {
		left = p.r.crash()
	} else {
		p.r.stop()
		left = p.r.store.restarted()
	}
	synctest.Wait()
	if err := p.cutOff(crash); err != nil {
		return err
	}
	time.Sleep(time.Hour)
	p.r = start(p.r.t, left)
	synctest.Wait()
	now, earliest, latest := p.r.engine.Clock.Now().HubMS, before, before+1000 // a stop takes a moment
	if crash {
		earliest, latest = p.written, before
	}
	if now < earliest || now > latest {
		return fmt.Errorf("the hub goes on at %d ms of its time, want %d to %d", now, earliest, latest)
	}
	p.m.restart(now)
	return p.compare(context.Background())
}

// compare compares all that can be read.
func (p *player) compare(ctx context.Context) error {
	held := map[string]modelLease{}
	claims, _, err := p.r.Claims(ctx, hub.LeasesQuery{ActiveOnly: true, Limit: 1000})
	if err != nil {
		return err
	}
	now := p.r.engine.Clock.Now()
	deadline := func(at hub.Time) int64 { return now.HubMS + int64(at-now.Wall) }
	for _, c := range claims {
		held["claim "+string(c.ClaimKey)] = modelLease{owner: c.OwnerAgentID, fence: c.Fence, deadline: deadline(c.ExpiresAt)}
	}
	locks, _, err := p.r.Locks(ctx, hub.LeasesQuery{ActiveOnly: true, Limit: 1000})
	if err != nil {
		return err
	}
	for _, l := range locks {
		held["lock "+l.FilePath] = modelLease{owner: l.AgentID, fence: l.Fence, deadline: deadline(l.ExpiresAt)}
	}
	want := p.m.held()
	for key, l := range want {
		l.graced = false // is not shown
		want[key] = l
	}
	if text := differs("the lease", held, want); text != "" {
		return fmt.Errorf("after a start %s", text)
	}
	tasks := map[hub.TaskID]modelTask{}
	for _, id := range p.opened {
		t, err := p.r.Task(ctx, id, "ann")
		if err != nil {
			return err
		}
		tasks[id] = simpleTask(&t)
	}
	if text := differs("task", tasks, p.m.tasks); text != "" {
		return fmt.Errorf("after a start %s", text)
	}
	rows, _, err := p.r.Recall(ctx, hub.MemoryQuery{RoomID: p.room, Limit: 1000})
	if err != nil {
		return err
	}
	memories := map[string]string{}
	for _, row := range rows {
		memories[row.Key] = row.Text
	}
	if text := differs("the memory", memories, p.m.memories); text != "" {
		return fmt.Errorf("after a start %s", text)
	}
	for _, a := range modelAgents {
		read := p.m.read[a]
		p.m.read[a] = 0
		err := p.poll(ctx, a)
		p.m.read[a] = read
		if err != nil {
			return fmt.Errorf("after a start %w", err)
		}
	}
	return nil
}
