package core

import (
	"iter"
	"strings"

	"hubcli/hub"
)

// LockIndex finds the file locks that overlap a path (see hub.LocksOverlap), in a time that grows
// with the locks above and below it and not with all. The zero LockIndex is empty. It is not safe
// for concurrent use.
type LockIndex struct{ root lockNode }

// lockNode is a folder or file. A lock stands at the node of its path, a pattern at the folder in
// front of its first part with a wildcard.
type lockNode struct {
	below    map[string]*lockNode
	locked   string // the canonical path of the lock; empty: there is none
	patterns []string
}

// Add adds the lock of a canonical path, which is not in the index.
func (x *LockIndex) Add(key string) {
	n := &x.root
	parts, pattern := lockPrefix(key)
	for _, part := range parts {
		if n.below == nil {
			n.below = map[string]*lockNode{}
		}
		if n.below[part] == nil {
			n.below[part] = &lockNode{}
		}
		n = n.below[part]
	}
	if pattern {
		n.patterns = append(n.patterns, key)
	} else {
		n.locked = key
	}
}

// Remove removes the lock of a canonical path.
func (x *LockIndex) Remove(key string) {
	parts, pattern := lockPrefix(key)
	x.root.remove(parts, key, pattern)
}

// remove reports whether nothing is left at the node and below it.
func (n *lockNode) remove(parts []string, key string, pattern bool) (empty bool) {
	switch {
	case len(parts) > 0:
		if next := n.below[parts[0]]; next != nil && next.remove(parts[1:], key, pattern) {
			delete(n.below, parts[0])
		}
	case pattern:
		for i, p := range n.patterns {
			if p == key {
				n.patterns = append(n.patterns[:i:i], n.patterns[i+1:]...)
				break
			}
		}
	default:
		n.locked = ""
	}
	return n.locked == "" && len(n.below) == 0 && len(n.patterns) == 0
}

// Overlapping goes through the locks that overlap a canonical path, its own among them, in no order.
// Nothing may be added or removed meanwhile.
func (x *LockIndex) Overlapping(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		tested := func(other string) bool { return !hub.LocksOverlap(other, key) || yield(other) }
		parts, pattern := lockPrefix(key)
		n := &x.root
		for _, part := range parts {
			if !n.each(tested, tested) {
				return
			}
			if n = n.below[part]; n == nil {
				return
			}
		}
		switch {
		case pattern:
			p := hub.NewLockPattern(key)
			row, next := make([]bool, p.Len()), make([]bool, p.Len())
			p.Begin(row)
			for i, part := range parts {
				p.Next(next, row, part, i == 0)
				row, next = next, row
			}
			_ = n.each(tested, tested) && n.match(p, row, len(parts) == 0, yield, tested)
		case key == ".":
			n.walk(tested, tested)
		default:
			n.walk(yield, tested)
		}
	}
}

// each calls path for the lock of the path of a node, and pattern for the patterns there, until one
// of them returns false; then it does, too.
func (n *lockNode) each(path, pattern func(string) bool) bool {
	if n.locked != "" && !path(n.locked) {
		return false
	}
	for _, p := range n.patterns {
		if !pattern(p) {
			return false
		}
	}
	return true
}

// walk is each for a node and all below it.
func (n *lockNode) walk(path, pattern func(string) bool) bool {
	if !n.each(path, pattern) {
		return false
	}
	for _, next := range n.below {
		if !next.walk(path, pattern) {
			return false
		}
	}
	return true
}

// match is walk for the nodes below one, with the paths alone that a pattern meets. row is that of
// the node; first: the node is the root.
func (n *lockNode) match(p *hub.LockPattern, row []bool, first bool, path, pattern func(string) bool) bool {
	below := make([]bool, p.Len())
	for part, next := range n.below {
		p.Next(below, row, part, first)
		if p.Covers(below) {
			if !next.walk(path, pattern) {
				return false
			}
			continue
		}
		if next.locked != "" && p.Meets(below, part) && !path(next.locked) {
			return false
		}
		for _, other := range next.patterns {
			if !pattern(other) {
				return false
			}
		}
		if len(next.below) > 0 && !next.match(p, below, false, path, pattern) {
			return false
		}
	}
	return true
}

// lockPrefix returns the parts of a canonical path, those of a pattern in front of the first one
// with a wildcard.
func lockPrefix(key string) (parts []string, pattern bool) {
	if key == "." {
		return nil, false
	}
	parts = strings.Split(strings.TrimSuffix(key, "/"), "/")
	for i, part := range parts {
		if hub.IsLockPattern(part) {
			return parts[:i], true
		}
	}
	return parts, false
}
