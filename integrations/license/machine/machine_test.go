package machine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/require"
)

const realID = "4c4c4544004d4a10805ac3c04f303433"

func fixed(id string) func() (string, error) { return func() (string, error) { return id, nil } }

// TestFingerprintHidesTheMachine: the name is the same at each call and another one for another
// product, and the id is not in it.
func TestFingerprintHidesTheMachine(t *testing.T) {
	none := filepath.Join(t.TempDir(), "machine")
	a, err := fingerprint("product-a", none, fixed(realID+"\n"))
	require.NoError(t, err)
	again, err := fingerprint("product-a", none, fixed(strings.ToUpper(realID)))
	require.NoError(t, err)
	b, err := fingerprint("product-b", none, fixed(realID))
	require.NoError(t, err)
	if a != again || a == b || len(a) != 64 || strings.Contains(a, realID[:8]) {
		t.Errorf("fingerprints %s, %s and %s", a, again, b)
	}
	// HMAC-SHA256 with the product as key, computed with another program: a fingerprint that changed
	// would cost everybody a place of their license.
	if want := "1d6f7b17eb74b1ed0eec2941b5f8ad9d8e1db1ee9f860b3e90433ec59ff9e5a4"; a != want {
		t.Errorf("fingerprint %s, want %s", a, want)
	}
}

// TestSharedIDsAreNoIDs: an id that many machines have is as good as none; the random one counts
// then, and stays.
func TestSharedIDsAreNoIDs(t *testing.T) {
	for _, id := range []string{"", "uninitialized\n", "00000000000000000000000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "short"} {
		file := filepath.Join(t.TempDir(), "machine")
		if _, err := fingerprint("p", file, fixed(id)); !errors.Is(err, ErrNoID) {
			t.Errorf("%q: %v, want ErrNoID", id, err)
		}
		require.NoError(t, NewFallback(file))
		first, err := fingerprint("p", file, fixed(id))
		require.NoError(t, err)
		require.NoError(t, NewFallback(file))
		if second, err := fingerprint("p", file, fixed(realID)); err != nil || second != first {
			t.Errorf("the random id does not stay: %s, then %s, %v", first, second, err)
		}
		info, err := os.Stat(file)
		require.NoError(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
	}
}

func TestDamagedFallbackIsTold(t *testing.T) {
	for _, text := range []string{"", "abc\n", strings.Repeat("z", 64), strings.Repeat("a", 1000)} {
		file := filepath.Join(t.TempDir(), "machine")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		if _, err := fingerprint("p", file, fixed(realID)); err == nil || errors.Is(err, ErrNoID) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
