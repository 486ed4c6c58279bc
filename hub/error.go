package hub

import "fmt"

// Error is what a client sees of a failed call. Fix says what to do next and is
// part of the answer, so that an agent can act on it. A fix of the hub's own names
// no path, header, command or tool: those are in the row of the code.
type Error struct {
	Message    string
	Code       Code
	Status     int            // HTTP status; 0 where no answer came
	Detail     map[string]any // facts for programs; may be nil
	Fix        string         // may be empty
	Answered   bool           // a hub answered it, so that Fix is written for HTTP
	RetryAfter int            // seconds; 0 says nothing
}

// NewError returns an error with the code's usual status.
func NewError(code Code, message string) *Error {
	return &Error{Message: message, Code: code, Status: InfoOf(code).Status}
}

// Errorf is NewError with a format.
func Errorf(code Code, format string, args ...any) *Error {
	return NewError(code, fmt.Sprintf(format, args...))
}

// Invalid refuses the value of one input field.
func Invalid(field, message string) *Error {
	return NewError(CodeInvalid, message).With("field", field)
}

func (e *Error) Error() string { return e.Message }

// Is makes errors.Is(err, &Error{Code: c}) ask for the code alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// With adds one fact to the detail and returns e, which must not be shared yet.
func (e *Error) With(key string, value any) *Error {
	if e.Detail == nil {
		e.Detail = map[string]any{}
	}
	e.Detail[key] = value
	return e
}

// WithDetail sets the whole detail.
func (e *Error) WithDetail(detail map[string]any) *Error { e.Detail = detail; return e }

// WithFix says what to do next, in words of the program that says so.
func (e *Error) WithFix(fix string) *Error { e.Fix, e.Answered = fix, false; return e }

// Audience is who reads a way out.
type Audience uint8

// The audiences.
const (
	ForHTTP  Audience = iota // a program that sends requests
	ForCLI                   // a person at the command line
	ForModel                 // a model that calls tools
)

// FixFor says what to do next in words that the audience can follow: what this
// program says of the error itself, else what the code's row says to this audience,
// else what the hub has answered. It may be empty.
func (e *Error) FixFor(who Audience) string {
	if e.Fix != "" && !e.Answered {
		return e.Fix
	}
	info, text := InfoOf(e.Code), ""
	switch who {
	case ForHTTP:
		text = info.HTTP
	case ForCLI:
		text = info.CLI
	case ForModel:
		text = info.Model
	}
	if text == "" {
		return e.Fix
	}
	return text
}

// WithStatus overrides the code's usual HTTP status.
func (e *Error) WithStatus(status int) *Error { e.Status = status; return e }

// WithRetryAfter says in how many seconds a retry may succeed.
func (e *Error) WithRetryAfter(sec int) *Error { e.RetryAfter = sec; return e }
