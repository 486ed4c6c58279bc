package overview

import (
	"maps"
	"slices"

	"hubcli/hub"
	"hubcli/internal/circle"
)

// circles finds the agents that wait for each other: each of a circle waits for one of
// it, so that none goes on unless something from outside helps. A circle begins with its
// first agent by name and follows the waits, the shortest way around. An agent that is
// in a circle already begins no other.
func circles(rows []hub.Wait) [][]hub.AgentID {
	next := map[hub.AgentID][]hub.AgentID{}
	for _, w := range rows {
		if !slices.Contains(next[w.Waiter], w.For) {
			next[w.Waiter] = append(next[w.Waiter], w.For)
		}
	}
	found := [][]hub.AgentID{}
	covered := map[hub.AgentID]bool{}
	for _, from := range slices.Sorted(maps.Keys(next)) {
		if covered[from] {
			continue
		}
		if way := circle.Around(from, func(at hub.AgentID) []hub.AgentID { return next[at] }); way != nil {
			found = append(found, way)
			for _, id := range way {
				covered[id] = true
			}
		}
	}
	return found
}
