package client

import (
	"cmp"
	"context"

	"hubcli/hub"
)

// LocalUsers says whose calls the hub takes on its own machine, and whom it has refused. It
// carries the operator token.
func (c *Client) LocalUsers(ctx context.Context) (hub.LocalUsers, error) {
	return get[hub.LocalUsers](ctx, c, to("listUsers"), nil)
}

// AllowedUsers lists whom the operator has let in. It carries the operator token.
func (c *Client) AllowedUsers(ctx context.Context) ([]hub.AllowedUser, error) {
	all, err := c.LocalUsers(ctx)
	return all.Allowed, err
}

// AllowUser lets the user of this ID or, without one, of this name in. It carries the operator
// token. Errors: user_not_found.
func (c *Client) AllowUser(ctx context.Context, user hub.LocalUser) (hub.Outcome[hub.AllowedUser], error) {
	return write[hub.AllowedUser](ctx, c, to("allowUser"), hub.UserInput{User: cmp.Or(user.ID, user.Name)})
}

// RefuseUser takes that back, and ends what the user has open. It carries the operator token.
// Errors: user_not_found, user_not_allowed.
func (c *Client) RefuseUser(ctx context.Context, user hub.LocalUser) (hub.Outcome[hub.AllowedUser], error) {
	return write[hub.AllowedUser](ctx, c, to("refuseUser"), hub.UserInput{User: cmp.Or(user.ID, user.Name)})
}
