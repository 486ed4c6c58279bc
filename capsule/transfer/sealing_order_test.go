package transfer

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"hubcli/capsule/seal"
	"hubcli/hub"
	"hubcli/internal/require"
)

// A signature comes before the name of its file: where it cannot be written, there is no
// capsule either, at any moment.
func TestNoCapsuleWithoutItsSignature(t *testing.T) {
	dir := t.TempDir()
	text := []byte("what was planned")
	p := &plan{file: filepath.Join(dir, "plan"), sum: sha256.Sum256(text), signing: &signing{text: []byte("signature")}}
	p.row.Target = filepath.Join(dir, "a"+Extension)
	p.row.Signer = &hub.CapsuleSigner{File: p.row.Target + seal.SignatureSuffix}
	require.NoError(t, os.WriteFile(p.file, text, 0o600))
	require.NoError(t, os.WriteFile(p.row.Signer.File, []byte("somebody else's"), 0o600))
	var x Exports
	err := x.place(t.Context(), p, p.row.Target, partPrefix)
	var refused *hub.Error
	if !errors.As(err, &refused) || refused.Code != hub.CodeTargetExists {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(p.row.Target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the capsule is there without its signature: %v", err)
	}
	require.NoError(t, os.Remove(p.row.Signer.File))
	require.NoError(t, x.place(t.Context(), p, p.row.Target, partPrefix))
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("there is %v: %v", entries, err)
	}
}

// A signature whose capsule did not get its name is removed, also beside a file of others that
// has come meanwhile. A capsule that is in place keeps its signature, whatever failed then.
func TestSignatureGoesWithItsCapsule(t *testing.T) {
	dir := t.TempDir()
	text := []byte("what was planned")
	p := &plan{file: filepath.Join(dir, "plan"), sum: sha256.Sum256(text), signing: &signing{text: []byte("signature")}}
	p.row.Target = filepath.Join(dir, "a"+Extension)
	p.row.Signer = &hub.CapsuleSigner{File: p.row.Target + seal.SignatureSuffix}
	require.NoError(t, os.WriteFile(p.file, text, 0o600))
	require.NoError(t, os.WriteFile(p.row.Target, []byte("somebody else's"), 0o600))
	var x Exports
	err := x.place(t.Context(), p, p.row.Target, partPrefix)
	if err == nil || !p.signing.placed {
		t.Fatalf("error %v, signature placed %v", err, p.signing.placed)
	}
	require.NoError(t, p.withdrawSignature(err))
	if _, err := os.Stat(p.row.Signer.File); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it stays beside a file of others: %v", err)
	}
	require.NoError(t, os.Remove(p.row.Target))
	require.NoError(t, x.place(t.Context(), p, p.row.Target, partPrefix))
	require.NoError(t, p.withdrawSignature(errors.New("the folder is not synced")))
	if _, err := os.Stat(p.row.Signer.File); err != nil {
		t.Errorf("the capsule has lost its signature: %v", err)
	}
}
