package persistence

import (
	"bytes"
	"errors"
	"testing"

	"hubcli/persistence/storedir"
)

// FuzzBackup: a stream is refused with a reason, or it is a backup. Then no other stream is one
// that differs from it in a byte, or is shorter or longer.
func FuzzBackup(f *testing.F) {
	s := openStore(f, f.TempDir())
	whole := backupOf(f, s)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(append(bytes.Clone(whole), 0))
	f.Add([]byte{})
	for i := 0; i < len(whole); i += max(1, len(whole)/20) {
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		f.Add(changed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { // each worker has made another store
		_, err := CheckBackup(bytes.NewReader(data))
		var refused *storedir.StartError
		if err != nil && !errors.As(err, &refused) {
			t.Errorf("an error without a way out: %v", err)
		}
		if err != nil {
			return
		}
		for i := range data {
			changed := bytes.Clone(data)
			changed[i] ^= 0x20
			for name, other := range map[string][]byte{"changed": changed, "cut": data[:i], "longer": append(bytes.Clone(data), changed[i])} {
				if _, err := CheckBackup(bytes.NewReader(other)); err == nil {
					t.Errorf("%d bytes that are %s at %d pass for a backup", len(other), name, i)
				}
			}
		}
	})
}
