package supervisor

import (
	"context"
	"io"

	"hubcli/hub"
)

// Backup writes what the store holds. It ends early when the hub stops, because
// the store waits for it. Only one backup is made at a time: each holds back what
// the database could forget.
func (t *Tree) Backup(ctx context.Context, w io.Writer) error {
	if !t.backups.TryLock() {
		return hub.NewError(hub.CodeLimitReached, "another backup of the hub is being made").
			With("limit", 1).WithFix("repeat the call when it has ended")
	}
	defer t.backups.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-t.Hub.Ending():
			cancel()
		case <-ctx.Done():
		}
	}()
	return t.Store.Backup(ctx, w)
}
