package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"hubcli/stress/wire"
)

const contendedKeys = 8

// claims measures pairs of claim and release, each agent on a key of its own.
func (r *run) claims(ctx context.Context) ([]Result, error) {
	rounds, err := r.rounds(ctx, func(ctx context.Context, addr string) (float64, error) {
		cs, err := dial(ctx, addr, r.Agents)
		if err != nil {
			return 0, err
		}
		defer cs.close()
		var turns []turn
		for i, c := range cs {
			h, err := r.newHolder(c, addr, agentName(i), []string{fmt.Sprintf("own-%04d", i)})
			if err != nil {
				return 0, err
			}
			turns = append(turns, func() (int, error) {
				acquired, err := h.visit(0)
				if err == nil && !acquired {
					err = fmt.Errorf("%w: a key that nobody else asks for is held", errStatus)
				}
				return 1, err
			})
		}
		return r.drive(ctx, turns, r.warmUp(), r.Round)
	})
	if err != nil {
		return nil, err
	}
	return []Result{compared(fmt.Sprintf("claim + release pairs, %d agents", r.Agents), "/s", rounds, atLeast(0.65))}, nil
}

// contention measures answered calls while all agents want few keys, and proves
// from what the agents saw that no key ever had two holders.
func (r *run) contention(ctx context.Context) ([]Result, error) {
	var grants, doubles int
	rounds, err := r.rounds(ctx, func(ctx context.Context, addr string) (float64, error) {
		cs, err := dial(ctx, addr, r.Agents)
		if err != nil {
			return 0, err
		}
		defer cs.close()
		keys := make([]string, contendedKeys)
		for i := range keys {
			keys[i] = fmt.Sprintf("shared-%d", i)
		}
		var turns []turn
		holders := make([]*holder, len(cs))
		for i, c := range cs {
			h, err := r.newHolder(c, addr, agentName(i), keys)
			if err != nil {
				return 0, err
			}
			h.keep = true
			holders[i] = h
			random := rand.New(rand.NewPCG(uint64(i), 7))
			turns = append(turns, func() (int, error) {
				acquired, err := h.visit(random.IntN(len(keys)))
				if acquired {
					return 2, err // the claim and the release
				}
				return 1, err
			})
		}
		rate, err := r.drive(ctx, turns, r.warmUp(), r.Round)
		var holds []hold
		for _, h := range holders {
			holds = append(holds, h.holds...)
		}
		grants += len(holds)
		doubles += doubleHolders(holds)
		return rate, err
	})
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("contention, %d agents on %d keys", r.Agents, contendedKeys)
	return []Result{
		absolute(name+", double holders", float64(doubles), atMost(0, ""), fmt.Sprintf("checked %d grants of both sides", grants)),
		compared(name+", answers", "/s", rounds, atLeast(0.70)),
	}, nil
}

// holder is an agent that claims keys and gives them back at once.
type holder struct {
	conn  *wire.Conn
	pairs []claimPair
	keep  bool
	holds []hold
}

type claimPair struct{ claim, release *wire.Request }

// hold is the time for which an agent knows that it held a key: from the answer
// to its claim until it sent its release.
type hold struct {
	key      int
	fence    int64
	from, to time.Time
}

func (r *run) newHolder(c *wire.Conn, addr, agent string, keys []string) (*holder, error) {
	h := &holder{conn: c}
	for _, key := range keys {
		claim, err := wire.Post(addr, "/v1/claims",
			map[string]any{"owner_agent_id": agent, "claim_key": key, "ttl_sec": 300}, r.keyHeader(agent)...)
		if err != nil {
			return nil, err
		}
		release, err := wire.Post(addr, "/v1/claims/release",
			map[string]any{"agent_id": agent, "claim_key": key}, r.keyHeader(agent)...)
		if err != nil {
			return nil, err
		}
		h.pairs = append(h.pairs, claimPair{claim, release})
	}
	return h, nil
}

// visit claims a key and, if it is granted, releases it.
func (h *holder) visit(key int) (acquired bool, err error) {
	p := &h.pairs[key]
	p.claim.Set(number.Add(1))
	h.conn.SetDeadline(time.Now().Add(ioTimeout))
	status, body, err := expect(h.conn, p.claim.Bytes(), 200, 201)
	from := time.Now()
	if err != nil || status == 200 {
		return false, err // held by another
	}
	fence, ok := wire.Int(body, "fence")
	if !ok {
		return false, fmt.Errorf("%w: a grant without a fence: %s", errStatus, firstBytes(body))
	}
	p.release.Set(number.Add(1))
	if h.keep {
		h.holds = append(h.holds, hold{key: key, fence: fence, from: from, to: time.Now()})
	}
	_, _, err = expect(h.conn, p.release.Bytes(), 200)
	return true, err
}

// doubleHolders counts the grants that contradict "one holder at a time": in the
// order of their fences each hold of a key must begin after the last one ended,
// and no two grants of any key may share a fence.
func doubleHolders(holds []hold) (doubles int) {
	slices.SortFunc(holds, func(a, b hold) int { return int(a.fence - b.fence) })
	last := map[int]hold{}
	for i, h := range holds {
		before, ok := last[h.key]
		if i > 0 && holds[i-1].fence == h.fence || ok && h.from.Before(before.to) {
			doubles++
		}
		last[h.key] = h
	}
	return doubles
}
