package guard

import "hubcli/hub"

const (
	firstGap  = 5_000  // between two posts of a chain that is slowed, in ms
	longestMS = 60_000 // and it is never longer, except for what goes on repeating
	slowerBy  = 100    // turns after which the gap of a fast chain doubles
	restAfter = 3      // turns of a chain that is slowed and goes on repeating, before its words rest

	// For so long the same words do not pass then, at first and later; only where nothing is refused.
	firstRestMS = 300_000
	restMS      = 3_600_000

	leastSlowed = 6 // a chain that is stopped with fewer hops is not slowed before
)

// limits are the hops from which on something happens.
type limits struct {
	tell int // the agents are told; 0: the place is not watched
	slow int // what comes fast, or repeats what was said, has to wait; 0: nothing has
	stop int // every post is refused, and the operator is asked; 0: never
}

// usual are the limits where the operator has set none: nothing is refused.
var usual = limits{tell: hub.GuardTellHops, slow: hub.GuardSlowHops}

// limitsOf are those that a room wants, nil or a number of hops; see hub.GuardInput.
func limitsOf(hops *int) limits {
	if hops == nil {
		return usual
	}
	l := limits{tell: *hops / 2, slow: *hops * 2 / 3, stop: *hops}
	if l.stop < leastSlowed {
		l.slow = 0
	}
	return l
}

// watched reports whether anything ever happens.
func (l limits) watched() bool { return l.tell > 0 }

// of are the limits of a chain: three agents have three times as many turns as two, and more
// agents as many times as they are. Their talk is seldom a loop. While they only repeat
// themselves, they are told and slowed as early as two.
func (l limits) of(ch *chain) limits {
	n := len(ch.agents)
	if n < maxAgents {
		return l
	}
	l.stop *= n
	if !ch.circling() {
		l.tell, l.slow = l.tell*n, l.slow*n
	}
	return l
}

// fastGap is what has to be between two posts of a chain with so many hops, in the mean.
func (l limits) fastGap(hops int) int64 {
	return min(int64(firstGap)<<min((hops-l.slow)/slowerBy, 4), longestMS)
}
