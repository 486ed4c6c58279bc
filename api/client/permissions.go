package client

import (
	"context"
	"time"

	"hubcli/hub"
)

// PermissionPolicy returns what becomes of permission prompts. It carries the operator token.
func (c *Client) PermissionPolicy(ctx context.Context) (hub.PermissionPolicy, error) {
	return get[hub.PermissionPolicy](ctx, c, to("getPermissions"), nil)
}

// SetPermissionPolicy replaces it. It carries the operator token.
func (c *Client) SetPermissionPolicy(ctx context.Context, in hub.PermissionPolicyInput) (hub.Outcome[hub.PermissionPolicy], error) {
	return write[hub.PermissionPolicy](ctx, c, to("setPermissions"), in)
}

// RequestPermission asks whether a tool may run.
func (c *Client) RequestPermission(ctx context.Context, in hub.PermissionInput) (hub.Permission, error) {
	return change[hub.Permission](ctx, c, to("requestPermission"), in)
}

// AwaitPermission waits for the operator's answer, for in.WaitSec.
func (c *Client) AwaitPermission(ctx context.Context, id hub.AskID, in hub.PermissionWaitInput) (hub.Permission, error) {
	wait := time.Duration(min(max(in.WaitSec, 0), hub.MaxPermissionWaitSec) * float64(time.Second))
	row, _, err := result[hub.Permission](ctx, c, call{target: at("awaitPermission", id), body: in, wait: wait})
	return row, err
}
