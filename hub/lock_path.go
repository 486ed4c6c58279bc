package hub

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
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
// A path beside a pattern, and a pattern, count as a file if the last part has an extension, such as
// main.go or *.sql: nothing lies below. Where a part of a relative path leads is not known, so
// relative and absolute paths do not overlap.
func LocksOverlap(a, b string) bool {
	x, y := lockParts(a), lockParts(b)
	plain := !IsLockPattern(a) && !IsLockPattern(b)
	return partsMeet(x, y, plain || isFolder(x), plain || isFolder(y))
}

// LockCovers reports whether a file lock protects a file; see LocksOverlap.
func LockCovers(lock, file string) bool {
	x, y := lockParts(lock), lockParts(file)
	return partsMeet(x, y, !IsLockPattern(lock) || isFolder(x), false)
}

// isFolder reports whether a path or pattern covers what lies below it.
func isFolder(parts []string) bool {
	return len(parts) == 0 || !strings.Contains(strings.TrimLeft(parts[len(parts)-1], "."), ".")
}

// partsMeet reports whether two paths can be the same, or one of them leads to below the other one,
// which covers that if it is deep.
func partsMeet(x, y []string, deepX, deepY bool) bool {
	if len(x) > 0 && len(y) > 0 && (x[0] == "") != (y[0] == "") || len(x) == 0 && len(y) > 0 && y[0] == "" || len(y) == 0 && len(x) > 0 && x[0] == "" {
		return false // one is absolute, the other is not
	}
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
			if met && (i == len(x) && (deepX || j == len(y)) || j == len(y) && deepY) {
				return true
			}
		}
		reach, next = next, reach
	}
	return false
}

func lockParts(file string) []string {
	file = path.Clean(strings.ReplaceAll(file, `\`, "/"))
	if file == "." {
		return nil
	}
	return strings.Split(strings.TrimSuffix(file, "/"), "/")
}

// partsOverlap reports whether one name can match both parts.
func partsOverlap(a, b string) bool {
	switch {
	case !IsLockPattern(a) && !IsLockPattern(b):
		return a == b
	case a == "" || b == "":
		return strings.Trim(a+b, "*") == ""
	case !IsLockPattern(a):
		return matches(b, a)
	case !IsLockPattern(b):
		return matches(a, b)
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

// LockPattern matches a pattern with many paths that hold no wildcards, part by part: paths with
// the same beginning share the work. It answers as LocksOverlap does.
type LockPattern struct {
	parts  []string
	folder bool
}

// NewLockPattern returns the matcher of a pattern.
func NewLockPattern(file string) *LockPattern {
	parts := lockParts(file)
	return &LockPattern{parts: parts, folder: isFolder(parts)}
}

// Begin returns the row of the empty path.
func (p *LockPattern) Begin() []bool {
	row := make([]bool, len(p.parts)+1)
	row[0] = true
	for j, part := range p.parts {
		row[j+1] = row[j] && part == "**"
	}
	return row
}

// Next returns the row of a path that has one more part than that of row. first: it is the first part.
func (p *LockPattern) Next(row []bool, part string, first bool) []bool {
	next := make([]bool, len(p.parts)+1)
	if first && (part == "") != (p.parts[0] == "") {
		return next // one is absolute, the other is not
	}
	for j, other := range p.parts {
		many := other == "**"
		next[j+1] = row[j] && (many || partsOverlap(part, other)) || row[j+1] && many || next[j] && many
	}
	return next
}

// Covers reports whether the pattern covers all that lies below the path of a row.
func (p *LockPattern) Covers(row []bool) bool { return p.folder && row[len(p.parts)] }

// Meets reports whether the pattern overlaps the path of a row, which ends with a part.
func (p *LockPattern) Meets(row []bool, last string) bool {
	return row[len(p.parts)] || isFolder([]string{last}) && slices.Contains(row, true)
}

// matches reports whether a pattern of one part matches a name.
func matches(pattern, name string) bool {
	star, again := -1, 0 // behind the last *, and where the name goes on if that stands for one more character
	at, i := 0, 0
	for i < len(name) {
		r, size := utf8.DecodeRuneInString(name[i:])
		p, width := utf8.DecodeRuneInString(pattern[at:])
		switch {
		case width > 0 && p == '*':
			at += width
			star, again = at, i
		case width > 0 && (p == '?' || p == r):
			at, i = at+width, i+size
		case star >= 0:
			_, size := utf8.DecodeRuneInString(name[again:])
			again += size
			at, i = star, again
		default:
			return false
		}
	}
	return strings.Trim(pattern[at:], "*") == ""
}

func isWild(r rune) bool { return r == '*' || r == '?' }
