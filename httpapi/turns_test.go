package httpapi

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"hubcli/hub"
	"hubcli/internal/require"
)

// waitingFor takes a turn on a goroutine of its own.
func waitingFor(ctx context.Context, t *turns, agent hub.AgentID, bytes int64) <-chan error {
	got := make(chan error, 1)
	go func() { got <- t.take(ctx, agent, bytes) }()
	synctest.Wait()
	return got
}

func has(got <-chan error) bool {
	synctest.Wait()
	select {
	case err := <-got:
		return err == nil
	default:
		return false
	}
}

func TestTurnsGoInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, ctx := newTurns(), t.Context()
		for range agentTurns {
			require.NoError(t, turns.take(ctx, "a", 0))
		}
		first, second := waitingFor(ctx, turns, "a", 0), waitingFor(ctx, turns, "a", 0)
		require.NoError(t, turns.take(ctx, "b", 0)) // others do not wait
		turns.give("b", 0)
		turns.give("a", 0)
		if !has(first) || has(second) {
			t.Fatal("the turn did not go to the call that came first, and to it alone")
		}
		for range agentTurns {
			turns.give("a", 0)
		}
		if !has(second) {
			t.Fatal("the second call has no turn")
		}
		turns.give("a", 0)
		if n := len(turns.lines); n != 0 {
			t.Errorf("%d lines are left of agents without a call", n)
		}
	})
}

// TestLargeCallsTakeMoreOfATurn: large bodies are under way one after the other, and a
// small call does not overtake one that waits.
func TestLargeCallsTakeMoreOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, ctx := newTurns(), t.Context()
		require.NoError(t, turns.take(ctx, "a", 10*agentTurnBytes)) // one alone may be larger
		large, small := waitingFor(ctx, turns, "a", agentTurnBytes), waitingFor(ctx, turns, "a", 1)
		if has(large) || has(small) {
			t.Fatal("a call overtook a large one")
		}
		turns.give("a", 10*agentTurnBytes)
		if !has(large) || has(small) {
			t.Fatal("the large call did not come next, or not alone")
		}
		turns.give("a", agentTurnBytes)
		if !has(small) {
			t.Fatal("the small call has no turn")
		}
		turns.give("a", 1)
	})
}

func TestTurnThatDoesNotComeIsOverloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns()
		for range agentTurns {
			require.NoError(t, turns.take(t.Context(), "a", 0))
		}
		gone, cancel := context.WithCancel(t.Context())
		left := waitingFor(gone, turns, "a", 0)
		late := waitingFor(t.Context(), turns, "a", 0)
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the call of a client that left got %v", err)
		}
		if err := <-late; !errors.Is(err, &hub.Error{Code: hub.CodeOverloaded}) {
			t.Errorf("after %v a call got %v, want overloaded", turnWait, err)
		}
		for range agentTurns {
			turns.give("a", 0)
		}
		if n := len(turns.lines); n != 0 {
			t.Errorf("%d lines are left", n)
		}
	})
}

func TestTooManyWaitingCallsAreRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range agentTurns {
			require.NoError(t, turns.take(ctx, "calls", 0))
			require.NoError(t, turns.take(ctx, "bytes", 0))
		}
		for range agentWaiting {
			go func() { _ = turns.take(ctx, "calls", 0) }()
		}
		for range 2 {
			go func() { _ = turns.take(ctx, "bytes", agentWaitingBytes/2) }()
		}
		synctest.Wait()
		for agent, bytes := range map[hub.AgentID]int64{"calls": 0, "bytes": 1} {
			if err := turns.take(ctx, agent, bytes); !errors.Is(err, &hub.Error{Code: hub.CodeOverloaded}) {
				t.Errorf("%s: a call beyond the bound got %v, want overloaded", agent, err)
			}
		}
	})
}

// TestBodiesOfAllAgentsAreBounded: many agents with long calls do not fill the memory. Short
// calls have room beside them.
func TestBodiesOfAllAgentsAreBounded(t *testing.T) {
	const long, agents = 8 << 20, allBytes / (8 << 20)
	turns, ctx := newTurns(), t.Context()
	name := func(i int) hub.AgentID { return hub.AgentID(fmt.Sprint("agent-", i)) }
	for i := range agents {
		require.NoError(t, turns.take(ctx, name(i), long))
	}
	if err := turns.take(ctx, name(agents), long); !errors.Is(err, &hub.Error{Code: hub.CodeOverloaded}) {
		t.Errorf("a long call beyond the bound got %v, want overloaded", err)
	}
	require.NoError(t, turns.take(ctx, name(agents), shortBody))
	turns.give(name(0), long)
	require.NoError(t, turns.take(ctx, name(agents+1), long))
	if n := len(turns.lines); n != agents+1 {
		t.Errorf("%d agents have a call under way, want %d", n, agents+1)
	}
}

// TestTurnsProperties plays calls that come, leave and end: no agent has more under way than
// its bounds, a call waits only while they are reached, and nothing is left at the end.
func TestTurnsProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		turns := newTurns()
		type call struct {
			bytes int64
			w     *turnWaiter
			leave func()
		}
		var calls []*call // in the order of their arrival
		granted := func(c *call) bool {
			if c.w == nil {
				return true
			}
			select {
			case <-c.w.granted:
				return true
			default:
				return false
			}
		}
		end := func(i int) {
			c := calls[i]
			calls = append(calls[:i:i], calls[i+1:]...)
			if c.w != nil && (!granted(c) || rapid.Bool().Draw(rt, "leaves")) {
				c.leave()
			} else {
				turns.give("a", c.bytes)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"come": func(rt *rapid.T) {
				for range rapid.IntRange(1, agentTurns).Draw(rt, "calls") {
					c := &call{bytes: rapid.SampledFrom([]int64{0, 1, agentTurnBytes / 3, agentTurnBytes, 2 * agentTurnBytes}).Draw(rt, "bytes")}
					w, place, err := turns.enter("a", c.bytes)
					if err != nil {
						rt.Skip(err)
					}
					c.w, c.leave = w, func() { turns.leave("a", w, place) }
					calls = append(calls, c)
				}
			},
			"ends": func(rt *rapid.T) {
				if len(calls) == 0 {
					rt.Skip("there is none")
				}
				end(rapid.IntRange(0, len(calls)-1).Draw(rt, "which"))
			},
			"": func(rt *rapid.T) {
				under, bytes, waits := 0, int64(0), false
				for _, c := range calls {
					if !granted(c) {
						if l := turns.lines["a"]; !waits && l.fits(c.bytes) {
							rt.Fatalf("a call of %d bytes waits beside %d calls of %d bytes", c.bytes, under, bytes)
						}
						waits = true
						continue
					}
					if waits {
						rt.Fatal("a call overtook one that came before it")
					}
					under, bytes = under+1, bytes+c.bytes
				}
				if under > agentTurns || under > 1 && bytes > agentTurnBytes {
					rt.Fatalf("%d calls of %d bytes are under way", under, bytes)
				}
			},
		})
		for len(calls) > 0 {
			end(0)
		}
		if len(turns.lines) != 0 || turns.bytes != 0 {
			rt.Fatal(fmt.Sprint("lines are left, or bytes: ", turns.lines, turns.bytes))
		}
	})
}
