package license

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/licenseserver"
	"hubcli/internal/require"
)

// TestLifeOfALicense: activated, shown, verified, activated again and deactivated, with the key in
// the store or in a file. The server has nothing to complain about.
func TestLifeOfALicense(t *testing.T) {
	for _, inFile := range []bool{false, true} {
		r := newRig(t)
		if inFile {
			r.store.broken = errors.New("there is no session bus")
		}
		r.expect(r.show(), hub.LicenseNone)
		_, err := r.VerifyLicense(t.Context())
		r.refused(err, hub.CodeLicenseNotActive)
		_, err = deactivate(r.Licenses)
		r.refused(err, hub.CodeLicenseNotActive)

		r.activated()
		row := r.show()
		if row.Server != r.server.URL || row.Product != licenseserver.Product || row.MachineID == "" || row.LicenseID == "" || row.Fingerprint != thisOne || row.ExpiresAt != nil || row.RenewAt == nil {
			t.Errorf("%+v", row)
		}
		if want := map[bool]hub.LicensePlace{false: hub.LicenseInStore, true: hub.LicenseInFile}[inFile]; row.KeyIn != want {
			t.Errorf("the key is in %s, want %s", row.KeyIn, want)
		}
		if inFile {
			info, err := os.Stat(filepath.Join(r.dir, keyName))
			require.NoError(t, err)
			if info.Mode().Perm() != 0o600 || row.KeyPath != filepath.Join(r.dir, keyName) {
				t.Errorf("the file of the key: %v, %s", info.Mode(), row.KeyPath)
			}
		} else if r.store.secret != secretKey {
			t.Error("the key is not in the store")
		}
		said, err := r.VerifyLicense(t.Context())
		if err != nil || !said.Valid || said.Verdict != hub.LicenseVerdictValid || said.ServerCode != "VALID" {
			t.Errorf("%+v, %v", said, err)
		}
		r.activated() // again
		_, err = activate(r.Licenses, otherKey)
		r.refused(err, hub.CodeLicenseActive)
		if got := r.server.Machines(secretKey); len(got) != 1 || got[0] != thisOne {
			t.Errorf("machines %q", got)
		}
		shown, err := json.Marshal(row)
		require.NoError(t, err)
		r.keyIsNowhere(string(shown))

		row, err = deactivate(r.Licenses)
		require.NoError(t, err)
		r.expect(row, hub.LicenseNone)
		if left := r.files(r.dir); len(left) > 0 || r.store.secret != "" || len(r.server.Machines(secretKey)) > 0 {
			t.Errorf("left are %q, %q and the machines %q", left, r.store.secret, r.server.Machines(secretKey))
		}
		if got := r.server.Complaints(); len(got) > 0 {
			t.Errorf("complaints: %q", got)
		}
	}
}

// TestPlansSayWhatHappens: a plan asks nobody and writes nothing, names where the key goes, and
// another plan is not confirmed by its digest.
func TestPlansSayWhatHappens(t *testing.T) {
	r := newRig(t)
	ask := func(key, confirm string) (*hub.Error, error) {
		_, err := r.ActivateLicense(t.Context(), hub.LicenseActivateInput{Key: key, Confirm: confirm})
		var e *hub.Error
		errors.As(err, &e)
		return e, err
	}
	first, err := ask(secretKey, "")
	r.refused(err, hub.CodeConfirmRequired)
	prompt := first.Detail["prompt"].(string)
	for _, want := range []string{r.server.URL, licenseserver.Account, licenseserver.Product, thisOne, "license-of-the-test", "not signed"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the plan does not say %q: %s", want, prompt)
		}
	}
	r.store.broken = errors.New("there is no session bus")
	second, err := ask(secretKey, "")
	r.refused(err, hub.CodeConfirmRequired)
	if text := second.Detail["prompt"].(string); !strings.Contains(text, filepath.Join(r.dir, keyName)) || !strings.Contains(text, "0600") || !strings.Contains(text, "no session bus") {
		t.Errorf("the plan does not name the file: %s", text)
	}
	changed, err := ask(secretKey, first.Detail["digest"].(string))
	r.refused(err, hub.CodePlanChanged)
	if changed.Detail["digest"] != second.Detail["digest"] {
		t.Error("the refusal does not have the digest of the plan that could be confirmed")
	}
	third, err := ask(otherKey, "")
	r.refused(err, hub.CodeConfirmRequired)
	if third.Detail["digest"] == second.Detail["digest"] {
		t.Error("the plans for two keys have one digest")
	}
	r.keyIsNowhere(prompt, fmt.Sprint(second.Detail, third.Detail))
	if calls, left := r.server.Calls(), r.files(r.dir); len(calls) > 0 || len(left) > 0 {
		t.Errorf("a plan made the calls %q and the files %q", calls, left)
	}
	r.store.broken = nil
	r.activated()
	_, err = r.DeactivateLicense(t.Context(), hub.LicenseDeactivateInput{Confirm: "wrong"})
	r.refused(err, hub.CodePlanChanged)
	r.expect(r.show(), hub.LicenseActive)
}

// TestRefusalsOfTheServer: each has its code, leaves nothing behind and takes no place.
func TestRefusalsOfTheServer(t *testing.T) {
	past := func(r *rig) *time.Time { at := r.now.Add(-time.Hour); return &at }
	for want, prepare := range map[hub.Code]func(*rig){
		hub.CodeLicenseNotFound:     func(r *rig) { r.server.Revoke(secretKey) },
		hub.CodeLicenseExpired:      func(r *rig) { r.server.Add(licenseserver.License{Key: secretKey, Max: 2, Expiry: past(r)}) },
		hub.CodeLicenseSuspended:    func(r *rig) { r.server.Add(licenseserver.License{Key: secretKey, Max: 2, Status: "SUSPENDED"}) },
		hub.CodeLicenseRevoked:      func(r *rig) { r.server.Add(licenseserver.License{Key: secretKey, Max: 2, Status: "BANNED"}) },
		hub.CodeLicenseMachineLimit: func(r *rig) { r.server.Occupy(secretKey, 2) },
		hub.CodeLicenseRefused:      func(r *rig) { r.server.Add(licenseserver.License{Key: secretKey, Max: 2, Product: "another"}) },
	} {
		r := newRig(t)
		prepare(r)
		_, err := activate(r.Licenses, secretKey)
		r.refused(err, want)
		if slices.Contains(r.server.Machines(secretKey), thisOne) || len(r.files(r.dir)) > 0 || r.store.secret != "" {
			t.Errorf("%s: left are %q and %q", want, r.files(r.dir), r.store.secret)
		}
		r.expect(r.show(), hub.LicenseNone)
		r.keyIsNowhere(err.Error())
	}
}

// TestVerdicts: what becomes of an active license is told by verify, which changes nothing.
func TestVerdicts(t *testing.T) {
	for want, happens := range map[hub.LicenseVerdict]func(*rig){
		hub.LicenseVerdictRevoked: func(r *rig) { r.server.Revoke(secretKey) },
		hub.LicenseVerdictSuspend: func(r *rig) { r.server.Add(licenseserver.License{Key: secretKey, Max: 2, Status: "SUSPENDED"}) },
		hub.LicenseVerdictNoPlace: func(r *rig) {
			r.server.Add(licenseserver.License{Key: secretKey, Max: 1})
			r.server.Occupy(secretKey, 1)
		},
		hub.LicenseVerdictExpired: func(r *rig) {
			at := r.now.Add(-time.Minute)
			r.server.Add(licenseserver.License{Key: secretKey, Max: 2, Expiry: &at})
		},
		hub.LicenseVerdictNoHolder: func(r *rig) {
			r.server.Revoke(secretKey)
			r.server.Add(licenseserver.License{Key: secretKey, Max: 2})
		},
		hub.LicenseVerdictOther: func(r *rig) {
			r.server.Add(licenseserver.License{Key: secretKey, Max: 2, Status: "CHECKSUM_SCOPE_REQUIRED"})
		},
	} {
		r := newRig(t).activated()
		before := r.snapshot()
		happens(r)
		said, err := r.VerifyLicense(t.Context())
		require.NoError(t, err)
		if said.Valid || said.Verdict != want || said.Why == "" || said.Fix == "" || said.ServerCode == "" {
			t.Errorf("%+v, want %s", said, want)
		}
		if after := r.snapshot(); after != before {
			t.Errorf("verify changed files: %s, then %s", before, after)
		}
		r.expect(r.show(), hub.LicenseActive) // without a network nobody knows better
	}
}

// snapshot is the text of all files.
func (r *rig) snapshot() string {
	r.t.Helper()
	var all strings.Builder
	for _, name := range r.files(r.dir) {
		b, err := os.ReadFile(filepath.Join(r.dir, name))
		require.NoError(r.t, err)
		fmt.Fprintf(&all, "%s\n%s\n", name, b)
	}
	return all.String() + r.store.secret
}

// TestLiesChangeNothing: whatever the server says wrongly, at whichever call: an active license
// stays as it is, and one that is not there does not become active. No place is lost: the
// next activation with an honest server finds the same machine.
func TestLiesChangeNothing(t *testing.T) {
	codes := map[string]hub.Code{
		"failing": hub.CodeLicenseServerFailed, "huge": hub.CodeLicenseServerFailed, "redirect": hub.CodeLicenseServerFailed,
		"page": hub.CodeLicenseServerFailed, "nonsense": hub.CodeLicenseServerFailed, "busy": hub.CodeLicenseServerFailed, "cut": hub.CodeLicenseUnreachable,
		"slow": hub.CodeLicenseUnreachable, "other-file": hub.CodeLicenseNotGenuine,
	}
	for _, lie := range licenseserver.Lies() {
		for _, at := range []string{"validate-key", "machines", "check-out"} {
			if lie == "other-license" && at == "check-out" || lie == "other-file" && at != "check-out" || lie == "slow" && at != "validate-key" {
				continue // there is no such lie there, or it is the same one
			}
			want, ok := codes[lie]
			if !ok {
				want = hub.CodeLicenseNotGenuine
			}
			r := newRig(t)
			r.server.Lie(at, lie)
			r.refused(r.hurried(lie), want)
			if state := r.show().State; state != hub.LicenseNone && state != hub.LicensePending {
				t.Errorf("%s at %s: the license is %s", lie, at, state)
			}
			r.keyIsNowhere()
			r.server.Lie("", "")
			r.activated()

			before := r.snapshot()
			r.server.Lie(at, lie)
			r.refused(r.hurried(lie), want)
			if noBody := lie == "other-license" || lie == "wrong-digest"; at == "machines" && !noBody { // 204 has none to lie with
				_, err := deactivate(r.Licenses)
				r.refused(err, want)
			}
			if after := r.snapshot(); after != before {
				t.Errorf("%s at %s: an active license changed", lie, at)
			}
			r.expect(r.show(), hub.LicenseActive)
			if n := len(r.server.Machines(secretKey)); n > 1 {
				t.Errorf("%s at %s: %d machines", lie, at, n)
			}
		}
	}
}

// hurried activates; a server that does not answer gets little time.
func (r *rig) hurried(lie string) error {
	if lie != "slow" {
		_, err := activate(r.Licenses, secretKey)
		return err
	}
	_, err := r.ActivateLicense(context.Background(), hub.LicenseActivateInput{Key: secretKey})
	digest, err := digestIn(err)
	require.NoError(r.t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err = r.ActivateLicense(ctx, hub.LicenseActivateInput{Key: secretKey, Confirm: digest})
	return err
}

// TestNoNetwork: an active license needs none; what needs one says so and keeps what is there.
func TestNoNetwork(t *testing.T) {
	r := newRig(t).activated()
	before := r.snapshot()
	r.server.Close()
	r.expect(r.show(), hub.LicenseActive)
	_, err := r.VerifyLicense(t.Context())
	r.refused(err, hub.CodeLicenseUnreachable)
	_, err = deactivate(r.Licenses)
	r.refused(err, hub.CodeLicenseUnreachable)
	if !strings.Contains(err.Error(), "stays active") {
		t.Errorf("%v does not say that the license stays", err)
	}
	_, err = activate(r.Licenses, secretKey)
	r.refused(err, hub.CodeLicenseUnreachable)
	if after := r.snapshot(); after != before {
		t.Error("the saved license changed")
	}
	r.expect(r.show(), hub.LicenseActive)
}

// TestDeactivateKnowsWhatIsGone: a machine or a license that the server no longer has holds no
// place, so it is no reason to keep what is saved; a suspended license does.
func TestDeactivateKnowsWhatIsGone(t *testing.T) {
	r := newRig(t).activated()
	r.server.Add(licenseserver.License{Key: secretKey, Max: 2, Status: "SUSPENDED"})
	_, err := deactivate(r.Licenses)
	r.refused(err, hub.CodeLicenseSuspended)
	r.expect(r.show(), hub.LicenseActive)
	r.server.Revoke(secretKey)
	_, err = deactivate(r.Licenses)
	require.NoError(t, err)

	r = newRig(t).activated()
	r.server.Revoke(secretKey)
	r.server.Add(licenseserver.License{Key: secretKey, Max: 2})
	_, err = deactivate(r.Licenses)
	require.NoError(t, err)
	r.expect(r.show(), hub.LicenseNone)
}

// TestKilledAtEveryCall: the folder is copied at each call of an activation and of a
// deactivation, as a process that is killed there leaves it. From each copy an activation ends
// with the same one machine, and a deactivation with none.
func TestKilledAtEveryCall(t *testing.T) {
	for _, inFile := range []bool{true, false} {
		for _, then := range []string{"activate", "deactivate"} {
			r := newRig(t)
			if inFile {
				r.store.broken = errors.New("there is none")
			}
			var copies []string
			secrets := []string{}
			take := func() {
				to := filepath.Join(t.TempDir(), "license")
				copyDir(t, r.dir, to)
				copies, secrets = append(copies, to), append(secrets, r.store.secret)
			}
			r.server.Before(func(*http.Request) { take() })
			r.activated()
			take()
			_, err := deactivate(r.Licenses)
			require.NoError(t, err)
			r.server.Before(nil)
			if len(copies) != 5 {
				t.Fatalf("%d calls, want validate, add, check out, and remove after the end", len(copies))
			}
			for i, dir := range copies {
				for _, made := range []bool{false, true} { // the call was cut off before or after its effect
					r.server.Revoke(secretKey)
					r.server.Add(licenseserver.License{Key: secretKey, Max: 1})
					r.store.secret = secrets[i]
					again := filepath.Join(t.TempDir(), "license")
					copyDir(t, dir, again)
					l := r.at(again)
					if made {
						first := r.at(filepath.Join(t.TempDir(), "license"))
						copyDir(t, r.dir, first.options.Dir)
						kept := r.store.secret
						_, err := activate(first, secretKey)
						require.NoError(t, err)
						r.store.secret = kept
					}
					if then == "activate" {
						row, err := activate(l, secretKey)
						if err != nil || row.State != hub.LicenseActive {
							t.Errorf("copy %d: %+v, %v", i, row, err)
						}
						if got := r.server.Machines(secretKey); len(got) != 1 {
							t.Errorf("copy %d: machines %q", i, got)
						}
						continue
					}
					if row, _ := l.License(t.Context()); row.State == hub.LicenseNone && i == 0 {
						continue // nothing was begun
					}
					if _, err := deactivate(l); err != nil {
						t.Errorf("copy %d: %v", i, err)
					}
					if left := r.files(again); len(left) > 0 || len(r.server.Machines(secretKey)) > 0 || r.store.secret != "" {
						t.Errorf("copy %d: left are %q, %q, machines %q", i, left, r.store.secret, r.server.Machines(secretKey))
					}
				}
			}
		}
	}
}

// TestEndedDeactivationIsFinished: the place was given back, and the process died before it
// deleted what was saved.
func TestEndedDeactivationIsFinished(t *testing.T) {
	for _, next := range []func(*rig) error{
		func(r *rig) error { _, err := deactivate(r.Licenses); return err },
		func(r *rig) error { _, err := activate(r.Licenses, otherKey); return err },
	} {
		r := newRig(t).activated()
		r.server.Add(licenseserver.License{Key: otherKey, Max: 1})
		s, err := r.load()
		require.NoError(t, err)
		s.Ended = true
		require.NoError(t, r.save(s))
		r.expect(r.show(), hub.LicenseNone)
		_, err = r.VerifyLicense(t.Context())
		r.refused(err, hub.CodeLicenseNotActive)
		calls := len(r.server.Calls())
		require.NoError(t, next(r))
		if r.store.secret == secretKey {
			t.Error("the old key is kept")
		}
		if r.show().State == hub.LicenseNone && len(r.server.Calls()) != calls {
			t.Error("the server was asked again")
		}
	}
}

// TestPlaceThatIsTakenMeanwhile: the machine gets its place by another folder of the same
// machine after the server has said that it has none; there is still one place.
func TestPlaceThatIsTakenMeanwhile(t *testing.T) {
	r := newRig(t)
	other := filepath.Join(t.TempDir(), "license")
	copyDir(t, r.dir, other)
	var second error
	r.server.Before(func(call *http.Request) {
		if call.Method == http.MethodPost && strings.HasSuffix(call.URL.Path, "/machines") {
			r.server.Before(nil)
			_, second = activate(r.at(other), secretKey)
		}
	})
	r.activated()
	require.NoError(t, second)
	if got := r.server.Machines(secretKey); len(got) != 1 {
		t.Errorf("machines %q", got)
	}
}

// TestOneChangeAtATime, also of two processes: the lock is of the folder.
func TestOneChangeAtATime(t *testing.T) {
	r := newRig(t)
	_, err := r.ActivateLicense(t.Context(), hub.LicenseActivateInput{Key: secretKey})
	digest, err := digestIn(err)
	require.NoError(t, err)
	var second error
	r.server.Before(func(*http.Request) {
		_, second = r.at(r.dir).ActivateLicense(context.Background(), hub.LicenseActivateInput{Key: secretKey, Confirm: digest})
	})
	_, err = r.ActivateLicense(t.Context(), hub.LicenseActivateInput{Key: secretKey, Confirm: digest})
	require.NoError(t, err)
	r.refused(second, hub.CodeLicenseBusy)
}

// TestSignedKeysAreCheckedFirst: a key whose signature is wrong, or that is for another product,
// is sent to nobody.
func TestSignedKeysAreCheckedFirst(t *testing.T) {
	r := newRig(t)
	another := licenseserver.Start()
	defer another.Close()
	good := r.server.SignedKey(`{"product":{"id":"` + licenseserver.Product + `"}}`)
	for key, want := range map[string]hub.Code{
		another.SignedKey("x"):                           hub.CodeLicenseNotGenuine,
		good[:len(good)-4]:                               hub.CodeLicenseNotGenuine,
		r.server.SignedKey(`{"product":{"id":"other"}}`): hub.CodeLicenseRefused,
		"key/x": hub.CodeInvalid, "": hub.CodeInvalid, "a b": hub.CodeInvalid, "a\r\nX: y": hub.CodeInvalid, strings.Repeat("x", 5000): hub.CodeInvalid,
	} {
		_, err := activate(r.Licenses, key)
		r.refused(err, want)
		if key != "" && strings.Contains(err.Error(), key) {
			t.Errorf("the error holds the key: %v", err)
		}
	}
	if calls := r.server.Calls(); len(calls) > 0 {
		t.Errorf("calls %q", calls)
	}
	r.server.Add(licenseserver.License{Key: good, Max: 1})
	row, err := activate(r.Licenses, good)
	require.NoError(t, err)
	r.expect(row, hub.LicenseActive)
}
