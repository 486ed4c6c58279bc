package license

import (
	"context"
	"errors"

	"hubcli/hub"
	"hubcli/integrations/license/keygen"
)

// DeactivateLicense gives the place of this machine back if the operator confirmed that.
func (l *Licenses) DeactivateLicense(ctx context.Context, in hub.LicenseDeactivateInput) (hub.License, error) {
	p, err := l.planDeactivate()
	if err != nil {
		return hub.License{}, err
	}
	if in.Confirm == "" {
		return hub.License{}, p.confirmed("")
	}
	unlock, err := l.lock()
	if err != nil {
		return hub.License{}, err
	}
	defer unlock()
	if p, err = l.planDeactivate(); err == nil { // as it is under the lock
		err = p.confirmed(in.Confirm)
	}
	if err != nil {
		return hub.License{}, err
	}
	if !p.was.Ended {
		if err := l.giveBack(ctx, p); err != nil {
			return hub.License{}, err
		}
		p.was.Ended = true
		if err := l.save(p.was); err != nil {
			return hub.License{}, failedHere(err)
		}
	}
	if err := l.erase(ctx, p.was); err != nil {
		return hub.License{}, failedHere(err)
	}
	l.options.Logger.Info("the license was deactivated", "server", p.server.Base, "product", p.server.Product)
	return l.look(ctx, l.options.Now()), nil
}

// giveBack tells the server. A machine or a license that it no longer knows has no place.
func (l *Licenses) giveBack(ctx context.Context, p *plan) error {
	key, err := l.key(ctx, p.was)
	if err != nil {
		return hub.NewError(hub.CodeLicenseUnreadable, "the place cannot be given back without the key: "+err.Error()).
			WithFix("make the key readable, or activate again with the same key, and then deactivate")
	}
	// By its fingerprint the machine is found also if it got its place anew meanwhile.
	err = l.call(ctx, p.server, func(ctx context.Context, c *keygen.Client) error { return c.RemoveMachine(ctx, key, p.was.Fingerprint) })
	var e *keygen.Error
	if errors.As(err, &e) && e.Kind == keygen.Refused && (e.Code == keygen.CodeLicenseInvalid || e.Code == keygen.CodeTokenInvalid) {
		return nil
	}
	if err == nil {
		return nil
	}
	told := asError(err, p.server, true)
	var h *hub.Error
	if errors.As(told, &h) && (h.Code == hub.CodeLicenseUnreachable || h.Code == hub.CodeLicenseServerFailed) {
		h.Message += "; the license stays active here, so that its place is not lost"
	}
	return told
}
