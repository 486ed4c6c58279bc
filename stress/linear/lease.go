package linear

import (
	"fmt"
	"net/url"
	"time"

	"github.com/anishathalye/porcupine"
)

// leaseOp is a call about a claim or a lock.
type leaseOp struct {
	Do    string // acquire, refresh, release, look
	Agent string
	TTL   time.Duration
	Fence int64 // 0: not checked
}

// leaseOut is its answer.
type leaseOut struct {
	Code   string
	Got    bool
	Holder string // empty: nobody
	Fence  int64
}

// unknownFence is the fence of a lease whose grant had no answer.
const unknownFence = -1

// leaseState is a lease. Nothing says when exactly the hub took a call up, so that until
// is the earliest moment at which it can be over.
type leaseState struct {
	holder string
	fence  int64
	high   int64 // the highest fence before
	until  int64 // nanoseconds since the run began
}

func (s leaseState) free() leaseState {
	return leaseState{high: max(s.high, s.fence)}
}

// with returns the state with the fence that an answer has told, if it can be.
func (s leaseState) with(fence int64) (leaseState, bool) {
	if s.fence != unknownFence {
		return s, s.fence == fence
	}
	s.fence = fence
	return s, fence > s.high
}

// holds is the state after a grant to agent.
func (s leaseState) holds(agent string, fence, until int64) leaseState {
	return leaseState{holder: agent, fence: fence, high: s.high, until: until}
}

var leaseModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{leaseState{}} },
	Step: func(state, input, output any) (next []any) {
		s, o := state.(leaseState), input.(*op)
		before := []leaseState{s}
		// It may have expired before the call was taken up: not if the answer came
		// too early for that.
		if s.holder != "" && o.ret >= s.until {
			before = append(before, s.free())
		}
		for _, s := range before {
			if !o.known {
				next = append(next, s.unanswered(o)...)
			} else if after, ok := s.answered(o, output.(leaseOut)); ok {
				next = append(next, after)
			}
		}
		return next
	},
	DescribeOperation: describe,
}).ToModel()

// unanswered are the states after a call that may have had its effect.
func (s leaseState) unanswered(o *op) []any {
	in := o.in.(leaseOp)
	until := o.call + int64(in.TTL)
	switch {
	case in.Do == "acquire" && s.holder == "":
		return []any{s, s.holds(in.Agent, unknownFence, until)}
	case in.Do == "release" && s.holder == in.Agent:
		return []any{s, s.free()}
	case in.Do == "refresh" && s.holder == in.Agent:
		s.until = min(s.until, until) // whether it happened or not, it is not over before
	}
	return []any{s}
}

// answered is the state after a call with this answer, if it can have it.
func (s leaseState) answered(o *op, out leaseOut) (leaseState, bool) {
	in := o.in.(leaseOp)
	until := o.call + int64(in.TTL)
	mine := s.holder == in.Agent
	switch {
	case in.Do == "look" || in.Do == "acquire" && !out.Got:
		if s.holder == "" || s.holder != out.Holder {
			return s, in.Do == "look" && s.holder == out.Holder
		}
		after, ok := s.with(out.Fence)
		return after, ok && (in.Do == "look" || !mine)
	case in.Do == "acquire" && s.holder == "":
		return s.holds(in.Agent, out.Fence, until), out.Holder == in.Agent && out.Fence > s.high
	case in.Do == "acquire":
		after, ok := s.with(out.Fence)
		after.until = max(s.until, until)
		return after, ok && mine
	case out.Code == "not_holder":
		return s, !mine
	case out.Code == "stale_fence":
		return s, mine && in.Fence != 0 && in.Fence != s.fence
	case !mine || out.Code != "":
		return s, false
	}
	after, ok := s.with(out.Fence)
	ok = ok && (in.Fence == 0 || in.Fence == out.Fence)
	if in.Do == "release" {
		return after.free(), ok
	}
	after.until = until
	return after, ok
}

// lease is a claim or a lock that clients share.
type lease struct {
	history
	key    string
	lock   bool
	fences map[string]int64 // by agent: of its last grant; each agent is one client
}

func newLease(name string, lock bool) *lease {
	l := &lease{history: history{name: name, model: leaseModel}, key: name, lock: lock}
	l.idle = l.unseen
	return l
}

// unseen reports whether a call without an answer is one that asked for the lease, and no
// answer shows that it got it. Without it the other answers fit as well as with it: nobody
// saw that the lease was held, and what it only extended ends no earlier for that.
func (l *lease) unseen(o *op) bool {
	in := o.in.(leaseOp)
	if in.Do != "acquire" {
		return false
	}
	granted := map[int64]int64{} // by fence: the end of the first answer that may be its grant
	for _, other := range l.ops {
		if out, ok := other.out.(leaseOut); ok && other.known && out.Got && out.Holder == in.Agent {
			if at, ok := granted[out.Fence]; !ok || other.ret < at {
				granted[out.Fence] = other.ret
			}
		}
	}
	for _, other := range l.ops {
		out, ok := other.out.(leaseOut)
		if !ok || !other.known || other.ret < o.call || out.Code != "" || out.Got && other.in.(leaseOp).Do == "acquire" {
			continue
		}
		if at, ok := granted[out.Fence]; out.Holder == in.Agent && (!ok || other.call < at) {
			return false // it was seen before any other call can have been granted it
		}
	}
	return true
}

// names of what claims and locks call differently.
func (l *lease) names() (path, key, owner, holder string) {
	if l.lock {
		return "/v1/locks", "file_path", "agent_id", "agent_id"
	}
	return "/v1/claims", "claim_key", "agent_id", "owner_agent_id"
}

// Lives of leases. Some are over before the run is.
var ttls = []time.Duration{time.Second, time.Second, 2 * time.Second, time.Hour}

func (l *lease) next(c *client) *call {
	in := leaseOp{Do: "acquire", Agent: c.agent(), TTL: ttls[c.random.IntN(len(ttls))]}
	switch r := c.random.IntN(10); {
	case r < 2:
		in.Do, in.TTL = "look", 0
	case r < 4:
		in.Do = "refresh"
	case r < 7:
		in.Do, in.TTL = "release", 0
	}
	if (in.Do == "refresh" || in.Do == "release") && c.random.IntN(2) == 0 {
		l.mu.Lock()
		in.Fence = l.fences[in.Agent]
		l.mu.Unlock()
	}
	return l.call(c, in, c.random.IntN(8) == 0)
}

func (l *lease) call(c *client, in leaseOp, wait bool) *call {
	path, key, owner, holder := l.names()
	next := &call{h: &l.history, in: in, path: path}
	next.understand = func(a *answer) (any, error) { return l.understand(in, a) }
	body := map[string]any{key: l.key, owner: in.Agent}
	if in.TTL > 0 {
		body["ttl_sec"] = in.TTL.Seconds()
	}
	if in.Fence != 0 {
		body["fence"] = in.Fence
	}
	switch in.Do {
	case "look":
		next.path += "?active_only=1&" + key + "=" + url.QueryEscape(l.key)
		return next
	case "acquire":
		delete(body, owner)
		body[holder] = in.Agent
		if wait {
			next.wait = time.Second
			body["wait_sec"] = 1
		}
	default:
		next.path += "/" + in.Do
	}
	next.body = body
	return next
}

// leaseRow is a claim or a lock.
type leaseRow struct {
	Owner string `json:"owner_agent_id"`
	Agent string `json:"agent_id"`
	Fence int64  `json:"fence"`
}

func (l *lease) understand(in leaseOp, a *answer) (any, error) {
	if !a.OK {
		if in.Do != "refresh" && in.Do != "release" || !a.is("not_holder") && !a.is("stale_fence") {
			return nil, a.unexpected()
		}
		return leaseOut{Code: a.Code}, nil
	}
	if in.Do == "look" {
		rows, err := row[[]leaseRow](a)
		if err != nil || len(rows) == 0 {
			return leaseOut{}, err
		}
		if len(rows) > 1 {
			return nil, fmt.Errorf("%w: %s is held %d times: %s", errBroken, l.key, len(rows), a.raw)
		}
		return leaseOut{Holder: rows[0].Owner + rows[0].Agent, Fence: rows[0].Fence}, nil
	}
	r, err := row[leaseRow](a)
	out := leaseOut{Got: a.Acquired, Holder: r.Owner + r.Agent, Fence: r.Fence}
	if err == nil && in.Do == "acquire" && out.Got {
		l.mu.Lock()
		if l.fences == nil {
			l.fences = map[string]int64{}
		}
		l.fences[in.Agent] = out.Fence
		l.mu.Unlock()
	}
	return out, err
}

// grants are the fences that were given out, for the order among all keys. Which call
// was the grant is not certain: a holder acquires what it has again, and calls have no
// answer. So a grant lies between the first of them that it can have been and the first
// answer that shows it.
func (l *lease) grants() (numbers []stamped) {
	first := map[int64]int{}
	unanswered := map[string]int64{} // by agent: the begin of the first
	for _, o := range l.ops {
		in := o.in.(leaseOp)
		if in.Do != "acquire" {
			continue
		}
		out, ok := o.out.(leaseOut)
		if !o.known {
			if at, ok := unanswered[in.Agent]; !ok || o.call < at {
				unanswered[in.Agent] = o.call
			}
		} else if at, again := first[out.Fence]; ok && out.Got && again {
			numbers[at].call, numbers[at].ret = min(numbers[at].call, o.call), min(numbers[at].ret, o.ret)
		} else if ok && out.Got {
			first[out.Fence] = len(numbers)
			numbers = append(numbers, stamped{out.Fence, o.call, o.ret, in.Agent})
		}
	}
	for i := range numbers {
		s := &numbers[i]
		if at, ok := unanswered[s.what]; ok {
			s.call = min(s.call, at)
		}
		s.what = l.name + " of " + s.what
	}
	return numbers
}
