package edit

import (
	"bytes"
	"errors"
	"fmt"
)

// Reason says why a document was not changed.
type Reason string

// The reasons.
const (
	Unparsable  Reason = "unparsable"  // the document has a fault
	Duplicate   Reason = "duplicate"   // a key is there twice, and readers disagree about it
	WrongType   Reason = "wrong_type"  // a parent is not an object, or the place is not a list
	Ambiguous   Reason = "ambiguous"   // two elements or blocks match
	TooLarge    Reason = "too_large"   // beyond the limits of this package
	Unsupported Reason = "unsupported" // well formed, but this package does not edit such documents
	Exists      Reason = "exists"      // another entry is in that place
	Absent      Reason = "absent"      // there is no entry
	Unsafe      Reason = "unsafe"      // the comparison found a wrong result
)

// Refusal says why a document was not changed. Line and Column count from 1, in
// bytes, and are 0 if no place is known.
type Refusal struct {
	Reason       Reason
	Message      string
	Line, Column int
}

func (r *Refusal) Error() string {
	if r.Line == 0 {
		return r.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", r.Line, r.Column, r.Message)
}

// ReasonOf returns the reason of a Refusal in err's chain, else "".
func ReasonOf(err error) Reason {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Reason
	}
	return ""
}

func refuse(why Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: why, Message: fmt.Sprintf(format, args...)}
}

// refuseAt names the place by its offset in doc.
func refuseAt(doc []byte, offset int, why Reason, format string, args ...any) *Refusal {
	r := refuse(why, format, args...)
	before := doc[:min(max(offset, 0), len(doc))]
	r.Line = 1 + bytes.Count(before, []byte("\n"))
	r.Column = len(before) - bytes.LastIndexByte(before, '\n')
	return r
}
