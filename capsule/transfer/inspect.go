package transfer

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"hubcli/hub"
)

// InspectCapsule reads a whole capsule and checks all of it; see hub.Capsules.
func (x *Exports) InspectCapsule(ctx context.Context, in hub.CapsuleInspectInput) (hub.CapsuleSummary, error) {
	r, err := openChecked(ctx, &in)
	if err == nil {
		defer r.file.Close()
		err = r.verify(ctx, nil)
	}
	switch {
	case ctx.Err() != nil:
		return hub.CapsuleSummary{}, context.Cause(ctx)
	case err != nil:
		return hub.CapsuleSummary{}, asError(err)
	}
	m := r.Manifest()
	return hub.CapsuleSummary{
		Path: in.Path, Size: r.size, SchemaMajor: m.Schema.Major, SchemaMinor: m.Schema.Minor,
		ProductVersion: m.ProductVersion, CreatedAt: m.CreatedAt, CapsuleID: m.CapsuleID, ContentDigest: m.ContentDigest,
		Scope: m.Scope, Privacy: m.Privacy, Slug: m.Project.Slug, Name: m.Project.Name, Counts: countsOf(&m.Counts),
		Redactions: m.Redaction.Replaced, LeftOut: m.Redaction.LeftOut, Encrypted: r.encrypted, Signature: r.signature,
	}, nil
}

// openRegular opens a regular file. A pipe or a device is not opened: it could block.
func openRegular(field, path string) (f *os.File, size int64, err error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() {
		f, err = os.Open(path)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, 0, hub.Invalid(field, "the hub may not read the file").WithFix("give the user of the hub the right to read it")
	case err != nil:
		return nil, 0, hub.NewError(hub.CodePathNotFound, "there is no such file").With("field", field).With("path", path).WithFix("check the path; it is one of the hub's machine")
	case f == nil:
		return nil, 0, hub.Invalid(field, "the path names no regular file").WithFix("name a file")
	}
	// The file that was opened counts, not the one that was looked at.
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = hub.Invalid(field, "the path names no regular file").WithFix("name a file")
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
