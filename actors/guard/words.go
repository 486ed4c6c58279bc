package guard

import (
	"bytes"
	"slices"

	"hubcli/actors/core"
)

const (
	maxWords = 32    // of a message that are kept; of a longer one those with the least hashes
	maxNames = 8     // of them that are parts of names
	maxChars = 4_096 // of a message that are read

	// Two messages are nearly the same if they differ in no more words than this, and have
	// three fifths of their words in common.
	maxOtherWords = 2
	commonFifths  = 3
)

// words are what a message says: the hashes of its different words, without case, marks,
// numbers and order. So a counter, a time or an id with digits makes no other words.
// The zero words are like no others.
type words struct {
	known bool
	n     int
	least [maxWords]uint32 // the first n of them; rising
	// names are those of the words that belong to a file name or an identifier; rising.
	named int
	names [maxNames]uint32
}

// wordsOf reads a post that is to be made. What brings attachments repeats nothing.
func wordsOf(m *core.MessageDraft) words {
	if len(m.Attachments) > 0 {
		return words{}
	}
	return readWords(m.Body, false)
}

// wordsOfStored reads a message as it is stored: the same words as those of its draft.
func wordsOfStored(m *core.StoredMessage) words {
	if !bytes.HasPrefix(m.JSON[m.BodyEnd:], []byte(`,"attachments":[]`)) {
		return words{}
	}
	const longest = len(`\u0000`)
	body := m.JSON[m.BodyStart+1 : m.BodyEnd-len(`","truncated":null`)]
	return readWords(string(body[:min(len(body), maxChars*longest)]), true)
}

// add keeps a word; name says that it is part of a file name or an identifier.
func (w *words) add(hash uint32, name bool) {
	w.n = keep(w.least[:], w.n, hash)
	if name {
		w.named = keep(w.names[:], w.named, hash)
	}
}

// keep adds a hash to the first n of some that rise, and returns how many there are then. Of too
// many the least are kept.
func keep(least []uint32, n int, hash uint32) int {
	i, found := slices.BinarySearch(least[:n], hash)
	if found || i == len(least) {
		return n
	}
	n = min(n+1, len(least))
	copy(least[i+1:n], least[i:n-1])
	least[i] = hash
	return n
}

// same reports whether two messages have the same words: numbers, case, marks and order aside
// they are equal.
func (w *words) same(o *words) bool {
	return w.known && o.known && w.n == o.n && w.least == o.least
}

// repeats reports whether a message says nearly the same as an earlier one. One that names
// another file or identifier does not.
func (w *words) repeats(o *words) bool {
	return w.same(o) || w.like(o) && !slices.ContainsFunc(w.names[:w.named], o.lacks)
}

// lacks reports whether a word is certainly not in a message.
func (w *words) lacks(hash uint32) bool {
	if w.n == maxWords && hash > w.least[maxWords-1] {
		return false // it may be one that was not kept
	}
	_, found := slices.BinarySearch(w.least[:w.n], hash)
	return !found
}

// takesUp reports whether a message has a word of the one that it answers which an earlier
// message has not.
func (w *words) takesUp(answered, earlier *words) bool {
	for _, hash := range w.least[:w.n] {
		if _, found := slices.BinarySearch(answered.least[:answered.n], hash); found && earlier.lacks(hash) {
			return true
		}
	}
	return false
}

// like reports whether two messages have nearly the same words.
func (w *words) like(o *words) bool {
	if !w.known || !o.known {
		return false
	}
	i, j, common, other := 0, 0, 0, 0
	for i < w.n && j < o.n {
		switch {
		case w.least[i] == o.least[j]:
			i, j, common = i+1, j+1, common+1
		case w.least[i] < o.least[j]:
			i, other = i+1, other+1
		default:
			j, other = j+1, other+1
		}
	}
	// A message of which not all words are kept may have the rest of the other's, too.
	if w.n < maxWords {
		other += o.n - j
	}
	if o.n < maxWords {
		other += w.n - i
	}
	return other <= maxOtherWords && common*5 >= (common+other)*commonFifths
}
