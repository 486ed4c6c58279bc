package strictjson

// Reason says why a text is refused.
type Reason uint8

// The reasons.
const (
	Malformed Reason = iota // it is not JSON, or something follows its value
	NotUTF8
	TooDeep
	Twice        // a name stands twice in one object
	HalfPair     // of surrogates
	OutOfRange   // a number that no float64 holds
	TooManyNames // more than the caller wants to keep
)

// Error is the refusal of a text.
type Error struct {
	Reason Reason
	Offset int    // where it was found, in bytes
	Name   string // that stands twice, cut

	says  string
	whole bool // says lacks its subject, which is the text
}

func (e *Error) Error() string { return e.Of("the text") }

// Of is the sentence for a text that is called source, as in "the body".
func (e *Error) Of(source string) string {
	if e.whole {
		return source + " " + e.says
	}
	return e.says
}

// fail is an error about something in the text.
func (s *Scanner) fail(says string) *Error { return &Error{Offset: s.pos, says: says} }

// failWhole is an error about the whole text.
func (s *Scanner) failWhole(reason Reason, says string) *Error {
	return &Error{Reason: reason, Offset: s.pos, says: says, whole: true}
}

// failFor is fail for another reason than that the text is malformed.
func (s *Scanner) failFor(reason Reason, says string) *Error {
	return &Error{Reason: reason, Offset: s.pos, says: says}
}
