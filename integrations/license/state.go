package license

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/integrations/license/keygen"
	"hubcli/internal/osfile"
)

// stateVersion is the version of state.json that this program writes.
const stateVersion = 1

// state is what is saved of an activation. Nothing in it is trusted but the machine file.
type state struct {
	Version     int              `json:"version"`
	Server      string           `json:"server"`
	Account     string           `json:"account,omitempty"`
	Product     string           `json:"product"`
	LicenseID   string           `json:"license_id"`
	Fingerprint string           `json:"fingerprint"`
	KeyIn       hub.LicensePlace `json:"key_in"`
	KeyDigest   string           `json:"key_sha256"`
	// MachineID and MachineFile are empty until the server has answered.
	MachineID   string `json:"machine_id,omitempty"`
	MachineFile string `json:"machine_file,omitempty"`
	// Ended says that the place was given back; what is left is to delete.
	Ended bool `json:"ended,omitempty"`
}

func (s *state) pending() bool { return s.MachineFile == "" && !s.Ended }

// of reports whether the activation is of a server.
func (s *state) of(server *keygen.Server) bool {
	return s.Server == server.Base && s.Account == server.Account && s.Product == server.Product
}

func digestOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

func (l *Licenses) path(name string) string { return filepath.Join(l.options.Dir, name) }

// load returns what is saved; nil: nothing is.
func (l *Licenses) load() (*state, error) {
	b, err := osfile.ReadSmall(l.path(stateName), maxState)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", stateName, plain(err))
	}
	var s state
	switch err := json.Unmarshal(b, &s); {
	case err != nil || s.Version < 1 || s.Fingerprint == "" || s.KeyDigest == "":
		return nil, fmt.Errorf("%s is damaged", stateName)
	case s.Version > stateVersion:
		return nil, fmt.Errorf("a later version of the program has written %s", stateName)
	}
	return &s, nil
}

func (l *Licenses) save(s *state) error {
	s.Version = stateVersion
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return l.write(stateName, append(b, '\n'))
}

func (l *Licenses) write(name string, b []byte) error {
	return osfile.Replace(osfile.Disk{}, l.path(name), osfile.Content{Mode: 0o600, Exactly: true, Temp: name + ".part", Write: osfile.Bytes(b)})
}

// remove deletes a file; one that is not there is no error.
func (l *Licenses) remove(name string) error {
	err := os.Remove(l.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return osfile.SyncDir(l.options.Dir)
}

// Secrets keeps one secret outside of files: the credential store of the system.
type Secrets interface {
	// Name is how the store lists the secret.
	Name() string
	// Get returns the secret; ErrNoSecret if none is kept. Any other error says why the store
	// cannot be used.
	Get(ctx context.Context) (string, error)
	Set(ctx context.Context, secret string) error
	Delete(ctx context.Context) error
}

// ErrNoSecret says that a store works and keeps nothing.
var ErrNoSecret = errors.New("nothing is kept")

// errNoStore says that the program was made without a store.
var errNoStore = errors.New("this hub has no credential store")

// whyNoStore says why the store cannot keep a key; nil: it can.
func (l *Licenses) whyNoStore(ctx context.Context) error {
	if l.options.Secrets == nil {
		return errNoStore
	}
	_, err := l.options.Secrets.Get(ctx)
	if errors.Is(err, ErrNoSecret) {
		return nil
	}
	return err
}

// key returns the saved key.
func (l *Licenses) key(ctx context.Context, s *state) (string, error) {
	var key string
	switch {
	case s.KeyIn == hub.LicenseInFile:
		b, err := osfile.ReadSmall(l.path(keyName), keygen.MaxKey+1)
		if err != nil {
			return "", fmt.Errorf("the saved key cannot be read: %w", plain(err))
		}
		key = strings.TrimSuffix(string(b), "\n")
	case l.options.Secrets == nil:
		return "", errNoStore
	default:
		var err error
		if key, err = l.options.Secrets.Get(ctx); errors.Is(err, ErrNoSecret) {
			return "", errors.New("the credential store has no key of this license any more")
		} else if err != nil {
			return "", err
		}
	}
	if digestOf(key) != s.KeyDigest {
		return "", errors.New("the saved key is another one than that of the activation")
	}
	return key, nil
}

func (l *Licenses) keepKey(ctx context.Context, s *state, key string) error {
	if s.KeyIn == hub.LicenseInFile {
		return l.write(keyName, []byte(key+"\n"))
	}
	return l.options.Secrets.Set(ctx, key)
}

// erase deletes the key and then the state, so that no key stays that nothing knows of.
func (l *Licenses) erase(ctx context.Context, s *state) error {
	if err := l.dropKey(ctx, s); err != nil {
		return err
	}
	return l.remove(stateName)
}

func (l *Licenses) dropKey(ctx context.Context, s *state) error {
	switch {
	case s.KeyIn == hub.LicenseInFile:
		return l.remove(keyName)
	case l.options.Secrets != nil:
		return l.options.Secrets.Delete(ctx)
	}
	return nil
}

// clockStep is how old the latest seen time gets before it is written again.
const clockStep = time.Hour

// lastSeen returns the latest time that was noted; zero: none.
func (l *Licenses) lastSeen() time.Time {
	b, err := osfile.ReadSmall(l.path(clockName), maxClock)
	if err != nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(b)))
	if err != nil {
		return time.Time{}
	}
	return at
}

// note remembers the time, so that a clock that goes back is noticed. That it cannot be written
// is no reason to refuse anything.
func (l *Licenses) note(now time.Time) {
	if l.options.ReadOnly || now.Sub(l.lastSeen()) < clockStep {
		return
	}
	if err := l.write(clockName, []byte(now.UTC().Format(time.RFC3339)+"\n")); err != nil {
		l.options.Logger.Debug("the time could not be noted", "error", plain(err))
	}
}

// lock keeps other changes out, those of other processes too.
func (l *Licenses) lock() (unlock func(), err error) {
	if err := os.MkdirAll(l.options.Dir, 0o700); err != nil {
		return nil, failedHere(err)
	}
	f, err := os.OpenFile(l.path(lockName), os.O_RDWR|os.O_CREATE|osfile.NoFollow, 0o600)
	if err != nil {
		return nil, failedHere(err)
	}
	ok, err := osfile.TryLock(f)
	if err != nil {
		_ = f.Close()
		return nil, failedHere(err)
	}
	if !ok {
		_ = f.Close()
		return nil, hub.NewError(hub.CodeLicenseBusy, "the license of this machine is being changed by another call").
			WithFix("wait until it has ended, at most a minute, and then repeat the call")
	}
	return func() { _ = f.Close() }, nil
}
