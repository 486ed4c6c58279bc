package client

import (
	"context"

	"hubcli/hub"
)

// Providers lists the presets of hosted providers.
func (c *Client) Providers(ctx context.Context) ([]hub.Provider, error) {
	return get[[]hub.Provider](ctx, c, to("listProviders"), nil)
}

// Connections lists the connections. It carries the operator token, as all calls about
// connections do.
func (c *Client) Connections(ctx context.Context) ([]hub.Connection, error) {
	return get[[]hub.Connection](ctx, c, to("listConnections"), nil)
}

// CreateConnection makes a connection.
func (c *Client) CreateConnection(ctx context.Context, in hub.ConnectionInput) (hub.Outcome[hub.Connection], error) {
	return write[hub.Connection](ctx, c, to("createConnection"), in)
}

// UpdateConnection changes a connection.
func (c *Client) UpdateConnection(ctx context.Context, ref string, in hub.ConnectionUpdate) (hub.Outcome[hub.Connection], error) {
	return write[hub.Connection](ctx, c, at("updateConnection", ref), in)
}

// SetConnectionKey gives the key of a connection anew.
func (c *Client) SetConnectionKey(ctx context.Context, ref string, in hub.ConnectionKeyInput) (hub.Outcome[hub.Connection], error) {
	return write[hub.Connection](ctx, c, at("setConnectionKey", ref), in)
}

// VerifyConnection has the hub ask the provider, and returns the connection with what that
// has shown.
func (c *Client) VerifyConnection(ctx context.Context, ref string) (hub.Outcome[hub.Connection], error) {
	return write[hub.Connection](ctx, c, at("verifyConnection", ref), nil)
}

// ConnectionModels returns the models that the provider told last.
func (c *Client) ConnectionModels(ctx context.Context, ref string) (hub.ConnectionModels, error) {
	return get[hub.ConnectionModels](ctx, c, at("getConnectionModels", ref), nil)
}

// DeleteConnection removes a connection and its key.
func (c *Client) DeleteConnection(ctx context.Context, ref string) (hub.Outcome[hub.Connection], error) {
	return write[hub.Connection](ctx, c, at("deleteConnection", ref), nil)
}
