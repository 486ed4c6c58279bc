package license

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/licenseserver"
	"hubcli/internal/require"
)

const (
	secretKey = "KEY-4711-PLANTED-SECRET"
	otherKey  = "KEY-0815-PLANTED-SECRET"
	thisOne   = "1d6f7b17eb74b1ed0eec2941b5f8ad9d8e1db1ee9f860b3e90433ec59ff9e5a4"
)

// memory is a credential store that keeps one secret in memory.
type memory struct {
	secret string
	broken error // nil: it works
}

func (m *memory) Name() string { return "license-of-the-test" }

func (m *memory) Get(context.Context) (string, error) {
	switch {
	case m.broken != nil:
		return "", m.broken
	case m.secret == "":
		return "", ErrNoSecret
	}
	return m.secret, nil
}

func (m *memory) Set(_ context.Context, secret string) error {
	if m.broken == nil {
		m.secret = secret
	}
	return m.broken
}

func (m *memory) Delete(context.Context) error {
	if m.broken == nil {
		m.secret = ""
	}
	return m.broken
}

// rig is a machine with a license server.
type rig struct {
	*Licenses
	t      *testing.T
	server *licenseserver.Server
	dir    string
	store  *memory
	log    *bytes.Buffer
	now    time.Time
	id     string // fingerprint of the machine
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, server: licenseserver.Start(), dir: filepath.Join(t.TempDir(), "license"), store: &memory{}, log: &bytes.Buffer{}, now: time.Now(), id: thisOne}
	t.Cleanup(r.server.Close)
	r.server.Now = func() time.Time { return r.now }
	r.server.Add(licenseserver.License{Key: secretKey, Max: 2})
	require.NoError(t, os.MkdirAll(r.dir, 0o700))
	r.configure(r.server.Config())
	r.Licenses = r.at(r.dir)
	return r
}

// at is the machine with another folder.
func (r *rig) at(dir string) *Licenses {
	o := Options{
		Dir: dir, Now: func() time.Time { return r.now }, Logger: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Fingerprint: func(string, string) (string, error) { return r.id, nil },
	}
	if r.store != nil {
		o.Secrets = r.store
	}
	return New(o)
}

func (r *rig) configure(text string) {
	r.t.Helper()
	require.NoError(r.t, os.WriteFile(filepath.Join(r.dir, configName), []byte(text), 0o600))
}

// activate asks for the plan and confirms it.
func activate(l *Licenses, key string) (hub.License, error) {
	_, err := l.ActivateLicense(context.Background(), hub.LicenseActivateInput{Key: key})
	digest, err := digestIn(err)
	if err != nil {
		return hub.License{}, err
	}
	return l.ActivateLicense(context.Background(), hub.LicenseActivateInput{Key: key, Confirm: digest})
}

func deactivate(l *Licenses) (hub.License, error) {
	_, err := l.DeactivateLicense(context.Background(), hub.LicenseDeactivateInput{})
	digest, err := digestIn(err)
	if err != nil {
		return hub.License{}, err
	}
	return l.DeactivateLicense(context.Background(), hub.LicenseDeactivateInput{Confirm: digest})
}

// digestIn returns the digest that a refusal asks to confirm, or the refusal.
func digestIn(err error) (string, error) {
	var e *hub.Error
	if errors.As(err, &e) && e.Code == hub.CodeConfirmRequired {
		return e.Detail["digest"].(string), nil
	}
	if err == nil {
		err = errors.New("it was done without a confirmation")
	}
	return "", err
}

func (r *rig) activated() *rig {
	r.t.Helper()
	row, err := activate(r.Licenses, secretKey)
	require.NoError(r.t, err)
	r.expect(row, hub.LicenseActive)
	return r
}

func (r *rig) show() hub.License {
	r.t.Helper()
	row, err := r.License(r.t.Context())
	require.NoError(r.t, err)
	return row
}

func (r *rig) expect(row hub.License, want hub.LicenseState) {
	r.t.Helper()
	if row.State != want || row.Why == "" || (row.Fix == "") != (want == hub.LicenseActive) && want != hub.LicenseNone {
		r.t.Errorf("the license is %+v, want %s", row, want)
	}
}

func (r *rig) refused(err error, want hub.Code) {
	r.t.Helper()
	var e *hub.Error
	if !errors.As(err, &e) || e.Code != want || e.Message == "" || e.FixFor(hub.ForHTTP) == "" {
		r.t.Errorf("%v (%+v), want %s", err, e, want)
	}
}

// files are the names in the folder, but for those that are always there.
func (r *rig) files(dir string) []string {
	r.t.Helper()
	var names []string
	require.NoError(r.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != configName && d.Name() != lockName && d.Name() != clockName {
			names = append(names, d.Name())
		}
		return err
	}))
	return names
}

// keyIsNowhere looks for the keys in all files but that of the key, and in the log.
func (r *rig) keyIsNowhere(said ...string) {
	r.t.Helper()
	texts := map[string]string{"the log": r.log.String(), "what was said": strings.Join(said, "\n")}
	require.NoError(r.t, filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != keyName {
			b, err := os.ReadFile(path)
			texts[d.Name()] = string(b)
			return err
		}
		return err
	}))
	for where, text := range texts {
		if strings.Contains(text, "PLANTED") {
			r.t.Errorf("the key is in %s: %s", where, text)
		}
	}
}

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
	require.NoError(t, os.Chmod(to, 0o700))
}
