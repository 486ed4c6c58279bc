package answers

import (
	"reflect"
	"slices"
)

// Fitting returns the rows of a list that fit into most bytes of JSON, or one row, in their
// order. It is for lists without a cursor: it leaves out the longest rows, so that a few long
// ones take no place from many others. all: nothing is left out.
func Fitting[T any](rows []T, most int) (fitting []T, all bool) {
	type measured struct{ at, bytes int }
	lengths, sum := make([]measured, len(rows)), 0
	for i := range rows {
		lengths[i] = measured{i, JSONBytes(reflect.ValueOf(&rows[i]).Elem())}
		sum += lengths[i].bytes
	}
	if sum <= most {
		return rows, true
	}
	slices.SortStableFunc(lengths, func(a, b measured) int { return a.bytes - b.bytes })
	var kept []int
	sum = 0
	for _, l := range lengths {
		if sum += l.bytes; sum > most && len(kept) > 0 {
			break
		}
		kept = append(kept, l.at)
	}
	slices.Sort(kept)
	fitting = make([]T, len(kept))
	for i, at := range kept {
		fitting[i] = rows[at]
	}
	return fitting, len(kept) == len(rows)
}

// First returns the first rows of a list that fit into most bytes of JSON, or one row. It is for
// lists in which rows of weight come first. all: nothing is left out.
func First[T any](rows []T, most int) (first []T, all bool) {
	sum := 0
	for i := range rows {
		if sum += JSONBytes(reflect.ValueOf(&rows[i]).Elem()); sum > most && i > 0 {
			return rows[:i], false
		}
	}
	return rows, true
}
