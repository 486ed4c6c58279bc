// Package machine names the machine on which a program runs, without telling which machine it
// is: the name is an HMAC of what the system calls itself, keyed by a product. Two products
// cannot compare their names, and nobody gets the system's own id from one.
//
// The functions may be called from any goroutine. The package writes a file only in NewFallback,
// and never returns the system's own id.
package machine

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"

	"hubcli/internal/osfile"
)

// ErrNoID says that the system has no id of its own.
var ErrNoID = errors.New("the system has no id of its own")

// Fingerprint returns the name of this machine for a product. If the file fallback exists, its
// random id counts; otherwise the system's own id. Without both the error is ErrNoID.
func Fingerprint(product, fallback string) (string, error) {
	return fingerprint(product, fallback, systemID)
}

func fingerprint(product, fallback string, system func() (string, error)) (string, error) {
	id, err := readFallback(fallback)
	if errors.Is(err, fs.ErrNotExist) {
		if id, err = system(); err == nil {
			id, err = usable(id)
		}
		if err != nil {
			return "", ErrNoID
		}
	}
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, []byte(product))
	mac.Write([]byte(id))
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// Of a random id.
const (
	randomBytes = 32
	randomSize  = 2*randomBytes + 1 // bytes of the file
)

// NewFallback makes the file with a random id, for a system that has none of its own. A file that
// is there stays.
func NewFallback(fallback string) error {
	id := make([]byte, randomBytes)
	_, _ = rand.Read(id) // it never fails
	err := osfile.Create(fallback, osfile.Content{Mode: 0o600, Exactly: true, Write: osfile.Bytes([]byte(hex.EncodeToString(id) + "\n"))})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func readFallback(file string) (string, error) {
	b, err := osfile.ReadSmall(file, randomSize)
	if err != nil {
		return "", err
	}
	id := string(bytes.TrimSpace(b))
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != randomBytes {
		return "", errors.New("the file with the random id of this machine is damaged")
	}
	return id, nil
}

// usable refuses ids that many machines share: those of images that were never started, and of
// firmware that nobody has filled in.
func usable(id string) (string, error) {
	id = strings.ToLower(strings.TrimSpace(id))
	digits := strings.ReplaceAll(id, "-", "")
	const least = 16
	if len(digits) < least || id == "uninitialized" || strings.Count(digits, digits[:1]) == len(digits) {
		return "", ErrNoID
	}
	return id, nil
}
