package storedir

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"

	"hubcli/persistence/codec"

	"hubcli/internal/osfile"
)

// SecretSize is the bytes of a secret.
const SecretSize = 32

// ReadStoreKey reads the secret key of a store. A store without its key is damaged, because
// answers rendered with another key would differ.
func ReadStoreKey(fsy Fsys, dir string) ([]byte, error) {
	b, err := ReadFile(fsy, filepath.Join(dir, NameKey), 4096)
	switch {
	case err == nil && wholeKey(b):
		return b[:SecretSize:SecretSize], nil
	case err == nil:
		return nil, Corrupt("its key file fails its checksum", nil)
	case errors.Is(err, fs.ErrNotExist):
		return nil, Corrupt("its key file is missing", nil)
	}
	return nil, IOError("reading the key", err)
}

// WriteKey writes the key of a store, for its owner alone.
func WriteKey(fsy Fsys, dir string, key []byte) error {
	content := binary.BigEndian.AppendUint32(bytes.Clone(key), crc32.Checksum(key, codec.Castagnoli))
	return WriteSecret(fsy, filepath.Join(dir, NameKey), content)
}

// ReadKey reads the secret key of the store in dir and touches nothing. An error says that
// there is none that is whole, or that it cannot be read.
func ReadKey(dir string) ([]byte, error) {
	b, err := osfile.ReadSmall(filepath.Join(dir, NameKey), 4096)
	if err == nil && !wholeKey(b) {
		err = Corrupt("its key file fails its checksum", nil)
	}
	if err != nil {
		return nil, err
	}
	return b[:SecretSize:SecretSize], nil
}

func wholeKey(b []byte) bool {
	return len(b) == SecretSize+4 && binary.BigEndian.Uint32(b[SecretSize:]) == crc32.Checksum(b[:SecretSize], codec.Castagnoli)
}

// ReadToken reads the operator's token. It is empty where there is none, or none that this
// program could have made: then the start makes another one.
func ReadToken(fsy Fsys, dir string) (string, error) {
	b, err := ReadFile(fsy, filepath.Join(dir, NameToken), 4096)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, osfile.ErrTooLong):
		return "", nil
	case err != nil:
		return "", IOError("reading the operator's token", err)
	}
	b = bytes.TrimSpace(b)
	if raw, err := base64.RawURLEncoding.DecodeString(string(b)); err != nil || len(raw) != SecretSize {
		return "", nil
	}
	return string(b), nil
}

// RandomToken returns a new token of the operator.
func RandomToken() string { return base64.RawURLEncoding.EncodeToString(RandomBytes(SecretSize)) }

// WriteToken writes it, for its owner alone.
func WriteToken(fsy Fsys, dir, token string) error {
	return WriteSecret(fsy, filepath.Join(dir, NameToken), []byte(token+"\n"))
}

// WriteSecret writes a file that only its owner reads, whole or not at all.
func WriteSecret(fsy Fsys, name string, content []byte) error {
	err := ReplaceFile(fsy, name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}, func(r io.Reader) error { return SameBytes(r, content) })
	if err != nil {
		return IOError("writing "+filepath.Base(name), err)
	}
	return nil
}
