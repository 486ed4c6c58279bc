package crash

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"

	"hubcli/stress/target"
	"hubcli/stress/wire"
)

// Work is a store that agents fill, and all that the hub has told them.
type Work struct{ run *run }

// NewWork begins with an empty store in the folder dir.
func NewWork(o Options, exe target.Executable, dir string) *Work {
	return &Work{run: newRun(o, exe, dir)}
}

// Store is the folder of the store.
func (w *Work) Store() string { return w.run.store }

// Fill lets the agents work until so many of their writes are answered, then kills the
// hub.
func (w *Work) Fill(ctx context.Context, answers int64) error { return w.run.cycle(ctx, answers) }

// Stop lets the agents settle what is open, and stops the hub in order.
func (w *Work) Stop(ctx context.Context) error { return w.run.last(ctx) }

// Verify compares a hub with all that agents were told. The error has the answer of a
// call that failed.
func (w *Work) Verify(ctx context.Context, addr string) error { return w.run.verify(ctx, addr, true) }

// Bodies are the messages of the channel that all agents post to, by id.
func (w *Work) Bodies() map[int64]string { return maps.Clone(w.run.ledger.bodies) }

// Feed reads the messages of that channel from a hub, by id.
func (w *Work) Feed(ctx context.Context, addr string) (map[int64]string, error) {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	l := newLedger()
	if err := l.readFeed(c, addr); err != nil {
		return nil, err
	}
	there := make(map[int64]string, len(l.feed))
	for _, r := range l.feed {
		there[r.ID] = r.Body
	}
	return there, nil
}

func newRun(o Options, exe target.Executable, dir string) *run {
	r := &run{Options: o, exe: exe, store: filepath.Join(dir, "hub"), ledger: newLedger()}
	for i := range o.Agents {
		r.agents = append(r.agents, newAgent(i, o.Agents))
	}
	for i := range o.Keepers {
		r.keepers = append(r.keepers, &keeper{name: fmt.Sprintf("keeper-%03d", i)})
	}
	for i := range o.Pollers {
		r.pollers = append(r.pollers, &poller{name: fmt.Sprintf("poller-%03d", i)})
	}
	return r
}
