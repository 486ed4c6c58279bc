package core

import (
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

// Overlapping calls add for each lock that overlaps a canonical path, its own among them, in no
// order.
func (x *LockIndex) Overlapping(key string, add func(string)) {
	tested := func(other string) {
		if hub.LocksOverlap(other, key) {
			add(other)
		}
	}
	parts, pattern := lockPrefix(key)
	n := &x.root
	for _, part := range parts {
		n.each(tested)
		if n = n.below[part]; n == nil {
			return
		}
	}
	switch {
	case pattern:
		p := hub.NewLockPattern(key)
		row := p.Begin()
		for i, part := range parts {
			row = p.Next(row, part, i == 0)
		}
		n.each(tested)
		n.match(p, row, len(parts) == 0, tested, add)
	case key == ".":
		n.walk(tested, tested)
	default:
		n.walk(add, tested)
	}
}

// match calls add for the locks below a node that a pattern meets. row is that of the node; first:
// the node is the root.
func (n *lockNode) match(p *hub.LockPattern, row []bool, first bool, tested, add func(string)) {
	for part, next := range n.below {
		row := p.Next(row, part, first)
		if p.Covers(row) {
			next.walk(add, tested)
			continue
		}
		if next.locked != "" && p.Meets(row, part) {
			add(next.locked)
		}
		for _, other := range next.patterns {
			tested(other)
		}
		next.match(p, row, false, tested, add)
	}
}

// each calls add for the locks at a node.
func (n *lockNode) each(add func(string)) {
	if n.locked != "" {
		add(n.locked)
	}
	for _, p := range n.patterns {
		add(p)
	}
}

// walk calls add for the locks at a node and below it, and tested for the patterns there.
func (n *lockNode) walk(add, tested func(string)) {
	if n.locked != "" {
		add(n.locked)
	}
	for _, p := range n.patterns {
		tested(p)
	}
	for _, next := range n.below {
		next.walk(add, tested)
	}
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
