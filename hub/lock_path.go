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
	if isAbsolute(x) != isAbsolute(y) {
		return false
	}
	many := func(part string) bool { return part == manyParts }
	return meet(x, y, many, partsOverlap, func(i, j int) bool {
		return i == len(x) && (deepX || j == len(y)) || j == len(y) && deepY
	})
}

// manyParts is the part of a pattern that stands for any number of parts.
const manyParts = "**"

func isAbsolute(parts []string) bool { return len(parts) > 0 && parts[0] == "" }

// meet reports whether beginnings of two patterns, of i and j elements, at which the search ends can
// stand for the same. many says which elements stand for any number of them, and same whether two
// others can be the same.
func meet[T any](x, y []T, many func(T) bool, same func(a, b T) bool, ends func(i, j int) bool) bool {
	// reach[j]: the elements of x up to now, and j elements of y, can be the same.
	reach, next := make([]bool, len(y)+1), make([]bool, len(y)+1)
	for i := 0; i <= len(x); i++ {
		clear(next)
		for j := 0; j <= len(y); j++ {
			manyX, manyY := i > 0 && many(x[i-1]), j > 0 && many(y[j-1])
			switch {
			case i == 0 && j == 0:
				next[j] = true
			case i > 0 && j > 0 && reach[j-1]:
				next[j] = manyX || manyY || same(x[i-1], y[j-1])
			}
			// Such an element stands for none, or for one more.
			next[j] = next[j] || (manyX || manyY) && (i > 0 && reach[j] || j > 0 && next[j-1])
			if next[j] && ends(i, j) {
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
	return meet(x, y, func(r rune) bool { return r == '*' }, func(a, b rune) bool { return a == b || a == '?' || b == '?' },
		func(i, j int) bool { return i == len(x) && j == len(y) })
}

// LockPattern matches a pattern with many paths that hold no wildcards, part by part: paths with
// the same beginning share the work, which is done once for each part. It answers as LocksOverlap
// does. A row, of Len elements, says how far the pattern can be matched with a path.
type LockPattern struct {
	parts  []string
	wild   []bool   // the parts with wildcards
	ends   []string // what stands behind the last wildcard of each part: most names end otherwise
	folder bool
}

// NewLockPattern returns the matcher of a pattern.
func NewLockPattern(file string) *LockPattern {
	parts := lockParts(file)
	p := &LockPattern{parts: parts, wild: make([]bool, len(parts)), ends: make([]string, len(parts)), folder: isFolder(parts)}
	for i, part := range parts {
		p.wild[i], p.ends[i] = IsLockPattern(part), part[strings.LastIndexAny(part, "*?")+1:]
	}
	return p
}

// Len returns the length of a row.
func (p *LockPattern) Len() int { return len(p.parts) + 1 }

// Begin sets a row to that of the empty path.
func (p *LockPattern) Begin(row []bool) {
	row[0] = true
	for j, part := range p.parts {
		row[j+1] = row[j] && part == manyParts
	}
}

// Next sets next to the row of the path of row with one more part. first: it is the first part.
func (p *LockPattern) Next(next, row []bool, part string, first bool) {
	clear(next)
	if first && (part == "") != isAbsolute(p.parts) {
		return
	}
	for j, other := range p.parts {
		switch {
		case other == manyParts:
			next[j+1] = row[j] || row[j+1] || next[j]
		case !row[j]:
		case p.wild[j]:
			next[j+1] = strings.HasSuffix(part, p.ends[j]) && matches(other, part)
		default:
			next[j+1] = other == part
		}
	}
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
