package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testprogram"
)

// wantRefusal is a hub.Error with a way out that has no part of a secret.
func wantRefusal(t *testing.T, err error, code hub.Code, secrets ...string) {
	t.Helper()
	var e *hub.Error
	if !errors.As(err, &e) || e.Code != code || e.FixFor(hub.ForCLI) == "" {
		t.Fatalf("error %v, want %s with a way out", err, code)
	}
	for _, secret := range secrets {
		if strings.Contains(e.Error()+e.Fix, secret) {
			t.Errorf("the error has a secret: %v", e)
		}
	}
}

func newSigner(t *testing.T) (*Signer, []byte, []byte) {
	t.Helper()
	secret, public, err := NewKey()
	require.NoError(t, err)
	s, err := ParseSigner(secret)
	require.NoError(t, err)
	return s, secret, public
}

const someComment = "timestamp:1\tfile:a.hubpack\thashed"

func TestSignatureFitsItsFileAlone(t *testing.T) {
	signer, _, public := newSigner(t)
	other, _, _ := newSigner(t)
	key, err := ParsePublicKey("keys", string(public))
	require.NoError(t, err)
	if again, err := ParsePublicKey("keys", key.String()); err != nil || again.ID() != key.ID() || again.ID() != signer.Key().ID() {
		t.Errorf("the key is %s, then %s: %v", key.ID(), again.ID(), err)
	}
	file := bytes.Repeat([]byte("a capsule"), 100_000)
	text, err := signer.Sign(bytes.NewReader(file), someComment)
	require.NoError(t, err)
	s, err := ParseSignature(text)
	require.NoError(t, err)
	if s.KeyID() != key.ID() || s.Comment() != someComment || !s.By(key) || s.By(other.Key()) {
		t.Errorf("the signature is by %s: %s", s.KeyID(), s.Comment())
	}
	fits := func(s *Signature, file []byte, key PublicKey) bool {
		ok, err := s.Fits(bytes.NewReader(file), key)
		require.NoError(t, err)
		return ok
	}
	if !fits(s, file, key) {
		t.Error("the signature does not fit its file")
	}
	changed := bytes.Clone(file)
	changed[len(changed)/2] ^= 1
	for name, wrong := range map[string][]byte{"changed": changed, "cut": file[:len(file)-1], "longer": append(bytes.Clone(file), 0), "empty": nil} {
		if fits(s, wrong, key) {
			t.Errorf("the signature fits the file that is %s", name)
		}
	}
	if fits(s, file, other.Key()) {
		t.Error("the signature fits another key")
	}
	// The comment is signed, too.
	s, err = ParseSignature(bytes.Replace(text, []byte("file:a.hubpack"), []byte("file:b.hubpack"), 1))
	require.NoError(t, err)
	if fits(s, file, key) {
		t.Error("the comment may be another one")
	}
}

// No byte of a signature may change, but for its first line, which nobody has signed.
func TestEveryByteOfASignatureCounts(t *testing.T) {
	signer, _, _ := newSigner(t)
	file := []byte("a capsule")
	text, err := signer.Sign(bytes.NewReader(file), someComment)
	require.NoError(t, err)
	begin := bytes.IndexByte(text, '\n') + 1 // the comment above is nobody's
	for i := begin; i < len(text)-1; i++ {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		s, err := ParseSignature(changed)
		if err != nil {
			wantRefusal(t, err, hub.CodeSignatureInvalid)
			continue
		}
		if ok, err := s.Fits(bytes.NewReader(file), signer.Key()); err != nil || ok && s.KeyID() == signer.Key().ID() && s.Comment() == someComment && !sameBase64(text, changed) {
			t.Errorf("byte %d may change: %q, %v", i, changed, err)
		}
	}
	for cut := range len(text) - 1 {
		s, err := ParseSignature(text[:cut])
		if err != nil {
			wantRefusal(t, err, hub.CodeSignatureInvalid)
		} else if ok, err := s.Fits(bytes.NewReader(file), signer.Key()); ok || err != nil {
			t.Errorf("the signature may be cut at %d: %v", cut, err)
		}
	}
}

// sameBase64 reports whether two signatures have the same bytes: the last digit of base64 has
// bits that say nothing.
func sameBase64(a, b []byte) bool {
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for _, i := range []int{1, 3} {
		v, err1 := base64.StdEncoding.DecodeString(x[i])
		w, err2 := base64.StdEncoding.DecodeString(y[i])
		if err1 != nil || err2 != nil || !bytes.Equal(v, w) {
			return false
		}
	}
	return true
}

func TestTextsThatAreNoKeys(t *testing.T) {
	_, secret, public := newSigner(t)
	line := strings.TrimSpace(string(bytes.SplitN(secret, []byte("\n"), 2)[1]))
	for name, text := range map[string]string{
		"empty": "", "a public key": string(public), "prose": "not a key", "cut": string(secret[:len(secret)/2]),
		"huge": string(secret) + strings.Repeat("A", MaxKeyBytes), "bytes": "\x00\xff\x00",
		"another kind": "-----BEGIN OPENSSH PRIVATE KEY-----\n" + line,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseSigner([]byte(text))
			wantRefusal(t, err, hub.CodeInvalid, line)
		})
	}
	for name, text := range map[string]string{"empty": "", "a secret key": string(secret), "prose": "RW", "huge": strings.Repeat("RW", MaxKeyBytes)} {
		t.Run("public "+name, func(t *testing.T) {
			_, err := ParsePublicKey("keys", text)
			wantRefusal(t, err, hub.CodeInvalid, line)
		})
	}
	for name, text := range map[string]string{"empty": "", "prose": "signed by ann\n", "huge": strings.Repeat("x", MaxSignatureBytes+1), "no text": "\xff\n\xff\n\xff\n\xff"} {
		t.Run("signature "+name, func(t *testing.T) {
			_, err := ParseSignature([]byte(text))
			wantRefusal(t, err, hub.CodeSignatureInvalid)
		})
	}
}

// other runs a program of other people, and skips the test where it is not installed.
func other(t *testing.T, stdin string, name string, args ...string) (string, error) {
	t.Helper()
	exe := testprogram.Need(t, name)[0]
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// put writes a file for a program.
func put(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// The program minisign takes our keys and signatures, and we take its.
func TestMinisignAgrees(t *testing.T) {
	signer, secret, public := newSigner(t)
	dir := t.TempDir()
	data := bytes.Repeat([]byte("a capsule "), 10_000)
	file, key, pub := put(t, dir, "a.hubpack", data), put(t, dir, "hub.key", secret), put(t, dir, "hub.pub", public)
	text, err := signer.Sign(bytes.NewReader(data), someComment)
	require.NoError(t, err)
	put(t, dir, "a.hubpack"+SignatureSuffix, text)
	if out, err := other(t, "", "minisign", "-Vm", file, "-p", pub); err != nil || !strings.Contains(out, "file:a.hubpack") {
		t.Errorf("minisign refuses our signature: %s, %v", out, err)
	}
	put(t, dir, "a.hubpack", append(data, '.'))
	if out, err := other(t, "", "minisign", "-Vm", file, "-p", pub); err == nil {
		t.Errorf("minisign takes another file: %s", out)
	}
	if out, err := other(t, "", "minisign", "-S", "-s", key, "-m", file, "-x", filepath.Join(dir, "theirs")); err != nil {
		t.Fatalf("minisign does not sign with our key: %s, %v", out, err)
	}
	theirs, err := os.ReadFile(filepath.Join(dir, "theirs"))
	require.NoError(t, err)
	s, err := ParseSignature(theirs)
	require.NoError(t, err)
	if ok, err := s.Fits(bytes.NewReader(append(data, '.')), signer.Key()); err != nil || !ok {
		t.Errorf("their signature by our key does not fit: %v", err)
	}
}

// A key of minisign signs.
func TestKeysOfMinisign(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	if out, err := other(t, "", "minisign", "-G", "-W", "-s", open, "-p", open+".pub"); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	text, err := os.ReadFile(open)
	require.NoError(t, err)
	signer, err := ParseSigner(text)
	require.NoError(t, err)
	public, err := os.ReadFile(open + ".pub")
	require.NoError(t, err)
	if key, err := ParsePublicKey("keys", string(public)); err != nil || key.String() != signer.Key().String() {
		t.Errorf("the public key is %s, want %s: %v", signer.Key(), key, err)
	}
}

// A key with a password is refused with a way out. That it has one stands in its first bytes.
func TestKeysWithAPassword(t *testing.T) {
	_, secret, _ := newSigner(t)
	head, line, _ := strings.Cut(strings.TrimSpace(string(secret)), "\n")
	raw, err := base64.StdEncoding.DecodeString(line)
	require.NoError(t, err)
	copy(raw[2:], "Sc") // scrypt
	line = base64.StdEncoding.EncodeToString(raw)
	_, err = ParseSigner([]byte(head + "\n" + line + "\n"))
	wantRefusal(t, err, hub.CodeInvalid, line)
	if !strings.Contains(err.Error(), "password") {
		t.Errorf("the refusal is %v", err)
	}
}

// Whatever stands beside a capsule is refused or checked, and ends no hub.
func FuzzSignature(f *testing.F) {
	secret, _, err := NewKey()
	require.NoError(f, err)
	signer, err := ParseSigner(secret)
	require.NoError(f, err)
	text, err := signer.Sign(strings.NewReader("file"), someComment)
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte("untrusted comment: \n\ntrusted comment: \n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSignature(text)
		if err != nil {
			return
		}
		if ok, err := s.Fits(strings.NewReader("another file"), signer.Key()); ok || err != nil {
			t.Errorf("it fits another file: %v", err)
		}
	})
}
