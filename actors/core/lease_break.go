package core

import (
	"cmp"
	"fmt"
	"slices"

	"hubcli/hub"
)

// factLeaseBroken stands beside the facts of pauses, with which it came: 870 to 879.
const factLeaseBroken FactType = 870

// LeaseBroken ends a lease by the operator's word.
type LeaseBroken struct {
	Space  LeaseSpace `json:"space"`
	Key    string     `json:"key"`
	Reason string     `json:"reason"`
}

// FactType implements Fact.
func (*LeaseBroken) FactType() FactType { return factLeaseBroken }

func leaseBreakFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{factLeaseBroken: func() Fact { return &LeaseBroken{} }}
}

// BreakCommand takes a lease from its holder, or from Of alone. Waiting names the agents that wait
// for it.
type BreakCommand struct {
	Space   LeaseSpace
	Key     string
	Reason  string
	Waiting []hub.AgentID
	Of      hub.AgentID
}

// Break ends a lease and tells its holder and those who wait for it why. The answer is its
// last row. Error: not_holder if nobody holds it.
func (l *Leases) Break(c BreakCommand, now Now) (Decision[LeaseAnswer], error) {
	lease := l.live(LeaseKey{c.Space, c.Key}, now)
	if lease == nil || c.Of != "" && c.Of != lease.Agent {
		return Decision[LeaseAnswer]{}, hub.Errorf(hub.CodeNotHolder, "nobody holds the %s %q", c.Space, c.Key).
			WithFix("name it as the list of claims or locks shows it")
	}
	was := *lease
	return Decision[LeaseAnswer]{
		Draft: Draft{
			Facts:    []Fact{&LeaseBroken{Space: c.Space, Key: c.Key, Reason: c.Reason}},
			Messages: c.notices(&was),
		},
		Answer: func(at Position) LeaseAnswer {
			return answerLease(was.ended(at.Now), at, now, LeaseAnswer{})
		},
	}, nil
}

// broken is the metadata of the notices about a broken lease.
type broken struct {
	AgentID  hub.AgentID `json:"agent_id"`
	ClaimKey string      `json:"claim_key,omitempty"`
	FilePath string      `json:"file_path,omitempty"`
	Fence    hub.Fence   `json:"fence"`
}

// notices tell the holder and the waiting agents, each once.
func (c *BreakCommand) notices(lease *Lease) []MessageDraft {
	b := broken{AgentID: lease.Agent, Fence: lease.Fence}
	name := cmp.Or(lease.Given, lease.Key)
	if lease.Space == SpaceLock {
		b.FilePath = name
	} else {
		b.ClaimKey = name
	}
	tell := func(agent hub.AgentID, body string) MessageDraft {
		return MessageDraft{
			From: hub.AgentOperator, To: agent, Channel: hub.DirectChannel, Kind: hub.KindNotice, Body: body,
			Metadata:  mustJSON(map[string]any{"broken": b}),
			Authority: hub.AuthorityOperator, Assurance: hub.AssuranceOperator,
		}
	}
	all := []MessageDraft{tell(lease.Agent, fmt.Sprintf("I have taken the %s %q (fence %d) from you: %s. Stop the work that it protects.", lease.Space, name, lease.Fence, c.Reason))}
	told := []hub.AgentID{lease.Agent}
	for _, agent := range c.Waiting {
		if !slices.Contains(told, agent) {
			told = append(told, agent)
			all = append(all, tell(agent, fmt.Sprintf("I have taken the %s %q from %s: %s. Who waited first has it now.", lease.Space, name, lease.Agent, c.Reason)))
		}
	}
	return all
}
