package credstore

import (
	"errors"
	"os"
	"os/exec"
)

// maxSecret is the largest number of bytes of a secret. The library hands the Keychain's
// tool one line of at most 4096 bytes, in which the secret is in base64 beside the longest
// name. It leaves a process behind if the line is longer, so it never gets a longer one.
const maxSecret = 2800

// tool is the program that the library speaks to.
const tool = "/usr/bin/security"

func whyNone() string {
	if _, err := os.Stat(tool); err != nil {
		return tool + ", the program of the Keychain, is missing"
	}
	return ""
}

// classify reads the exit code of the tool, which is the low byte of the Keychain's error.
func classify(err error) (Kind, string) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return Failed, ""
	}
	switch exit.ExitCode() {
	case 36: // errSecInteractionNotAllowed
		return Locked, "the Keychain is locked and nobody can be asked for its password"
	case 51, 128: // errSecAuthFailed, errSecUserCanceled
		return Locked, "the Keychain was not opened"
	case 37, 50: // errSecNoDefaultKeychain, errSecNoSuchKeychain
		return NoStore, "this user has no Keychain"
	}
	return Failed, ""
}
