package supervisor

import (
	"log/slog"

	"hubcli/actors"
	"hubcli/hub"
	"hubcli/persistence"
)

// Parts are what exports and imports of projects need of a hub.
type Parts struct {
	Store   *persistence.Store
	Hub     *actors.Hub
	Version string // of the program
	Log     *slog.Logger
	Gone    func() error // says that the store's folder is gone; nil: it is there
}

// Capsules export and import projects. The zero value is that of a hub that does neither.
type Capsules struct {
	Exports hub.Capsules
	Imports hub.CapsuleImports
	Close   func() // ends all plans under way
}

func (t *Tree) newCapsules() {
	if t.config.Capsules != nil {
		t.capsules = t.config.Capsules(Parts{Store: t.Store, Hub: t.Hub, Version: t.config.Version, Log: t.log, Gone: t.storeGone})
	}
}

func (c *Capsules) close() {
	if c.Close != nil {
		c.Close()
	}
}

// Capsules returns the parts that plan exports and imports of projects.
func (t *Tree) Capsules() Capsules { return t.capsules }
