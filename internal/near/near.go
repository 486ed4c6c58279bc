// Package near finds the name that somebody may have meant by a word that is none.
// Names and words are compared without regard to case, byte by byte.
package near

import "strings"

// most is the number of edits from which on two words are no longer near.
const most = 3

// Name returns the name that a mistyped word may mean, or "". A word of four letters or more may
// also be the beginning of a name.
func Name(word string, names []string) string {
	best, bestAt := "", most
	word = strings.ToLower(word)
	if len(word) >= 4 { // somebody may have left the end out
		for _, name := range names {
			if strings.HasPrefix(strings.ToLower(name), word) {
				best = name
			}
		}
	}
	for _, name := range names {
		if d := Distance(word, strings.ToLower(name)); d < bestAt && d < len(word) {
			best, bestAt = name, d
		}
	}
	return best
}

// Distance returns the number of edits between two short words.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
