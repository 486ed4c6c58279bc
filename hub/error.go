package hub

import "fmt"

// Error is the answer to a failed call. Fix says what to do next, so that an
// agent can act on the error. A fix that the hub writes names no path, header,
// command or tool: those are in the row of the code.
type Error struct {
	Message    string
	Code       Code
	Status     int            // HTTP status; 0 where no answer came
	Detail     map[string]any // facts for programs; may be nil
	Fix        string         // may be empty
	Answered   bool           // a hub sent it, so Fix is written for HTTP
	RetryAfter int            // seconds; 0: unknown
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

// Is makes errors.Is(err, &Error{Code: c}) compare the codes only.
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

// WithFix sets what to do next, in words of this program.
func (e *Error) WithFix(fix string) *Error { e.Fix, e.Answered = fix, false; return e }

// GeneralFix is the fix of a refusal of a field that has no fix of its own.
const GeneralFix = "correct what the error names and send the call again; the hub's API description lists every field and its limits"

// Audience is the kind of reader of a fix.
type Audience uint8

// The audiences.
const (
	ForHTTP  Audience = iota // a program that sends requests
	ForCLI                   // a person at the command line
	ForModel                 // a model that calls tools
)

// FixFor returns what to do next in words that the audience can follow: the fix
// that this program set, else that of the code's row for this audience, else
// that of the hub's answer. It may be empty.
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
