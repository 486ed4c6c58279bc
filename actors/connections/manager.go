package connections

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/hub"
)

// Directory knows the presets of providers and asks providers. Refusals are *hub.Error.
type Directory interface {
	// Presets lists the presets.
	Presets() []hub.Provider
	// Resolve checks a choice and says which servers are meant. Lookup returns the value of
	// a variable of the hub.
	Resolve(in hub.ProviderTarget, lookup func(string) string) (hub.ProviderTarget, error)
	// Check asks for the models and proves the key. A fault is an outcome, too.
	Check(ctx context.Context, to hub.ProviderTarget, key hub.Secret) (hub.ConnectionCheck, []hub.ProviderModel, error)
}

// Credentials keeps secrets. A reference is "os:NAME" for the credential store of the system
// and "env:NAME" for a variable of the hub's environment. Refusals are *hub.Error.
type Credentials interface {
	Get(ctx context.Context, ref string) (hub.Secret, error)
	Set(ctx context.Context, ref string, secret hub.Secret) error
	Delete(ctx context.Context, ref string) error
}

// Options are the parts of the hub that a manager uses.
type Options struct {
	Engine *engine.Engine
	Gate   *gate.Gate
	Rows   core.Rows
	Log    *slog.Logger
	// Secret salts fingerprints, and tells the secrets of this store in the credential
	// store from those of others.
	Secret []byte
	// Directory and Credentials may be nil: then there are no presets.
	Directory   Directory
	Credentials Credentials
}

// Manager keeps the connections of a hub.
type Manager struct {
	engine      *engine.Engine
	gate        *gate.Gate
	rows        core.Rows
	log         *slog.Logger
	secret      []byte
	directory   Directory
	credentials Credentials
}

// New returns the connections of a hub. The engine need not run yet.
func New(o Options) *Manager {
	return &Manager{engine: o.Engine, gate: o.Gate, rows: o.Rows, log: o.Log, secret: o.Secret, directory: o.Directory, credentials: o.Credentials}
}

// Load makes the state of the owner from its stored rows.
func Load(rows core.Rows) (*core.Connections, error) {
	state := core.NewConnections()
	var bad error
	err := rows.RowsOf(core.TableConnection, nil, false, func(_, value []byte) bool {
		bad = state.Restore(value)
		return bad == nil
	})
	return state, errors.Join(err, bad)
}

// Providers lists the presets; see hub.Connections.
func (m *Manager) Providers(context.Context) ([]hub.Provider, error) {
	if m.directory == nil {
		return []hub.Provider{}, nil
	}
	return m.directory.Presets(), nil
}

// Connections lists the connections; see hub.Connections.
func (m *Manager) Connections(context.Context) ([]hub.Connection, error) {
	all := []hub.Connection{}
	var bad error
	err := m.rows.RowsOf(core.TableConnection, nil, false, func(_, value []byte) bool {
		if len(value) == 0 {
			return true
		}
		var row hub.Connection
		if bad = json.Unmarshal(value, &row); bad == nil {
			all = append(all, row)
		}
		return bad == nil
	})
	return core.SortedConnections(all), errors.Join(err, bad)
}

// find returns the connection that a reference names: an id, a label, or the beginning of
// an id. Errors: connection_not_found, ambiguous.
func (m *Manager) find(ctx context.Context, ref string) (hub.Connection, error) {
	all, err := m.Connections(ctx)
	if err != nil {
		return hub.Connection{}, err
	}
	var begins []hub.Connection
	for _, row := range all {
		if string(row.ConnectionID) == ref || strings.EqualFold(row.Label, ref) {
			return row, nil
		}
		if strings.HasPrefix(string(row.ConnectionID), ref) && ref != "" {
			begins = append(begins, row)
		}
	}
	if len(begins) == 1 {
		return begins[0], nil
	}
	if len(begins) == 0 {
		return hub.Connection{}, hub.NewError(hub.CodeConnectionNotFound, "no connection has this id or label, and no id begins so").With("ref", ref)
	}
	names := make([]string, len(begins))
	candidates := make([]map[string]any, len(begins))
	for i, row := range begins {
		names[i] = string(row.ConnectionID) + " (" + row.Label + ")"
		candidates[i] = map[string]any{"connection_id": row.ConnectionID, "label": row.Label}
	}
	return hub.Connection{}, hub.Errorf(hub.CodeAmbiguous, "%d connections have ids that begin so", len(begins)).
		With("candidates", candidates).WithFix("use more of the id, or the label: " + strings.Join(names, ", "))
}

// target says which servers a connection means, by the presets of this version.
func (m *Manager) target(ctx context.Context, row *hub.Connection) (hub.ProviderTarget, error) {
	in := hub.ProviderTarget{ProviderID: row.ProviderID, Region: row.Region, Params: row.Params}
	if row.ProviderID == hub.ProviderCustom {
		in.Endpoint = row.Endpoint
	}
	return m.resolve(ctx, in)
}

func (m *Manager) resolve(ctx context.Context, in hub.ProviderTarget) (hub.ProviderTarget, error) {
	if m.directory == nil || m.credentials == nil {
		return hub.ProviderTarget{}, hub.NewError(hub.CodeProviderNotFound, "this hub knows no providers").
			WithFix("start the hub as a daemon: what serves a test or a library has no presets")
	}
	return m.directory.Resolve(in, func(name string) string {
		value, err := m.credentials.Get(ctx, refEnv+name)
		if err != nil {
			return ""
		}
		return value.Reveal()
	})
}

type decision = func(*core.Connections, core.Now) (core.Decision[core.ConnectionChanged], error)

// change has the owner decide as prepare says, which also tells the size of the input, and removes
// the key that no connection uses any more. kept is the key that prepare has kept: it goes again if
// nothing comes of the command. nil: it keeps none.
func (m *Manager) change(ctx context.Context, op string, kept *core.ConnectionKey, prepare func() (int, decision, error)) (hub.Outcome[hub.Connection], error) {
	act := gate.Act{Op: op, Agent: hub.AgentOperator}
	out, replayed, err := gate.Do(ctx, m.gate, &act, engine.JSONCodec[core.ConnectionChanged](engine.EffectConnection), func() (engine.Command[*core.Connections, core.ConnectionChanged, core.ConnectionChanged], error) {
		size, decide, err := prepare()
		return engine.Command[*core.Connections, core.ConnectionChanged, core.ConnectionChanged]{
			Owner: core.ConnectionsOwner(), Size: size, Decide: decide,
			Answer: func(c core.ConnectionChanged, _ *core.Record) core.ConnectionChanged { return c },
		}, err
	})
	switch {
	case err != nil && kept != nil:
		m.drop(context.WithoutCancel(ctx), kept.Ref)
	case err == nil && !replayed:
		m.drop(context.WithoutCancel(ctx), out.Dropped)
	}
	return hub.Outcome[hub.Connection]{Row: out.Row, Replayed: replayed}, err
}

// CreateConnection makes a connection; see hub.Connections.
func (m *Manager) CreateConnection(ctx context.Context, in hub.ConnectionInput) (hub.Outcome[hub.Connection], error) {
	var key core.ConnectionKey
	out, err := m.change(ctx, "createConnection", &key, func() (int, decision, error) {
		to, err := m.resolve(ctx, hub.ProviderTarget{ProviderID: in.ProviderID, Region: in.Region, Endpoint: in.Endpoint, Params: in.Params})
		if err == nil {
			key, err = m.take(ctx, &to, hub.ConnectionKeyInput{Key: in.Key, KeyVariable: in.KeyVariable, EnvCredential: in.EnvCredential, NoKey: in.NoKey})
		}
		row := hub.Connection{Label: in.Label, ProviderID: to.ProviderID, Region: to.Region, Endpoint: to.Endpoint, Params: to.Params}
		return len(in.Label) + len(in.Endpoint), func(c *core.Connections, now core.Now) (core.Decision[core.ConnectionChanged], error) {
			return c.Create(row, key, now)
		}, err
	})
	out.Created = true
	return out, err
}

// UpdateConnection changes a connection; see hub.Connections.
func (m *Manager) UpdateConnection(ctx context.Context, ref string, in hub.ConnectionUpdate) (hub.Outcome[hub.Connection], error) {
	return m.change(ctx, "updateConnection", nil, func() (int, decision, error) {
		row, err := m.find(ctx, ref)
		if err != nil {
			return 0, nil, err
		}
		to := hub.ProviderTarget{ProviderID: row.ProviderID, Region: row.Region, Params: row.Params}
		if row.ProviderID == hub.ProviderCustom {
			to.Endpoint = row.Endpoint
		}
		if in.Region != nil {
			to.Region = *in.Region
		}
		if in.Endpoint != nil {
			to.Endpoint = *in.Endpoint
		}
		to, err = m.resolve(ctx, to)
		move := core.ConnectionMove{Label: in.Label, Region: to.Region, Endpoint: to.Endpoint, Origin: to.Origin()}
		return len(to.Endpoint), func(c *core.Connections, now core.Now) (core.Decision[core.ConnectionChanged], error) {
			return c.Update(row.ConnectionID, move, now)
		}, err
	})
}

// SetConnectionKey gives a key anew; see hub.Connections.
func (m *Manager) SetConnectionKey(ctx context.Context, ref string, in hub.ConnectionKeyInput) (hub.Outcome[hub.Connection], error) {
	var key core.ConnectionKey
	return m.change(ctx, "setConnectionKey", &key, func() (int, decision, error) {
		row, err := m.find(ctx, ref)
		if err != nil {
			return 0, nil, err
		}
		to, err := m.target(ctx, &row)
		if err == nil {
			key, err = m.take(ctx, &to, in)
		}
		return 0, func(c *core.Connections, now core.Now) (core.Decision[core.ConnectionChanged], error) {
			return c.SetKey(&row, key, now)
		}, err
	})
}

// DeleteConnection removes a connection; see hub.Connections. A key that cannot be removed
// because the store is locked keeps its connection, so that it is not forgotten.
func (m *Manager) DeleteConnection(ctx context.Context, ref string) (hub.Outcome[hub.Connection], error) {
	return m.change(ctx, "deleteConnection", nil, func() (int, decision, error) {
		row, err := m.find(ctx, ref)
		if err == nil {
			err = m.remove(ctx, row.KeyRef)
		}
		return 0, func(c *core.Connections, _ core.Now) (core.Decision[core.ConnectionChanged], error) {
			return c.Delete(row.ConnectionID)
		}, err
	})
}

// ConnectionModels returns the models that are kept; see hub.Connections.
func (m *Manager) ConnectionModels(ctx context.Context, ref string) (hub.ConnectionModels, error) {
	row, err := m.find(ctx, ref)
	if err != nil {
		return hub.ConnectionModels{}, err
	}
	out := hub.ConnectionModels{ConnectionID: row.ConnectionID, Label: row.Label, ProviderID: row.ProviderID, FetchedAt: row.ModelsAt, Models: []hub.ProviderModel{}}
	value, err := m.rows.Row(core.TableConnectionModel, core.ConnectionRowKey(row.ConnectionID))
	switch {
	case err != nil && !errors.Is(err, core.ErrNotFound):
		return out, err
	case err == nil && len(value) > 0:
		if json.Unmarshal(value, &out.Models) != nil {
			return out, hub.NewError(hub.CodeCorruptRecord, "the stored models of a connection cannot be read")
		}
	}
	if row.ModelsAt != nil {
		out.AgeSec = max(0, int64(m.engine.Clock.Now().Wall-*row.ModelsAt)/1000)
	}
	if m.directory != nil {
		for _, p := range m.directory.Presets() {
			out.Static = out.Static || p.ProviderID == row.ProviderID && !p.Catalog
		}
	}
	return out, nil
}

// fingerprint tells keys apart. It is short and salted with a secret of the store.
func (m *Manager) fingerprint(key hub.Secret) string {
	if key.Empty() {
		return ""
	}
	return hex.EncodeToString(m.mac("connection-key", key.Reveal())[:4])
}

func (m *Manager) mac(purpose, of string) []byte {
	h := hmac.New(sha256.New, m.secret)
	h.Write([]byte(purpose + "\x00" + of))
	return h.Sum(nil)
}

// newName returns a name in the credential store that nothing has yet and that tells whose
// it is.
func (m *Manager) newName() string { return m.own() + rand.Text()[:16] }

// own begins the names of this store's secrets.
func (m *Manager) own() string {
	return refOS + hex.EncodeToString(m.mac("credential-names", "")[:6]) + "/"
}
