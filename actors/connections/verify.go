package connections

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"hubcli/actors/core"
	"hubcli/hub"
)

// VerifyConnection asks the provider; see hub.Connections. What it has shown is recorded in
// any case.
func (m *Manager) VerifyConnection(ctx context.Context, ref string) (hub.Outcome[hub.Connection], error) {
	out, err := m.change(ctx, "verifyConnection", nil, func() (int, decision, error) {
		row, err := m.find(ctx, ref)
		if err != nil {
			return 0, nil, err
		}
		to, err := m.target(ctx, &row)
		if err != nil {
			return 0, nil, err
		}
		var models []hub.ProviderModel
		key, fault := m.key(ctx, &row, &to)
		var check hub.ConnectionCheck
		if fault != nil {
			check = *fault
		} else {
			check, models, err = m.directory.Check(ctx, to, key)
		}
		return sizeOf(models), func(c *core.Connections, now core.Now) (core.Decision[core.ConnectionChanged], error) {
			return c.Checked(&row, check, models, m.fingerprint(key), now)
		}, err
	})
	if err != nil {
		return out, err
	}
	return out, failed(&out.Row)
}

// failed is the error of a verification that has failed; nil: it went well.
func failed(row *hub.Connection) error {
	if row.Check == nil || row.Check.OK {
		return nil
	}
	return hub.NewError(hub.CodeProviderFailed, row.Check.Message).
		With("fault", string(row.Check.Fault)).With("connection_id", row.ConnectionID).WithFix(row.Check.Fix)
}

// sizeOf is about how many bytes models take.
func sizeOf(models []hub.ProviderModel) (n int) {
	for i := range models {
		n += len(models[i].ModelID) + len(models[i].Name) + 100
	}
	return n
}

// ConnectionVariable returns the variable that a spawned harness gets for a connection, and its
// value. Errors: connection_not_found, ambiguous, credential_unresolved.
func (m *Manager) ConnectionVariable(ctx context.Context, ref string) (hub.SpawnKey, error) {
	row, err := m.find(ctx, ref)
	if err != nil {
		return hub.SpawnKey{}, err
	}
	to, err := m.target(ctx, &row)
	if err != nil {
		return hub.SpawnKey{}, err
	}
	key, fault := m.key(ctx, &row, &to)
	switch {
	case fault != nil:
		return hub.SpawnKey{}, hub.NewError(hub.CodeCredentialUnresolved, "the connection "+row.Label+" has no key: "+fault.Message).
			With("connection_id", row.ConnectionID).WithFix(fault.Fix)
	case key.Empty():
		return hub.SpawnKey{}, hub.NewError(hub.CodeCredentialUnresolved, "the connection "+row.Label+" has no key that could be handed on").
			With("connection_id", row.ConnectionID).WithFix("name no connection for it: its server needs no key")
	case row.KeyVariable == "":
		return hub.SpawnKey{}, hub.NewError(hub.CodeCredentialUnresolved, "no variable is known for the key of the connection "+row.Label).
			With("connection_id", row.ConnectionID).WithFix("give its key in a variable of the hub's environment: the child gets the variable of the same name")
	}
	return hub.SpawnKey{ConnectionID: row.ConnectionID, Variable: row.KeyVariable, Key: key}, nil
}

// ConnectionNamed returns the id of the connection that a reference names. Errors:
// connection_not_found, ambiguous.
func (m *Manager) ConnectionNamed(ctx context.Context, ref string) (hub.ConnectionID, error) {
	row, err := m.find(ctx, ref)
	return row.ConnectionID, err
}

// ConnectionSecrets returns the keys of all connections, and those in the variables of the
// presets, so that what leaves the machine is searched for them. A key that cannot be read
// is not among them.
func (m *Manager) ConnectionSecrets(ctx context.Context) []string {
	if m.credentials == nil || m.directory == nil {
		return nil
	}
	refs := map[string]bool{}
	for _, p := range m.directory.Presets() {
		for _, name := range p.Env {
			refs[refEnv+name] = true
		}
	}
	rows, err := m.Connections(ctx)
	if err != nil {
		m.log.LogAttrs(ctx, slog.LevelWarn, "keys of connections not known", slog.Any("error", err))
	}
	for i := range rows {
		if rows[i].KeyRef != "" {
			refs[rows[i].KeyRef] = true
		}
	}
	var keys []string
	closed := false // one refusal of the credential store is enough: each may take its whole time
	for ref := range refs {
		if closed && strings.HasPrefix(ref, refOS) {
			continue
		}
		key, err := m.credentials.Get(ctx, ref)
		if errors.Is(err, &hub.Error{Code: hub.CodeCredentialStore}) {
			closed = true
			m.log.LogAttrs(ctx, slog.LevelWarn, "keys of connections not known", slog.Any("error", err))
		}
		switch n := len(key.Reveal()); {
		case err != nil:
		case n >= shortestSecret:
			keys = append(keys, key.Reveal())
		default:
			m.log.LogAttrs(ctx, slog.LevelWarn, "a key is too short to be looked for in what leaves the machine", slog.String("name", ref), slog.Int("least", shortestSecret))
		}
	}
	return keys
}

// shortestSecret is the shortest text that is looked for in other texts: anything shorter
// would be found everywhere.
const shortestSecret = 6
