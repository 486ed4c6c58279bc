package core

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxCandidates bounds the similar rooms that an error lists.
const maxCandidates = 10

// The ways in which two names look alike, the closest first, in the words that a
// refusal shows.
var likenesses = []struct {
	why  string
	same func(a, b *look) bool
}{
	{"the same but for case, accents, spaces and punctuation", func(a, b *look) bool { return a.letters.text == b.letters.text }},
	{"the same words in another order", func(a, b *look) bool { return slices.Equal(a.sorted, b.sorted) }},
	{"the same but for singular and plural", func(a, b *look) bool { return slices.Equal(a.singular, b.singular) }},
	{"the same but for a letter or two", nearlySame},
}

// likeness returns the index of the first of likenesses that holds, or -1.
func likeness(a, b *look) int {
	for i := range likenesses {
		if likenesses[i].same(a, b) {
			return i
		}
	}
	return -1
}

// Likeness returns what tells how much another name looks like this one: 0 for the most, below
// Likenesses for the least, -1 if it does not.
func Likeness(name string) func(other string) int {
	mine := lookOf(name)
	return func(other string) int { return likeness(mine, lookOf(other)) }
}

// Likenesses is how many ways there are in which names look alike.
var Likenesses = len(likenesses)

// look is how a name looks: its words are runs of letters and digits in lower
// case without accents.
type look struct {
	letters  word // all words as one; of a name without words, the name
	words    []word
	sorted   []string
	singular []string // sorted
}

// word is a word with the properties that are compared first.
type word struct {
	text   string
	chars  int
	digits string
}

func wordOf(text string) word {
	digits := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
	return word{text, utf8.RuneCountInString(text), digits}
}

func lookOf(name string) *look {
	joined := strings.Map(func(r rune) rune {
		if r == '\'' || r == '’' {
			return -1 // don't is one word
		}
		return r
	}, plain(name))
	words := strings.FieldsFunc(joined, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		words = []string{foldName(name)}
	}
	l := &look{letters: wordOf(strings.Join(words, "")), sorted: slices.Sorted(slices.Values(words))}
	for _, text := range words {
		l.words = append(l.words, wordOf(text))
		l.singular = append(l.singular, singularOf(text))
	}
	slices.Sort(l.singular)
	return l
}

// singularOf removes the English plural ending of a noun. Short words stay as
// they are: bus, gas, is.
func singularOf(word string) string {
	const short = 4 // bytes
	if len(word) < short || strings.HasSuffix(word, "ss") {
		return word
	}
	if stem, ok := strings.CutSuffix(word, "ies"); ok && len(stem) >= short-1 {
		return stem + "y"
	}
	for _, ending := range []string{"ches", "shes", "sses", "xes"} {
		if strings.HasSuffix(word, ending) {
			return word[:len(word)-2]
		}
	}
	return strings.TrimSuffix(word, "s")
}

// nearlySame reports whether two names differ only by typing errors in a long
// word. If numbers or short words differ (sprint 1 and 2, team a and b), the
// rooms are siblings on purpose.
func nearlySame(a, b *look) bool {
	if len(a.words) != len(b.words) {
		return slip(&a.letters, &b.letters) == 1
	}
	total := 0
	for i := range a.words {
		x, y := &a.words[i], &b.words[i]
		if x.text == y.text {
			continue
		}
		edits := slip(x, y)
		if edits == 0 {
			return false
		}
		if total += edits; total > maxEdits {
			return false
		}
	}
	return true
}

// maxEdits bounds the typing errors between two names that look alike.
const maxEdits = 2

// slip returns the number of typing errors between two words: 1, or 2 in a long
// word. 0 says that they are different words.
func slip(a, b *word) int {
	const some, long = 6, 10 // characters of the shorter word
	if a.digits != b.digits {
		return 0
	}
	allowed := 0
	switch n := min(a.chars, b.chars); {
	case n >= long:
		allowed = maxEdits
	case n >= some:
		allowed = 1
	default:
		return 0
	}
	if a.chars-b.chars > allowed || b.chars-a.chars > allowed {
		return 0
	}
	if d := edits(a.text, b.text, allowed); d <= allowed {
		return d
	}
	return 0
}

// edits returns the edit distance of a and b: insertions, deletions,
// replacements and swaps of adjacent letters. Above limit, which is at most
// maxEdits, it returns some number larger than limit. It skips the common
// prefix and suffix and computes only the band of the matrix that limit edits
// can reach, so it takes O(n) for n characters.
func edits(a, b string, limit int) int {
	x, y := middles(a, b)
	if abs := len(x) - len(y); abs > limit || -abs > limit {
		return limit + 1
	}
	// Rows i-2, i-1 and i of the distance matrix. Each holds the columns
	// i-limit to i+limit: column j is at index j-i+limit, plus one for a
	// border.
	const width = 2*maxEdits + 3
	far := limit + 1
	var before, row [width]int
	for k := range row {
		before[k], row[k] = far, far
		if j := k - 1 - limit; j >= 0 && j <= limit {
			row[k] = j
		}
	}
	for i := 1; i <= len(x); i++ {
		next := [width]int{}
		least := far
		for k := range next {
			next[k] = far
			j := i + k - 1 - limit
			if k == 0 || k > 2*limit+1 || j < 0 || j > len(y) {
				continue
			}
			if j == 0 {
				next[k] = min(i, far)
			} else {
				d := row[k] // both go on by one
				if x[i-1] != y[j-1] {
					d++
				}
				d = min(d, row[k+1]+1, next[k-1]+1)
				if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
					d = min(d, before[k]+1)
				}
				next[k] = min(d, far)
			}
			least = min(least, next[k])
		}
		if least > limit {
			return far
		}
		before, row = row, next
	}
	return row[len(y)-len(x)+limit+1]
}

// middles returns two words without their common prefix and suffix.
func middles(a, b string) (x, y []rune) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n-- // within a character
	}
	a, b = a[n:], b[n:]
	m := 0
	for m < len(a) && m < len(b) && a[len(a)-1-m] == b[len(b)-1-m] {
		m++
	}
	for m > 0 && !utf8.RuneStart(a[len(a)-m]) {
		m--
	}
	return []rune(a[:len(a)-m]), []rune(b[:len(b)-m])
}
