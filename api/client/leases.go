package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"hubcli/hub"
)

// Claim asks for a lease, waiting its turn for in.WaitSec.
func (c *Client) Claim(ctx context.Context, in hub.ClaimInput) (hub.Grant[hub.Claim], error) {
	return grant[hub.Claim](ctx, c, to("claim"), in, in.WaitSec)
}

// RefreshClaim renews a lease.
func (c *Client) RefreshClaim(ctx context.Context, in hub.ClaimHoldInput) (hub.Grant[hub.Claim], error) {
	return grant[hub.Claim](ctx, c, to("refreshClaim"), in, 0)
}

// Claims lists claims.
func (c *Client) Claims(ctx context.Context, q hub.LeasesQuery) ([]hub.Claim, hub.Cursor, error) {
	return list[hub.Claim](ctx, c, to("listClaims"), c.leaseParams(q, "claim_key", q.Key, "thread_id", q.ThreadID), q.Cursor, q.Limit)
}

// Lock asks for a file lock, waiting its turn for in.WaitSec.
func (c *Client) Lock(ctx context.Context, in hub.LockInput) (hub.Grant[hub.Lock], error) {
	return grant[hub.Lock](ctx, c, to("lock"), in, in.WaitSec)
}

// RefreshLock renews a file lock.
func (c *Client) RefreshLock(ctx context.Context, in hub.LockHoldInput) (hub.Grant[hub.Lock], error) {
	return grant[hub.Lock](ctx, c, to("refreshLock"), in, 0)
}

// Locks lists file locks.
func (c *Client) Locks(ctx context.Context, q hub.LeasesQuery) ([]hub.Lock, hub.Cursor, error) {
	return list[hub.Lock](ctx, c, to("listLocks"), c.leaseParams(q, "file_path", q.Key, "covering", q.Covering), q.Cursor, q.Limit)
}

func (c *Client) leaseParams(q hub.LeasesQuery, more ...any) url.Values {
	return params(append(more, "prefix", q.Prefix, "owner_agent_id", q.Owner, "room_id", q.RoomID,
		"active_only", q.ActiveOnly, "agent_id", c.viewer(q.Viewer))...)
}

// grant sends a request for a lease, which the hub may park for waitSec.
func grant[T any](ctx context.Context, c *Client, to target, in any, waitSec float64) (hub.Grant[T], error) {
	wait := time.Duration(min(max(waitSec, 0), hub.MaxWaitSec) * float64(time.Second))
	row, got, err := result[T](ctx, c, call{target: to, body: in, wait: wait})
	if err != nil {
		return hub.Grant[T]{}, err
	}
	return hub.Grant[T]{
		Row: row, Acquired: got.Acquired != nil && *got.Acquired, Created: got.status == http.StatusCreated, Replayed: got.replayed, Circle: got.Circle,
	}, nil
}
