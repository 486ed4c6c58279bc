package credstore

import (
	"errors"
	"syscall"
)

// maxSecret is the largest number of bytes of a secret that the Credential Manager takes.
const maxSecret = 2560

// errorNoSuchLogonSession is what Windows says where a user has no session, as under a
// service account.
const errorNoSuchLogonSession = syscall.Errno(1312)

func whyNone() string { return "" }

func classify(err error) (Kind, string) {
	if errors.Is(err, errorNoSuchLogonSession) {
		return NoStore, "the hub runs outside of a logon session"
	}
	return Failed, ""
}
