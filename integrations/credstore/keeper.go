package credstore

import (
	"context"
	"errors"

	"hubcli/hub"
)

// Keeper is a Store in the words of the hub: references are texts, secrets are hidden, and
// refusals are *hub.Error.
type Keeper struct{ *Store }

// Get returns a secret. Errors: credential_unresolved, credential_store_unavailable,
// invalid.
func (k Keeper) Get(ctx context.Context, ref string) (hub.Secret, error) {
	r, err := ParseRef(ref)
	if err != nil {
		return hub.Secret{}, Told(err)
	}
	text, err := k.Store.Get(ctx, r)
	return hub.NewSecret(text), Told(err)
}

// Set keeps a secret. Errors: credential_store_unavailable, invalid.
func (k Keeper) Set(ctx context.Context, ref string, secret hub.Secret) error {
	r, err := ParseRef(ref)
	if err != nil {
		return Told(err)
	}
	return Told(k.Store.Set(ctx, r, secret.Reveal()))
}

// Delete removes a secret, if it is there. Errors: credential_store_unavailable, invalid.
func (k Keeper) Delete(ctx context.Context, ref string) error {
	r, err := ParseRef(ref)
	if err != nil {
		return Told(err)
	}
	return Told(k.Store.Delete(ctx, r))
}

// Told turns an error of this package into one that the hub answers; others stay as they
// are.
func Told(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	code := hub.CodeCredentialStore
	switch e.Kind {
	case NotFound:
		code = hub.CodeCredentialUnresolved
	case BadRef, Empty, TooLarge, ReadOnly:
		code = hub.CodeInvalid
	case NoStore, Locked, Failed:
	}
	return hub.NewError(code, e.Message).With("kind", string(e.Kind)).WithFix(e.Fix)
}
