//go:build !hub_omit_license

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"path/filepath"

	"hubcli/hub"
	"hubcli/integrations/credstore"
	"hubcli/integrations/license"
)

// licenseOptions are those of the license that a data root keeps.
func licenseOptions(dataRoot string) license.Options {
	const digits = 12 // so that two data roots of a user do not share a secret
	sum := sha256.Sum256([]byte(dataRoot))
	return license.Options{
		Dir:     filepath.Join(dataRoot, "license"),
		Secrets: &licenseKey{store: secretStore(), ref: credstore.Ref{Source: credstore.OS, Name: "license/" + hex.EncodeToString(sum[:])[:digits]}},
	}
}

// newLicenses is the license of this machine; nil: there is no data root.
func newLicenses(dataRoot string, log *slog.Logger) hub.Licenses {
	if dataRoot == "" {
		return nil
	}
	o := licenseOptions(dataRoot)
	o.Logger = log
	return license.New(o)
}

// showLicense looks at the license for the command line, which starts no hub for that.
func showLicense(ctx context.Context, dataRoot string) (hub.License, error) {
	o := licenseOptions(dataRoot)
	o.ReadOnly = true
	return license.New(o).License(ctx)
}

// licenseKey is the license key in the credential store of the system.
type licenseKey struct {
	store *credstore.Store
	ref   credstore.Ref
}

func (k *licenseKey) Name() string { return "hubcli " + k.ref.Name }

func (k *licenseKey) Get(ctx context.Context) (string, error) {
	secret, err := k.store.Get(ctx, k.ref)
	if credstore.KindOf(err) == credstore.NotFound {
		return "", license.ErrNoSecret
	}
	return secret, err
}

func (k *licenseKey) Set(ctx context.Context, secret string) error {
	return k.store.Set(ctx, k.ref, secret)
}

func (k *licenseKey) Delete(ctx context.Context) error { return k.store.Delete(ctx, k.ref) }
