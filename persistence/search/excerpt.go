package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// excerptChars is the length of an excerpt, in characters.
const excerptChars = 300

// maxExcerptWords is the largest number of words of a text that are read for an
// excerpt.
const maxExcerptWords = 200_000

// mark is the position, in bytes, of words of a query in a text.
type mark struct {
	start, end int
	clause     int // index in the query, so that different words count more than a repeated one
}

// Excerpt returns the part of text that shows the query best; see core.Index.
func (*Index) Excerpt(query, text string) (string, [][2]int) {
	return excerpt(query, text, excerptChars)
}

func excerpt(queryText, text string, chars int) (string, [][2]int) {
	q, err := parse(queryText)
	var marks []mark
	if err == nil {
		marks = q.shown(text)
	}
	start, end := window(text, marks, chars)
	return cut(text, marks, start, end)
}

// shown finds the words of a query in a text as the search may have found them:
// other forms of a word count, and a misspelt word where the text has no better
// one.
func (q query) shown(text string) []mark {
	wide := q
	wide.wanted = slices.Clone(q.wanted)
	for i := range wide.wanted {
		if wide.wanted[i].takes(begun) {
			wide.wanted[i].width = begun
		}
	}
	marks := wide.marks(text)
	missing := false
	for i := range wide.wanted {
		found := slices.ContainsFunc(marks, func(m mark) bool { return m.clause == i })
		if !found && wide.wanted[i].takes(misspelt) {
			wide.wanted[i].width, missing = misspelt, true
		}
	}
	if missing {
		marks = wide.marks(text)
	}
	return marks
}

// marks finds the words of a query in a text, in their order.
func (q query) marks(text string) (out []mark) {
	type place struct{ terms []word }
	longest := 1
	for _, c := range q.wanted {
		longest = max(longest, len(c.terms))
	}
	var recent []place // the last places, the newest at the end
	n := 0
	match := func() {
		for i, c := range q.wanted {
			if from := len(recent) - len(c.terms); from >= 0 {
				if m, ok := c.match(func(j int) []word { return recent[from+j].terms }); ok {
					m.clause = i
					out = append(out, m)
				}
			}
		}
	}
	last := -1
	eachWord(text, func(w word) bool {
		if w.place != last {
			if last >= 0 {
				match()
			}
			if last >= 0 && w.place != last+1 {
				recent = recent[:0]
			}
			last = w.place
			if len(recent) >= longest {
				recent = slices.Delete(recent, 0, 1)
			}
			recent = append(recent, place{})
		}
		at := &recent[len(recent)-1]
		at.terms = append(at.terms, w)
		n++
		return n < maxExcerptWords
	})
	if last >= 0 {
		match()
	}
	slices.SortStableFunc(out, func(a, b mark) int { return a.start - b.start })
	return out
}

// match looks for the clause at adjacent places. A clause of one word accepts
// what its width says.
func (c clause) match(at func(int) []word) (mark, bool) {
	var m mark
	for i, term := range c.terms {
		found := false
		for _, w := range at(i) {
			if w.term != term && (len(c.terms) > 1 || !c.accepts(w.term)) {
				continue
			}
			if !found || w.term == term {
				if i == 0 {
					m.start = w.start
				}
				m.end = w.end
			}
			found = true
			if w.term == term {
				break
			}
		}
		if !found {
			return m, false
		}
	}
	return m, true
}

// window chooses the bytes of text to show, at most chars characters. It
// prefers many different words of the query, then many words, then an early
// place.
func window(text string, marks []mark, chars int) (start, end int) {
	if utf8.RuneCountInString(text) <= chars {
		return 0, len(text)
	}
	const lead = 60 // characters before the first word
	from, bestScore := 0, -1
	if len(marks) > 0 {
		to := 0
		for i := range marks {
			to = max(to, i)
			limit := ahead(text, marks[i].start, max(1, chars-lead))
			for to < len(marks) && marks[to].end <= limit {
				to++
			}
			seen := map[int]bool{}
			for _, m := range marks[i:min(to, i+64)] {
				seen[m.clause] = true
			}
			if score := len(seen)*100 + min(to-i, 99); score > bestScore {
				bestScore, from = score, marks[i].start
			}
			if i > 2_000 {
				break
			}
		}
	}
	start = back(text, from, lead)
	if start > 0 { // begin with a word
		if space := strings.IndexFunc(text[start:from], unicode.IsSpace); space >= 0 {
			start += space + 1
		}
	}
	return start, ahead(text, start, chars)
}

// ahead returns the offset n characters behind from, or the end.
func ahead(text string, from, n int) int {
	for ; n > 0 && from < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	return from
}

// back returns the offset n characters before from, or the beginning.
func back(text string, from, n int) int {
	for ; n > 0 && from > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	return from
}

// cut renders the window: line ends and tabs become spaces, so that it is one line, and
// marks become positions in characters that do not overlap. Other control characters stay:
// whatever shows the text escapes them, as in any other text of agents.
func cut(text string, marks []mark, start, end int) (string, [][2]int) {
	shown := strings.Map(func(r rune) rune {
		if strings.ContainsRune("\n\r\t\v\f", r) {
			return ' '
		}
		return r
	}, text[start:end])
	matches := [][2]int{}
	at, chars := start, 0 // chars counts from start to at
	for _, m := range marks {
		if m.start < at || m.end > end {
			continue
		}
		first := chars + utf8.RuneCountInString(text[at:m.start])
		chars = first + utf8.RuneCountInString(text[m.start:m.end])
		at = m.end
		matches = append(matches, [2]int{first, chars})
	}
	return shown, matches
}
