package edit

import "slices"

// Heir is an entry of ours that stays in a document when another is removed.
type Heir struct {
	At    Pointer
	Trace Trace
	Later bool // inserted after the removed one
}

// Inherit returns the heir's trace after the entry at a place is removed.
// Parents that were made for that entry and stay because of the heir are later
// removed with the heir.
func (h Heir) Inherit(f Format, at Pointer, trace Trace) Trace {
	own := h.Trace
	if f == TOML || f.Text() {
		if h.Later { // the end of the document before both
			own.Space = trace.Space
		}
		return own
	}
	// made is the depth of the outermost parent that was made; the root has 0.
	made := at.parents() - trace.Parents
	if trace.Parents > 0 && sharesWay(at, h.At, made) {
		own.Parents = max(own.Parents, h.At.parents()-made)
	}
	// The blanks belong to the innermost parent that was there before.
	if made == 0 || h.Later && sharesWay(at, h.At, made-1) && h.At.parents()-own.Parents == made {
		own.Space = trace.Space
	}
	return own
}

// parents is the number of objects and lists around an entry.
func (p Pointer) parents() int {
	if p.Mark != "" {
		return len(p.Keys) + 1
	}
	return len(p.Keys)
}

// sharesWay reports whether both pointers lead through the same container at a
// depth.
func sharesWay(a, b Pointer, depth int) bool {
	return depth < a.parents() && depth < b.parents() && slices.Equal(a.Keys[:depth], b.Keys[:depth])
}
