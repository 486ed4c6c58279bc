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
	locked   bool
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
		n.locked = true
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
		n.locked = false
	}
	return !n.locked && len(n.below) == 0 && len(n.patterns) == 0
}

// Overlapping calls add for each lock that overlaps a canonical path, its own among them, in no
// order.
func (x *LockIndex) Overlapping(key string, add func(string)) {
	parts, pattern := lockPrefix(key)
	n := &x.root
	for i := 0; ; i++ {
		for _, p := range n.patterns {
			if hub.LocksOverlap(p, key) {
				add(p)
			}
		}
		if n.locked {
			add(strings.Join(parts[:i], "/"))
		}
		if i == len(parts) {
			break
		}
		if n = n.below[parts[i]]; n == nil {
			return
		}
	}
	test := func(string) bool { return true }
	if pattern {
		test = func(other string) bool { return hub.LocksOverlap(other, key) }
	}
	n.walk(parts, test, add)
}

// walk calls add for each lock below a node that passes a test.
func (n *lockNode) walk(at []string, test func(string) bool, add func(string)) {
	for part, next := range n.below {
		path := append(at[:len(at):len(at)], part)
		if key := strings.Join(path, "/"); next.locked && test(key) {
			add(key)
		}
		for _, p := range next.patterns {
			if test(p) {
				add(p)
			}
		}
		next.walk(path, test, add)
	}
}

// lockPrefix returns the parts of a canonical path, those of a pattern in front of the first one
// with a wildcard.
func lockPrefix(key string) (parts []string, pattern bool) {
	parts = strings.Split(strings.TrimSuffix(key, "/"), "/")
	for i, part := range parts {
		if hub.IsLockPattern(part) {
			return parts[:i], true
		}
	}
	return parts, false
}
