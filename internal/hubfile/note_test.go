package hubfile_test

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"hubcli/internal/hubfile"
	"hubcli/internal/require"
)

func noteOf(t *testing.T, address string) hubfile.Note {
	t.Helper()
	store := t.TempDir()
	return hubfile.Note{
		Address: netip.MustParseAddrPort(address), Store: store, InstanceID: "abc",
		Socket: filepath.Join(store, "op.sock"), ProofKey: hubfile.ProofKey([]byte("secret")),
	}
}

// TestNotesAreFoundByAddress: what listens on all addresses is found by each.
func TestNotesAreFoundByAddress(t *testing.T) {
	for _, tt := range []struct {
		listens string
		found   []string
		not     []string
	}{
		{"127.0.0.1:6969", []string{"127.0.0.1:6969", "[::ffff:127.0.0.1]:6969"}, []string{"127.0.0.1:6970", "[::1]:6969", "127.0.0.2:6969"}},
		{"[::1]:6969", []string{"[::1]:6969"}, []string{"127.0.0.1:6969"}},
		{"0.0.0.0:7001", []string{"127.0.0.1:7001", "192.0.2.7:7001"}, []string{"[::1]:7001", "127.0.0.1:7002"}},
		{"[::]:7001", []string{"127.0.0.1:7001", "[::1]:7001", "[2001:db8::1]:7001"}, []string{"[::1]:7002"}},
	} {
		root, n := t.TempDir(), noteOf(t, tt.listens)
		require.NoError(t, hubfile.Write(root, n))
		for _, at := range tt.found {
			if got, err := hubfile.Find(root, netip.MustParseAddrPort(at)); err != nil || !reflect.DeepEqual(got, n) {
				t.Errorf("%s: Find(%s) = %+v, %v", tt.listens, at, got, err)
			}
		}
		for _, at := range tt.not {
			if _, err := hubfile.Find(root, netip.MustParseAddrPort(at)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: Find(%s) = %v", tt.listens, at, err)
			}
		}
	}
}

// TestNotesStayAndGo: a note is replaced by the next hub at its address, goes with its store
// and with a reset, and stays otherwise.
func TestNotesStayAndGo(t *testing.T) {
	root := t.TempDir()
	a, b, c := noteOf(t, "127.0.0.1:1"), noteOf(t, "127.0.0.1:2"), noteOf(t, "127.0.0.1:1")
	there := func(n hubfile.Note) bool {
		got, err := hubfile.Find(root, n.Address)
		return err == nil && reflect.DeepEqual(got, n)
	}
	require.NoError(t, hubfile.Write(root, a))
	require.NoError(t, hubfile.Write(root, b))
	if !there(a) || !there(b) {
		t.Fatal("two notes at two addresses are not both there")
	}
	require.NoError(t, hubfile.Write(root, c))
	if !there(c) || !there(b) {
		t.Error("the next hub at the address did not take the place of the first alone")
	}
	other := filepath.Join(root, "hubs", "README")
	require.NoError(t, os.WriteFile(other, []byte("mine"), 0o600))
	require.NoError(t, os.Remove(b.Store))
	require.NoError(t, hubfile.Write(root, c))
	if !there(b) || !there(c) {
		t.Error("the note of a store that has just gone went: any program would be taken for its hub")
	}
	long := time.Now().Add(-31 * 24 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(root, "hubs", "127.0.0.1_2"), long, long))
	require.NoError(t, os.Chtimes(filepath.Join(root, "hubs", "127.0.0.1_1"), long, long))
	require.NoError(t, hubfile.Write(root, c))
	if there(b) || !there(c) {
		t.Error("the note of a store that has long been gone stays, or another went")
	}
	require.NoError(t, hubfile.Forget(root, c.Store))
	if there(c) {
		t.Error("a forgotten note is there")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("a file that is no note was removed")
	}
	require.NoError(t, hubfile.Forget(filepath.Join(root, "gone"), c.Store))
}

// TestHubOnAllAddressesTakesThePlaceOfOthers at its port: no other hub can listen there, and a
// note that is left would have the hub taken for another program.
func TestHubOnAllAddressesTakesThePlaceOfOthers(t *testing.T) {
	for all, gone := range map[string][]string{"0.0.0.0:5": {"127.0.0.1:5", "192.0.2.1:5"}, "[::]:5": {"127.0.0.1:5", "[::1]:5", "0.0.0.0:5"}} {
		root := t.TempDir()
		for _, address := range append(gone, "127.0.0.1:6", "[::2]:6") {
			require.NoError(t, hubfile.Write(root, noteOf(t, address)))
		}
		n := noteOf(t, all)
		require.NoError(t, hubfile.Write(root, n))
		for _, address := range gone {
			if got, err := hubfile.Find(root, netip.MustParseAddrPort(address)); err != nil || got.Store != n.Store {
				t.Errorf("%s: at %s is %+v, %v", all, address, got, err)
			}
		}
		for _, address := range []string{"127.0.0.1:6", "[::2]:6"} {
			if got, err := hubfile.Find(root, netip.MustParseAddrPort(address)); err != nil || got.Address.String() != address {
				t.Errorf("%s: at %s is %+v, %v", all, address, got, err)
			}
		}
	}
}

// TestNotesAreForTheirUserAlone, whatever the umask: the key is in them.
func TestNotesAreForTheirUserAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix: on Windows rights are inherited from the folder of the user")
	}
	root, n := t.TempDir(), noteOf(t, "127.0.0.1:6969")
	require.NoError(t, os.Mkdir(filepath.Join(root, "hubs"), 0o777))
	require.NoError(t, hubfile.Write(root, n))
	file := filepath.Join(root, "hubs", "127.0.0.1_6969")
	for path, want := range map[string]fs.FileMode{filepath.Dir(file): 0o700, file: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	require.NoError(t, os.Chmod(file, 0o606))
	if _, err := hubfile.Find(root, n.Address); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a note that everybody may write: %v", err)
	}
}

// TestDamagedNotes are told of: they do not count as absent, which would have the port
// believed.
func TestDamagedNotes(t *testing.T) {
	root, n := t.TempDir(), noteOf(t, "127.0.0.1:6969")
	require.NoError(t, hubfile.Write(root, n))
	file := filepath.Join(root, "hubs", "127.0.0.1_6969")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for name, text := range map[string]string{
		"empty": "", "no JSON": "hello", "a list": "[]", "cut": string(whole[:len(whole)/2]),
		"a later version":  strings.Replace(string(whole), `"version": 1`, `"version": 2`, 1),
		"no key":           strings.Replace(string(whole), `"proof_key": "`, `"proof_key": "x`, 1),
		"no instance":      strings.Replace(string(whole), `"abc"`, `""`, 1),
		"a relative store": strings.Replace(string(whole), `"store": "`, `"store": "x`, 1),
		"a relative path":  strings.Replace(string(whole), `"socket": "`, `"socket": "x`, 1),
		"no address":       strings.Replace(string(whole), "127.0.0.1:6969", "localhost:6969", 1),
		"too long":         string(whole) + strings.Repeat(" ", 20<<10),
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		if _, err := hubfile.Find(root, n.Address); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	require.NoError(t, hubfile.Write(root, n))
	if _, err := hubfile.Find(root, n.Address); err != nil {
		t.Errorf("a start does not mend a damaged note: %v", err)
	}
}

// TestProof holds the formula to the numbers that programs in other languages compute.
func TestProof(t *testing.T) {
	key := hubfile.ProofKey([]byte("0123456789abcdef0123456789abcdef"))
	n := hubfile.Note{InstanceID: "abc", ProofKey: key}
	at := netip.MustParseAddrPort("[::ffff:127.0.0.1]:6969")
	const nonce = "0123456789abcdef"
	const want = "1fdfdcdb488a71d1fe76e69bb22b90a1b9ccfcb2943534e7ff1b50ef29aeae03"
	got := hubfile.Proof(key, nonce, at, "abc")
	if got != want || !n.Proves(got, nonce, netip.MustParseAddrPort("127.0.0.1:6969")) {
		t.Errorf("Proof = %s, want %s", got, want)
	}
	for name, proves := range map[string]bool{
		"another nonce":    n.Proves(got, nonce+"0", at),
		"another port":     n.Proves(got, nonce, netip.MustParseAddrPort("127.0.0.1:6970")),
		"another host":     n.Proves(got, nonce, netip.MustParseAddrPort("127.0.0.2:6969")),
		"another instance": (&hubfile.Note{InstanceID: "abd", ProofKey: key}).Proves(got, nonce, at),
		"another key":      (&hubfile.Note{InstanceID: "abc", ProofKey: key[1:]}).Proves(got, nonce, at),
		"none":             n.Proves("", nonce, at),
	} {
		if proves {
			t.Errorf("a proof holds with %s", name)
		}
	}
}
