package lists

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
)

// Options are the parts of the hub that lists use. All are required.
type Options struct {
	View   *view.View
	Engine *engine.Engine
	Rows   core.Rows
	// MAC proves that a cursor was made with the same key.
	MAC func(text string) []byte
	// Find asks the index of the search.
	Find func(context.Context, core.IndexQuery) ([]core.IndexHit, error)
}

// Lists answers the reads that have pages, and the reads of one row of theirs.
type Lists struct {
	view    *view.View
	engine  *engine.Engine
	rows    core.Rows
	cursors cursors
	find    func(context.Context, core.IndexQuery) ([]core.IndexHit, error)
}

// New returns the lists of a hub. Its engine need not run yet.
func New(o Options) *Lists {
	return &Lists{view: o.View, engine: o.Engine, rows: o.Rows, cursors: cursors{o.MAC}, find: o.Find}
}
