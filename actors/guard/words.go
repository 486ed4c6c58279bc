package guard

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"hubcli/actors/core"
)

const (
	maxWords = 32    // of a message that are kept; of a longer one those with the least hashes
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

// readWords reads a text; quoted: as it stands in JSON.
func readWords(text string, quoted bool) words {
	w := words{known: true}
	var word wordHash
	end := func() {
		if word.chars > 0 && !word.number {
			w.add(word.sum())
		}
		word = wordHash{}
	}
	for i, chars := 0, 0; i < len(text) && chars < maxChars; chars++ {
		r, size := utf8.DecodeRuneInString(text[i:])
		if quoted && r == '\\' {
			r, size = ' ', escapeSize(text[i:])
		}
		i += size
		switch {
		case unicode.In(r, alone...):
			end()
			word.add(r)
			end()
		case unicode.IsLetter(r), r == '_':
			word.add(unicode.ToLower(r))
		case unicode.IsDigit(r):
			word.number = true
		case unicode.In(r, unicode.Mn, unicode.Cf), r == '\'', r == '’': // within a word
		default:
			end()
		}
	}
	end()
	return w
}

// alone are the scripts in which no space divides words: each character counts as one.
var alone = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// escapeSize is the length of an escape in JSON, which stands for a quote, a backslash or a
// control character. None of these belongs to a word.
func escapeSize(text string) int {
	if len(text) > 1 && text[1] == 'u' {
		return min(len(`\u0000`), len(text))
	}
	return min(len(`\n`), len(text))
}

// wordHash is the hash of a word that is being read (FNV-1a of its characters).
type wordHash struct {
	hash   uint32
	chars  int
	number bool // it has a digit
}

func (h *wordHash) add(r rune) {
	const offset, prime = 2_166_136_261, 16_777_619
	if h.chars == 0 {
		h.hash = offset
	}
	h.hash = (h.hash ^ uint32(r)) * prime
	h.chars++
}

// sum spreads similar words over all numbers, so that the least hashes are a fair sample.
func (h *wordHash) sum() uint32 {
	x := h.hash
	x = (x ^ x>>16) * 0x85ebca6b
	x = (x ^ x>>13) * 0xc2b2ae35
	return x ^ x>>16
}

func (w *words) add(hash uint32) {
	i, found := slices.BinarySearch(w.least[:w.n], hash)
	if found || i == maxWords {
		return
	}
	w.n = min(w.n+1, maxWords)
	copy(w.least[i+1:w.n], w.least[i:w.n-1])
	w.least[i] = hash
}

// like reports whether two messages say nearly the same.
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
