package persistence

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"

	"hubcli/internal/osfile"
)

const secretSize = 32

// readStoreKey reads the secret key of a store. A store without its key is damaged, because
// answers rendered with another key would differ.
func readStoreKey(fsy fsys, dir string) ([]byte, error) {
	b, err := readFile(fsy, filepath.Join(dir, nameKey), 4096)
	switch {
	case err == nil && wholeKey(b):
		return b[:secretSize:secretSize], nil
	case err == nil:
		return nil, corrupt("its key file fails its checksum", nil)
	case errors.Is(err, fs.ErrNotExist):
		return nil, corrupt("its key file is missing", nil)
	}
	return nil, ioError("reading the key", err)
}

func writeKey(fsy fsys, dir string, key []byte) error {
	content := binary.BigEndian.AppendUint32(bytes.Clone(key), crc32.Checksum(key, castagnoli))
	return writeSecret(fsy, filepath.Join(dir, nameKey), content)
}

// ReadKey reads the secret key of the store in dir and touches nothing. An error says that
// there is none that is whole, or that it cannot be read.
func ReadKey(dir string) ([]byte, error) {
	b, err := osfile.ReadSmall(filepath.Join(dir, nameKey), 4096)
	if err == nil && !wholeKey(b) {
		err = corrupt("its key file fails its checksum", nil)
	}
	if err != nil {
		return nil, err
	}
	return b[:secretSize:secretSize], nil
}

func wholeKey(b []byte) bool {
	return len(b) == secretSize+4 && binary.BigEndian.Uint32(b[secretSize:]) == crc32.Checksum(b[:secretSize], castagnoli)
}

// readToken reads the operator's token. It is empty where there is none, or none that this
// program could have made: then the start makes another one.
func readToken(fsy fsys, dir string) (string, error) {
	b, err := readFile(fsy, filepath.Join(dir, nameToken), 4096)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, osfile.ErrTooLong):
		return "", nil
	case err != nil:
		return "", ioError("reading the operator's token", err)
	}
	b = bytes.TrimSpace(b)
	if raw, err := base64.RawURLEncoding.DecodeString(string(b)); err != nil || len(raw) != secretSize {
		return "", nil
	}
	return string(b), nil
}

func randomToken() string { return base64.RawURLEncoding.EncodeToString(randomBytes(secretSize)) }

func writeToken(fsy fsys, dir, token string) error {
	return writeSecret(fsy, filepath.Join(dir, nameToken), []byte(token+"\n"))
}

func writeSecret(fsy fsys, name string, content []byte) error {
	err := replaceFile(fsy, name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}, func(r io.Reader) error { return sameBytes(r, content) })
	if err != nil {
		return ioError("writing "+filepath.Base(name), err)
	}
	return nil
}
