package credstore

import "errors"

// Kind says why a secret could not be read or kept.
type Kind string

// The kinds.
const (
	NoStore  Kind = "no_store"  // this machine or session has no credential store
	Locked   Kind = "locked"    // there is a store, and it does not open
	TooLarge Kind = "too_large" // the store does not take so long a secret
	NotFound Kind = "not_found" // nothing is kept under the name, or the variable is not set
	ReadOnly Kind = "read_only" // the source cannot be written: a variable of the environment
	Empty    Kind = "empty"     // there is no text to keep
	BadRef   Kind = "bad_ref"   // the reference is none
	Failed   Kind = "failed"    // anything else that the system says
)

// Error is a secret that could not be read or kept. It holds no part of the secret.
type Error struct {
	Kind    Kind
	Ref     Ref
	Message string // one sentence
	Fix     string // what to do next
	Cause   error  // the system's error; may be nil
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Cause }

// KindOf returns the kind of an error of this package; empty: it is another error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// The ways out. A program that holds a secret in a variable needs no store.
const (
	withoutStore = "put the secret into a variable of the environment in which the hub is started and name that variable, " +
		"start the hub in a session that has a credential store, or with an encrypted file (" + FileVariable + ")"
	unlock = "unlock the store of your desktop session (on Linux: log in, or open Passwords and Keys), then try again; " +
		"or put the secret into a variable of the environment in which the hub is started and name that variable"
)

func noStore(r Ref, why string, cause error) error {
	return &Error{Kind: NoStore, Ref: r, Message: "there is no credential store: " + why, Fix: withoutStore, Cause: cause}
}

func locked(r Ref, why string, cause error) error {
	return &Error{Kind: Locked, Ref: r, Message: "the credential store is locked: " + why, Fix: unlock, Cause: cause}
}
