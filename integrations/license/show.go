package license

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hubcli/hub"
	"hubcli/integrations/license/keygen"
	"hubcli/integrations/license/machine"
)

// License says what is known without a network.
func (l *Licenses) License(ctx context.Context) (hub.License, error) {
	out := l.look(ctx, l.options.Now())
	return out, ctx.Err()
}

const day = 24 * time.Hour

// Ways out.
const (
	activateAgain = "activate again with the same key, which takes no other place"
	fixConfig     = "correct the configuration; the documentation of licenses shows one"
)

// look is License at a time.
func (l *Licenses) look(ctx context.Context, now time.Time) hub.License {
	out := hub.License{State: hub.LicenseNone, Config: l.path(configName)}
	server, configError := readConfig(l.options.Dir)
	if configError == nil {
		out.Server, out.Account, out.Product = server.Base, server.Account, server.Product
	}
	s, err := l.load()
	switch {
	case err != nil:
		return is(&out, hub.LicenseInvalid, err.Error(), "move the file away, and activate again with the same key")
	case configError != nil && !errors.Is(configError, errNoConfig):
		return is(&out, hub.LicenseInvalid, configError.Error(), fixConfig)
	case s == nil && configError != nil:
		return is(&out, hub.LicenseNone, "no license server is configured; everything works without a license", "")
	case s == nil:
		return is(&out, hub.LicenseNone, "no license is activated on this machine; everything works without one", "activate it with a license key, if you have one")
	case s.Ended:
		return is(&out, hub.LicenseNone, "the license was deactivated, but what was saved of it is not all deleted", "deactivate again to delete it")
	}
	out.KeyIn, out.KeyPath = s.KeyIn, l.keyPath(s.KeyIn)
	switch {
	case configError != nil:
		return is(&out, hub.LicenseUnverified, "a license is activated, but no license server is configured any more", "put the configuration back")
	case !s.of(&server):
		return is(&out, hub.LicenseInvalid, "the activation is of another server, account or product than the configuration names",
			"put the old configuration back, or deactivate with it first")
	case s.pending():
		return is(&out, hub.LicensePending, "an activation was not finished", activateAgain)
	}
	l.note(now)
	return l.prove(ctx, &out, s, &server, now)
}

func (l *Licenses) keyPath(in hub.LicensePlace) string {
	switch {
	case in == hub.LicenseInFile:
		return l.path(keyName)
	case l.options.Secrets != nil:
		return l.options.Secrets.Name()
	}
	return ""
}

// prove looks at the signed file.
func (l *Licenses) prove(ctx context.Context, out *hub.License, s *state, server *keygen.Server, now time.Time) hub.License {
	file, err := keygen.ReadFile(server.PublicKey, keygen.MachineFile, s.MachineFile)
	if err != nil {
		return is(out, hub.LicenseInvalid, err.Error(), activateAgain)
	}
	here, err := l.fingerprint(server.Product)
	if err != nil && !errors.Is(err, machine.ErrNoID) {
		return is(out, hub.LicenseUnverified, "this machine cannot be recognized: "+plain(err).Error(), "mend that file, or activate again")
	}
	if here != s.Fingerprint {
		return is(out, hub.LicenseOtherMachine, "the license is activated for another machine, or the id of this one has changed",
			"activate with a key of your own; the other machine frees its place by deactivating")
	}
	out.Fingerprint = here
	key := ""
	if file.Encrypted {
		if key, err = l.key(ctx, s); err != nil {
			return is(out, hub.LicenseUnverified, "the signed file cannot be opened: "+err.Error(), "open the credential store, or "+activateAgain)
		}
	}
	says, err := file.Open(keygen.Secret(keygen.MachineFile, key, here))
	if err != nil {
		return is(out, hub.LicenseInvalid, err.Error(), activateAgain)
	}
	state, why, fix := judge(&says, server.Product, here, l.lastSeen(), now)
	if state == hub.LicenseInvalid || state == hub.LicenseOtherMachine {
		return is(out, state, why, fix)
	}
	out.LicenseID, out.MachineID, out.IssuedAt = says.License, says.Machine, timeOf(&says.Issued)
	out.ExpiresAt, out.RenewAt = timeOf(says.LicenseEnds), timeOf(says.Until)
	if says.LicenseEnds != nil {
		days := max(0, int(says.LicenseEnds.Sub(now)/day))
		out.DaysLeft = &days
	}
	return is(out, state, why, fix)
}

// judge says what a signed file proves at a time, for a product, on a machine.
func judge(says *keygen.Contents, product, here string, seen, now time.Time) (state hub.LicenseState, why, fix string) {
	const setClock = "set the clock of this machine"
	switch {
	case says.Product != product:
		return hub.LicenseInvalid, "the signed file is for another product", activateAgain
	case says.Fingerprint != here:
		return hub.LicenseOtherMachine, "the signed file is for another machine", activateAgain
	case now.Before(says.Issued.Add(-keygen.MaxDrift)):
		return hub.LicenseClockBack, "the clock of this machine is before the time at which the file was signed, " + dayOf(says.Issued), setClock
	case now.Before(seen.Add(-keygen.MaxDrift)):
		return hub.LicenseClockBack, "the clock of this machine went back: it showed " + dayOf(seen) + " before", setClock
	case says.LicenseEnds != nil && !now.Before(*says.LicenseEnds):
		return hub.LicenseExpired, "the license expired on " + dayOf(*says.LicenseEnds), "renew the license, and then " + activateAgain
	case says.Until != nil && !now.Before(*says.Until):
		return hub.LicenseStale, "the signed file was good until " + dayOf(*says.Until), activateAgain
	}
	return hub.LicenseActive, "the license is active on this machine" + ends(says, now), ""
}

// ends says when the license ends.
func ends(says *keygen.Contents, now time.Time) string {
	switch {
	case !says.HasLicense:
		return ""
	case says.LicenseEnds == nil:
		return " and does not expire"
	}
	switch days := int(says.LicenseEnds.Sub(now) / day); days {
	case 0:
		return " and expires in less than a day"
	case 1:
		return " for 1 more day, until " + dayOf(*says.LicenseEnds)
	default:
		return fmt.Sprintf(" for %d more days, until %s", days, dayOf(*says.LicenseEnds))
	}
}

// is gives a license its state.
func is(out *hub.License, state hub.LicenseState, why, fix string) hub.License {
	out.State, out.Why, out.Fix = state, why, fix
	return *out
}

func dayOf(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

func timeOf(t *time.Time) *hub.Time {
	if t == nil {
		return nil
	}
	at := hub.TimeOf(*t)
	return &at
}
