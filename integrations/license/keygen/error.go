package keygen

import "fmt"

// Kind says what went wrong with a call.
type Kind string

// The kinds of errors.
const (
	Unreachable Kind = "unreachable" // no answer came
	Untrusted   Kind = "untrusted"   // TLS failed
	Broken      Kind = "broken"      // something answered that is no license server that works
	NotGenuine  Kind = "not_genuine" // the signature, the digest or the date of the answer is wrong, or it is about something else
	Limited     Kind = "limited"     // too many calls
	Refused     Kind = "refused"     // the server refused; Code says why
	BadKey      Kind = "bad_key"     // the key cannot be one
)

// Codes of refusals and validations that callers distinguish. A server may send others.
const (
	CodeValid             = "VALID"
	CodeNotFound          = "NOT_FOUND"
	CodeSuspended         = "SUSPENDED"
	CodeExpired           = "EXPIRED"
	CodeOverdue           = "OVERDUE"
	CodeBanned            = "BANNED"
	CodeNoMachine         = "NO_MACHINE"
	CodeNoMachines        = "NO_MACHINES"
	CodeOtherFingerprint  = "FINGERPRINT_SCOPE_MISMATCH"
	CodeTooManyMachines   = "TOO_MANY_MACHINES"
	CodeOtherProduct      = "PRODUCT_SCOPE_MISMATCH"
	CodeMachineLimit      = "MACHINE_LIMIT_EXCEEDED"
	CodeFingerprintTaken  = "FINGERPRINT_TAKEN"
	CodeLicenseInvalid    = "LICENSE_INVALID"
	CodeLicenseSuspended  = "LICENSE_SUSPENDED"
	CodeLicenseExpired    = "LICENSE_EXPIRED"
	CodeLicenseNotAllowed = "LICENSE_NOT_ALLOWED"
	CodeTokenInvalid      = "TOKEN_INVALID"
)

// Error is the error of a call. Why is one sentence part without a key in it.
type Error struct {
	Kind   Kind
	Why    string
	Code   string // of a refusal, as the server sent it
	Status int    // of HTTP, if an answer came
	After  int    // seconds after which a limited call may be repeated; 0: unknown
	Cause  error
}

func (e *Error) Error() string { return e.Why }

func (e *Error) Unwrap() error { return e.Cause }

func fail(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Why: fmt.Sprintf(format, args...)}
}
