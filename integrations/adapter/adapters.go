package adapter

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"hubcli/hub"
	"hubcli/integrations/adapter/files"
)

// Config tells Adapters of the hub and the machine. World, Self and Hub are
// required.
type Config struct {
	World World
	// Self is the path of the running executable.
	Self func() (string, error)
	// LookPath finds an executable on the hub's own PATH.
	LookPath func(string) (string, error)
	// BaseURL is the hub's address, or empty for the default. DataRoot and
	// Storage are the hub's folders, or empty for the defaults.
	BaseURL  string
	DataRoot string
	Storage  string
	Version  string // of the program
	// Tools are the names of the bridge's tools, for allow lists that name each of
	// them. Without any, a harness with such a list gets none.
	Tools  []string
	Hub    Hub
	Logger *slog.Logger
	Now    func() time.Time
}

// Adapters sets the hub up in harnesses. It implements hub.Adapters.
type Adapters struct {
	config Config

	opening sync.Mutex
	store   *files.Store // nil: not opened yet

	changing sync.RWMutex // locked to plan and apply; read-locked by a status, which shows the state before or after

	mu       sync.Mutex
	verified map[hub.Harness]*hub.AdapterVerification
	under    map[string]map[*time.Time]bool // running calls of outside, by name

	patience time.Duration // bound of every time limit; shorter in tests
}

var _ hub.Adapters = (*Adapters)(nil)

// New returns the adapters of a machine. It reads and writes no file.
func New(c Config) *Adapters {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Adapters{
		config: c, verified: map[hub.Harness]*hub.AdapterVerification{}, under: map[string]map[*time.Time]bool{},
		patience: time.Hour,
	}
}

// today returns the entry that an install would write now.
func (a *Adapters) today() (Entry, error) {
	self, err := a.config.Self()
	if err == nil {
		self, err = Executable(self, a.config.LookPath)
	}
	return Entry{
		Command: self, BaseURL: a.config.BaseURL, DataRoot: a.config.DataRoot, Storage: a.config.Storage, GOOS: a.config.World.GOOS,
	}, err
}

// Adapters lists all harnesses.
func (a *Adapters) Adapters(ctx context.Context, q hub.AdapterQuery) ([]hub.Adapter, error) {
	list := make([]hub.Adapter, 0, len(rows()))
	for i := range rows() {
		row, err := a.adapter(ctx, &rows()[i], q)
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, nil
}

// Adapter returns one.
func (a *Adapters) Adapter(ctx context.Context, harness hub.Harness, q hub.AdapterQuery) (hub.Adapter, error) {
	r, err := find(harness)
	if err != nil {
		return hub.Adapter{}, err
	}
	return a.adapter(ctx, r, q)
}

func find(harness hub.Harness) (*row, error) {
	if r, ok := rowOf(harness); ok {
		return r, nil
	}
	return nil, hub.NewError(hub.CodeAdapterNotFound, "there is no adapter for a harness of that name")
}

// adapter looks at one harness. A file system that does not answer is shown as
// a state.
func (a *Adapters) adapter(ctx context.Context, r *row, q hub.AdapterQuery) (hub.Adapter, error) {
	if err := ctx.Err(); err != nil {
		return hub.Adapter{}, err
	}
	seen, err := outside(ctx, a, "look "+string(r.harness), lookLimit, func(ctx context.Context) (hub.Adapter, error) {
		return a.seen(ctx, r, q), nil
	})
	if err != nil {
		seen = hub.Adapter{Places: []hub.AdapterPlace{}}
		for _, owner := range a.owners(ctx, r) {
			seen.Places = append(seen.Places, unreadable(r, owner, err.Error()))
		}
	}
	seen.Harness, seen.Title, seen.Scopes, seen.Verified = r.harness, r.title(), r.scopes(), a.verification(r.harness)
	if seen.DetectedBy == nil {
		seen.DetectedBy = []string{}
	}
	return seen, nil
}

// seen returns the state of a harness as its files show it.
func (a *Adapters) seen(ctx context.Context, r *row, q hub.AdapterQuery) hub.Adapter {
	found := a.detect(ctx, r, q.SearchPath)
	row := hub.Adapter{Detected: len(found) > 0, DetectedBy: found, Places: []hub.AdapterPlace{}}
	defer a.lookLock(ctx)()
	for _, owner := range a.owners(ctx, r) {
		row.Places = append(row.Places, a.look(ctx, r, owner))
	}
	return row
}

// owners are the global scope and the projects in which something is installed.
func (a *Adapters) owners(ctx context.Context, r *row) []files.Owner {
	var list []files.Owner
	if r.global != nil {
		list = append(list, files.Owner{Harness: r.harness, Scope: files.Global})
	}
	installed, err := a.installed(ctx)
	if err != nil {
		return list // the state of each place says why
	}
	for _, o := range installed {
		if o.Harness == r.harness && o.Scope == files.Project {
			list = append(list, o)
		}
	}
	return list
}

// Installed lists where something is installed according to the ledger, without
// a look at the files.
func (a *Adapters) Installed() []string {
	owners, err := a.installed(context.Background())
	if err != nil {
		return []string{"unknown: the ledger of adapters cannot be read"}
	}
	list := make([]string, 0, len(owners))
	for _, o := range owners {
		name := string(o.Harness)
		if o.Path != "" {
			name += " in " + o.Path
		}
		list = append(list, name)
	}
	return list
}
