package actors

import (
	"context"
	"errors"
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
	Which int    // of the keys, tasks, channels and recipients
	N     int    // a TTL or a pause in seconds, or what a text says
	Calls []call // that come at once
}

var (
	modelAgents = []hub.AgentID{"ann", "bob", "cy"}
	modelKinds  = []string{
		"say", "say", "tell", "repeat", "poll", "poll", "claim", "claim", "wait", "wait", "wait", "refresh", "release", "release", "lock", "lock", "unlock", "unlock",
		"open", "work", "ask", "finish", "cancel", "fail", "remember", "forget", "register", "pause", "pause", "stop", "crash",
		"build", "shout", "shout", "archive", "bring", "close", "reopen", "reopen", "keep", "invite", "accept", "accept", "revoke",
		"run", "run", "plan", "start", "start", "join", "finish", "together", "together", "together", "cut", "cut",
	}
)

// TestHubIsAsSimpleAsItsModel plays random histories to a hub and to a simple model of it:
// messages, claims and those who wait for them, locks, tasks and runs, rooms and invites to them, artifacts, memories
// and sessions, with calls that come at once, pauses of up to two days of its time, clean stops and crashes. Each
// answer must be that of the model, and so must all that can be read after each stop and crash. The failing history
// is printed with its seed.
func TestHubIsAsSimpleAsItsModel(t *testing.T) {
	histories, passed := 0, time.Duration(0)
	rapid.Check(t, func(rt *rapid.T) {
		length := rapid.SampledFrom([]int{1, 10, 30, 60, 120}).Draw(rt, "length") // by itself a slice is short
		history := rapid.SliceOfN(rapid.Custom(drawCall), length, length).Draw(rt, "history")
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

// drawCall draws a step.
func drawCall(t *rapid.T) call {
	c := call{Kind: rapid.SampledFrom(modelKinds).Draw(t, "kind"), Agent: drawAgent(t)}
	if c.Kind == "together" || c.Kind == "cut" {
		c.N, c.Calls = rapid.IntRange(0, 2).Draw(t, "n"), drawTogether(t, c.Kind == "cut")
		return c
	}
	c.Which, c.N = rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "which"), drawNumber(t)
	return c
}

func drawAgent(t *rapid.T) hub.AgentID { return rapid.SampledFrom(modelAgents).Draw(t, "agent") }

func drawNumber(t *rapid.T) int {
	return rapid.OneOf(rapid.IntRange(1, 6), rapid.IntRange(1, 60), rapid.IntRange(1, 172_800)).Draw(t, "n")
}

// playHistory says where the hub and its model differ; "": nowhere.
func playHistory(t *testing.T, history []call) string {
	p := &player{r: start(t, newMemStore()), m: newSimpleHub()}
	hall := p.r.newRoom("hall")
	p.room, p.m.rooms = hall.RoomID, []modelRoom{simpleRoom(&hall)}
	for i, c := range append(history, call{Kind: "crash"}) {
		before := p.m.now
		p.m.now, p.m.settled = p.r.engine.Clock.Now().HubMS, p.m.fence
		if p.m.now < before {
			return fmt.Sprintf("step %d, %+v: the time went back by %d ms", i, c, before-p.m.now)
		}
		began, was := p.m.now, p.r.store.written()
		err := p.step(c)
		if err == nil {
			synctest.Wait()
			err = p.m.early()
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
	room    hub.RoomID     // for memories
	written int64          // a hub time up to which the journal goes at least
	keys    map[string]int // of calls that come at once: how many have an idempotency key
}

func (p *player) step(c call) error {
	switch c.Kind {
	case "pause":
		return p.pass(time.Duration(c.N) * time.Second)
	case "stop", "crash":
		return p.again(c.Kind == "crash")
	case "together":
		return p.together(c)
	case "cut":
		return p.cut(c)
	}
	judge := p.call(context.Background(), c)
	synctest.Wait()
	if judge == nil {
		return nil
	}
	return judge(p.m)
}

// call asks the hub. It returns nil if there is nothing to ask for yet.
func (p *player) call(ctx context.Context, c call) judge {
	switch c.Kind {
	case "say", "tell", "shout", "repeat":
		return p.post(ctx, c)
	case "poll":
		return p.poll(ctx, c.Agent)
	case "wait":
		return p.wait(ctx, c)
	case "claim", "refresh", "release":
		return p.claim(ctx, c)
	case "lock", "unlock":
		return p.lock(ctx, c)
	case "open", "start":
		return p.open(ctx, c)
	case "run", "plan":
		return p.begin(ctx, c)
	case "join":
		return p.addTo(ctx, c)
	case "remember", "forget":
		return p.remember(ctx, c)
	case "register":
		return p.register(ctx, c.Agent)
	case "build", "archive", "bring", "close", "reopen":
		return p.rooms(ctx, c)
	case "keep":
		return p.keep(ctx, c)
	case "invite", "accept", "revoke":
		return p.invites(ctx, c)
	default:
		return p.task(ctx, c)
	}
}

// answered compares the code of an answer.
func answered(err error, want hub.Code) error {
	if codeOf(err) != want || err != nil && codeOf(err) == "" {
		return fmt.Errorf("the answer is %q (%v), want %q", codeOf(err), err, want)
	}
	return nil
}

// key is the idempotency key of a call that is repeated.
func (c *call) key() string { return fmt.Sprint("key-", c.Agent, c.Which) }

func (p *player) post(ctx context.Context, c call) judge {
	in := hub.PostInput{FromAgent: c.Agent, Kind: hub.KindChat, Channel: hub.DefaultChannel, Body: fmt.Sprint(c.N)}
	key := ""
	switch c.Kind {
	case "tell":
		in.ToAgent = modelAgents[c.Which%len(modelAgents)]
	case "shout":
		room, _ := latest(p.m.rooms, c.Which)
		in.Channel = room.id.Channel()
		never := 0
		_, _ = p.r.SetGuard(asOperator(ctx), room.id, hub.GuardInput{Hops: &never}) // the model knows nothing of loops
	case "repeat":
		key, in.Body = c.key(), "again"
		ctx = withKey(ctx, key, in.Body)
	}
	out, err := p.r.Post(ctx, in)
	return func(m *simpleHub) error {
		if p.keys[key] > 1 && codeOf(err) == hub.CodeInProgress {
			return nil
		}
		return m.posted(key, &in, &out, err)
	}
}

func (m *simpleHub) posted(key string, in *hub.PostInput, out *hub.Posted, err error) error {
	code := hub.Code("")
	if in.ToAgent == "" && m.closed(in.Channel) {
		code = hub.CodeArchived
	}
	if err := answered(err, code); err != nil || code != "" {
		return err
	}
	row, err := out.Row.Decode()
	if err != nil {
		return err
	}
	_, known := m.keyed[key]
	if known = known && key != ""; known != out.Replayed {
		return fmt.Errorf("replayed is %v, want %v", out.Replayed, known)
	}
	return m.post(key, modelMessage{id: row.ID, from: in.FromAgent, to: in.ToAgent, channel: in.Channel, body: in.Body})
}

// events reads what is new for an agent.
func (p *player) events(ctx context.Context, a hub.AgentID, since hub.MessageID) (rows []modelMessage, next hub.MessageID, err error) {
	page, err := p.r.Events(ctx, hub.EventsQuery{Agent: a, Since: since, Limit: 1000})
	if err != nil {
		return nil, 0, err
	}
	rows, err = chats(page.Rows)
	return rows, page.NextSinceID, err
}

// chats returns messages without the hub's own ones and without notices.
func chats(page []hub.EncodedMessage) (rows []modelMessage, err error) {
	for _, row := range page {
		got, err := row.Decode()
		if err != nil {
			return nil, err
		}
		if got.FromAgent.Reserved() || got.Kind != hub.KindChat {
			continue
		}
		m := modelMessage{id: got.ID, from: got.FromAgent, channel: got.Channel, body: got.Body}
		if got.ToAgent != nil {
			m.to = *got.ToAgent
		}
		rows = append(rows, m)
	}
	return rows, nil
}

// poll reads what is new for an agent.
func (p *player) poll(ctx context.Context, a hub.AgentID) judge {
	since := p.m.read[a]
	rows, next, err := p.events(ctx, a, since)
	return func(m *simpleHub) error {
		if err != nil {
			return err
		}
		if text := unlike(a, rows, m.poll(a, since)); text != "" {
			return errors.New(text)
		}
		m.read[a] = max(m.read[a], next)
		return nil
	}
}

func (p *player) claim(ctx context.Context, c call) judge {
	key, ttl := hub.ClaimKey(fmt.Sprint("key-", c.Which)), min(c.N, hub.MaxTTLSec)
	hold := hub.ClaimHoldInput{OwnerAgentID: c.Agent, AgentID: c.Agent, ClaimKey: key, TTLSec: ttl}
	lease := "claim " + string(key)
	switch c.Kind {
	case "claim":
		g, err := p.r.Claim(ctx, hub.ClaimInput{OwnerAgentID: c.Agent, ClaimKey: key, TTLSec: ttl})
		return func(m *simpleHub) error {
			return m.acquired(lease, c.Agent, ttl, g.Acquired, g.Row.OwnerAgentID, g.Row.Fence, err)
		}
	case "refresh":
		g, err := p.r.RefreshClaim(ctx, hold)
		return func(m *simpleHub) error {
			want, code := m.renew(lease, c.Agent, ttl)
			if err := answered(err, code); err != nil || code != "" {
				return err
			}
			return granted(g.Acquired, true, g.Row.OwnerAgentID, g.Row.Fence, want)
		}
	}
	_, err := p.r.ReleaseClaim(ctx, hold)
	return func(m *simpleHub) error { return m.released(lease, c.Agent, err) }
}

// released judges the answer of ReleaseClaim and ReleaseLock.
func (m *simpleHub) released(key string, a hub.AgentID, err error) error {
	if err := answered(err, m.release(key, a)); err != nil {
		return err
	}
	return m.serve(key)
}

func (p *player) lock(ctx context.Context, c call) judge {
	path, ttl := fmt.Sprint("/src/file-", c.Which), min(c.N, hub.MaxTTLSec)
	lease := "lock " + path
	if c.Kind == "unlock" {
		_, err := p.r.ReleaseLock(ctx, hub.LockHoldInput{AgentID: c.Agent, FilePath: path})
		return func(m *simpleHub) error { return m.released(lease, c.Agent, err) }
	}
	g, err := p.r.Lock(ctx, hub.LockInput{AgentID: c.Agent, FilePath: path, TTLSec: ttl})
	return func(m *simpleHub) error {
		return m.acquired(lease, c.Agent, ttl, g.Acquired, g.Row.AgentID, g.Row.Fence, err)
	}
}

// acquired judges the answer of Claim and Lock.
func (m *simpleHub) acquired(key string, a hub.AgentID, ttl int, got bool, owner hub.AgentID, fence hub.Fence, err error) error {
	if err := answered(err, ""); err != nil {
		return err
	}
	want, acquired, err := m.acquire(key, a, ttl, fence)
	if err != nil {
		return err
	}
	return granted(got, acquired, owner, fence, want)
}

func granted(got, acquired bool, owner hub.AgentID, fence hub.Fence, want modelLease) error {
	if got != acquired || owner != want.owner || fence != want.fence {
		return fmt.Errorf("acquired %v by %s with fence %d, want %v and %+v", got, owner, fence, acquired, want)
	}
	return nil
}

func (p *player) remember(ctx context.Context, c call) judge {
	in := hub.MemoryInput{RoomID: p.room, Key: fmt.Sprint("key-", c.Which), By: c.Agent}
	if c.Kind == "remember" {
		in.Text = fmt.Sprint(c.N)
	}
	_, err := p.r.Remember(ctx, in)
	return func(m *simpleHub) error {
		if want := m.shut(p.room); want != "" && in.Text != "" {
			return answered(err, want)
		}
		return answered(err, m.remember(in.Key, in.Text))
	}
}

func (p *player) register(ctx context.Context, a hub.AgentID) judge {
	out, err := p.r.Register(ctx, hub.RegisterInput{AgentID: a})
	return func(m *simpleHub) error {
		if err := answered(err, ""); err != nil {
			return err
		}
		if was := m.incarnation[a]; out.Row.Incarnation <= was {
			return fmt.Errorf("incarnation %d follows %d", out.Row.Incarnation, was)
		}
		m.incarnation[a] = out.Row.Incarnation
		return nil
	}
}

// again stops the hub, or takes its power away, starts it again and compares all that can be
// read.
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
	now, read, err := p.startAgain(left, before, crash)
	if err != nil {
		return err
	}
	p.m.restart(now)
	if err := p.m.shows(read); err != nil {
		return fmt.Errorf("after a start %w", err)
	}
	return nil
}

// startAgain starts the hub with what it has left, and reads all that can be read. A pause
// lies before, which is no time of the hub.
func (p *player) startAgain(left *memStore, before int64, crash bool) (now int64, read *seen, err error) {
	time.Sleep(time.Hour)
	p.r = start(p.r.t, left)
	synctest.Wait()
	now, earliest, latest := p.r.engine.Clock.Now().HubMS, before, before+1000 // a stop takes a moment
	if crash {
		earliest, latest = p.written, before
	}
	if now < earliest || now > latest {
		return now, nil, fmt.Errorf("the hub goes on at %d ms of its time, want %d to %d", now, earliest, latest)
	}
	read, err = p.look(context.Background())
	return now, read, err
}
