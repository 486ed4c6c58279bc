package maker

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hubcli/internal/osfile"
)

// NameKey is the file of the secret in the data root: 32 bytes in base64url and a line
// feed, for its owner alone.
const NameKey = "maker.key"

const keySize = 32

// Key is the secret of a data root.
type Key struct{ secret []byte }

// KeyError says that the file of the secret is there and cannot be used.
type KeyError struct {
	Path string
	Why  string // completes a sentence that begins with the path
	Err  error  // of the system; may be nil
}

func (e *KeyError) Error() string { return fmt.Sprintf("%s %s", e.Path, e.Why) }

// Unwrap returns what the system said.
func (e *KeyError) Unwrap() error { return e.Err }

// Load reads the secret of the data root. It makes one, and the data root, where there is
// none; of several processes that do so at once all get the same. Errors: *KeyError, or
// one of the file system.
//
// A data root that others may write to is closed to their writes: they could take the notes
// of this user's hubs away.
func Load(root string) (*Key, error) {
	if err := closeToOthers(root); err != nil {
		return nil, err
	}
	key, err := Read(root)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	secret := make([]byte, keySize)
	_, _ = rand.Read(secret) // it never fails: it ends the program instead
	text := base64.RawURLEncoding.EncodeToString(secret) + "\n"
	err = osfile.Create(filepath.Join(root, NameKey), osfile.Content{Write: osfile.Bytes([]byte(text)), Exactly: true})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return Read(root)
}

// Read reads the secret of the data root and makes none. Errors: fs.ErrNotExist where
// there is none; *KeyError; one of the file system.
func Read(root string) (*Key, error) {
	path := filepath.Join(root, NameKey)
	b, err := osfile.ReadSmall(path, 4096)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, &KeyError{Path: path, Why: "cannot be read", Err: err}
	}
	if why := exposed(path); why != "" {
		return nil, &KeyError{Path: path, Why: why}
	}
	secret, err := base64.RawURLEncoding.DecodeString(string(bytes.TrimSpace(b)))
	if err != nil || len(secret) != keySize {
		return nil, &KeyError{Path: path, Why: "is not as a hub writes it"}
	}
	return &Key{secret}, nil
}

// closeToOthers takes the right to write in the folder from all others. A folder that is
// another user's is left alone.
func closeToOthers(root string) error {
	info, err := os.Stat(root)
	if err != nil || !info.IsDir() || !osfile.Own(root, info) {
		return nil // Read says what is wrong
	}
	if mode := osfile.Permissions(info); mode&0o022 != 0 {
		return osfile.Protect(root, mode&^0o022)
	}
	return nil
}

// exposed says why others may know the secret; "" if they do not. A file that came with
// a checkout has the mode that such a file gets, and not that of a secret.
func exposed(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "cannot be looked at"
	}
	if why := osfile.ForeignFile(info); why != "" {
		return why
	}
	if osfile.Permissions(info)&0o077 != 0 {
		return "may be read by others"
	}
	return ""
}

// Mark is what the secret says about a thing: 64 hexadecimal digits. Purpose tells the
// kinds of things apart, and parts say which thing it is; no part may have a line feed.
func (k *Key) Mark(purpose string, parts ...string) string {
	m := hmac.New(sha256.New, k.secret)
	fmt.Fprintf(m, "hub maker 1\n%s\n", purpose)
	for _, part := range parts {
		fmt.Fprintf(m, "%d %s\n", len(part), part)
	}
	return hex.EncodeToString(m.Sum(nil))
}

// Proves reports whether mark is the Mark of these.
func (k *Key) Proves(mark, purpose string, parts ...string) bool {
	return hmac.Equal([]byte(mark), []byte(k.Mark(purpose, parts...)))
}
