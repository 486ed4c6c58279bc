package client

import (
	"context"

	"hubcli/hub"
)

// Invites lists invites without codes, latest first.
func (c *Client) Invites(ctx context.Context, q hub.InvitesQuery) ([]hub.Invite, hub.Cursor, error) {
	return list[hub.Invite](ctx, c, to("listInvites"), params("project", q.Project, "room", q.Room, "state", q.State,
		"before", q.Before, "agent_id", c.viewer("")), q.Cursor, q.Limit)
}

// PreviewInvite shows the room that a code leads to.
func (c *Client) PreviewInvite(ctx context.Context, code string) (hub.InvitePreview, error) {
	if !segment(code) {
		return hub.InvitePreview{}, errNoInvite()
	}
	return get[hub.InvitePreview](ctx, c, at("previewInvite", code), nil)
}

// RevokeInvite ends an invite, named by code or id.
func (c *Client) RevokeInvite(ctx context.Context, codeOrID string) (hub.Outcome[hub.Invite], error) {
	if !segment(codeOrID) {
		return hub.Outcome[hub.Invite]{}, errNoInvite()
	}
	return write[hub.Invite](ctx, c, at("revokeInvite", codeOrID), struct{}{})
}

// AcceptInvite joins a room.
func (c *Client) AcceptInvite(ctx context.Context, code string, in hub.AcceptInput) (hub.Outcome[hub.Joined], error) {
	if !segment(code) {
		return hub.Outcome[hub.Joined]{}, errNoInvite()
	}
	return write[hub.Joined](ctx, c, at("acceptInvite", code), in)
}

func errNoInvite() error {
	return hub.NewError(hub.CodeInviteNotFound, "this is no code of an invite").
		WithFix("a code is eight letters and digits, such as 7KQ2-M9XD")
}
