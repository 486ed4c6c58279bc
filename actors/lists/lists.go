package lists

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Options are the parts of the hub that lists use. All are required.
type Options struct {
	View   *view.View
	Engine *engine.Engine
	Rows   core.Rows
	// MAC proves that a cursor was made with the same key.
	MAC func(text string) []byte
	// Watching returns the label and the conditions of an agent's watches; false if it
	// has none.
	Watching func(hub.AgentID) (label string, conditions []string, parked bool)
	// Undelivered returns the mail of an agent that nobody is expected to read, or nil.
	Undelivered func(hub.AgentID) (*hub.Undelivered, error)
	// Find asks the index of the search.
	Find func(context.Context, core.IndexQuery) ([]core.IndexHit, error)
}

// Lists answers the reads that have pages, and the reads of one row of theirs.
type Lists struct {
	view    *view.View
	engine  *engine.Engine
	rows    core.Rows
	cursors cursors

	watching    func(hub.AgentID) (string, []string, bool)
	undelivered func(hub.AgentID) (*hub.Undelivered, error)
	find        func(context.Context, core.IndexQuery) ([]core.IndexHit, error)
}

// New returns the lists of a hub. Its engine need not run yet.
func New(o Options) *Lists {
	return &Lists{view: o.View, engine: o.Engine, rows: o.Rows, cursors: cursors{o.MAC}, watching: o.Watching, undelivered: o.Undelivered, find: o.Find}
}
