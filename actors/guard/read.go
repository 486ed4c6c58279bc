package guard

import (
	"unicode"
	"unicode/utf8"
)

// maxPieces bounds the words that one joined word may have.
const maxPieces = 16

// reader reads the words of a text. Words that a single mark joins belong together, as those of
// a path, of a time or of an id do.
type reader struct {
	to     *words
	word   wordHash // that is being read
	pieces [maxPieces]piece
	n      int  // pieces that are read and joined
	mark   rune // between them and what comes next; 0: none was read
}

// piece is a word that may be joined to others.
type piece struct {
	hash  uint32
	shape wordShape
	path  bool // a point or a slash joins it
	dash  bool // another mark joins it
}

// readWords reads a text; quoted: as it stands in JSON.
func readWords(text string, quoted bool) words {
	w := words{known: true}
	in := reader{to: &w}
	for i, chars := 0, 0; i < len(text) && chars < maxChars; chars++ {
		r, size := utf8.DecodeRuneInString(text[i:])
		if quoted && r == '\\' {
			r, size = ' ', escapeSize(text[i:])
		}
		i += size
		in.read(r)
	}
	in.end()
	return w
}

func (in *reader) read(r rune) {
	switch {
	case unicode.In(r, alone...):
		in.end()
		in.word.add(r)
		in.end()
	case unicode.IsLetter(r), r == '_':
		in.word.add(r)
	case unicode.IsDigit(r):
		in.word.digit()
	case unicode.In(r, unicode.Mn, unicode.Cf), r == '\'', r == '’': // within a word
	case r == '.', r == '/', r == '-', r == ':', r == '+':
		if in.endWord(); in.mark != 0 || in.n == 0 {
			in.end() // two marks join nothing
			return
		}
		in.mark = r
	default:
		in.end()
	}
}

// endWord ends a word to which others may be joined.
func (in *reader) endWord() {
	if !in.word.begun {
		return
	}
	path := in.mark == '.' || in.mark == '/'
	one := piece{hash: in.word.sum(), shape: in.word.wordShape, path: path, dash: in.mark != 0 && !path}
	if in.n > 0 {
		last := &in.pieces[in.n-1]
		last.path, last.dash = last.path || one.path, last.dash || one.dash
	}
	if in.n == maxPieces {
		in.flush()
	}
	in.pieces[in.n] = one
	in.n, in.word, in.mark = in.n+1, wordHash{}, 0
}

// end ends a word and what is joined to it.
func (in *reader) end() {
	in.endWord()
	in.flush()
	in.mark = 0
}

// flush keeps the words that are joined, without numbers and what may be part of an id.
func (in *reader) flush() {
	number := false
	for _, p := range in.pieces[:in.n] {
		number = number || p.shape.number
	}
	for _, p := range in.pieces[:in.n] {
		switch id := p.dash && (p.shape.hex || p.shape.humps); {
		case p.shape.number, number && id, p.shape.hex && p.shape.chars >= leastHex:
		default:
			in.to.add(p.hash, p.path || p.shape.humps || p.shape.line)
		}
	}
	in.n = 0
}

// leastHex is the length from which on a word of only the letters a to f is taken for a number.
const leastHex = 7

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
	hash  uint32
	begun bool
	lower bool // its last character is a small letter
	wordShape
}

// wordShape is what a word looks like.
type wordShape struct {
	chars  int  // without digits
	number bool // it has a digit
	hex    bool // it has only digits and the letters a to f
	humps  bool // a capital letter follows a small one
	line   bool // it has an underscore
}

func (h *wordHash) begin() {
	if !h.begun {
		const offset = 2_166_136_261
		h.hash, h.begun, h.hex = offset, true, true
	}
}

func (h *wordHash) digit() {
	h.begin()
	h.number, h.lower = true, false
}

func (h *wordHash) add(r rune) {
	h.begin()
	const prime = 16_777_619
	small := unicode.ToLower(r)
	h.humps = h.humps || h.lower && unicode.IsUpper(r)
	h.hex = h.hex && small >= 'a' && small <= 'f'
	h.line = h.line || r == '_'
	h.lower = unicode.IsLower(r)
	h.hash = (h.hash ^ uint32(small)) * prime
	h.chars++
}

// sum spreads similar words over all numbers, so that the least hashes are a fair sample.
func (h *wordHash) sum() uint32 {
	x := h.hash
	x = (x ^ x>>16) * 0x85ebca6b
	x = (x ^ x>>13) * 0xc2b2ae35
	return x ^ x>>16
}
