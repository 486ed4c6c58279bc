package core_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
)

// promise is what the hub owes the holder of a key.
type promise struct {
	agent hub.AgentID
	fence hub.Fence
	until int64 // hub time up to which the lease may not be taken away
	task  hub.TaskID
	taken hub.Fence // with which an agent took it
}

// TestLeaseProperties plays random commands against a model of promises: at any
// time a key has at most one holder, fences rise with every grant, and no lease
// ends before its time unless it is released or passes with its task. The rig itself checks that replayed
// facts and restored checkpoints give the live state.
func TestLeaseProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newLeaseRig(rt)
		owed := map[core.LeaseKey]*promise{}
		highest := hub.Fence(0)
		agents := rapid.SampledFrom([]hub.AgentID{"alice", "bob", "carol"})
		keys := rapid.SampledFrom([]core.LeaseKey{
			{Space: core.SpaceClaim, Key: "a"}, {Space: core.SpaceClaim, Key: "b"}, {Space: core.SpaceLock, Key: "a"},
		})
		ttls, tasks := rapid.IntRange(hub.MinTTLSec, 12), rapid.SampledFrom([]hub.TaskID{0, 7})
		holder := func(k core.LeaseKey) *promise {
			if p := owed[k]; p != nil && r.now.HubMS < p.until {
				return p
			}
			return nil
		}
		rt.Repeat(map[string]func(*rapid.T){
			"acquire": func(rt *rapid.T) {
				k, agent, ttl := keys.Draw(rt, "key"), agents.Draw(rt, "agent"), ttls.Draw(rt, "ttl")
				before, until := holder(k), r.now.HubMS+int64(ttl)*1000
				task := tasks.Draw(rt, "task")
				a := r.acquire(core.AcquireCommand{Space: k.Space, Key: k.Key, Given: k.Key, Agent: agent, TaskMessage: task, TTLSec: ttl})
				owner, fence := answered(a)
				switch {
				case before == nil:
					if !a.Acquired || owner != agent || fence <= highest {
						rt.Fatalf("a free key was not granted with a new fence: %+v", a)
					}
					highest = fence
					owed[k] = &promise{agent: agent, fence: fence, until: until, task: task, taken: fence}
				case before.agent == agent:
					if !a.Acquired || fence != before.fence {
						rt.Fatalf("the holder lost its lease by asking again: %+v", a)
					}
					if until > before.until {
						before.until = until
					}
				default:
					if a.Acquired || owner != before.agent || fence != before.fence {
						rt.Fatalf("two holders: %+v", a)
					}
				}
			},
			"refresh": func(rt *rapid.T) {
				k, agent, ttl := keys.Draw(rt, "key"), agents.Draw(rt, "agent"), ttls.Draw(rt, "ttl")
				before := holder(k)
				_, err := r.refresh(core.HoldCommand{Space: k.Space, Key: k.Key, Agent: agent, TTLSec: ttl})
				if (err == nil) != (before != nil && before.agent == agent) {
					rt.Fatalf("refresh by %s of %+v: %v", agent, before, err)
				}
				if err == nil {
					before.until = r.now.HubMS + int64(ttl)*1000
				}
			},
			"release": func(rt *rapid.T) {
				k, agent := keys.Draw(rt, "key"), agents.Draw(rt, "agent")
				fence := hub.Fence(rapid.Int64Range(0, int64(highest)).Draw(rt, "fence"))
				before := holder(k)
				_, err := r.release(core.HoldCommand{Space: k.Space, Key: k.Key, Agent: agent, Fence: fence})
				switch {
				case before == nil || before.agent != agent:
					if !errors.Is(err, &hub.Error{Code: hub.CodeNotHolder}) {
						rt.Fatalf("release by %s of %+v: %v", agent, before, err)
					}
				case fence != 0 && fence != before.fence:
					if !errors.Is(err, &hub.Error{Code: hub.CodeStaleFence}) {
						rt.Fatalf("release with fence %d of %+v: %v", fence, before, err)
					}
				case err != nil:
					rt.Fatalf("release by the holder: %v", err)
				default:
					delete(owed, k)
				}
			},
			"hand over": func(rt *rapid.T) {
				from, to := agents.Draw(rt, "from"), agents.Draw(rt, "to")
				before := hub.Fence(rapid.Int64Range(1, int64(highest)+1).Draw(rt, "before"))
				r.handOver(7, from, to, before)
				for k := range owed {
					p := holder(k)
					if p == nil || p.agent != from || p.task != 7 || p.taken >= before || from == to {
						continue
					}
					lease, _ := r.live.Get(k)
					if lease.Fence <= highest-hub.Fence(len(owed)) || lease.Fence <= p.fence {
						rt.Fatalf("%v passed with fence %d after %d", k, lease.Fence, p.fence)
					}
					p.agent, p.fence, p.until = to, lease.Fence, max(p.until, r.now.HubMS+hub.DefaultTTLSec*1000)
				}
				highest = max(highest, r.head.Fence)
			},
			"end task": func(rt *rapid.T) {
				agent, before := agents.Draw(rt, "agent"), hub.Fence(rapid.Int64Range(1, int64(highest)+1).Draw(rt, "before"))
				r.endTask(7, agent, before)
				for k := range owed {
					if p := holder(k); p != nil && p.agent == agent && p.task == 7 && p.taken < before {
						if _, held := r.live.Get(k); held {
							rt.Fatalf("%v is held after the end of its task: %+v", k, *p)
						}
						delete(owed, k)
					}
				}
			},
			"time passes": func(rt *rapid.T) {
				r.pass(time.Duration(rapid.IntRange(1, 6000).Draw(rt, "ms")) * time.Millisecond)
			},
			"timer": func(*rapid.T) { r.expire() },
			"restart": func(*rapid.T) {
				soon := r.now.HubMS + hub.LeaseRestartGrace.Milliseconds()
				for k, p := range owed {
					if _, held := r.live.Get(k); held && p.until < soon {
						p.until = soon
					}
				}
				r.restart()
			},
			"": func(rt *rapid.T) {
				for k, p := range owed {
					lease, held := r.live.Get(k)
					if r.now.HubMS < p.until && (!held || lease.Agent != p.agent || lease.Fence != p.fence || lease.Deadline != p.until) {
						rt.Fatalf("%v is owed %+v, the state has %+v", k, *p, lease)
					}
				}
				if n := len(slices.Concat(r.live.List(core.SpaceClaim), r.live.List(core.SpaceLock))); n != r.live.Len() {
					rt.Fatalf("%d leases are listed, %d held", n, r.live.Len())
				}
			},
		})
	})
}

func answered(a core.LeaseAnswer) (hub.AgentID, hub.Fence) {
	if a.Lock != nil {
		return a.Lock.AgentID, a.Lock.Fence
	}
	return a.Claim.OwnerAgentID, a.Claim.Fence
}
