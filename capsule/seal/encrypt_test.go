package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"hubcli/hub"
	"hubcli/internal/require"
)

// somebody is a new identity with its recipient.
func somebody(t require.TB) (Identities, string, string) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	ids, err := ParseIdentities([]byte("# created: today\n\n" + id.String() + "\n"))
	require.NoError(t, err)
	to, err := ParseRecipient(" " + id.Recipient().String() + "\n")
	require.NoError(t, err)
	return ids, to, id.String()
}

func encrypted(t require.TB, plain []byte, to ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := Encrypt(&out, to)
	require.NoError(t, err)
	_, err = w.Write(plain)
	require.NoError(t, errors.Join(err, w.Close()))
	return out.Bytes()
}

func decrypted(file []byte, ids Identities) ([]byte, error) {
	r, size, err := Decrypt(bytes.NewReader(file), int64(len(file)), ids)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(r, 0, size), plain)
	return plain, err
}

func TestOnlyRecipientsOpenAFile(t *testing.T) {
	ann, toAnn, _ := somebody(t)
	bob, toBob, _ := somebody(t)
	eve, _, _ := somebody(t)
	for _, size := range []int{0, 1, 1 << 16, 1<<16 + 1, 300_000} {
		plain := bytes.Repeat([]byte{'x'}, size)
		file := encrypted(t, plain, toAnn, toBob)
		if is, err := IsEncrypted(bytes.NewReader(file)); err != nil || !is {
			t.Errorf("%d bytes: it is not seen that the file is encrypted: %v", size, err)
		}
		for _, ids := range []Identities{ann, bob, {all: slices.Concat(eve.all, bob.all)}} {
			if got, err := decrypted(file, ids); err != nil || !bytes.Equal(got, plain) {
				t.Errorf("%d bytes: the plain text is %d bytes: %v", size, len(got), err)
			}
		}
		_, err := decrypted(file, eve)
		wantRefusal(t, err, hub.CodeCapsuleEncrypted)
		_, err = decrypted(file, Identities{})
		wantRefusal(t, err, hub.CodeCapsuleEncrypted)
	}
	if is, err := IsEncrypted(strings.NewReader("PK\x03\x04")); err != nil || is {
		t.Errorf("an archive is taken for an encrypted file: %v", err)
	}
}

// Reads of any place give the bytes of that place.
func TestDecryptedBytesAreThoseOfTheirPlace(t *testing.T) {
	ids, to, _ := somebody(t)
	plain := make([]byte, 200_000)
	for i := range plain {
		plain[i] = byte(i * 7 / 3)
	}
	file := encrypted(t, plain, to)
	r, size, err := Decrypt(bytes.NewReader(file), int64(len(file)), ids)
	require.NoError(t, err)
	dice := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		at := dice.Int64N(size)
		b := make([]byte, dice.IntN(100_000))
		n, err := r.ReadAt(b, at)
		if err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(b[:n], plain[at:at+int64(n)]) || n < min(len(b), int(size-at)) {
			t.Fatalf("%d bytes at %d: %d, %v", len(b), at, n, err)
		}
	}
}

// A file that was cut or changed gives an error, never another text.
func TestCutAndChangedFilesAreRefused(t *testing.T) {
	ids, to, _ := somebody(t)
	plain := bytes.Repeat([]byte("capsule "), 20_000) // three parts
	file := encrypted(t, plain, to)
	cuts := []int{0, 1, 10, 22, len(file) - 1, len(file) - 16, len(file) - 17, 1 << 16, 2 << 16}
	for n := 23; n < 400; n += 7 {
		cuts = append(cuts, n)
	}
	for _, n := range cuts {
		if _, err := decrypted(file[:n], ids); err == nil {
			t.Errorf("the file may be cut at %d", n)
		} else if n > len(magic) {
			wantRefusal(t, err, hub.CodeCapsuleInvalid)
		}
	}
	for n := 0; n < len(file); n += 1 + n/50 {
		changed := bytes.Clone(file)
		changed[n] ^= 1
		if got, err := decrypted(changed, ids); err == nil {
			t.Errorf("byte %d may change: the same text is %v", n, bytes.Equal(got, plain))
		}
	}
	if _, err := decrypted(append(bytes.Clone(file), 0), ids); err == nil {
		t.Error("the file may be longer")
	}
}

func TestHeadersThatCostMuchAreRefused(t *testing.T) {
	ids, to, _ := somebody(t)
	many := make([]string, 700) // more than any export takes
	for i := range many {
		_, many[i], _ = somebody(t)
	}
	for name, file := range map[string]string{
		"many recipients": string(encrypted(t, []byte("x"), append(many, to)...)),
		"one long line":   magic + "-> " + strings.Repeat("x", 1<<20),
		"no recipient":    magic + "--- " + strings.Repeat("A", 43) + "\n" + strings.Repeat("x", 100),
		"only the magic":  magic,
		"armor":           armor + "\n" + strings.Repeat("A", 64) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decrypted([]byte(file), ids)
			wantRefusal(t, err, hub.CodeCapsuleInvalid)
		})
	}
	t.Run("a passphrase", func(t *testing.T) {
		r, err := age.NewScryptRecipient("word")
		require.NoError(t, err)
		r.SetWorkFactor(10)
		var out bytes.Buffer
		w, err := age.Encrypt(&out, r)
		require.NoError(t, errors.Join(err, w.Close()))
		_, err = decrypted(out.Bytes(), ids)
		wantRefusal(t, err, hub.CodeCapsuleEncrypted)
		if !strings.Contains(err.Error(), "passphrase") {
			t.Errorf("the refusal is %v", err)
		}
	})
	t.Run("as many as an export takes", func(t *testing.T) {
		all := make([]string, hub.MaxCapsuleRecipients)
		for i := range all {
			_, all[i], _ = somebody(t)
		}
		if got, err := decrypted(encrypted(t, []byte("x"), append(all, to)...), ids); err != nil || string(got) != "x" {
			t.Errorf("it is %q: %v", got, err)
		}
	})
}

func TestTextsThatAreNoRecipientsOrIdentities(t *testing.T) {
	_, to, secret := somebody(t)
	for name, text := range map[string]string{
		"an identity": secret, "an identity in lower case": strings.ToLower(secret), "empty": "", "prose": "ann",
		"cut": to[:len(to)-1], "changed": to[:20] + "q" + to[21:] + "q", "ssh": "ssh-ed25519 AAAAC3Nz ann", "another kind": "age1pq1" + to[4:],
		"a plugin": "age1yubikey1" + to[4:],
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseRecipient(text)
			wantRefusal(t, err, hub.CodeInvalid, secret, strings.ToLower(secret))
		})
	}
	half := secret[:len(secret)-4]
	for name, text := range map[string]string{
		"empty": "", "comments": "# one\n\n# two\n", "a recipient": to, "cut": half, "prose": "open it", "one good, one cut": secret + "\n" + half,
		"too many": strings.Repeat(secret+"\n", maxIdentities+1), "huge": strings.Repeat("#\n", MaxIdentityBytes), "encrypted": magic + "-> scrypt",
		"encrypted as text": armor + "\n", "bytes": "\xff\xfe\x00",
	} {
		t.Run("identity "+name, func(t *testing.T) {
			_, err := ParseIdentities([]byte(text))
			wantRefusal(t, err, hub.CodeInvalid, secret, half)
		})
	}
}

// The program age opens our files, and we open its.
func TestAgeAgrees(t *testing.T) {
	ids, to, secret := somebody(t)
	dir := t.TempDir()
	identity := put(t, dir, "id.txt", []byte(secret+"\n"))
	plain := bytes.Repeat([]byte("capsule "), 30_000)
	ours, theirs := put(t, dir, "ours.age", encrypted(t, plain, to)), filepath.Join(dir, "theirs.age")
	if out, err := other(t, "", "age", "-d", "-i", identity, "-o", filepath.Join(dir, "plain"), ours); err != nil {
		t.Fatalf("age does not open our file: %s, %v", out, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "plain")); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("age finds %d bytes: %v", len(got), err)
	}
	if out, err := other(t, "", "age", "-r", to, "-o", theirs, filepath.Join(dir, "plain")); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	file, err := os.ReadFile(theirs)
	require.NoError(t, err)
	if got, err := decrypted(file, ids); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("we find %d bytes in their file: %v", len(got), err)
	}
}

// Whatever says it is encrypted is refused or opened, and ends no hub.
func FuzzDecrypt(f *testing.F) {
	ids, to, _ := somebody(f)
	f.Add(encrypted(f, []byte("capsule"), to))
	f.Add([]byte(magic + "-> X25519 AAAA\nAAAA\n--- AAAA\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		_, _ = decrypted(file, ids)
	})
}

// What signing and encryption cost for a capsule of 100 MB.
func BenchmarkSeal(b *testing.B) {
	const size = 100 << 20
	plain := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	ids, to, _ := somebody(b)
	file := encrypted(b, plain, to)
	secret, _, err := NewKey()
	require.NoError(b, err)
	signer, err := ParseSigner(secret)
	require.NoError(b, err)
	text, err := signer.Sign(bytes.NewReader(file), someComment)
	require.NoError(b, err)
	signature, err := ParseSignature(text)
	require.NoError(b, err)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"sign", func() error { _, err := signer.Sign(bytes.NewReader(plain), someComment); return err }},
		{"check", func() error {
			ok, err := signature.Fits(bytes.NewReader(file), signer.Key())
			if err == nil && !ok {
				err = errors.New("it does not fit")
			}
			return err
		}},
		{"encrypt", func() error {
			w, err := Encrypt(io.Discard, []string{to})
			if err == nil {
				_, err = w.Write(plain)
			}
			return errors.Join(err, w.Close())
		}},
		{"decrypt", func() error {
			r, n, err := Decrypt(bytes.NewReader(file), int64(len(file)), ids)
			if err != nil {
				return err
			}
			if n != size {
				return fmt.Errorf("it has %d bytes", n)
			}
			// As package capsule reads: 32 KiB at a time.
			_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{io.NewSectionReader(r, 0, n)}, make([]byte, 32<<10))
			return err
		}},
	} {
		b.Run(step.name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, step.do())
			}
		})
	}
}
