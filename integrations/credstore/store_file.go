package credstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/zalando/go-keyring"

	"hubcli/internal/osfile"
)

// The variables of the hub that put an encrypted file in the place of the system's store.
const (
	FileVariable     = "HUB_SECRETS_FILE"
	IdentityVariable = "HUB_SECRETS_IDENTITY"
)

// Limits of the encrypted file and of the file with its identity, in bytes.
const (
	maxFile     = 4 << 20
	maxIdentity = 64 << 10
)

// lockWait is how long a change waits for one of another process.
const lockWait = 3 * time.Second

// File is an encrypted file in the place of the system's store, for machines that have
// none. The program age reads it, too.
type File struct {
	Path     string // of the file; it is made with the first secret
	Identity string // path of the identity of age that opens the file; only its owner may read it
}

// FileOf returns the file that the environment asks for by name; nil: it asks for none.
func FileOf(getenv func(string) string) *File {
	f := &File{Path: getenv(FileVariable), Identity: getenv(IdentityVariable)}
	if f.Path == "" && f.Identity == "" {
		return nil
	}
	return f
}

// fileError is what is wrong with the file or its identity.
type fileError struct {
	kind Kind
	why  string
	err  error
}

func (e *fileError) Error() string { return e.why }

func (e *fileError) Unwrap() error { return e.err }

func (f *File) missing() string {
	switch {
	case f.Path == "":
		return IdentityVariable + " is set, and " + FileVariable + " is not"
	case f.Identity == "":
		return FileVariable + " is set, and " + IdentityVariable + " is not"
	case !filepath.IsAbs(f.Path) || !filepath.IsAbs(f.Identity):
		return FileVariable + " and " + IdentityVariable + " must be absolute paths"
	}
	return ""
}

func (*File) classify(err error) (Kind, string) {
	var e *fileError
	if errors.As(err, &e) {
		return e.kind, e.why
	}
	return Failed, ""
}

func (f *File) get(_, name string) (string, error) {
	identity, err := f.identity()
	if err != nil {
		return "", err
	}
	secrets, err := f.read(identity)
	if err != nil {
		return "", err
	}
	secret, ok := secrets[name]
	if !ok {
		return "", keyring.ErrNotFound
	}
	return secret, nil
}

func (f *File) set(_, name, secret string) error {
	return f.change(func(secrets map[string]string) error {
		secrets[name] = secret
		return nil
	})
}

func (f *File) remove(_, name string) error {
	return f.change(func(secrets map[string]string) error {
		if _, ok := secrets[name]; !ok {
			return keyring.ErrNotFound
		}
		delete(secrets, name)
		return nil
	})
}

// change reads the file, changes what it holds and writes it, while no other process does.
func (f *File) change(with func(map[string]string) error) error {
	identity, err := f.identity()
	if err != nil {
		return err
	}
	unlock, err := f.lock()
	if err != nil {
		return err
	}
	defer unlock()
	secrets, err := f.read(identity)
	if err != nil {
		return err
	}
	if err := with(secrets); err != nil {
		return err
	}
	return f.write(identity, secrets)
}

// lock keeps other processes from changing the file. The lock is a file beside it, because
// the file itself is replaced.
func (f *File) lock() (unlock func(), err error) {
	l, err := os.OpenFile(f.Path+".lock", os.O_CREATE|os.O_RDWR|osfile.Cautious, 0o600)
	if err != nil {
		return nil, &fileError{Failed, "the folder of the encrypted file cannot be written: " + cause(err), err}
	}
	for deadline := time.Now().Add(lockWait); ; time.Sleep(10 * time.Millisecond) {
		got, err := osfile.TryLock(l)
		if got {
			return func() { _ = l.Close() }, nil
		}
		if err != nil || time.Now().After(deadline) {
			_ = l.Close()
			return nil, &fileError{Failed, "another process changes the encrypted file", err}
		}
	}
}

// identity reads the key that opens the file.
func (f *File) identity() (*age.X25519Identity, error) {
	info, err := os.Lstat(f.Identity)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fileError{NoStore, "the file that " + IdentityVariable + " names is not there; make it with: age-keygen -o FILE", err}
	case err != nil:
		return nil, &fileError{NoStore, "the file that " + IdentityVariable + " names cannot be read: " + cause(err), err}
	case osfile.Permissions(info)&0o077 != 0:
		return nil, &fileError{NoStore, "others than its owner may read the file that " + IdentityVariable +
			" names; take their rights away (chmod 600), and make another identity if somebody may have read it", nil}
	}
	text, err := osfile.ReadSmall(f.Identity, maxIdentity)
	if err != nil {
		return nil, &fileError{NoStore, "the file that " + IdentityVariable + " names cannot be read: " + cause(err), err}
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if id, err := age.ParseX25519Identity(line); err == nil {
			return id, nil
		}
		break // the error of the library may hold the line
	}
	return nil, &fileError{NoStore, "the file that " + IdentityVariable + " names has no identity of age; make one with: age-keygen -o FILE", nil}
}

// kept is what the file holds, decrypted.
type kept struct {
	Format  int               `json:"format"`
	Secrets map[string]string `json:"secrets"`
}

// format is the version of kept that this program writes.
const format = 1

// read decrypts the file. One that is not there holds nothing.
func (f *File) read(identity *age.X25519Identity) (map[string]string, error) {
	data, err := osfile.ReadSmall(f.Path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, &fileError{Failed, "the encrypted file cannot be read: " + cause(err), err}
	}
	plain, err := age.Decrypt(bytes.NewReader(data), identity)
	var none *age.NoIdentityMatchError
	if errors.As(err, &none) {
		return nil, &fileError{Locked, "the identity does not open the encrypted file; name the one with which the file was made", nil}
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(plain, maxFile))
	}
	if err != nil {
		return nil, &fileError{Failed, "the encrypted file was cut or changed; put a copy back, or move it away and give the secrets again", nil}
	}
	var k kept
	if err := json.Unmarshal(text, &k); err != nil || k.Format != format || k.Secrets == nil {
		return nil, &fileError{Failed, "the encrypted file holds something else than secrets of the hub; name another file", nil}
	}
	return k.Secrets, nil
}

// write encrypts the secrets and puts them under the name at once.
func (f *File) write(identity *age.X25519Identity, secrets map[string]string) error {
	text, err := json.Marshal(kept{Format: format, Secrets: secrets})
	if err != nil {
		return err
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, identity.Recipient())
	if err == nil {
		_, err = w.Write(text)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		return fmt.Errorf("encrypting: %w", err)
	}
	if sealed.Len() > maxFile {
		return keyring.ErrSetDataTooBig
	}
	if err := osfile.Replace(osfile.Disk{}, f.Path, osfile.Content{Write: osfile.Bytes(sealed.Bytes())}); err != nil {
		return &fileError{Failed, "the encrypted file cannot be written: " + cause(err), err}
	}
	return nil
}

// cause is what the system says, without the path.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
