package search

import (
	"slices"
	"unicode/utf8"

	index "github.com/blevesearch/bleve_index_api"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"

	"hubcli/actors/core"
)

// width says which words a clause of one word accepts beside the written one.
// A greater width accepts all that a smaller one accepts.
type width uint8

const (
	written   width = iota // the word itself
	inflected              // words with the same English stem: test, tests, testing
	begun                  // longer words that begin with it
	misspelt               // words that differ by one letter; only for a word that does not occur
)

const (
	// minStemRunes is the shortest length of a word that is reduced to its
	// stem.
	minStemRunes = 3
	// minMisspeltRunes is the shortest length of a word in which one letter may
	// be wrong. Shorter words have too many neighbors.
	minMisspeltRunes = 4
	// maxVariants is the largest number of words that one word of a query may
	// stand for.
	maxVariants = 64
	// variantShare is what another word counts compared with the written one.
	variantShare = 0.5
)

// widening tries a query in one width after the other until it has hits. A
// width in which the words of the index are the same ones is left out.
func (f *finder) widening(q query) ([]core.IndexHit, error) {
	hits, err := f.find(q, newAll)
	if err != nil || len(hits) >= f.q.Limit {
		return hits, err
	}
	before := q
	for _, w := range []width{inflected, begun, misspelt} {
		if w > inflected && len(hits) > 0 || f.ctx.Err() != nil {
			return hits, nil
		}
		wide, err := f.widened(q, w)
		if err != nil {
			return nil, err
		}
		if more, err := f.more(before, wide, f.fields()); err != nil {
			return nil, err
		} else if !more {
			continue
		}
		before = wide
		wider, err := f.find(wide, newAll)
		if err != nil {
			return nil, err
		}
		if len(wider) >= len(hits) { // fewer: the time was over
			hits = wider
		}
	}
	if len(hits) > 0 || len(q.wanted) == 1 {
		return hits, nil
	}
	return f.any(q)
}

// any finds rows with any one word of a query, or with a misspelt one if there
// is no such row.
func (f *finder) any(q query) (hits []core.IndexHit, err error) {
	for _, w := range []width{inflected, misspelt} {
		wide, err := f.widened(q, w)
		if err != nil {
			return nil, err
		}
		if wide.wanted, err = f.rarest(wide.wanted); err != nil {
			return nil, err
		}
		if hits, err = f.find(wide, newAny); err != nil || len(hits) > 0 {
			return hits, err
		}
	}
	return hits, nil
}

// widened returns the query with its words in a width. Only the last word can
// be begun, because only it may be unfinished. Only a word that no public row
// holds can be misspelt. Phrases, words in quotes and unwanted words stay exact.
func (f *finder) widened(q query, w width) (query, error) {
	wanted := slices.Clone(q.wanted)
	for i := range wanted {
		c := &wanted[i]
		to := w
		if w == begun && i < len(wanted)-1 {
			to = inflected
		}
		if w == misspelt && c.takes(misspelt) {
			c.width = inflected
			rows, err := f.rows(*c)
			if err != nil {
				return q, err
			}
			if rows > 0 {
				to = inflected
			}
		}
		for ; to > written && !c.takes(to); to-- {
		}
		c.width = to
	}
	q.wanted = wanted
	return q, nil
}

// takes reports whether a clause can have a width.
func (c clause) takes(w width) bool {
	if c.quoted || c.prefix || len(c.terms) != 1 {
		return false
	}
	n := utf8.RuneCountInString(c.terms[0])
	switch w {
	case inflected:
		return n >= minStemRunes && latin(c.terms[0])
	case begun:
		return n >= minPrefixRunes
	case misspelt:
		return n >= minMisspeltRunes && !digits(c.terms[0])
	default:
		return true
	}
}

// accepts reports whether a word of a text satisfies the only term of a clause.
func (c clause) accepts(word string) bool {
	term := c.terms[0]
	switch {
	case word == term:
		return true
	case c.prefix || c.width >= begun && c.takes(begun):
		if len(word) > len(term) && word[:len(term)] == term {
			return true
		}
	}
	return c.width >= inflected && c.takes(inflected) && latin(word) && stem(word) == stem(term) ||
		c.width >= misspelt && c.takes(misspelt) && oneEdit(term, word)
}

// more reports whether a query accepts words of the index that it did not
// accept in the width before.
func (f *finder) more(before, q query, fields []string) (bool, error) {
	for i, c := range q.wanted {
		if c.width == before.wanted[i].width {
			continue
		}
		for _, field := range fields {
			less, err := f.variants(before.wanted[i], field)
			if err != nil {
				return false, err
			}
			words, err := f.variants(c, field)
			if err != nil || len(words) > len(less) {
				return true, err
			}
		}
	}
	return false, nil
}

// variantsOf is a question for the words of a field.
type variantsOf struct {
	term, field string
	prefix      bool
	width       width
}

// variants lists the words of a field that satisfy a clause of one word, the
// written word first.
func (f *finder) variants(c clause, field string) ([]string, error) {
	key := variantsOf{c.terms[0], field, c.prefix, c.width}
	if words, ok := f.words[key]; ok {
		return words, nil
	}
	words, err := f.lookUp(c, field)
	if err != nil {
		return nil, err
	}
	if f.words == nil {
		f.words = map[variantsOf][]string{}
	}
	f.words[key] = words
	return words, nil
}

// lookUp walks over the dictionary of a field.
func (f *finder) lookUp(c clause, field string) ([]string, error) {
	out := []string{c.terms[0]}
	add := func(dict index.FieldDict, err error) error {
		if err != nil {
			return err
		}
		defer func() { _ = dict.Close() }()
		for n := 1; len(out) < maxVariants; n++ {
			entry, err := dict.Next()
			if err != nil || entry == nil || n%lookAgain == 0 && f.ctx.Err() != nil {
				return err
			}
			if c.accepts(entry.Term) && !slices.Contains(out, entry.Term) {
				out = append(out, entry.Term)
			}
		}
		return nil
	}
	if c.prefix || c.width >= inflected {
		from := c.terms[0]
		if !c.prefix && c.takes(inflected) {
			from = root(from)
		}
		if err := add(f.reader.FieldDictPrefix(field, []byte(from))); err != nil {
			return nil, err
		}
	}
	if fuzzy, ok := f.reader.(index.IndexReaderFuzzy); ok && c.width >= misspelt && c.takes(misspelt) {
		if err := add(fuzzy.FieldDictFuzzy(field, c.terms[0], 1, "")); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stem reduces an English word to its stem by the Snowball algorithm
// (https://snowballstem.org/algorithms/english/stemmer.html).
func stem(word string) string {
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}

// root returns the beginning that a word shares with all words of its stem. The
// algorithm changes a last y to i and restores a last e, so these do not belong
// to it: try and tries have the stem tri.
func root(word string) string {
	s := stem(word)
	if last := s[len(s)-1]; len(s) > minStemRunes-1 && (last == 'i' || last == 'e' || last == 'y') {
		s = s[:len(s)-1]
	}
	for len(s) > 0 && (len(word) < len(s) || word[:len(s)] != s) {
		s = s[:len(s)-1]
	}
	if s == "" {
		return word
	}
	return s
}

// latin reports whether a word consists of letters that English has.
func latin(word string) bool {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return word != ""
}

// digits reports whether a word holds a digit. One digit makes another number.
func digits(word string) bool {
	return slices.ContainsFunc([]byte(word), func(b byte) bool { return b >= '0' && b <= '9' })
}

// oneEdit reports whether one inserted, missing, wrong or exchanged letter makes
// a of b.
func oneEdit(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > 1 {
		return false
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	switch {
	case len(x) < len(y):
		return slices.Equal(x[i:], y[i+1:])
	case i == len(x), slices.Equal(x[i+1:], y[i+1:]):
		return true
	}
	return i+1 < len(x) && x[i] == y[i+1] && x[i+1] == y[i] && slices.Equal(x[i+2:], y[i+2:])
}
