package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"hubcli/capsule/seal"
	"hubcli/hub"
	"hubcli/internal/osfile"
)

// suffixOf ends the name of what an export writes.
func suffixOf(encrypted bool) string {
	if encrypted {
		return Extension + seal.EncryptedSuffix
	}
	return Extension
}

// sealSuffix ends the name of an encrypted file that is not whole yet, in the folder of the
// plans.
const sealSuffix = ".seal"

// A signing is the signature that an export writes.
type signing struct {
	signer *seal.Signer
	text   []byte // of the signature, which fits the file of the plan
	placed bool   // its file is this plan's
}

// sealer checks what an input says about signature and encryption, and fills in the plan.
func (p *plan) sealer() error {
	for _, text := range p.in.To {
		to, err := seal.ParseRecipient(text)
		if err != nil {
			return err
		}
		p.row.Recipients = append(p.row.Recipients, to)
	}
	if p.in.SignKey == "" {
		return nil
	}
	text, err := readKey(p.in.SignKey)
	if err != nil {
		return err
	}
	signer, err := seal.ParseSigner(text)
	if err != nil {
		return err
	}
	p.signing = &signing{signer: signer}
	key := signer.Key()
	p.row.Signer = &hub.CapsuleSigner{KeyID: key.ID(), PublicKey: key.String(), File: p.row.Target + seal.SignatureSuffix}
	return checkFree(p.row.Signer.File)
}

// readKey reads a file that only its owner may read.
func readKey(path string) ([]byte, error) {
	const field = "sign_key"
	f, _, err := openRegular(field, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 { // there a mode says nothing
		return nil, hub.Invalid(field, "others than its owner may read or change the signing key").With("mode", fmt.Sprintf("%04o", info.Mode().Perm())).
			WithFix("take the rights of others away (chmod 600); if somebody may have read it, make a new key")
	}
	return io.ReadAll(io.LimitReader(f, seal.MaxKeyBytes+1))
}

// checkFree refuses a name that is taken, also by a link to nowhere.
func checkFree(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return targetExists(path)
	}
	return nil
}

// seal encrypts the file of a plan and signs what is written then. It returns the size of
// the file.
func (x *Exports) seal(ctx context.Context, p *plan, size int64) (int64, error) {
	var err error
	if len(p.row.Recipients) > 0 {
		if size, err = x.encrypt(ctx, p); err != nil {
			return 0, err
		}
	}
	if p.signing == nil {
		return size, nil
	}
	f, err := os.Open(p.file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	comment := fmt.Sprintf("timestamp:%d\tfile:%s\thashed", time.Now().Unix(), filepath.Base(p.row.Target))
	p.signing.text, err = p.signing.signer.Sign(&until{ctx: ctx, r: f}, comment)
	return size, err
}

// encrypt puts an encrypted file in the place of that of the plan.
func (x *Exports) encrypt(ctx context.Context, p *plan) (int64, error) {
	from, err := os.Open(p.file)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	if err := x.gone(); err != nil {
		return 0, err
	}
	temp := p.file + sealSuffix
	to, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	out := &summed{w: to, sum: sha256.New(), space: x.options.Space}
	w, err := seal.Encrypt(out, p.row.Recipients)
	if err == nil {
		_, err = io.Copy(w, &until{ctx: ctx, r: from})
		err = errors.Join(err, w.Close())
	}
	if err = errors.Join(err, to.Close()); err == nil {
		_ = from.Close() // some systems replace no open file
		err = os.Rename(temp, p.file)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(temp))
	}
	copy(p.sum[:], out.sum.Sum(nil))
	return out.n, nil
}

// placeSignature writes the signature of a plan. It is there before the capsule has its name,
// so a capsule that was to be signed never stands without.
func (p *plan) placeSignature(prefix string) error {
	if p.signing == nil {
		return nil
	}
	err := osfile.Create(p.row.Signer.File, osfile.Content{
		Prefix: prefix, Mode: 0o600, Exactly: true, Write: osfile.Bytes(p.signing.text),
	})
	if errors.Is(err, fs.ErrExist) {
		return targetExists(p.row.Signer.File)
	}
	p.signing.placed = err == nil
	return err
}

// withdrawSignature removes the signature of a capsule that did not get its name, because of
// this error. A capsule that has it all the same keeps it.
func (p *plan) withdrawSignature(because error) error {
	if p.signing == nil || !p.signing.placed {
		return nil
	}
	var refused *hub.Error
	foreign := errors.As(because, &refused) && refused.Code == hub.CodeTargetExists
	if _, err := os.Lstat(p.row.Target); err == nil && !foreign {
		return nil
	}
	p.signing.placed = false
	return os.Remove(p.row.Signer.File)
}
