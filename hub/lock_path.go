package hub

import (
	"path"
	"strings"
)

// MaxLockWildcards is how many parts of the path of a lock may hold wildcards.
const MaxLockWildcards = 8

// IsLockPattern reports whether the path of a file lock is a pattern: it holds * or ?.
func IsLockPattern(file string) bool { return strings.ContainsAny(file, "*?") }

// LockWildcards counts the parts of a path that hold wildcards.
func LockWildcards(file string) (n int) {
	for part := range strings.SplitSeq(file, "/") {
		if IsLockPattern(part) {
			n++
		}
	}
	return n
}

// LocksOverlap reports whether two file locks may protect the same file. Each covers the file or
// folder of its path and all that lies below; in a pattern * stands for any characters of one part
// of a path, ? for one, and ** as a whole part for any number of parts. Both slashes separate parts.
func LocksOverlap(a, b string) bool {
	x, y := lockParts(a), lockParts(b)
	// reach[j]: the parts of x up to now, and j parts of y, can be the same path.
	reach, next := make([]bool, len(y)+1), make([]bool, len(y)+1)
	for i := 0; i <= len(x); i++ {
		clear(next)
		for j := 0; j <= len(y); j++ {
			met := i == 0 && j == 0
			if i > 0 && j > 0 {
				met = reach[j-1] && (x[i-1] == "**" || y[j-1] == "**" || partsOverlap(x[i-1], y[j-1]))
			}
			// ** stands for no part, or for one more.
			met = met || i > 0 && reach[j] && (x[i-1] == "**" || j > 0 && y[j-1] == "**")
			met = met || j > 0 && next[j-1] && (y[j-1] == "**" || i > 0 && x[i-1] == "**")
			next[j] = met
			if met && (i == len(x) || j == len(y)) {
				return true // one of both covers all that the other has further down
			}
		}
		reach, next = next, reach
	}
	return false
}

func lockParts(file string) []string {
	return strings.Split(strings.TrimSuffix(path.Clean(strings.ReplaceAll(file, `\`, "/")), "/"), "/")
}

// partsOverlap reports whether one name can match both parts.
func partsOverlap(a, b string) bool {
	switch {
	case !IsLockPattern(a) && !IsLockPattern(b):
		return a == b
	case a == "" || b == "":
		return strings.Trim(a+b, "*") == ""
	}
	x, y := []rune(a), []rune(b)
	reach, next := make([]bool, len(y)+1), make([]bool, len(y)+1)
	for i := 0; i <= len(x); i++ {
		clear(next)
		for j := 0; j <= len(y); j++ {
			met := i == 0 && j == 0
			if i > 0 && j > 0 {
				met = reach[j-1] && (isWild(x[i-1]) || isWild(y[j-1]) || x[i-1] == y[j-1])
			}
			met = met || i > 0 && reach[j] && (x[i-1] == '*' || j > 0 && y[j-1] == '*')
			met = met || j > 0 && next[j-1] && (y[j-1] == '*' || i > 0 && x[i-1] == '*')
			next[j] = met
		}
		reach, next = next, reach
	}
	return reach[len(y)]
}

func isWild(r rune) bool { return r == '*' || r == '?' }
