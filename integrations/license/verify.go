package license

import (
	"context"

	"hubcli/hub"
	"hubcli/integrations/license/keygen"
)

// VerifyLicense asks the license server about the saved key. It writes nothing.
func (l *Licenses) VerifyLicense(ctx context.Context) (hub.LicenseVerification, error) {
	none := hub.LicenseVerification{}
	s, err := l.load()
	switch {
	case err != nil:
		return none, failedHere(err)
	case s == nil || s.Ended:
		return none, notActive()
	}
	server, err := l.server()
	if err != nil {
		return none, err
	}
	if !s.of(server) {
		return none, hub.NewError(hub.CodeLicenseUnconfigured, "the activation is of another server, account or product than the configuration names").
			WithFix("put the old configuration back first: the key is sent to no other server")
	}
	key, err := l.key(ctx, s)
	if err != nil {
		return none, hub.NewError(hub.CodeLicenseUnreadable, "the server cannot be asked without the key: "+err.Error()).
			WithFix("make the key readable, or activate again with the same key")
	}
	var said keygen.Validation
	err = l.call(ctx, server, func(ctx context.Context, c *keygen.Client) (err error) {
		said, err = c.Validate(ctx, key, s.Fingerprint)
		return err
	})
	if err != nil {
		return none, asError(err, server, true)
	}
	out := hub.LicenseVerification{
		Valid: said.Valid, ServerCode: said.Code, Server: server.Base, CheckedAt: hub.TimeOf(l.options.Now()), ExpiresAt: timeOf(said.Expires),
	}
	out.Verdict, out.Why, out.Fix = verdictOf(said.Code)
	return out, nil
}

// verdictOf says what the code of a validation means for a license that is active here.
func verdictOf(code string) (verdict hub.LicenseVerdict, why, fix string) {
	switch code {
	case keygen.CodeValid:
		return hub.LicenseVerdictValid, "the license is valid for this machine", ""
	case keygen.CodeExpired:
		return hub.LicenseVerdictExpired, "the license has expired", "renew it, and then " + activateAgain
	case keygen.CodeSuspended:
		return hub.LicenseVerdictSuspend, "the license is suspended", "ask whoever gave you the license"
	case keygen.CodeNotFound:
		return hub.LicenseVerdictRevoked, "the license server no longer knows the key: the license was revoked", "ask whoever gave you the license"
	case keygen.CodeBanned:
		return hub.LicenseVerdictRevoked, "the license was revoked", "ask whoever gave you the license"
	case keygen.CodeTooManyMachines:
		return hub.LicenseVerdictNoPlace, "the license is used on more machines than it allows", "deactivate it on another machine"
	case keygen.CodeNoMachine, keygen.CodeNoMachines, keygen.CodeOtherFingerprint:
		return hub.LicenseVerdictNoHolder, "this machine has no place on the license any more", activateAgain
	}
	return hub.LicenseVerdictOther, "the license server says that the license is not valid: " + code, "ask whoever gave you the license"
}
