package view

import "slices"

// Firsts keeps the first N of the rows that are added in any order: one page of a list
// that has no order of its own. It compares most rows once and holds at most 2N rows.
type Firsts[T any] struct {
	N       int
	Compare func(a, b T) int
	rows    []T
	cut     bool // rows has been cut: whatever does not come before its n-th is left out
}

// Add keeps the row if it can be among the first.
func (f *Firsts[T]) Add(row T) {
	if f.cut && f.Compare(row, f.rows[f.N-1]) >= 0 {
		return
	}
	if f.rows = append(f.rows, row); len(f.rows) >= 2*f.N {
		f.Sorted()
	}
}

// Sorted returns them in their order.
func (f *Firsts[T]) Sorted() []T {
	slices.SortFunc(f.rows, f.Compare)
	if len(f.rows) >= f.N {
		f.rows, f.cut = f.rows[:f.N], true
	}
	return f.rows
}
