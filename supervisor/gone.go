package supervisor

import (
	"context"
	"errors"
	"time"

	"hubcli/hub"
)

// storeGone returns the error of a store whose folder is not at its path any more, or nil.
// Everything that writes into that folder asks first: another store may stand there now.
func (t *Tree) storeGone() error {
	if err := t.Store.Check(); errors.Is(err, &hub.Error{Code: hub.CodeStoreGone}) {
		return err
	}
	return nil
}

// goneTold is how long a hub whose store is gone goes on to say so. Calls under way, and
// the next look of a person, get the reason then, and not a connection that breaks off.
const goneTold = 3 * time.Second

// tellGone waits until callers were told why the hub ends, or until it is asked to stop.
func (t *Tree) tellGone(ctx context.Context, why error) error {
	t.log.Error("the hub ends: its store is gone", "reason", why)
	select {
	case <-ctx.Done():
	case <-t.shutdown.due:
	case <-time.After(goneTold):
	}
	return why
}
