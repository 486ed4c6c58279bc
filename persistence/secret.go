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

// loadKey reads the store's secret key. create makes one where there is none; a
// complete store without its key is damaged, because answers rendered with
// another key would differ.
func loadKey(fsy fsys, dir string, create bool) ([]byte, error) {
	name := filepath.Join(dir, nameKey)
	b, err := readFile(fsy, name, 4096)
	switch {
	case err == nil && len(b) == secretSize+4 && binary.BigEndian.Uint32(b[secretSize:]) == crc32.Checksum(b[:secretSize], castagnoli):
		return b[:secretSize:secretSize], osfile.Protect(name, 0o600)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, ioError("reading the key", err)
	case !create && err != nil:
		return nil, corrupt("its key file is missing", nil)
	case !create:
		return nil, corrupt("its key file fails its checksum", nil)
	}
	key := randomBytes(secretSize)
	content := binary.BigEndian.AppendUint32(bytes.Clone(key), crc32.Checksum(key, castagnoli))
	return key, writeSecret(fsy, name, content)
}

// loadToken reads the operator's token and makes one where there is none or
// where it is none that this program could have made.
func loadToken(fsy fsys, dir string) (string, error) {
	name := filepath.Join(dir, nameToken)
	b, err := readFile(fsy, name, 4096)
	if err == nil {
		b = bytes.TrimSpace(b)
		if raw, derr := base64.RawURLEncoding.DecodeString(string(b)); derr == nil && len(raw) == secretSize {
			return string(b), osfile.Protect(name, 0o600)
		}
	} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, osfile.ErrTooLong) {
		return "", ioError("reading the operator's token", err)
	}
	token := base64.RawURLEncoding.EncodeToString(randomBytes(secretSize))
	return token, writeSecret(fsy, name, []byte(token+"\n"))
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
