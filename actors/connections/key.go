package connections

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"hubcli/actors/core"
	"hubcli/hub"
)

// The beginnings of references.
const (
	refOS  = "os:"
	refEnv = "env:"
)

// take finds the key that the operator means, and keeps one that was given. Errors:
// invalid, credential_unresolved, credential_store_unavailable.
func (m *Manager) take(ctx context.Context, to *hub.ProviderTarget, in hub.ConnectionKeyInput) (core.ConnectionKey, error) {
	switch {
	case in.NoKey && !to.KeyOptional:
		return core.ConnectionKey{}, hub.Invalid("no_key", "this provider answers nobody without a key").WithFix("give a key")
	case in.NoKey:
		return core.ConnectionKey{Source: hub.KeySourceNone}, nil
	case in.Key != "":
		return m.keep(ctx, to, hub.NewSecret(in.Key))
	case in.KeyVariable != "":
		return m.fromVariables(ctx, to, []string{in.KeyVariable})
	case in.EnvCredential:
		return m.fromVariables(ctx, to, to.Env)
	}
	return m.look(ctx, to)
}

// keep puts a key into the credential store, under a name of its own.
func (m *Manager) keep(ctx context.Context, to *hub.ProviderTarget, key hub.Secret) (core.ConnectionKey, error) {
	ref := m.newName()
	if err := m.credentials.Set(ctx, ref, key); err != nil {
		return core.ConnectionKey{}, err
	}
	return m.known(to, hub.KeySourceOS, ref, first(to.Env), key), nil
}

func (m *Manager) known(to *hub.ProviderTarget, source hub.KeySource, ref, variable string, key hub.Secret) core.ConnectionKey {
	return core.ConnectionKey{Source: source, Ref: ref, Variable: variable, Fingerprint: m.fingerprint(key), Origin: to.Origin()}
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// fromVariables takes the first variable of the hub's environment that holds something.
func (m *Manager) fromVariables(ctx context.Context, to *hub.ProviderTarget, names []string) (core.ConnectionKey, error) {
	for _, name := range names {
		key, err := m.credentials.Get(ctx, refEnv+name)
		if err == nil {
			return m.known(to, hub.KeySourceEnv, refEnv+name, name, key), nil
		}
		if !errors.Is(err, &hub.Error{Code: hub.CodeCredentialUnresolved}) {
			return core.ConnectionKey{}, err
		}
	}
	if len(names) == 0 {
		return core.ConnectionKey{}, hub.Errorf(hub.CodeCredentialUnresolved, "no variable is known to hold a key of %s", to.ProviderID).
			With("variables", []string{}).WithFix("name the variable of the hub's environment that holds the key, or give the key")
	}
	return core.ConnectionKey{}, hub.Errorf(hub.CodeCredentialUnresolved, "the environment of the hub has no %s", strings.Join(names, " and no ")).
		With("variables", names).
		WithFix("set " + names[0] + " where the hub is started, and start the hub again: the environment of this command does not count")
}

// look finds a key that was not named: in the credential store under the name of the
// provider, then in the variables of the provider.
func (m *Manager) look(ctx context.Context, to *hub.ProviderTarget) (core.ConnectionKey, error) {
	shared := refOS + string(to.ProviderID)
	key, stored := m.credentials.Get(ctx, shared)
	if stored == nil {
		return m.known(to, hub.KeySourceOS, shared, first(to.Env), key), nil
	}
	found, err := m.fromVariables(ctx, to, to.Env)
	if err == nil {
		return found, nil
	}
	var unresolved *hub.Error
	if !errors.As(err, &unresolved) || unresolved.Code != hub.CodeCredentialUnresolved {
		return core.ConnectionKey{}, err
	}
	if to.KeyOptional {
		return core.ConnectionKey{Source: hub.KeySourceNone}, nil
	}
	unresolved.Message += "; " + stored.Error()
	return core.ConnectionKey{}, unresolved.WithFix("give the key, or set " + first(to.Env) + " where the hub is started and start the hub again")
}

// key returns the key of a connection for the servers that it means now. The error says in a
// fault why there is none.
func (m *Manager) key(ctx context.Context, row *hub.Connection, to *hub.ProviderTarget) (hub.Secret, *hub.ConnectionCheck) {
	none := func(message, fix string) (hub.Secret, *hub.ConnectionCheck) {
		return hub.Secret{}, &hub.ConnectionCheck{Fault: hub.FaultNoKey, Message: message, Fix: fix}
	}
	const again = "give the key again, if these servers may get it"
	switch {
	case row.KeySource == hub.KeySourceNone:
		return hub.Secret{}, nil
	case row.KeySource == hub.KeySourceNeeded:
		return none("the endpoint of the connection has changed since its key was given", again)
	case row.KeyOrigin != to.Origin():
		return none("the key was given for "+row.KeyOrigin+", and the connection leads to "+to.Origin()+" now", again)
	}
	key, err := m.credentials.Get(ctx, row.KeyRef)
	if err == nil {
		return key, nil
	}
	var e *hub.Error
	if errors.As(err, &e) {
		return none(e.Message, e.FixFor(hub.ForHTTP))
	}
	return none("the key cannot be read", "try again")
}

// drop removes a key that no connection uses.
func (m *Manager) drop(ctx context.Context, ref string) {
	if err := m.remove(ctx, ref); err != nil {
		m.log.LogAttrs(ctx, slog.LevelWarn, "a key that no connection uses stays in the credential store",
			slog.String("name", ref), slog.Any("error", err))
	}
}

// remove removes a key that this store has put into the credential store. Other references
// are left alone. Where there is no credential store any more, there is nothing to remove.
func (m *Manager) remove(ctx context.Context, ref string) error {
	if ref == "" || m.credentials == nil || !strings.HasPrefix(ref, m.own()) {
		return nil
	}
	err := m.credentials.Delete(ctx, ref)
	var e *hub.Error
	if errors.As(err, &e) && e.Detail["kind"] == "no_store" {
		return nil
	}
	return err
}
