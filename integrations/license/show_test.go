package license

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/integrations/license/machine"
	"hubcli/internal/licenseserver"
	"hubcli/internal/require"
)

func (r *rig) edit(change func(*state)) {
	r.t.Helper()
	s, err := r.load()
	require.NoError(r.t, err)
	change(s)
	require.NoError(r.t, r.save(s))
}

// TestShowProves: every way in which a saved license does not hold has its state, without a
// call of the server.
func TestShowProves(t *testing.T) {
	another := licenseserver.Start()
	defer another.Close()
	for name, c := range map[string]struct {
		happens func(*rig)
		want    hub.LicenseState
		why     string
	}{
		"nothing":         {func(*rig) {}, hub.LicenseActive, "active"},
		"a tampered file": {func(r *rig) { r.edit(func(s *state) { s.MachineFile = strings.Replace(s.MachineFile, "a", "b", 1) }) }, hub.LicenseInvalid, "file"},
		"another signer":  {func(r *rig) { r.edit(func(s *state) { s.MachineFile = another.File("machine", map[string]any{}, "") }) }, hub.LicenseInvalid, "public key"},
		"no file":         {func(r *rig) { r.edit(func(s *state) { s.MachineFile = "" }) }, hub.LicensePending, "not finished"},
		"another machine": {func(r *rig) { r.id = strings.Repeat("0", 64) }, hub.LicenseOtherMachine, "another machine"},
		"a copied state":  {func(r *rig) { r.id = strings.Repeat("0", 64); r.edit(func(s *state) { s.Fingerprint = r.id }) }, hub.LicenseInvalid, "do not open"},
		"no id": {func(r *rig) {
			r.options.Fingerprint = func(string, string) (string, error) { return "", machine.ErrNoID }
		}, hub.LicenseOtherMachine, "another machine"},
		"a damaged id": {func(r *rig) {
			r.options.Fingerprint = func(string, string) (string, error) { return "", errors.New("damaged") }
		}, hub.LicenseUnverified, "recognized"},
		"the store locked": {func(r *rig) { r.store.broken = errors.New("it is locked") }, hub.LicenseUnverified, "it is locked"},
		"the key lost":     {func(r *rig) { r.store.secret = "" }, hub.LicenseUnverified, "no key"},
		"another key":      {func(r *rig) { r.store.secret = otherKey }, hub.LicenseUnverified, "another one"},
		"the clock back":   {func(r *rig) { r.now = r.now.Add(-24 * time.Hour) }, hub.LicenseClockBack, "before the time"},
		"the file too old": {func(r *rig) { r.now = r.now.Add(366 * 24 * time.Hour) }, hub.LicenseStale, "good until"},
		"no configuration": {func(r *rig) { require.NoError(r.t, os.Remove(filepath.Join(r.dir, configName))) }, hub.LicenseUnverified, "no license server"},
		"another server":   {func(r *rig) { r.configure(another.Config()) }, hub.LicenseInvalid, "another server"},
		"another public key": {func(r *rig) {
			r.configure(strings.Replace(r.server.Config(), r.server.PublicKey(), another.PublicKey(), 1))
		}, hub.LicenseInvalid, "public key"},
		"a damaged configuration": {func(r *rig) { r.configure("{") }, hub.LicenseInvalid, configName},
		"a damaged state":         {func(r *rig) { require.NoError(r.t, os.WriteFile(filepath.Join(r.dir, stateName), []byte("{"), 0o600)) }, hub.LicenseInvalid, "damaged"},
		"a state of a later version": {func(r *rig) {
			b, err := os.ReadFile(filepath.Join(r.dir, stateName))
			require.NoError(r.t, err)
			require.NoError(r.t, os.WriteFile(filepath.Join(r.dir, stateName), []byte(strings.Replace(string(b), `"version": 1`, `"version": 2`, 1)), 0o600))
		}, hub.LicenseInvalid, "later version"},
		"everybody may write the configuration": {func(r *rig) { require.NoError(r.t, os.Chmod(filepath.Join(r.dir, configName), 0o666)) }, hub.LicenseInvalid, "everybody"},
	} {
		r := newRig(t).activated()
		calls := len(r.server.Calls())
		c.happens(r)
		row := r.show()
		r.expect(row, c.want)
		if !strings.Contains(row.Why, c.why) {
			t.Errorf("%s: %q does not say %q", name, row.Why, c.why)
		}
		if len(r.server.Calls()) != calls {
			t.Errorf("%s: show asked the server", name)
		}
		if row.State != hub.LicenseActive && row.State != hub.LicenseClockBack && row.State != hub.LicenseStale && (row.ExpiresAt != nil || row.LicenseID != "") {
			t.Errorf("%s: what was not verified is shown: %+v", name, row)
		}
		shown, err := json.Marshal(row)
		require.NoError(t, err)
		r.keyIsNowhere(string(shown))
	}
}

// TestDaysLeft: to the moment, and on both sides of it.
func TestDaysLeft(t *testing.T) {
	r := newRig(t)
	ends := r.now.Add(10 * day).Truncate(time.Second)
	r.server.Add(licenseserver.License{Key: secretKey, Max: 2, Expiry: &ends})
	r.activated()
	for _, c := range []struct {
		left time.Duration
		want hub.LicenseState
		days int
		why  string
	}{
		{10 * day, hub.LicenseActive, 10, "for 10 more days"},
		{10*day - 1, hub.LicenseActive, 9, "9"},
		{2 * day, hub.LicenseActive, 2, "2 more days"},
		{day, hub.LicenseActive, 1, "1 more day,"},
		{time.Second, hub.LicenseActive, 0, "less than a day"},
		{0, hub.LicenseExpired, 0, "expired"},
		{-time.Hour, hub.LicenseExpired, 0, "expired"},
	} {
		r.now = ends.Add(-c.left)
		row := r.show()
		r.expect(row, c.want)
		if row.DaysLeft == nil || *row.DaysLeft != c.days || !strings.Contains(row.Why, c.why) || row.ExpiresAt == nil || !row.ExpiresAt.Std().Equal(ends) {
			t.Errorf("%s before the end: %+v", c.left, row)
		}
	}
}

// TestClockThatWentBack: the hub remembers the latest time that it saw, so that a clock that was
// put back after the end of a license does not bring it back. Looking alone remembers nothing.
func TestClockThatWentBack(t *testing.T) {
	r := newRig(t)
	ends := r.now.Add(10 * day)
	r.server.Add(licenseserver.License{Key: secretKey, Max: 2, Expiry: &ends})
	r.activated()
	began := r.now
	looking := r.at(r.dir)
	looking.options.ReadOnly = true
	r.now = ends.Add(day)
	if row, err := looking.License(t.Context()); err != nil || row.State != hub.LicenseExpired {
		t.Errorf("%+v, %v", row, err)
	}
	r.now = began.Add(day)
	r.expect(r.show(), hub.LicenseActive)
	r.now = ends.Add(day)
	r.expect(r.show(), hub.LicenseExpired)
	r.now = began.Add(2 * day)
	r.expect(r.show(), hub.LicenseClockBack)
	if row, err := looking.License(t.Context()); err != nil || row.State != hub.LicenseClockBack {
		t.Errorf("%+v, %v", row, err)
	}
}

// TestConfigurations: what is no configuration is told, and never used in part.
func TestConfigurations(t *testing.T) {
	r := newRig(t)
	good := r.server.Config()
	for _, text := range []string{
		"", "[]", "null", "{}", good + "{}", strings.Replace(good, `"server"`, `"sever"`, 1), strings.Replace(good, "http:", "ftp:", 1),
		strings.Replace(good, "127.0.0.1", "10.1.2.3", 1), strings.Replace(good, licenseserver.Product, "", 1), strings.Replace(good, r.server.PublicKey(), "00", 1),
		strings.Repeat(" ", maxConfig+1),
	} {
		r.configure(text)
		if row := r.show(); row.State != hub.LicenseInvalid && text != good {
			t.Errorf("%.80q: %+v", text, row)
		}
		_, err := activate(r.Licenses, secretKey)
		r.refused(err, hub.CodeLicenseUnconfigured)
	}
	require.NoError(t, os.Remove(filepath.Join(r.dir, configName)))
	_, err := activate(r.Licenses, secretKey)
	r.refused(err, hub.CodeLicenseUnconfigured)
	r.expect(r.show(), hub.LicenseNone)
	r.configure(strings.Replace(good, `"account":"acme",`, "", 1))
	if row := r.show(); row.State != hub.LicenseNone || row.Account != "" || row.Server == "" {
		t.Errorf("%+v", row)
	}
}

// TestKeyGoesToNoOtherServer: after the configuration names another server, the saved key is not
// sent there.
func TestKeyGoesToNoOtherServer(t *testing.T) {
	r := newRig(t).activated()
	another := licenseserver.Start()
	defer another.Close()
	r.configure(another.Config())
	_, err := r.VerifyLicense(t.Context())
	r.refused(err, hub.CodeLicenseUnconfigured)
	_, err = deactivate(r.Licenses)
	r.refused(err, hub.CodeLicenseUnconfigured)
	_, err = activate(r.Licenses, secretKey)
	r.refused(err, hub.CodeLicenseActive)
	if calls := another.Calls(); len(calls) > 0 {
		t.Errorf("the other server got %q", calls)
	}
}

// TestFullFolder: what cannot be saved is told, and the server's place is found again.
func TestFolderThatCannotBeWritten(t *testing.T) {
	r := newRig(t)
	require.NoError(t, os.Mkdir(filepath.Join(r.dir, stateName), 0o700))
	_, err := activate(r.Licenses, secretKey)
	r.refused(err, hub.CodeLicenseUnreadable)
	require.NoError(t, os.Remove(filepath.Join(r.dir, stateName)))
	require.NoError(t, os.MkdirAll(filepath.Join(r.dir, stateName+".part"), 0o700))
	_, err = activate(r.Licenses, secretKey)
	r.refused(err, hub.CodeLicenseUnreadable)
	if got := r.server.Machines(secretKey); len(got) > 0 || r.store.secret != "" {
		t.Errorf("a place was taken before it could be found again: %q", got)
	}
	require.NoError(t, os.Remove(filepath.Join(r.dir, stateName+".part")))
	r.activated()
}

// TestMachineWithoutAnID gets a random one, which is made only after the confirmation.
func TestMachineWithoutAnID(t *testing.T) {
	r := newRig(t)
	r.options.Fingerprint = func(product, fallback string) (string, error) {
		if _, err := os.Stat(fallback); err != nil {
			return "", machine.ErrNoID
		}
		return machine.Fingerprint(product, fallback)
	}
	_, err := r.ActivateLicense(t.Context(), hub.LicenseActivateInput{Key: secretKey})
	_, err = digestIn(err)
	require.NoError(t, err)
	if left := r.files(r.dir); len(left) > 0 {
		t.Errorf("a plan made %q", left)
	}
	r.activated()
	if id := r.show().Fingerprint; len(id) != 64 || id == thisOne || r.server.Machines(secretKey)[0] != id {
		t.Errorf("fingerprint %q", id)
	}
}

// TestKeyMovesIntoTheStore: a key that had to be kept in a file leaves it when the next
// activation finds a store.
func TestKeyMovesIntoTheStore(t *testing.T) {
	r := newRig(t)
	r.store.broken = errors.New("there is none")
	r.activated()
	r.store.broken = nil
	r.activated()
	if _, err := os.Stat(filepath.Join(r.dir, keyName)); err == nil || r.store.secret != secretKey || r.show().KeyIn != hub.LicenseInStore {
		t.Errorf("the file is there still: %v; %+v", err, r.show())
	}
}
