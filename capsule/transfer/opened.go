package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"hubcli/capsule"
	"hubcli/capsule/seal"
	"hubcli/hub"
)

// An opened capsule is a file whose archive can be read. The bytes of an encrypted one are
// decrypted where they are read, and are on no disk.
type opened struct {
	*capsule.Reader
	file      *os.File
	size      int64 // of the file
	changed   time.Time
	encrypted bool
	signature hub.CapsuleSignature
}

// openCapsule opens a capsule and checks its structure. It does not look for a signature.
func openCapsule(path, identity string) (c *opened, err error) {
	f, size, err := openRegular("path", path)
	if err != nil {
		return nil, err
	}
	c = &opened{file: f, size: size}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	c.changed = info.ModTime()
	plain, size, err := c.plain(identity)
	if err != nil {
		return nil, err
	}
	c.Reader, err = capsule.Open(plain, size, capsule.DefaultLimits())
	return c, err
}

// openChecked is openCapsule of a capsule whose signature fits it, or that has none. The
// signature comes first: what does not fit is not decrypted.
func openChecked(ctx context.Context, in *hub.CapsuleInspectInput) (*opened, error) {
	signature, at, err := checkSignature(ctx, in)
	if err != nil {
		return nil, err
	}
	c, err := openCapsule(in.Path, in.Identity)
	if err != nil {
		return nil, err
	}
	if c.signature = signature; at != nil && !at.same(c) {
		_ = c.file.Close()
		return nil, unsteady()
	}
	return c, nil
}

// verify checks all of a capsule. A file that somebody changes meanwhile is refused, so its
// signature fits the bytes that were checked.
func (c *opened) verify(ctx context.Context, progress func(done, total int64)) error {
	if err := c.Verify(ctx, progress); err != nil {
		return err
	}
	info, err := c.file.Stat()
	if err == nil && (info.Size() != c.size || !info.ModTime().Equal(c.changed)) {
		err = unsteady()
	}
	return err
}

func unsteady() error {
	return hub.NewError(hub.CodeCapsuleInvalid, "the file was changed while it was read").WithFix("wait until it is written, and try again")
}

// plain returns the bytes of the archive, decrypted if need be.
func (c *opened) plain(identity string) (io.ReaderAt, int64, error) {
	var err error
	if c.encrypted, err = seal.IsEncrypted(c.file); err != nil || !c.encrypted {
		return c.file, c.size, err
	}
	var ids seal.Identities
	if identity != "" {
		text, err := readSmall("identity", identity, seal.MaxIdentityBytes)
		if err != nil {
			return nil, 0, err
		}
		if ids, err = seal.ParseIdentities(text); err != nil {
			return nil, 0, err
		}
	}
	return seal.Decrypt(c.file, c.size, ids)
}

// A checkedFile is the state of a file whose signature was checked.
type checkedFile struct {
	info fs.FileInfo
}

func (s *checkedFile) same(c *opened) bool {
	now, err := c.file.Stat()
	return err == nil && os.SameFile(s.info, now) && s.info.Size() == c.size && s.info.ModTime().Equal(c.changed)
}

// checkSignature looks at the signature beside a file. It returns the state of the file before
// it was read, if the signature is of a known key.
func checkSignature(ctx context.Context, in *hub.CapsuleInspectInput) (hub.CapsuleSignature, *checkedFile, error) {
	none := hub.CapsuleSignature{State: hub.SignatureNone}
	var keys []seal.PublicKey
	for _, text := range in.Keys {
		key, err := seal.ParsePublicKey("keys", text)
		if err != nil {
			return none, nil, err
		}
		keys = append(keys, key)
	}
	f, _, err := openRegular("path", in.Path)
	if err != nil {
		return none, nil, err
	}
	defer f.Close()
	signature, err := signatureOf(in.Path)
	switch {
	case err != nil:
		return none, nil, err
	case signature == nil && in.Signed:
		return none, nil, hub.NewError(hub.CodeSignatureInvalid, "the capsule is not signed, and a signature was asked for").
			WithFix("put the signature beside the capsule, under its name and " + seal.SignatureSuffix + "; it comes from the one who made the capsule")
	case signature == nil:
		return none, nil, nil
	}
	row := hub.CapsuleSignature{State: hub.SignatureUnknownKey, KeyID: signature.KeyID(), Comment: signature.Comment()}
	info, err := f.Stat()
	if err != nil {
		return none, nil, err
	}
	for _, key := range keys {
		if !signature.By(key) {
			continue
		}
		fits, err := signature.Fits(&until{ctx: ctx, r: f}, key)
		switch {
		case err != nil:
			return none, nil, err
		case !fits:
			return none, nil, misfit(row)
		}
		row.State = hub.SignatureValid
		return row, &checkedFile{info: info}, nil
	}
	if in.Signed {
		return none, nil, hub.NewError(hub.CodeSignatureInvalid, "the signature is from another key than the one that was asked for").
			With("key_id", row.KeyID).WithFix("ask the one who made the capsule for the public key, on a way that you trust")
	}
	return row, nil, nil
}

// misfit is the refusal of a file that its signature does not fit.
func misfit(row hub.CapsuleSignature) error {
	return hub.NewError(hub.CodeSignatureInvalid, "the signature does not fit the file: one of the two was changed, or it is the signature of another file").
		With("key_id", row.KeyID).
		WithFix("do not use the file; get capsule and signature again from the one who made them")
}

// signatureOf returns the signature beside a file, nil if there is none. What has its name
// and is no signature, a link to nowhere included, is refused: it is not to pass for none.
func signatureOf(path string) (*seal.Signature, error) {
	path += seal.SignatureSuffix
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	text, err := readSmall("path", path, seal.MaxSignatureBytes)
	if err != nil {
		var refused *hub.Error
		if errors.As(err, &refused) {
			return nil, hub.NewError(hub.CodeSignatureInvalid, "the signature beside the capsule cannot be read: "+refused.Message).With("signature", path).
				WithFix("get the signature again from the one who made the capsule")
		}
		return nil, err
	}
	return seal.ParseSignature(text)
}

// readSmall reads a regular file of at most limit bytes.
func readSmall(field, path string, limit int64) ([]byte, error) {
	f, size, err := openRegular(field, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > limit {
		return nil, hub.Invalid(field, "the file is too large for what it is to hold").With("limit", limit).With("size", size).
			WithFix("name the right file")
	}
	return io.ReadAll(io.LimitReader(f, limit))
}
