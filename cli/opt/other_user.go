package opt

import (
	"hubcli/cli/term"
	"hubcli/internal/peertext"
)

// OthersHub is the failure of an address that another user has.
func (a *AddressFlags) OthersHub(other string) *term.Failure {
	fix := "start a hub of your own: hubcli ensure without --host and --port finds a port for it and remembers it; or name a free one with --port"
	if a.Named != "" && !a.given() {
		fix = "start a hub of your own: hubcli ensure without HUB_BASE_URL finds a port for it and remembers it"
	}
	return term.Fail(term.ExitUnreachable, fix, OthersWords, a.BaseURL(), peertext.TerminalLine(other))
}

// OthersWords say whose a hub is.
const OthersWords = "this hub is another user's: %s is %s's"

// OthersHub is the failure of a command that a user gives to the hub of another one.
func OthersHub(a Address, other string) *term.Failure {
	return term.Fail(term.ExitRefused, "name the address of your own hub with --host and --port", OthersWords, a.BaseURL(), peertext.TerminalLine(other))
}
