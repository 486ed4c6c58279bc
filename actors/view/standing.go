package view

import (
	"context"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Standing returns what the hub knows of the agent that a call acts as, at wall time now.
// An error of the store counts as no knowledge.
func (v *View) Standing(ctx context.Context, agent hub.AgentID, now hub.Time) core.Standing {
	caller := hub.CallerOf(ctx)
	if caller.Operator {
		return core.StandingOperator
	}
	return v.standing(agent, Proves(caller, agent), now)
}

// StandingOfMaker returns what the hub knows at wall time now of the agent that made an
// invite, with a call that proved its session or not.
func (v *View) StandingOfMaker(maker hub.AgentID, proved bool, now hub.Time) core.Standing {
	if maker == hub.AgentOperator {
		return core.StandingOperator
	}
	return v.standing(maker, proved, now)
}

func (v *View) standing(agent hub.AgentID, proved bool, now hub.Time) core.Standing {
	switch known, old := v.registered(agent, now); {
	case known && proved && old:
		return core.StandingProved
	case known && proved, old:
		return core.StandingKnown
	}
	return core.StandingUnknown
}

// StandingOf returns what the hub knows of an agent at wall time now, where no call can prove
// its session: the agent begins one, or acted earlier. An agent that registered a while ago
// counts as proved.
func (v *View) StandingOf(ctx context.Context, agent hub.AgentID, now hub.Time) core.Standing {
	if hub.CallerOf(ctx).Operator || agent == hub.AgentOperator || agent == hub.AgentSystem {
		return core.StandingOperator
	}
	switch known, old := v.registered(agent, now); {
	case old:
		return core.StandingProved
	case known:
		return core.StandingKnown
	}
	return core.StandingUnknown
}

// registered reports whether an agent ever registered, and whether that is a while ago.
func (v *View) registered(agent hub.AgentID, now hub.Time) (known, old bool) {
	if agent == "" {
		return false, false
	}
	row, err := v.AgentRow(agent)
	if err != nil || row == nil || row.Session.Incarnation == 0 {
		return false, false
	}
	return true, now-row.Since >= core.KnownAfter
}
