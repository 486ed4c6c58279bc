package overview

import (
	"maps"
	"slices"

	"hubcli/hub"
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
		if way := wayBack(next, from); way != nil {
			found = append(found, way)
			for _, id := range way {
				covered[id] = true
			}
		}
	}
	return found
}

// wayBack returns the agents of the shortest way from an agent back to itself, or nil.
func wayBack(next map[hub.AgentID][]hub.AgentID, from hub.AgentID) []hub.AgentID {
	before := map[hub.AgentID]hub.AgentID{}
	for level := []hub.AgentID{from}; len(level) > 0; {
		var further []hub.AgentID
		for _, at := range level {
			for _, to := range next[at] {
				if to == from {
					return trace(before, from, at)
				}
				if _, known := before[to]; !known {
					before[to] = at
					further = append(further, to)
				}
			}
		}
		level = further
	}
	return nil
}

// trace follows before from an agent back to the first.
func trace(before map[hub.AgentID]hub.AgentID, first, at hub.AgentID) []hub.AgentID {
	way := []hub.AgentID{at}
	for at != first {
		at = before[at]
		way = append(way, at)
	}
	slices.Reverse(way)
	return way
}
