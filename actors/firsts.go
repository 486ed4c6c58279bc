package actors

import "slices"

// firsts keeps the n first of what is added, in any order: a page of a list that
// has no order of its own. It compares most rows once, and holds at most 2n.
type firsts[T any] struct {
	n       int
	compare func(a, b T) int
	rows    []T
	cut     bool // rows has been cut: whatever does not come before its n-th is left out
}

func (f *firsts[T]) add(row T) {
	if f.cut && f.compare(row, f.rows[f.n-1]) >= 0 {
		return
	}
	if f.rows = append(f.rows, row); len(f.rows) >= 2*f.n {
		f.sorted()
	}
}

// sorted returns them in their order.
func (f *firsts[T]) sorted() []T {
	slices.SortFunc(f.rows, f.compare)
	if len(f.rows) >= f.n {
		f.rows, f.cut = f.rows[:f.n], true
	}
	return f.rows
}
