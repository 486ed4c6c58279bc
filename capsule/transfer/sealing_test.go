package transfer_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"hubcli/capsule/seal"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// A sealRig is a rig with a signing key and an identity.
type sealRig struct {
	*rig
	imports  hub.CapsuleImports
	keyFile  string
	key      string // public
	identity string // a file
	to       string
}

func newSealRig(t *testing.T) *sealRig {
	t.Helper()
	r := &sealRig{rig: newRig(t)}
	r.imports = r.Hub.Capsules().Imports
	keys := t.TempDir()
	secret, public, err := seal.NewKey()
	require.NoError(t, err)
	key, err := seal.ParsePublicKey("keys", string(public))
	require.NoError(t, err)
	id, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	r.keyFile, r.key = filepath.Join(keys, "key"), key.String()
	r.identity, r.to = filepath.Join(keys, "id"), id.Recipient().String()
	require.NoError(t, os.WriteFile(r.keyFile, secret, 0o600))
	require.NoError(t, os.WriteFile(r.identity, []byte(id.String()+"\n"), 0o600))
	return r
}

// signed asks for a signed capsule, encrypted if its name says so.
func (r *sealRig) signed(name string) hub.CapsuleExportInput {
	in := r.input(name)
	in.SignKey = r.keyFile
	if strings.HasSuffix(name, seal.EncryptedSuffix) {
		in.To = []string{r.to}
	}
	return in
}

// export writes a capsule and returns its path.
func (r *sealRig) export(t *testing.T, in hub.CapsuleExportInput) string {
	t.Helper()
	p := r.plan(t, in)
	_, err := r.confirm(&p)
	require.NoError(t, err)
	return in.Out
}

// look inspects a capsule and plans its import, which must agree.
func (r *sealRig) look(t *testing.T, in hub.CapsuleInspectInput) (hub.CapsuleSummary, error) {
	t.Helper()
	found, err := r.InspectCapsule(r.ctx, in)
	plan, planErr := r.imports.PlanImport(r.ctx, hub.CapsuleImportInput(in))
	if planErr == nil {
		_, cancelErr := r.imports.CancelImport(r.ctx, plan.PlanID)
		require.NoError(t, cancelErr)
		if plan.Signature != found.Signature || plan.Encrypted != found.Encrypted {
			t.Errorf("the plan says %+v, the look %+v", plan.Signature, found.Signature)
		}
	}
	var one, two *hub.Error
	if errors.As(err, &one) != errors.As(planErr, &two) || one != nil && (one.Code != two.Code || one.Message != two.Message) {
		t.Errorf("a look says %v, a plan %v", err, planErr)
	}
	return found, err
}

// The plan names the key that signs and the recipients, and nothing is written before it is confirmed.
func TestSignerAndRecipientsAreInThePlan(t *testing.T) {
	r := newSealRig(t)
	r.post(t, "hello")
	p := r.plan(t, r.signed("a.hubpack.age"))
	if p.Signer == nil || p.Signer.PublicKey != r.key || p.Signer.File != p.Target+".minisig" || len(p.Recipients) != 1 || p.Recipients[0] != r.to {
		t.Fatalf("the plan is by %+v for %v", p.Signer, p.Recipients)
	}
	for _, want := range []string{p.Signer.KeyID, r.key, r.to, p.Signer.File} {
		if !strings.Contains(p.Prompt, want) {
			t.Errorf("the prompt does not say %s:\n%s", want, p.Prompt)
		}
	}
	if got := names(t, r.out); len(got) != 0 {
		t.Errorf("before the confirmation there is %v", got)
	}
	_, err := r.confirm(&p)
	require.NoError(t, err)
	if got := names(t, r.out); len(got) != 2 {
		t.Errorf("there is %v", got)
	}
	for _, file := range []string{p.Target, p.Signer.File} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	if raw, err := os.ReadFile(p.Target); err != nil || int64(len(raw)) != p.Size || bytes.Contains(raw, []byte("mimetype")) {
		t.Errorf("the file has %d bytes of %d, in plain text %v: %v", len(raw), p.Size, bytes.Contains(raw, []byte("mimetype")), err)
	}
	if got := names(t, r.Store.PlansDir()); len(got) != 0 {
		t.Errorf("the folder of plans has %v", got)
	}
}

// A signature is never put over a file, and never stays beside a file that is not its own.
func TestSignatureIsNeverPutOverAnything(t *testing.T) {
	r := newSealRig(t)
	in := r.signed("a.hubpack")
	p := r.plan(t, in)
	for _, taken := range []string{in.Out + ".minisig", in.Out} {
		require.NoError(t, os.WriteFile(taken, []byte("somebody else's"), 0o600))
		_, err := r.confirm(&p)
		wantCode(t, err, hub.CodeTargetExists)
		_, err = r.PlanExport(r.ctx, in)
		wantCode(t, err, hub.CodeTargetExists)
		if got := names(t, r.out); len(got) != 1 || got[0] != filepath.Base(taken) {
			t.Errorf("there is %v", got)
		}
		require.NoError(t, os.Remove(taken))
		require.NoError(t, os.Symlink(filepath.Join(r.out, "nowhere"), taken))
		_, err = r.confirm(&p)
		wantCode(t, err, hub.CodeTargetExists)
		require.NoError(t, os.Remove(taken))
	}
	_, err := r.confirm(&p)
	require.NoError(t, err)
}

// What a look and a plan say about signatures, and what they refuse.
func TestSignaturesAreChecked(t *testing.T) {
	r := newSealRig(t)
	a := r.export(t, r.signed("a.hubpack"))
	r.post(t, "more")
	b := r.export(t, r.signed("b.hubpack"))
	_, foreign, err := seal.NewKey()
	require.NoError(t, err)
	foreignKey, err := seal.ParsePublicKey("keys", string(foreign))
	require.NoError(t, err)
	known := hub.CapsuleInspectInput{Path: a, Keys: []string{foreignKey.String(), r.key}, Signed: true}
	found, err := r.look(t, known)
	if err != nil || found.Signature.State != hub.SignatureValid || !strings.Contains(found.Signature.Comment, "file:a.hubpack") || found.Encrypted {
		t.Errorf("a known signature: %+v, %v", found.Signature, err)
	}
	for _, keys := range [][]string{nil, {foreignKey.String()}} {
		if found, err := r.look(t, hub.CapsuleInspectInput{Path: a, Keys: keys}); err != nil || found.Signature.State != hub.SignatureUnknownKey {
			t.Errorf("an unknown key: %+v, %v", found.Signature, err)
		}
	}
	_, err = r.look(t, hub.CapsuleInspectInput{Path: a, Keys: []string{foreignKey.String()}, Signed: true})
	wantCode(t, err, hub.CodeSignatureInvalid)
	_, err = r.look(t, hub.CapsuleInspectInput{Path: a, Keys: []string{"RW"}})
	wantCode(t, err, hub.CodeInvalid)

	signature := a + seal.SignatureSuffix
	own, err := os.ReadFile(signature)
	require.NoError(t, err)
	others, err := os.ReadFile(b + seal.SignatureSuffix)
	require.NoError(t, err)
	for name, put := range map[string]func() error{
		"of another file": func() error { return os.WriteFile(signature, others, 0o600) },
		"with another comment": func() error {
			return os.WriteFile(signature, bytes.Replace(own, []byte("file:a"), []byte("file:b"), 1), 0o600)
		},
		"that is cut":         func() error { return os.WriteFile(signature, own[:len(own)/2], 0o600) },
		"that is empty":       func() error { return os.WriteFile(signature, nil, 0o600) },
		"that is huge":        func() error { return os.Truncate(signature, 1<<30) },
		"that is a folder":    func() error { return os.Mkdir(signature, 0o700) },
		"that is a link away": func() error { return os.Symlink(filepath.Join(r.out, "nowhere"), signature) },
		"that is a device":    func() error { return os.Symlink(os.DevNull, signature) },
		"that is a circle":    func() error { return os.Symlink(signature, signature) },
	} {
		t.Run("a signature "+name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(signature))
			if name == "that is huge" {
				require.NoError(t, os.WriteFile(signature, own, 0o600))
			}
			require.NoError(t, put())
			_, err := r.look(t, hub.CapsuleInspectInput{Path: a, Keys: known.Keys}) // none is not asked for
			wantCode(t, err, hub.CodeSignatureInvalid)
		})
	}
	require.NoError(t, os.RemoveAll(signature))
	_, err = r.look(t, known)
	wantCode(t, err, hub.CodeSignatureInvalid)
	if found, err := r.look(t, hub.CapsuleInspectInput{Path: a, Keys: known.Keys}); err != nil || found.Signature.State != hub.SignatureNone {
		t.Errorf("no signature: %+v, %v", found.Signature, err)
	}
	require.NoError(t, os.Symlink(b+seal.SignatureSuffix, signature)) // a link to a signature is one
	_, err = r.look(t, known)
	wantCode(t, err, hub.CodeSignatureInvalid)
	require.NoError(t, os.Remove(signature))
	require.NoError(t, os.WriteFile(signature, own, 0o600))
	require.NoError(t, changeByte(a))
	_, err = r.look(t, known)
	wantCode(t, err, hub.CodeSignatureInvalid)
}

// changeByte changes a byte in the middle of a file.
func changeByte(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	raw[len(raw)/2] ^= 1
	return os.WriteFile(path, raw, 0o600)
}

// An encrypted capsule is imported as another one, and its plain text is in no file.
func TestEncryptedCapsuleIsImported(t *testing.T) {
	r := newSealRig(t)
	const word = "Zwetschgenknoedel"
	for range 400 {
		r.post(t, word)
	}
	in := hub.CapsuleInspectInput{Path: r.export(t, r.signed("a.hubpack.age")), Identity: r.identity, Keys: []string{r.key}, Signed: true}
	plain := r.input("plain.hubpack")
	r.export(t, plain)
	found, err := r.look(t, in)
	if err != nil || !found.Encrypted || found.Signature.State != hub.SignatureValid || found.Counts.Messages != 400 {
		t.Fatalf("the capsule is %+v, %v", found, err)
	}
	other, err := r.InspectCapsule(r.ctx, hub.CapsuleInspectInput{Path: plain.Out})
	if err != nil || other.ContentDigest != found.ContentDigest {
		t.Errorf("encrypted it has another content: %v", err)
	}
	p, err := r.imports.PlanImport(r.ctx, hub.CapsuleImportInput(in))
	require.NoError(t, err)
	for _, want := range []string{"encrypted", "signed", found.Signature.KeyID} {
		if !strings.Contains(p.Prompt, want) {
			t.Errorf("the prompt does not say %s:\n%s", want, p.Prompt)
		}
	}
	if got := names(t, r.Store.PlansDir()); len(got) != 0 {
		t.Errorf("a plan of an import has written %v", got)
	}
	require.Eventually(t, "the plan is ready", func() bool {
		p, err = r.imports.ImportPlan(r.ctx, p.PlanID)
		return err != nil || p.State != hub.CapsulePlanning
	})
	p, err = r.imports.ConfirmImport(r.ctx, p.PlanID, hub.CapsuleConfirmInput{Confirm: p.PlanDigest})
	require.NoError(t, err)
	require.Eventually(t, "the project is there", func() bool {
		p, err = r.imports.ImportPlan(r.ctx, p.PlanID)
		return err != nil || p.State != hub.CapsuleImporting
	})
	if err != nil || p.State != hub.CapsuleDone {
		t.Fatalf("the import is %s: %s, %v", p.State, p.Error, err)
	}
	if got := names(t, r.Store.PlansDir()); len(got) != 0 {
		t.Errorf("an import has written %v", got)
	}
}

// What does not open a capsule, or is no capsule when it is open, is refused.
func TestEncryptedCapsulesThatAreRefused(t *testing.T) {
	r := newSealRig(t)
	other := newSealRig(t)
	r.post(t, "hello")
	in := r.signed("a.hubpack.age")
	in.SignKey = ""
	a := r.export(t, in)
	raw, err := os.ReadFile(a)
	require.NoError(t, err)
	put := func(name string, data []byte) string {
		path := filepath.Join(r.out, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	var inner bytes.Buffer
	w, err := seal.Encrypt(&inner, []string{r.to})
	require.NoError(t, err)
	_, err = w.Write([]byte("no capsule"))
	require.NoError(t, errors.Join(err, w.Close()))
	for name, c := range map[string]struct {
		path, identity string
		code           hub.Code
	}{
		"no identity":               {a, "", hub.CodeCapsuleEncrypted},
		"another identity":          {a, other.identity, hub.CodeCapsuleEncrypted},
		"an identity that is none":  {a, r.keyFile, hub.CodeInvalid},
		"an identity of a folder":   {a, r.out, hub.CodeInvalid},
		"an identity of nowhere":    {a, filepath.Join(r.out, "none"), hub.CodePathNotFound},
		"cut in the header":         {put("1", raw[:100]), r.identity, hub.CodeCapsuleInvalid},
		"cut at the end":            {put("2", raw[:len(raw)-1]), r.identity, hub.CodeCapsuleInvalid},
		"a byte is another one":     {put("3", append(bytes.Clone(raw[:len(raw)-30]), bytes.Repeat([]byte{1}, 30)...)), r.identity, hub.CodeCapsuleInvalid},
		"something else is in it":   {put("4", inner.Bytes()), r.identity, hub.CodeCapsuleInvalid},
		"only its first line":       {put("5", raw[:22]), r.identity, hub.CodeCapsuleInvalid},
		"text around it":            {put("6", []byte("-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n")), r.identity, hub.CodeCapsuleInvalid},
		"an identity that is large": {a, put("7", bytes.Repeat([]byte("#\n"), seal.MaxIdentityBytes)), hub.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.look(t, hub.CapsuleInspectInput{Path: c.path, Identity: c.identity})
			wantCode(t, err, c.code)
		})
	}
}

// Keys and recipients that cannot be used are refused before anything is planned.
func TestSealsThatCannotBe(t *testing.T) {
	r := newSealRig(t)
	secret, err := os.ReadFile(r.keyFile)
	require.NoError(t, err)
	identity, err := os.ReadFile(r.identity)
	require.NoError(t, err)
	shared := filepath.Join(r.out, "shared")
	require.NoError(t, os.WriteFile(shared, secret, 0o600))
	require.NoError(t, os.Chmod(shared, 0o640))
	for name, c := range map[string]struct {
		change func(in *hub.CapsuleExportInput)
		code   hub.Code
	}{
		"a key of nowhere":           {func(in *hub.CapsuleExportInput) { in.SignKey = filepath.Join(r.out, "none") }, hub.CodePathNotFound},
		"a key that others may read": {func(in *hub.CapsuleExportInput) { in.SignKey = shared }, hub.CodeInvalid},
		"a key that is a folder":     {func(in *hub.CapsuleExportInput) { in.SignKey = r.out }, hub.CodeInvalid},
		"a key that is an identity":  {func(in *hub.CapsuleExportInput) { in.SignKey = r.identity }, hub.CodeInvalid},
		"an identity as recipient":   {func(in *hub.CapsuleExportInput) { in.To = []string{strings.TrimSpace(string(identity))} }, hub.CodeInvalid},
		"no recipient":               {func(in *hub.CapsuleExportInput) { in.To = []string{"ann"} }, hub.CodeInvalid},
		"a name for plain files":     {func(in *hub.CapsuleExportInput) { in.Out = filepath.Join(r.out, "a.hubpack") }, hub.CodeInvalid},
		"a name for encrypted files": {func(in *hub.CapsuleExportInput) { in.To = nil }, hub.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			in := r.signed("a.hubpack.age")
			c.change(&in)
			_, err := r.PlanExport(r.ctx, in)
			e := wantCode(t, err, c.code)
			for _, text := range []string{string(secret[60:100]), string(identity[20:60])} {
				if strings.Contains(e.Error()+e.Fix, text) {
					t.Errorf("the error has a secret: %v", e)
				}
			}
		})
	}
	if got := names(t, r.Store.PlansDir()); len(got) != 0 {
		t.Errorf("the folder of plans has %v", got)
	}
}

// An encrypted file that a killed hub was writing is deleted by the next start.
func TestHalfSealedPlansAreDeleted(t *testing.T) {
	r := newSealRig(t)
	require.NoError(t, os.MkdirAll(r.Store.PlansDir(), 0o700))
	left := filepath.Join(r.Store.PlansDir(), strings.Repeat("0a", 16)+".plan.seal")
	require.NoError(t, r.Stop())
	require.NoError(t, os.WriteFile(left, []byte("half"), 0o600))
	testhub.Start(t, testhub.Dir(r.Dir))
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// A file that changes while it is read is not taken: its signature may be one of other bytes.
func TestChangingFilesAreNotTaken(t *testing.T) {
	r := newSealRig(t)
	a := r.export(t, r.signed("a.hubpack"))
	in := hub.CapsuleImportInput{Path: a, Keys: []string{r.key}, Signed: true}
	p, err := r.imports.PlanImport(r.ctx, in)
	require.NoError(t, err)
	require.Eventually(t, "the plan is ready", func() bool {
		p, err = r.imports.ImportPlan(r.ctx, p.PlanID)
		return err != nil || p.State != hub.CapsulePlanning
	})
	require.NoError(t, err)
	r.post(t, "another")
	b := r.export(t, r.signed("b.hubpack"))
	require.NoError(t, os.Rename(b, a))
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(a, later, later))
	_, err = r.imports.ConfirmImport(r.ctx, p.PlanID, hub.CapsuleConfirmInput{Confirm: p.PlanDigest})
	wantCode(t, err, hub.CodePlanChanged)
}
