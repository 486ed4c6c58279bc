package license

import (
	"errors"
	"sync"

	"hubcli/hub"
	"hubcli/integrations/license/keygen"
)

// asError says in the words of the hub why a call of the license server failed. known: the
// key was activated here before.
func asError(err error, s *keygen.Server, known bool) error {
	var e *keygen.Error
	if !errors.As(err, &e) {
		return err
	}
	at := "the license server " + s.Base
	var out *hub.Error
	switch e.Kind {
	case keygen.Unreachable:
		out = hub.NewError(hub.CodeLicenseUnreachable, at+" cannot be reached: "+e.Why).
			WithFix("look at the network of this machine, and repeat the call; the license that is active here needs no network")
	case keygen.Untrusted:
		out = hub.NewError(hub.CodeLicenseUnreachable, at+" cannot be trusted: "+e.Why).
			WithFix("look at the address in the configuration, at the clock of this machine and at what stands between it and the network")
	case keygen.Broken:
		out = hub.NewError(hub.CodeLicenseServerFailed, at+" does not work: "+e.Why).
			WithFix("repeat the call later; if it goes on, ask whoever runs the license server")
	case keygen.Limited:
		out = hub.NewError(hub.CodeLicenseServerFailed, at+" does not work: "+e.Why).WithRetryAfter(e.After).
			WithFix("wait, and repeat the call then")
	case keygen.NotGenuine:
		out = hub.NewError(hub.CodeLicenseNotGenuine, "what came from "+at+" is not genuine: "+e.Why).
			WithFix("nothing of it was used; compare the public key and the clock, and find out what answers at this address")
	case keygen.BadKey:
		return hub.Invalid("key", e.Why).WithFix("give the whole license key, as you got it")
	case keygen.Refused:
		out = refused(e.Code, known)
	default:
		return err
	}
	if e.Status != 0 {
		out = out.With("server_status", e.Status)
	}
	return out
}

// refusals are the codes of servers that have a code of the hub.
var refusals = sync.OnceValue(func() map[string]hub.Code {
	return map[string]hub.Code{
		keygen.CodeExpired: hub.CodeLicenseExpired, keygen.CodeLicenseExpired: hub.CodeLicenseExpired,
		keygen.CodeSuspended: hub.CodeLicenseSuspended, keygen.CodeLicenseSuspended: hub.CodeLicenseSuspended,
		keygen.CodeBanned:       hub.CodeLicenseRevoked,
		keygen.CodeMachineLimit: hub.CodeLicenseMachineLimit, keygen.CodeTooManyMachines: hub.CodeLicenseMachineLimit,
		keygen.CodeNotFound: hub.CodeLicenseNotFound, keygen.CodeLicenseInvalid: hub.CodeLicenseNotFound, keygen.CodeTokenInvalid: hub.CodeLicenseNotFound,
	}
})

// sentences say what a code means.
var sentences = sync.OnceValue(func() map[hub.Code]string {
	return map[hub.Code]string{
		hub.CodeLicenseExpired:      "the license has expired",
		hub.CodeLicenseSuspended:    "the license is suspended",
		hub.CodeLicenseRevoked:      "the license was revoked",
		hub.CodeLicenseMachineLimit: "the license is used on as many machines as it allows",
		hub.CodeLicenseNotFound:     "the license server does not know this key",
	}
})

// refused is the error for what the server said of a key.
func refused(code string, known bool) *hub.Error {
	ours, ok := refusals()[code]
	if !ok {
		ours = hub.CodeLicenseRefused
	}
	if ours == hub.CodeLicenseNotFound && known {
		ours = hub.CodeLicenseRevoked
	}
	sentence := sentences()[ours]
	if ours == hub.CodeLicenseRefused {
		sentence = "the license server refuses: " + code
		if code == keygen.CodeOtherProduct {
			sentence = "the key is for another product"
		}
	}
	return hub.NewError(ours, sentence).With("server_code", code)
}
