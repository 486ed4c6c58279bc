package actors

import (
	"context"

	"hubcli/hub"
)

// PermissionPolicy returns what becomes of permission prompts; see hub.Permissions.
func (h *Hub) PermissionPolicy(context.Context) (hub.PermissionPolicy, error) {
	return h.asks.Policy()
}

// SetPermissionPolicy replaces it; see hub.Permissions.
func (h *Hub) SetPermissionPolicy(ctx context.Context, in hub.PermissionPolicyInput) (hub.Outcome[hub.PermissionPolicy], error) {
	return h.asks.SetPolicy(ctx, in)
}

// RequestPermission decides about a permission prompt; see hub.Permissions.
func (h *Hub) RequestPermission(ctx context.Context, in hub.PermissionInput) (hub.Permission, error) {
	return h.asks.Request(ctx, in)
}

// AwaitPermission waits for the operator's answer; see hub.Permissions.
func (h *Hub) AwaitPermission(ctx context.Context, id hub.AskID, in hub.PermissionWaitInput) (hub.Permission, error) {
	return h.asks.Await(ctx, id, in)
}
