package strictjson

import (
	"bytes"
	"strconv"
	"sync"
	"unicode/utf8"
)

const (
	// MaxDepth is how deep objects and arrays may nest.
	MaxDepth = 64
	// MaxKnown is how many names the caller of Object may know.
	MaxKnown = 64
	// linearNames is the number of names of one object up to which they are compared one
	// by one. Beyond it a set is used, so that a hostile object does not cost quadratic
	// time.
	linearNames = 16
)

// Scanner reads one text from its beginning to its end. Its position is at a value when a
// function is called to read one.
type Scanner struct {
	data     []byte
	pos      int
	depth    int
	keys     [][]byte // names of the objects that are open, innermost last
	names    int      // how many names of the objects that are open are kept
	maxNames int      // 0: no bound
}

// scanners reuses the space for names between texts.
var scanners = sync.Pool{New: func() any { return &Scanner{keys: make([][]byte, 0, linearNames)} }}

// Read calls value with a scanner at the one value of a text, which value reads. maxNames
// bounds the names that are kept at a time; 0 is no bound. Errors of the text are *Error;
// those of value are returned as they are.
func Read(text []byte, maxNames int, value func(*Scanner) error) error {
	if !utf8.Valid(text) {
		return &Error{Reason: NotUTF8, says: "is not valid UTF-8", whole: true}
	}
	s := scanners.Get().(*Scanner)
	defer s.release()
	s.data, s.maxNames = text, maxNames
	if err := value(s); err != nil {
		return err
	}
	if s.space(); s.pos != len(s.data) {
		return s.fail("something follows the JSON value")
	}
	return nil
}

// release clears the scanner and returns it to the pool.
func (s *Scanner) release() {
	keys := s.keys[:cap(s.keys)]
	clear(keys)
	*s = Scanner{keys: keys[:0]}
	scanners.Put(s)
}

func (s *Scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// Peek returns the next byte that is no white space, or 0 at the end.
func (s *Scanner) Peek() byte {
	s.space()
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

// AtEnd reports whether nothing follows, not even white space.
func (s *Scanner) AtEnd() bool { return s.pos == len(s.data) }

// Pos is where the scanner is, in bytes.
func (s *Scanner) Pos() int { return s.pos }

// Since returns the text from a position to the scanner. It is a part of the data.
func (s *Scanner) Since(pos int) []byte { return s.data[pos:s.pos:s.pos] }

// NotA refuses the whole text because it is not what the caller wants, as in "is not a
// JSON object".
func (s *Scanner) NotA(says string) *Error { return s.failWhole(Malformed, says) }

func (s *Scanner) enter() error {
	s.pos++
	if s.depth++; s.depth > MaxDepth {
		return s.failWhole(TooDeep, "nests too deep")
	}
	return nil
}

func (s *Scanner) leave() {
	s.pos++
	s.depth--
}

// Object reads the object at the scanner, and calls member for each member with the scanner
// at its value, which member reads. known numbers the names that the caller tells apart, from
// 0 to MaxKnown-1, and returns -1 for others; it may be nil. A name that stands twice is
// refused before its second value.
func (s *Scanner) Object(known func(name []byte) int, member func(name []byte, number int) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	if s.Peek() == '}' {
		s.leave()
		return nil
	}
	base, names := len(s.keys), s.names
	var set map[string]struct{}
	var seen uint64
	for {
		name, err := s.name()
		if err != nil {
			return err
		}
		number := -1
		if known != nil {
			number = known(name)
		}
		if number < 0 {
			set, err = s.once(base, set, name)
		} else if bit := uint64(1) << number; seen&bit != 0 {
			err = s.twice(name)
		} else {
			seen |= bit
		}
		if err != nil {
			return err
		}
		if s.Peek() != ':' {
			return s.fail("a colon is missing after a member name")
		}
		s.pos++
		s.space()
		if err := member(name, number); err != nil {
			return err
		}
		switch s.Peek() {
		case ',':
			s.pos++
		case '}':
			s.leave()
			s.keys, s.names = s.keys[:base], names
			return nil
		default:
			return s.fail("a comma or the end of an object is missing")
		}
	}
}

// name reads the name of a member.
func (s *Scanner) name() ([]byte, error) {
	if s.Peek() != '"' {
		return nil, s.fail("a member name is missing")
	}
	return s.Text()
}

// once refuses a second time a name of the object whose names begin at base.
func (s *Scanner) once(base int, set map[string]struct{}, name []byte) (map[string]struct{}, error) {
	if s.names++; s.maxNames > 0 && s.names > s.maxNames {
		return set, s.failWhole(TooManyNames, "has too many names")
	}
	if set == nil && len(s.keys)-base < linearNames {
		for _, k := range s.keys[base:] {
			if bytes.Equal(k, name) {
				return nil, s.twice(name)
			}
		}
		s.keys = append(s.keys, name)
		return nil, nil
	}
	if set == nil {
		set = make(map[string]struct{}, 4*linearNames)
		for _, k := range s.keys[base:] {
			set[string(k)] = struct{}{}
		}
	}
	if _, ok := set[string(name)]; ok {
		return set, s.twice(name)
	}
	set[string(name)] = struct{}{}
	return set, nil
}

func (s *Scanner) twice(name []byte) *Error {
	const shown = 64
	err := s.failFor(Twice, "a member name occurs twice in one object")
	err.Name = string(name[:min(len(name), shown)])
	return err
}

// Array reads the array at the scanner, and calls element for each element with the scanner
// at it, which element reads.
func (s *Scanner) Array(element func(i int) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	if s.Peek() == ']' {
		s.leave()
		return nil
	}
	for i := 0; ; i++ {
		s.space()
		if err := element(i); err != nil {
			return err
		}
		switch s.Peek() {
		case ',':
			s.pos++
		case ']':
			s.leave()
			return nil
		default:
			return s.fail("a comma or the end of an array is missing")
		}
	}
}

// Pass reads one value of any type.
func (s *Scanner) Pass() error {
	switch c := s.Peek(); {
	case c == '{':
		return s.Object(nil, func([]byte, int) error { return s.Pass() })
	case c == '[':
		return s.Array(func(int) error { return s.Pass() })
	case c == '"':
		_, _, err := s.String()
		return err
	case c == '-' || c >= '0' && c <= '9':
		_, err := s.Number()
		return err
	default:
		_, err := s.Literal()
		return err
	}
}

// Empty reports whether an empty string, list or object, false or 0 comes next. It reads
// nothing.
func (s *Scanner) Empty() bool {
	first := s.Peek()
	at := func(i int) byte {
		if s.pos+i < len(s.data) {
			return s.data[s.pos+i]
		}
		return 0
	}
	switch first {
	case '"':
		return at(1) == '"'
	case 'f':
		return true
	case '0':
		return !bytes.ContainsRune([]byte(".eE0123456789"), rune(at(1)))
	case '[', '{':
		inner := Scanner{data: s.data, pos: s.pos + 1}
		return inner.Peek() == first+2 // the bracket that closes
	}
	return false
}

// Literal reads true, false or null and returns its first letter.
func (s *Scanner) Literal() (byte, error) {
	for _, word := range [...]string{"true", "false", "null"} {
		if len(s.data)-s.pos >= len(word) && string(s.data[s.pos:s.pos+len(word)]) == word {
			s.pos += len(word)
			return word[0], nil
		}
	}
	if s.pos == len(s.data) {
		return 0, s.failWhole(Malformed, "ends too early")
	}
	return 0, s.failWhole(Malformed, "is not JSON")
}

// Number reads a number and returns its text, which is a part of the data.
func (s *Scanner) Number() ([]byte, error) {
	start := s.pos
	if s.at('-') {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else if !s.digits() {
		return nil, s.fail("a number is malformed")
	}
	plain := true
	if s.at('.') {
		plain = false
		if s.pos++; !s.digits() {
			return nil, s.fail("a number is malformed")
		}
	}
	if s.at('e') || s.at('E') {
		plain = false
		if s.pos++; s.at('+') || s.at('-') {
			s.pos++
		}
		if !s.digits() {
			return nil, s.fail("a number is malformed")
		}
	}
	text := s.data[start:s.pos]
	const surelyFinite = 300 // digits
	if !plain || len(text) > surelyFinite {
		if _, err := strconv.ParseFloat(string(text), 64); err != nil {
			return nil, s.failFor(OutOfRange, "a number is out of range")
		}
	}
	return text, nil
}

func (s *Scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *Scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}
