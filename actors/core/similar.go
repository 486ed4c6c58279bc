package core

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hubcli/hub"
)

// maxCandidates is how many look-alikes a refusal shows.
const maxCandidates = 10

// The ways in which two names look alike, the closest first, in the words that a
// refusal shows.
var likenesses = []struct {
	why  string
	same func(a, b *look) bool
}{
	{"the same but for case, accents, spaces and punctuation", func(a, b *look) bool { return a.letters == b.letters }},
	{"the same words in another order", func(a, b *look) bool { return slices.Equal(a.sorted, b.sorted) }},
	{"the same but for singular and plural", func(a, b *look) bool { return slices.Equal(a.singular, b.singular) }},
	{"the same but for a letter or two", nearlySame},
}

// similar lists the rooms of a project that a room of this name would look like,
// the closest first.
func (p *Projects) similar(project hub.ProjectID, name string) []hub.SimilarRoom {
	type found struct {
		room hub.SimilarRoom
		rank int
	}
	var all []found
	want := lookOf(name)
	for _, room := range p.atlas.Rooms(project) {
		if rank := likeness(&want, room.Name); rank >= 0 {
			all = append(all, found{hub.SimilarRoom{
				RoomID: room.RoomID, Slug: room.Slug, Name: room.Name, Topic: room.Topic, Why: "its name is " + likenesses[rank].why,
			}, rank})
		}
	}
	slices.SortStableFunc(all, func(x, y found) int { return cmp.Compare(x.rank, y.rank) })
	rooms := make([]hub.SimilarRoom, 0, min(len(all), maxCandidates))
	for _, f := range all[:cap(rooms)] {
		rooms = append(rooms, f.room)
	}
	return rooms
}

// likeness returns which of likenesses holds first, or -1.
func likeness(want *look, name string) int {
	has := lookOf(name)
	for i := range likenesses {
		if likenesses[i].same(want, &has) {
			return i
		}
	}
	return -1
}

// look is how a name looks: its words are runs of letters and digits in lower
// case without accents.
type look struct {
	letters  string // all words as one; of a name without words, the name
	words    []string
	sorted   []string
	singular []string // sorted
}

func lookOf(name string) look {
	var l look
	joined := strings.Map(func(r rune) rune {
		if r == '\'' || r == '’' {
			return -1 // don't is one word
		}
		return r
	}, plain(name))
	l.words = strings.FieldsFunc(joined, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(l.words) == 0 {
		l.words = []string{foldName(name)}
	}
	l.letters = strings.Join(l.words, "")
	l.sorted = slices.Sorted(slices.Values(l.words))
	for _, word := range l.words {
		l.singular = append(l.singular, singularOf(word))
	}
	slices.Sort(l.singular)
	return l
}

// singularOf drops what English puts on a noun for more than one. Short words are
// left alone: bus, gas, is.
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

// nearlySame reports whether two names differ by what a slip of the hand makes of
// a long word. Where numbers or short words differ (sprint 1 and 2, team a and b)
// the rooms are siblings and are meant to be.
func nearlySame(a, b *look) bool {
	if len(a.words) != len(b.words) {
		return slip(a.letters, b.letters) == 1
	}
	total := 0
	for i, word := range a.words {
		if word == b.words[i] {
			continue
		}
		edits := slip(word, b.words[i])
		if edits == 0 {
			return false
		}
		total += edits
	}
	return total <= 2
}

// slip returns how many slips make one word of another: 1, or 2 in a long word.
// 0 says that they are different words.
func slip(a, b string) int {
	const some, long = 6, 10 // characters of the shorter word
	if numbers(a) != numbers(b) {
		return 0
	}
	allowed := 0
	switch n := min(utf8.RuneCountInString(a), utf8.RuneCountInString(b)); {
	case n >= long:
		allowed = 2
	case n >= some:
		allowed = 1
	default:
		return 0
	}
	if d := edits([]rune(a), []rune(b), allowed); d <= allowed {
		return d
	}
	return 0
}

// numbers returns the digits of a word.
func numbers(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, word)
}

// edits returns how many letters are to be put in, left out, replaced or
// exchanged with their neighbour to make b of a; beyond limit, some number above
// it.
func edits(a, b []rune, limit int) int {
	if abs := len(a) - len(b); abs > limit || -abs > limit {
		return limit + 1
	}
	before, row := make([]int, len(b)+1), make([]int, len(b)+1) // rows i-2 and i-1, then i
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
			least = min(least, next[j])
		}
		if least > limit {
			return least
		}
		before, row = row, next
	}
	return row[len(b)]
}
