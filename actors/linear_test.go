package actors

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"hubcli/hub"
)

// leaseOp is what a client asked about one key.
type leaseOp struct {
	kind  string // claim, refresh, release
	key   hub.ClaimKey
	agent hub.AgentID
	fence hub.Fence // 0: not checked
}

// leaseResult is the answer to a leaseOp. A replayed answer says only that the
// operation had its effect.
type leaseResult struct {
	code     hub.Code
	replayed bool
	acquired bool
	holder   hub.AgentID
	fence    hub.Fence
}

// leaseModel is a lease that never expires: its holder, and the fence of the
// grant. high is the highest fence that the key has had.
type leaseModel struct {
	holder      hub.AgentID
	fence, high hub.Fence
}

func (m leaseModel) step(op leaseOp, got leaseResult) (bool, leaseModel) {
	free := m.holder == ""
	mine := m.holder == op.agent
	switch {
	case op.kind == "claim" && got.replayed:
		if free { // the fence is not known: the row has changed since
			return true, leaseModel{holder: op.agent, fence: -1, high: m.high}
		}
		return mine, m
	case op.kind == "claim" && free:
		ok := got.code == "" && got.acquired && got.holder == op.agent && got.fence > m.high
		return ok, leaseModel{op.agent, got.fence, got.fence}
	case op.kind == "claim":
		return got.code == "" && got.acquired == mine && got.holder == m.holder && m.is(got.fence), m
	case !mine: // refresh and release of a key that this agent does not hold
		return got.code == hub.CodeNotHolder, m
	case op.fence != 0 && m.fence == -1 && got.code == hub.CodeStaleFence:
		return true, m
	case op.fence != 0 && !m.is(op.fence):
		return got.code == hub.CodeStaleFence, m
	case op.kind == "refresh":
		return got.code == "" && (got.replayed || got.acquired && m.is(got.fence)), m
	default:
		return got.code == "" && (got.replayed || m.is(got.fence)), leaseModel{high: m.high}
	}
}

func (m leaseModel) is(f hub.Fence) bool { return m.fence == -1 || f == m.fence }

var leaseLaw = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[hub.ClaimKey][]porcupine.Operation{}
		for _, op := range history {
			k := op.Input.(leaseOp).key
			byKey[k] = append(byKey[k], op)
		}
		var parts [][]porcupine.Operation
		for _, p := range byKey {
			parts = append(parts, p)
		}
		return parts
	},
	Init: func() any { return leaseModel{} },
	Step: func(state, input, output any) (bool, any) {
		return state.(leaseModel).step(input.(leaseOp), output.(leaseResult))
	},
}

// Claims, refreshes and releases by many clients are linearizable, even if
// clients lose an answer and repeat the call with its idempotency key. A claim
// has at most one holder at any moment, and its fence rises with every grant.
func TestLeasesAreLinearizable(t *testing.T) {
	for seed := range uint64(4) {
		store := newMemStore()
		store.delay = randomDelay(seed, 200*time.Microsecond)
		r := start(t, store)
		var mu sync.Mutex
		var history []porcupine.Operation
		begun := time.Now()
		var clients sync.WaitGroup
		for c := range 6 {
			clients.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(c)))
				fences := map[hub.ClaimKey]hub.Fence{}
				for i := range 40 {
					op := leaseOp{
						kind: pick(rng, []string{"claim", "claim", "refresh", "release", "release"}),
						key:  hub.ClaimKey(fmt.Sprint("k", rng.IntN(2))), agent: hub.AgentID(fmt.Sprint("agent", c%4)),
					}
					if op.kind != "claim" && rng.IntN(3) == 0 {
						op.fence = fences[op.key]
					}
					call := time.Since(begun).Nanoseconds()
					got := perform(r, rng, op, fmt.Sprint(c, "-", i))
					if got.acquired && got.holder == op.agent {
						fences[op.key] = got.fence
					}
					mu.Lock()
					history = append(history, porcupine.Operation{ClientId: c, Input: op, Output: got, Call: call, Return: time.Since(begun).Nanoseconds()})
					mu.Unlock()
				}
			})
		}
		clients.Wait()
		r.stop()
		if res := porcupine.CheckOperationsTimeout(leaseLaw, history, 20*time.Second); res != porcupine.Ok {
			t.Errorf("seed %d: %d operations are not linearizable: %s", seed, len(history), res)
		}
	}
}

// perform sends an operation. Now and then it gives up the first answer and
// sends the operation again with the same key.
func perform(r *rig, rng *rand.Rand, op leaseOp, key string) leaseResult {
	if rng.IntN(3) == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(300))*time.Microsecond)
		got := send(withKey(ctx, key, "body"), r, op)
		cancel()
		if got.code == hub.CodeTimedOut {
			// The answer is lost; the operation may have had an effect.
		} else if got.code != hub.CodeInProgress {
			return got
		}
	}
	for {
		if got := send(withKey(context.Background(), key, "body"), r, op); got.code != hub.CodeInProgress {
			return got
		}
		time.Sleep(50 * time.Microsecond)
	}
}

func send(ctx context.Context, r *rig, op leaseOp) leaseResult {
	hold := hub.ClaimHoldInput{ClaimKey: op.key, OwnerAgentID: op.agent, TTLSec: 3600, Fence: op.fence}
	switch op.kind {
	case "claim":
		g, err := r.Claim(ctx, hub.ClaimInput{OwnerAgentID: op.agent, ClaimKey: op.key, TTLSec: 60})
		return leaseResult{codeOf(err), g.Replayed, g.Acquired, g.Row.OwnerAgentID, g.Row.Fence}
	case "refresh":
		g, err := r.RefreshClaim(ctx, hold)
		return leaseResult{codeOf(err), g.Replayed, g.Acquired, g.Row.OwnerAgentID, g.Row.Fence}
	default:
		o, err := r.ReleaseClaim(ctx, hold)
		return leaseResult{codeOf(err), o.Replayed, false, o.Row.OwnerAgentID, o.Row.Fence}
	}
}
