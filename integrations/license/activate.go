package license

import (
	"context"
	"errors"
	"net/http"

	"hubcli/hub"
	"hubcli/integrations/license/keygen"
	"hubcli/integrations/license/machine"
)

// ActivateLicense activates this machine if the operator confirmed exactly that.
func (l *Licenses) ActivateLicense(ctx context.Context, in hub.LicenseActivateInput) (hub.License, error) {
	if in.Confirm == "" { // to show a plan makes no folder
		p, err := l.planActivate(ctx, in.Key)
		if err == nil {
			err = p.confirmed("")
		}
		return hub.License{}, err
	}
	unlock, err := l.lock()
	if err != nil {
		return hub.License{}, err
	}
	defer unlock()
	p, err := l.planActivate(ctx, in.Key)
	if err == nil {
		err = p.confirmed(in.Confirm)
	}
	if err != nil {
		return hub.License{}, err
	}
	if err := l.call(ctx, p.server, func(ctx context.Context, c *keygen.Client) error { return l.activate(ctx, c, p) }); err != nil {
		return hub.License{}, err
	}
	l.options.Logger.Info("the license was activated", "server", p.server.Base, "product", p.server.Product)
	return l.look(ctx, l.options.Now()), nil
}

// activate does what was planned. Before the server gives the machine a place, everything is
// saved that finds it again: the machine is found by its fingerprint, and the key opens it.
func (l *Licenses) activate(ctx context.Context, c *keygen.Client, p *plan) error {
	known := p.was != nil && !p.was.pending()
	if p.left != nil {
		if err := l.erase(ctx, p.left); err != nil {
			return failedHere(err)
		}
	}
	if err := l.nameMachine(p); err != nil {
		return failedHere(err)
	}
	said, err := c.Validate(ctx, p.key, p.fingerprint)
	if err != nil {
		return asError(err, p.server, known)
	}
	switch said.Code {
	case keygen.CodeValid, keygen.CodeNoMachine, keygen.CodeNoMachines, keygen.CodeOtherFingerprint:
	default:
		return refused(said.Code, known)
	}
	if said.LicenseID == "" {
		return asError(&keygen.Error{Kind: keygen.Broken, Why: "its answer names no license"}, p.server, known)
	}
	s, err := l.prepare(ctx, p, said.LicenseID)
	if err != nil {
		return err
	}
	if s.MachineID, err = place(ctx, c, p.key, s, said.Valid); err != nil {
		return l.notPlaced(ctx, p, s, err)
	}
	text, err := c.CheckOut(ctx, p.key, s.MachineID, fileTTL)
	if err == nil {
		err = l.proves(p, s, text)
	}
	if err != nil {
		return begun(asError(err, p.server, known), p)
	}
	s.MachineFile = text
	if err := l.save(s); err != nil {
		return begun(failedHere(err), p)
	}
	l.note(l.options.Now())
	return nil
}

// nameMachine gives the machine a random id if the system has none.
func (l *Licenses) nameMachine(p *plan) (err error) {
	if p.fingerprint != "" {
		return nil
	}
	if err := machine.NewFallback(l.path(machineName)); err != nil {
		return err
	}
	p.fingerprint, err = l.fingerprint(p.server.Product)
	return err
}

// prepare saves the key and what finds the machine again. What was saved by a whole
// activation stays as it is until the new one is whole.
func (l *Licenses) prepare(ctx context.Context, p *plan, license string) (*state, error) {
	s := &state{
		Server: p.server.Base, Account: p.server.Account, Product: p.server.Product, LicenseID: license,
		Fingerprint: p.fingerprint, KeyIn: p.keyIn, KeyDigest: digestOf(p.key),
	}
	if p.was != nil && !p.was.pending() && p.was.KeyIn == p.keyIn {
		if _, err := l.key(ctx, p.was); err == nil {
			return s, nil
		}
	}
	if p.was != nil {
		kept := *p.was
		kept.KeyIn = p.keyIn
		if err := l.keepKey(ctx, s, p.key); err != nil {
			return nil, failedHere(err)
		}
		if err := l.save(&kept); err != nil {
			return nil, failedHere(err)
		}
		if p.was.KeyIn != p.keyIn {
			_ = l.dropKey(ctx, p.was) // one that stays in a store that cannot be used does no harm
		}
		return s, nil
	}
	// The state is first: a key is never kept without a state that knows where.
	if err := l.save(s); err != nil {
		return nil, failedHere(err)
	}
	if err := l.keepKey(ctx, s, p.key); err != nil {
		return nil, errors.Join(failedHere(err), l.remove(stateName))
	}
	return s, nil
}

// place returns the machine's id, after having taken a place for it if it has none.
func place(ctx context.Context, c *keygen.Client, key string, s *state, there bool) (string, error) {
	if there {
		id, err := c.Machine(ctx, key, s.LicenseID, s.Fingerprint)
		if !isRefusal(err, http.StatusNotFound, keygen.CodeNotFound) {
			return id, err
		}
	}
	id, err := c.AddMachine(ctx, key, s.LicenseID, s.Fingerprint, platform)
	if isRefusal(err, 0, keygen.CodeFingerprintTaken) { // an earlier activation was cut off
		return c.Machine(ctx, key, s.LicenseID, s.Fingerprint)
	}
	return id, err
}

// isRefusal reports whether the server refused with a code, and with a status if that is not 0.
func isRefusal(err error, status int, code string) bool {
	var e *keygen.Error
	return errors.As(err, &e) && e.Kind == keygen.Refused && e.Code == code && (status == 0 || e.Status == status)
}

// notPlaced takes back what was prepared if the server has certainly made no machine.
func (l *Licenses) notPlaced(ctx context.Context, p *plan, s *state, err error) error {
	var e *keygen.Error
	told := asError(err, p.server, p.was != nil)
	if p.was != nil || !errors.As(err, &e) || e.Kind != keygen.Refused {
		return begun(told, p)
	}
	if gone := l.erase(context.WithoutCancel(ctx), s); gone != nil {
		return begun(told, p)
	}
	return told
}

// begun adds to an error that the machine may have a place by now.
func begun(err error, p *plan) error {
	var e *hub.Error
	if !errors.As(err, &e) || p.was != nil && !p.was.pending() {
		return err
	}
	return e.With("state", hub.LicensePending)
}

// proves refuses a machine file that this machine would not believe later.
func (l *Licenses) proves(p *plan, s *state, text string) error {
	file, err := keygen.ReadFile(p.server.PublicKey, keygen.MachineFile, text)
	if err != nil {
		return err
	}
	says, err := file.Open(keygen.Secret(keygen.MachineFile, p.key, s.Fingerprint))
	if err != nil {
		return err
	}
	now := l.options.Now()
	why := ""
	switch state, reason, _ := judge(&says, p.server.Product, s.Fingerprint, now, now); {
	case says.License != s.LicenseID:
		why = "the signed file is for another license"
	case says.Machine != s.MachineID:
		why = "the signed file is for another machine"
	case says.Key != "" && says.Key != p.key:
		why = "the signed file is for another key"
	case !file.Encrypted && says.Key != "":
		why = "the file would tell the key to everybody who reads it: it is not encrypted as it was asked for"
	case state != hub.LicenseActive:
		why = reason
	}
	if why != "" {
		return &keygen.Error{Kind: keygen.NotGenuine, Why: why}
	}
	return nil
}
