package keygen

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"hubcli/internal/licenseserver"
	"hubcli/internal/require"
)

func serverAndKey(t testing.TB) (*licenseserver.Server, ed25519.PublicKey) {
	t.Helper()
	s := licenseserver.Start()
	t.Cleanup(s.Close)
	public, err := ParsePublicKey(s.PublicKey())
	require.NoError(t, err)
	return s, public
}

func kindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// TestSignedKeys: a signed key is read if its signature is right, and every other text is
// refused without a panic.
func TestSignedKeys(t *testing.T) {
	s, public := serverAndKey(t)
	good := s.SignedKey(`{"product":{"id":"p-1"},"license":{"id":"l-1"}}`)
	data, err := ReadKey(public, good)
	require.NoError(t, err)
	if data.Product != "p-1" || data.License != "l-1" || !IsSigned(good) {
		t.Errorf("%+v", data)
	}
	if data, err := ReadKey(public, s.SignedKey("any text")); err != nil || string(data.Raw) != "any text" || data.Product != "" {
		t.Errorf("%+v, %v", data, err)
	}
	other, _ := serverAndKey(t)
	signed, sig, _ := strings.Cut(good, ".")
	for text, want := range map[string]Kind{
		other.SignedKey("x"):                       NotGenuine,
		signed + "." + sig[1:]:                     NotGenuine,
		strings.Replace(good, "key/e", "key/f", 1): NotGenuine,
		signed + ".":                               BadKey,
		signed:                                     BadKey, // no dot
		"key/":                                     BadKey,
		"key/.":                                    BadKey,
		"key/!.x":                                  BadKey,
		"":                                         BadKey,
		"key/a b.c":                                BadKey,
		"key/" + strings.Repeat("a", MaxKey):       BadKey,
	} {
		if _, err := ReadKey(public, text); kindOf(err) != want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func inside(s *licenseserver.Server, kind string) map[string]any {
	license := map[string]any{
		"type": "licenses", "id": "l-1", "attributes": map[string]any{"key": key, "expiry": "2030-01-02T03:04:05Z"},
		"relationships": map[string]any{"product": map[string]any{"data": map[string]any{"type": "products", "id": "p-1"}}},
	}
	meta := map[string]any{"issued": "2026-01-02T03:04:05Z", "expiry": nil, "ttl": nil}
	if kind == "license" {
		return map[string]any{"data": license, "meta": meta}
	}
	return map[string]any{"included": []any{license}, "meta": meta, "data": map[string]any{
		"type": "machines", "id": "m-1", "attributes": map[string]any{"fingerprint": fingerprint},
		"relationships": map[string]any{"license": map[string]any{"data": map[string]any{"type": "licenses", "id": "l-1"}}},
	}}
}

// TestSignedFiles: both kinds of files in both encodings come back as they were signed.
func TestSignedFiles(t *testing.T) {
	s, public := serverAndKey(t)
	for _, kind := range []FileKind{LicenseFile, MachineFile} {
		secret := Secret(kind, key, fingerprint)
		for _, with := range []string{"", secret} {
			text := s.File(string(kind), inside(s, string(kind)), with)
			for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n"), "\n" + text} {
				f, err := ReadFile(public, kind, text)
				require.NoError(t, err)
				says, err := f.Open(with)
				require.NoError(t, err)
				ends := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
				if says.License != "l-1" || says.Product != "p-1" || says.Key != key || says.LicenseEnds == nil || !says.LicenseEnds.Equal(ends) || says.Until != nil {
					t.Errorf("%s: %+v", kind, says)
				}
				if kind == MachineFile && (says.Machine != "m-1" || says.Fingerprint != fingerprint) {
					t.Errorf("%+v", says)
				}
			}
			wrong := map[FileKind]FileKind{LicenseFile: MachineFile, MachineFile: LicenseFile}[kind]
			if _, err := ReadFile(public, wrong, text); err == nil {
				t.Errorf("a %s file passes for a %s file", kind, wrong)
			}
		}
		f, err := ReadFile(public, kind, s.File(string(kind), inside(s, string(kind)), secret))
		require.NoError(t, err)
		for _, with := range []string{"", "other", secret + "x"} {
			if _, err := f.Open(with); kindOf(err) != NotGenuine {
				t.Errorf("%s opens with %q: %v", kind, with, err)
			}
		}
	}
}

// TestDamagedFilesAreRefused: each single changed byte of a file, and files whose parts do not
// fit.
func TestDamagedFilesAreRefused(t *testing.T) {
	s, public := serverAndKey(t)
	text := s.File("machine", inside(s, "machine"), key+fingerprint)
	f, err := ReadFile(public, MachineFile, text)
	require.NoError(t, err)
	want, err := f.Open(key + fingerprint)
	require.NoError(t, err)
	for i := range text {
		b := []byte(text)
		b[i] ^= 1
		f, err := ReadFile(public, MachineFile, string(b))
		if err != nil {
			continue
		}
		got, err := f.Open(key + fingerprint) // a changed blank changes nothing
		if err == nil && (got.Machine != want.Machine || got.Key != want.Key || !got.Issued.Equal(want.Issued)) {
			t.Errorf("byte %d: the changed file says %+v", i, got)
		}
	}
	other, _ := serverAndKey(t)
	wrap := func(enc, sig, alg string) string {
		b, err := json.Marshal(map[string]string{"enc": enc, "sig": sig, "alg": alg})
		require.NoError(t, err)
		return "-----BEGIN MACHINE FILE-----\n" + base64.StdEncoding.EncodeToString(b) + "\n-----END MACHINE FILE-----\n"
	}
	for name, text := range map[string]string{
		"empty": "", "cut": text[:len(text)/2], "no end": strings.TrimSuffix(strings.TrimSpace(text), "-----"), "too long": strings.Repeat("x", MaxFile+1),
		"no json": "-----BEGIN MACHINE FILE-----\nAAAA\n-----END MACHINE FILE-----", "another signer": other.File("machine", inside(s, "machine"), ""),
		"rsa": wrap("AAAA", "AAAA", "base64+rsa-sha256"), "no algorithm": wrap("AAAA", "AAAA", ""), "no signature": wrap("AAAA", "", AlgorithmPlain),
		"short signature": wrap("AAAA", "AAAA", AlgorithmPlain),
	} {
		if f, err := ReadFile(public, MachineFile, text); err == nil {
			t.Errorf("%s: it is read: %+v", name, f)
		}
	}
	for name, in := range map[string]any{
		"a list": []int{1}, "another type": map[string]any{"data": map[string]any{"type": "licenses", "id": "x"}, "meta": map[string]any{"issued": time.Now()}},
		"no meta": map[string]any{"data": map[string]any{"type": "machines", "id": "x"}}, "wrong date": map[string]any{"data": map[string]any{"type": "machines", "id": "x"}, "meta": map[string]any{"issued": "yesterday"}},
	} {
		f, err := ReadFile(public, MachineFile, s.File("machine", in, ""))
		require.NoError(t, err)
		if _, err := f.Open(""); kindOf(err) != Broken {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, enc := range []string{"", ".", "a.b", "!.!.!", "AAAA.AAAA.AAAA", "AAAA.AAAAAAAAAAAAAAAA.AAAA", "a.b.c.d"} {
		if _, err := decrypt(enc, "x"); err == nil {
			t.Errorf("%q is decrypted", enc)
		}
	}
}

// TestAnswerOfAnotherImplementation: an answer, a key and a file that were signed with Python's
// cryptography package verify here, so that both sides of these tests do not share a mistake.
func TestAnswerOfAnotherImplementation(t *testing.T) {
	public, err := ParsePublicKey(golden.public)
	require.NoError(t, err)
	if _, err := ReadKey(public, golden.key); err != nil {
		t.Error(err)
	}
	f, err := ReadFile(public, MachineFile, golden.file)
	require.NoError(t, err)
	says, err := f.Open(Secret(MachineFile, golden.key, golden.fingerprint))
	require.NoError(t, err)
	if says.Machine != "m-9" || says.Product != "p-9" || says.License != "l-9" || says.Fingerprint != golden.fingerprint {
		t.Errorf("%+v", says)
	}
	sig, err := base64.StdEncoding.DecodeString(golden.answer)
	require.NoError(t, err)
	text := SigningText("POST", "/v1/accounts/acme/machines?x=1", "api.example.org", "Wed, 25 Nov 2026 10:00:00 GMT", DigestOf([]byte(`{"data":null}`)))
	if !ed25519.Verify(public, []byte(text), sig) {
		t.Error("the signature of the answer is not verified")
	}
	if _, err := ParsePublicKey(strings.ToUpper(golden.public) + "\n"); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "zz", hex.EncodeToString(public[1:]), golden.public + "00"} {
		if _, err := ParsePublicKey(text); err == nil {
			t.Errorf("%q is a public key", text)
		}
	}
}

func TestHeadersOfSignatures(t *testing.T) {
	for header, ok := range map[string]bool{
		`keyid="x", algorithm="ed25519", signature="a==", headers="(request-target) host date digest"`: true,
		`signature="a"`: true, ``: false, `signature`: false, `signature=a`: false, `signature="`: false, `a="1",a="2"`: false,
		strings.Repeat(`a="1",`, 99): false,
	} {
		if params, got := parseSignature(header); got != ok {
			t.Errorf("%q: %v, %v", header, params, got)
		}
	}
}

func FuzzReadKey(f *testing.F) {
	s, public := serverAndKey(f)
	good := s.SignedKey(`{"product":{"id":"p"}}`)
	for _, seed := range []string{good, good[:20], "key/.", "key/a.b", "plain-key", "key/\x00.", golden.key} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		data, err := ReadKey(public, text)
		if err == nil && !strings.HasPrefix(text, "key/") {
			t.Errorf("%q is signed: %+v", text, data)
		}
		if err != nil && kindOf(err) == "" {
			t.Errorf("%q: an error without a kind: %v", text, err)
		}
	})
}

func FuzzReadFile(f *testing.F) {
	s, public := serverAndKey(f)
	for _, kind := range []string{"license", "machine"} {
		f.Add(s.File(kind, inside(s, kind), ""))
		f.Add(s.File(kind, inside(s, kind), key+fingerprint))
	}
	f.Add("-----BEGIN MACHINE FILE-----\nAAAA\n-----END MACHINE FILE-----")
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []FileKind{LicenseFile, MachineFile} {
			file, err := ReadFile(public, kind, text)
			if err != nil {
				if kindOf(err) == "" {
					t.Errorf("%q: an error without a kind: %v", text, err)
				}
				continue
			}
			_, _ = file.Open(Secret(kind, key, fingerprint))
		}
	})
}

// FuzzContents reads what a signed file may say: the signature is not in the way there.
func FuzzContents(f *testing.F) {
	s, _ := serverAndKey(f)
	for _, kind := range []string{"license", "machine"} {
		b, err := json.Marshal(inside(s, kind))
		require.NoError(f, err)
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []FileKind{LicenseFile, MachineFile} {
			file := &File{Kind: kind, enc: base64.StdEncoding.EncodeToString([]byte(text))}
			says, err := file.Open("")
			if err == nil && says.Issued.IsZero() {
				t.Errorf("%q says %+v", text, says)
			}
			_, _ = decrypt(text, key)
		}
	})
}
