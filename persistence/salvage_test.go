package persistence

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/internal/require"
)

// TestSalvageIsAllOrNothing: a place that is taken, a store in use, a full disk and a
// store of a later format are refused, and nothing is left.
func TestSalvageIsAllOrNothing(t *testing.T) {
	base := t.TempDir()
	dir, to := filepath.Join(base, "s"), filepath.Join(base, "new")
	s := openStore(t, dir)
	post(t, s, 30)
	if _, err := Salvage(dir, to, SalvageOptions{}); !errors.Is(err, storedir.ErrLocked) {
		t.Errorf("a store in use: %v", err)
	}
	require.NoError(t, s.Close())
	taken := filepath.Join(base, "taken")
	require.NoError(t, errors.Join(os.Mkdir(taken, 0o700), os.WriteFile(filepath.Join(taken, "letter"), nil, 0o600)))
	for _, place := range []string{taken, filepath.Join(taken, "letter"), dir, filepath.Join(dir, "in"), base} {
		if _, err := Salvage(dir, place, SalvageOptions{}); !errors.Is(err, storedir.ErrNotAStore) {
			t.Errorf("into %s: %v", place, err)
		}
	}
	if _, err := Salvage(taken, to, SalvageOptions{}); !errors.Is(err, storedir.ErrNotAStore) {
		t.Errorf("of what is no store: %v", err)
	}
	if _, err := Salvage(filepath.Join(base, "none"), to, SalvageOptions{}); !errors.Is(err, storedir.ErrNoStore) {
		t.Errorf("of nothing: %v", err)
	}
	marker, err := os.ReadFile(filepath.Join(dir, storedir.NameFormat))
	require.NoError(t, err)
	newer := bytes.Replace(marker, []byte("format "+strconv.Itoa(core.BaseFormat)), []byte("format 99"), 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, storedir.NameFormat), newer, 0o600))
	if _, err := Salvage(dir, to, SalvageOptions{}); !errors.Is(err, storedir.ErrNewerFormat) {
		t.Errorf("of a later format: %v", err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, storedir.NameFormat), marker, 0o600))
	for _, full := range []string{"", "collect", "load", "verify"} {
		at := ""
		_, err := Salvage(dir, to, SalvageOptions{
			step: func(step string) { at = step },
			free: func(string) (int64, error) {
				if at == full {
					return 1 << 20, nil
				}
				return 1 << 40, nil
			},
		})
		if !isStart(err, storedir.StartFull) {
			t.Errorf("a disk that is full at step %q: %v", full, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(base, "new*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if made, err := Salvage(dir, to, SalvageOptions{}); err != nil || made.Messages != 30 || made.LostMessages+made.LostRecords+made.LostRows+made.Damages != 0 {
		t.Errorf("of a store that is whole: %+v, %v", made, err)
	}
}

// rawEntry encodes an entry of a write-ahead file or value log.
func rawEntry(meta byte, key string, ts uint64, value []byte) []byte {
	full := binary.BigEndian.AppendUint64([]byte(key), math.MaxUint64-ts)
	b := binary.AppendUvarint(binary.AppendUvarint([]byte{meta, 0}, uint64(len(full))), uint64(len(value)))
	b = append(append(append(b, 0), full...), value...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, codec.Castagnoli))
}

// TestForgedEntriesStayWithinValues: an agent has written bytes that look like entries.
// Damage right before them must not make entries of them.
func TestForgedEntriesStayWithinValues(t *testing.T) {
	var forged []byte
	for len(forged) < codec.ValueThreshold-300 {
		forged = append(forged, rawEntry(badgerfile.MetaTxn, "e/forged", 7, []byte("evil"))...)
		forged = append(forged, rawEntry(badgerfile.MetaTxn|badgerfile.MetaFin, badgerfile.TxnKey, 7, []byte("7"))...)
	}
	b := make([]byte, badgerfile.LogHeaderSize)
	b = append(b, rawEntry(badgerfile.MetaTxn, "e/before", 5, []byte("x"))...)
	holder := len(b)
	b = append(b, rawEntry(badgerfile.MetaTxn, "e/holder", 5, forged)...)
	for i := range 40 {
		b = append(b, rawEntry(badgerfile.MetaTxn, "e/after"+strconv.Itoa(i), 8, []byte(strings.Repeat("y", 40)))...)
	}
	b = append(b, make([]byte, 5000)...)
	for _, hurt := range []int{0, 2, 3, 4, 12, 60} { // of its header, its key and its value
		damaged := bytes.Clone(b)
		damaged[holder+hurt] ^= 0x41
		entries, holes := badgerfile.LogEntries(damaged)
		found := map[string]bool{}
		for _, e := range entries {
			found[string(e.Key)] = true
		}
		if found["e/forged"] || !found["e/before"] || !found["e/after0"] || !found["e/after39"] || len(holes) != 1 {
			t.Errorf("byte %d damaged: %d entries, holes %v, forged %v", hurt, len(entries), holes, found["e/forged"])
		}
	}
}

// TestCutTransactionsAreNotSalvaged: a crash has left a transaction in a value log that was
// never committed, and its numbers were given out again.
func TestCutTransactionsAreNotSalvaged(t *testing.T) {
	dir := t.TempDir()
	first := append(make([]byte, badgerfile.LogHeaderSize), rawEntry(badgerfile.MetaTxn, string(codec.MessageKey(1)), 4, []byte("one"))...)
	first = append(first, rawEntry(badgerfile.MetaTxn, string(codec.MessageKey(2)), 5, []byte("never committed"))...)
	second := append(make([]byte, badgerfile.LogHeaderSize), rawEntry(badgerfile.MetaTxn, string(codec.MessageKey(9)), 8, []byte("nine"))...)
	second = append(second, rawEntry(badgerfile.MetaTxn, string(codec.MessageKey(10)), 9, []byte("cut, too"))...)
	require.NoError(t, errors.Join(
		os.WriteFile(filepath.Join(dir, "000001.vlog"), first, 0o600), os.WriteFile(filepath.Join(dir, "000002.vlog"), second, 0o600)))
	raw := badgerfile.NewRawReader(dir)
	var found []string
	raw.Take = func(p badgerfile.RawPair) error { found = append(found, string(p.Value)); return nil }
	require.NoError(t, raw.Sweep(badgerfile.WrittenOnce))
	if got := strings.Join(found, ","); got != "one,nine" {
		t.Errorf("salvaged %s", got)
	}
}
