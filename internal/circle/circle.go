// Package circle finds the way from a thing back to itself, where each thing leads to others: the
// agents of a circle of waits. It holds no state, and all of it may be called from any goroutine.
package circle

import "slices"

// Around returns the shortest way from a thing back to itself, beginning with it; the last thing on
// it leads to the first. nil: there is none. next returns what a thing leads to, in the order in
// which it is tried.
func Around[T comparable](from T, next func(T) []T) []T {
	before := map[T]T{}
	for level := []T{from}; len(level) > 0; {
		var further []T
		for _, at := range level {
			for _, to := range next(at) {
				if to == from {
					return way(before, from, at)
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

// way follows before from a thing back to the first.
func way[T comparable](before map[T]T, first, at T) []T {
	all := []T{at}
	for at != first {
		at = before[at]
		all = append(all, at)
	}
	slices.Reverse(all)
	return all
}
