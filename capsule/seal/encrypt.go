package seal

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"filippo.io/age"

	"hubcli/hub"
)

// EncryptedSuffix ends the name of an encrypted file.
const EncryptedSuffix = ".age"

// The bounds of files and headers that tell of keys.
const (
	MaxIdentityBytes = 64 << 10
	maxIdentities    = 32
	// maxHeaderBytes is the part of a file in which its recipients stand. Each costs the
	// reader a multiplication for each identity.
	maxHeaderBytes = 64 << 10
)

const (
	magic        = "age-encryption.org/v1\n"
	armor        = "-----BEGIN AGE ENCRYPTED FILE-----"
	headerEnd    = "\n--- "
	secretPrefix = "AGE-SECRET-KEY-"
)

// ParseRecipient checks somebody to whom a file can be encrypted, and returns how it is
// written. It never repeats a text that it refuses: people confuse keys.
func ParseRecipient(text string) (string, error) {
	const field = "to"
	text = strings.TrimSpace(text)
	switch {
	case strings.Contains(strings.ToUpper(text), secretPrefix):
		return "", hub.Invalid(field, "that is an identity, with which files are opened, and no recipient").
			WithFix("name the public key, which begins with age1; make a new pair if somebody may have seen the identity")
	case strings.HasPrefix(text, "ssh-"):
		return "", hub.Invalid(field, "keys of SSH are not taken as recipients").
			WithFix("ask for a recipient that begins with age1, as age-keygen makes it")
	}
	r, err := age.ParseX25519Recipient(text)
	if err != nil {
		return "", hub.Invalid(field, "that is no recipient of age").
			WithFix("give a public key that begins with age1, as age-keygen makes it without options")
	}
	return r.String(), nil
}

// Encrypt returns a writer that encrypts to recipients, which ParseRecipient has taken. The
// file is whole when it is closed.
func Encrypt(w io.Writer, to []string) (io.WriteCloser, error) {
	recipients := make([]age.Recipient, len(to))
	for i, text := range to {
		r, err := age.ParseX25519Recipient(text)
		if err != nil {
			return nil, hub.Invalid("to", "that is no recipient of age")
		}
		recipients[i] = r
	}
	return age.Encrypt(w, recipients...)
}

// IsEncrypted reports whether a file is encrypted by age.
func IsEncrypted(r io.ReaderAt) (bool, error) {
	head := make([]byte, len(armor))
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.HasPrefix(head[:n], []byte(magic)) || string(head[:n]) == armor, nil
}

// Identities open encrypted files.
type Identities struct{ all []age.Identity }

// ParseIdentities reads the text of an identity file: one identity a line, empty lines and
// comments.
func ParseIdentities(text []byte) (Identities, error) {
	var ids Identities
	no := func(why, fix string) (Identities, error) {
		return Identities{}, hub.Invalid("identity", why).WithFix(fix)
	}
	const name = "name a file with a line that begins with " + secretPrefix + "1, as age-keygen makes it"
	if len(text) > MaxIdentityBytes {
		return no("the identity file is too large", name)
	}
	if bytes.HasPrefix(text, []byte(magic)) || bytes.HasPrefix(text, []byte(armor)) {
		return no("the identity file is encrypted", "decrypt it with age -d into a file that only you can read, name that one, and delete it afterwards")
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		id, err := age.ParseX25519Identity(line)
		if err != nil { // the error of the library is not repeated: it may hold the line
			return no("the identity file has a line that is no identity", name)
		}
		if ids.all = append(ids.all, id); len(ids.all) > maxIdentities {
			return no("the identity file has too many identities", "name a file with the one that opens the capsule")
		}
	}
	if len(ids.all) == 0 {
		return no("the identity file has no identity", name)
	}
	return ids, nil
}

// Decrypt returns the plain text of an encrypted file and its size. Every part that is read is
// checked, and so is the end at once: a file that was cut is refused here. The plain text is
// on no disk, and memory holds 64 KiB of it.
func Decrypt(r io.ReaderAt, size int64, ids Identities) (io.ReaderAt, int64, error) {
	head := make([]byte, min(size, maxHeaderBytes))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), head); err != nil {
		return nil, 0, err
	}
	switch {
	case bytes.HasPrefix(head, []byte(armor)):
		return nil, 0, unreadable("it is written as text, which the hub does not read").WithFix("decrypt it with age -d, and name the result")
	case !bytes.Contains(head, []byte(headerEnd)):
		return nil, 0, unreadable("its header is cut, or has too many recipients")
	case len(ids.all) == 0:
		return nil, 0, hub.NewError(hub.CodeCapsuleEncrypted, "the capsule is encrypted, and no identity was named").
			WithFix("name the file with the identity that opens it")
	}
	plain, n, err := age.DecryptReaderAt(r, size, ids.all...)
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none):
		return nil, 0, refused(none)
	case err != nil:
		return nil, 0, unreadable("it was cut or changed")
	}
	return checked{plain}, n, nil
}

// refused says why no identity opens a file.
func refused(e *age.NoIdentityMatchError) error {
	no := hub.NewError(hub.CodeCapsuleEncrypted, "no identity of the file opens the capsule: it is encrypted to others").
		WithFix("name the identity whose recipient was given to the one who made the capsule")
	for _, kind := range e.StanzaTypes {
		if kind == "scrypt" {
			return hub.NewError(hub.CodeCapsuleEncrypted, "the capsule is encrypted with a passphrase, which the hub does not ask for").
				WithFix("decrypt it with age -d, and name the result")
		}
		if kind != "X25519" {
			no = no.WithFix("name the identity whose recipient was given to the one who made the capsule; if that is none that begins with " +
				secretPrefix + "1, decrypt the file with age -d, and name the result")
		}
	}
	return no
}

func unreadable(why string) *hub.Error {
	return hub.NewError(hub.CodeCapsuleInvalid, "the encrypted capsule cannot be read: "+why).
		WithFix("get the file again from the one who made it")
}

// checked gives failures of decryption the form of the hub's: the bytes are not those that
// were encrypted. Failures of the disk below are among them, and their cause is kept.
type checked struct{ r io.ReaderAt }

func (c checked) ReadAt(b []byte, off int64) (int, error) {
	n, err := c.r.ReadAt(b, off)
	if err != nil && !errors.Is(err, io.EOF) {
		err = errors.Join(unreadable("it was cut or changed"), err)
	}
	return n, err
}
