package search

import (
	"slices"
	"strings"
	"unicode"

	"hubcli/hub"
)

// maxQueryPlaces is the largest number of words of a query; later words are
// ignored.
const maxQueryPlaces = 64

// minPrefixRunes is the shortest length at which the last word is completed.
const minPrefixRunes = 3

// query is a parsed query. The language is small on purpose: words, "phrases",
// and -words that must not occur. Nothing in it can be expensive.
type query struct {
	wanted   []clause
	unwanted []clause
}

// clause is one word (one term), a phrase (terms at adjacent places), or a
// prefix of a word.
type clause struct {
	terms  []string // one for each place
	prefix bool     // of the only term
	quoted bool     // stays exact
	width  width
}

func (c clause) equal(d clause) bool {
	return c.prefix == d.prefix && c.quoted == d.quoted && slices.Equal(c.terms, d.terms)
}

// parse reads a query. Errors: invalid if it asks for no word.
func parse(text string) (query, error) {
	var q query
	places := 0
	add := func(piece string, not, quoted bool) {
		c := clauseOf(piece)
		c.quoted = quoted
		if c.terms == nil || places+len(c.terms) > maxQueryPlaces {
			return
		}
		into := &q.wanted
		if not {
			into = &q.unwanted
		}
		if !slices.ContainsFunc(*into, c.equal) {
			places += len(c.terms)
			*into = append(*into, c)
		}
	}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeftFunc(text, unicode.IsSpace) {
		not := false
		if len(text) > 1 && text[0] == '-' {
			not, text = true, text[1:]
		}
		if quoted, ok := strings.CutPrefix(text, `"`); ok {
			phrase, rest, _ := strings.Cut(quoted, `"`) // an unclosed phrase extends to the end
			add(phrase, not, true)
			text = rest
			continue
		}
		end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
		if end < 0 {
			end = len(text)
		}
		add(text[:end], not, false)
		text = text[end:]
	}
	if len(q.wanted) == 0 {
		return q, hub.Invalid("q", "the query holds no word to look for").
			WithFix(`name words, "phrases in quotes", and -words that must not occur`)
	}
	return q, nil
}

// clauseOf makes a clause of a piece without syntax. The clause has no terms if
// the piece holds no word.
func clauseOf(piece string) clause {
	var words []word
	eachWord(piece, func(w word) bool {
		if !w.part {
			words = append(words, w)
		}
		return len(words) <= maxQueryPlaces
	})
	if len(words) == 1 && words[0].open {
		return clause{terms: []string{words[0].term}, prefix: true}
	}
	var c clause
	for i, w := range words {
		// After a pair the last character alone adds nothing, and in a document
		// more characters may follow it.
		if w.open && i > 0 && words[i-1].end == w.end {
			continue
		}
		c.terms = append(c.terms, w.term)
	}
	if len(c.terms) > maxQueryPlaces {
		c.terms = c.terms[:maxQueryPlaces]
	}
	return c
}
