package actors

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
	"hubcli/internal/require"
)

// One owner gets at most its share of what may be under way; the others go on,
// and every permit comes back.
func TestOverloadedBeyondShareOfOwner(t *testing.T) {
	r := start(t, newMemStore())
	gate := make(chan struct{})
	r.store.setGate(gate)
	const share = 8192 / 4 // of one owner
	var wg sync.WaitGroup
	var refused atomic.Int32
	for range share + 50 {
		wg.Go(func() {
			_, err := r.tryPost(context.Background(), hub.PostInput{FromAgent: "ann", Body: "x"})
			switch codeOf(err) {
			case hub.CodeOverloaded:
				refused.Add(1)
			case "":
			default:
				t.Errorf("unexpected %v", err)
			}
		})
	}
	for r.underway() < share || refused.Load() < 50 {
		time.Sleep(time.Millisecond)
	}
	_, err := r.tryPost(t.Context(), hub.PostInput{FromAgent: "ann", Body: "x"})
	wantCode(t, err, hub.CodeOverloaded)
	var e *hub.Error
	if !errors.As(err, &e) || e.RetryAfter == 0 {
		t.Error("overloaded without Retry-After")
	}
	other := async(func() (hub.Message, error) {
		return r.tryPost(context.Background(), hub.PostInput{FromAgent: "ann", ToAgent: "bob", Body: "x"})
	})
	for r.underway() <= share {
		time.Sleep(time.Millisecond)
	}
	close(gate)
	wg.Wait()
	if got := within(t, other); got.err != nil {
		t.Errorf("another owner's command: %v", got.err)
	}
	if n := refused.Load(); n != 50 {
		t.Errorf("%d refused, want 50", n)
	}
	r.idle()
}

// A command whose caller has gone, or that waited too long, is dropped before it
// decides.
func TestExpiredCommandIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		hold := make(chan struct{})
		blocked := async(func() (struct{}, error) {
			_, _, err := engine.Submit(context.Background(), r.engine, engine.Command[*core.Tasks, struct{}, struct{}]{
				Owner:  core.TasksOwner(),
				Decide: func(*core.Tasks, core.Now) (core.Decision[struct{}], error) { <-hold; return nothing(), nil },
				Answer: func(struct{}, *core.Record) struct{} { return struct{}{} },
			})
			return struct{}{}, err
		})
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		task := hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "x"}
		gone := async(func() (hub.Message, error) { return r.tryPost(withKey(ctx, "k", "b"), task) })
		late := async(func() (hub.Message, error) { return r.tryPost(t.Context(), task) })
		synctest.Wait()
		leave()
		wantCode(t, (<-gone).err, hub.CodeTimedOut)
		time.Sleep(engine.CommandLife + time.Second)
		close(hold)
		wantCode(t, (<-late).err, hub.CodeTimedOut)
		if b := <-blocked; b.err != nil {
			t.Errorf("the command that held them up: %v", b.err)
		}
		synctest.Wait()
		if head := r.store.Head(); head.Seq != 0 {
			t.Errorf("%d records of dropped commands", head.Seq)
		}
		if m, err := r.tryPost(withKey(t.Context(), "k", "b"), task); err != nil || m.ID != 1 {
			t.Errorf("the dropped call again: %+v, %v", m, err)
		}
		r.idle()
		r.stop()
	})
}

// After a storm of calls of every kind that end in every way, no permit, key or
// parked call is left.
func TestPermitsComeBackOnEveryPath(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	broken := func(o *Options) { // every tenth fact of a kind, the first time that it is applied
		o.ApplyHook = func(_ core.Owner, f core.Fact) {
			mu.Lock()
			defer mu.Unlock()
			if name := fmt.Sprintf("%T %s", f, core.EncodeFact(f).Data); !seen[name] {
				if seen[name] = true; len(seen)%10 == 0 {
					panic("apply is broken")
				}
			}
		}
	}
	store := newMemStore()
	store.delay = randomDelay(1, 2*time.Millisecond)
	r := start(t, store, broken)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			agent := hub.AgentID(fmt.Sprintf("agent%d", w%5))
			for i := range 60 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(6000))*time.Microsecond)
				if rng.IntN(2) == 0 {
					ctx = withKey(ctx, fmt.Sprint("k", rng.IntN(20)), fmt.Sprint(rng.IntN(2)))
				}
				key := hub.ClaimKey(fmt.Sprint("c", rng.IntN(3)))
				switch i % 9 {
				case 0:
					_, _ = r.Register(ctx, hub.RegisterInput{AgentID: agent})
				case 1:
					_, _ = r.tryPost(ctx, hub.PostInput{FromAgent: agent, Body: strings.Repeat("x", rng.IntN(2000))})
				case 2:
					_, _ = r.tryPost(ctx, hub.PostInput{FromAgent: agent, Kind: hub.KindTask, Body: "t", ParentTaskID: hub.TaskID(rng.IntN(50))})
				case 3:
					_, _ = r.Claim(ctx, hub.ClaimInput{OwnerAgentID: agent, ClaimKey: key, TTLSec: 60, WaitSec: float64(rng.IntN(2)) / 200})
				case 4:
					_, _ = r.ReleaseClaim(ctx, hub.ClaimHoldInput{AgentID: agent, ClaimKey: key, Fence: hub.Fence(rng.IntN(3))})
				case 5:
					_, _ = r.CompleteTask(ctx, hub.TaskID(rng.IntN(50)), hub.CompleteInput{AgentID: agent})
				case 6:
					_, _ = r.CreateChannel(ctx, hub.ChannelInput{Name: hub.ChannelName(fmt.Sprint("ch", rng.IntN(100)))})
				case 7:
					_, _ = r.Events(ctx, hub.EventsQuery{Agent: agent, Since: hub.MaxMessageID, Limit: 10, Wait: time.Millisecond})
				case 8:
					_, _, _ = engine.Submit(hub.WithCaller(ctx, &hub.Caller{}), r.engine, engine.Command[*core.Tasks, struct{}, struct{}]{
						Owner: core.TasksOwner(), Agent: agent,
						Decide: func(*core.Tasks, core.Now) (core.Decision[struct{}], error) { panic("decide is broken") },
						Answer: func(struct{}, *core.Record) struct{} { return struct{}{} },
					})
				}
				cancel()
			}
		})
	}
	wg.Wait()
	r.idle()
	if _, b, keys := r.engine.Underway(); b != 0 || keys != 0 {
		t.Errorf("%d bytes are counted, %d keys are held", b, keys)
	}
	// A call whose caller has gone leaves its place in a later turn.
	require.Eventually(t, "no parked call is counted", func() bool { return r.Counts().ParkedPolls == 0 })
	owners, _, _ := r.engine.DebugOwners(mostOwners)
	for _, o := range owners {
		if o.Commands != 0 || o.Bytes != 0 {
			t.Errorf("%s %s has %d commands of %d bytes", o.Kind, o.Name, o.Commands, o.Bytes)
		}
	}
	if q := r.Quarantined(); len(q) != 0 {
		t.Errorf("quarantined %+v", q)
	}
}

// Polls that name no agent do not share one agent's limit. They have a limit of their own, so
// that they cannot take all connections. It does not count for the operator.
func TestParkedPollLimitIsPerAgent(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		poll := func(agent hub.AgentID) <-chan result[hub.Page] {
			c := async(func() (hub.Page, error) {
				if agent == "" {
					return r.Messages(t.Context(), hub.MessagesQuery{Channel: "general", Limit: 10, Wait: time.Second})
				}
				return r.Events(t.Context(), hub.EventsQuery{Agent: agent, Limit: 10, Wait: time.Second})
			})
			synctest.Wait()
			return c
		}
		for range hub.MaxParkedPerAgent {
			poll("ann")
		}
		wantCode(t, (<-poll("ann")).err, hub.CodeTooManyPolls)
		parked(t, poll("bob"))
		for range hub.MaxParkedOfNobody {
			parked(t, poll(""))
		}
		wantCode(t, (<-poll("")).err, hub.CodeTooManyPolls)
		parked(t, async(func() (hub.Page, error) { // it comes from an agent, though it is no poll of that agent
			ctx := hub.WithCaller(t.Context(), &hub.Caller{Relay: "cy", Acts: "cy"})
			return r.Messages(ctx, hub.MessagesQuery{Channel: "general", Limit: 10, Wait: time.Second})
		}))
		for range hub.MaxParkedPerAgent + 1 {
			parked(t, async(func() (hub.Page, error) {
				ctx := hub.WithCaller(t.Context(), &hub.Caller{Operator: true, Acts: hub.AgentOperator})
				return r.Log(ctx, hub.LogQuery{Limit: 10, Direct: true, SinceID: r.view.Ring.Visible(), Wait: time.Second})
			}))
		}
		parked(t, async(func() (hub.Page, error) {
			return r.Log(asOperator(t.Context()), hub.LogQuery{Limit: 10, SinceID: r.view.Ring.Visible(), Wait: time.Second})
		}))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := r.Counts().ParkedPolls; n != 0 {
			t.Errorf("%d parked", n)
		}
	})
}

// Calls that wait leave connections to those that do not, whatever agents they name.
func TestParkedPollLimitOfAllAgents(t *testing.T) {
	const most = 20
	bubble(t, func(t *testing.T, r *rig) {
		r.view.Directory.MostParked = most
		poll := func(ctx context.Context, i int) <-chan result[hub.Page] {
			c := async(func() (hub.Page, error) {
				return r.Events(ctx, hub.EventsQuery{Agent: hub.AgentID(fmt.Sprint("agent-", i)), Limit: 10, Wait: time.Second})
			})
			synctest.Wait()
			return c
		}
		for i := range most {
			parked(t, poll(t.Context(), i))
		}
		wantCode(t, (<-poll(t.Context(), most)).err, hub.CodeTooManyPolls)
		parked(t, poll(asOperator(t.Context()), most))
		time.Sleep(2 * time.Second)
		parked(t, poll(t.Context(), most))
		time.Sleep(2 * time.Second)
		synctest.Wait()
	})
}
