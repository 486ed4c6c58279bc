package httpapi

import (
	"slices"
	"strings"

	"hubcli/api"
	"hubcli/hub"
)

var inviteHandlers = handlers{
	"listInvites":   listInvites,
	"createInvite":  createInvite,
	"previewInvite": previewInvite,
	"acceptInvite":  acceptInvite,
	"revokeInvite":  revokeInvite,
}

func createInvite(c *call) (reply, error) {
	var in hub.InviteInput
	if err := c.input(&in, &in.By, func() error { return api.ValidateInvite(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.CreateInvite(c.context(), in)
	return created(out, true), err
}

var inviteStates = []hub.InviteState{hub.InviteActive, hub.InviteExhausted, hub.InviteExpired, hub.InviteRevoked}

func listInvites(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	q := hub.InvitesQuery{
		Project: query.Name("project", hub.MaxNameChars), Room: query.Name("room", hub.MaxNameChars),
		State: hub.InviteState(query.Text("state")), Before: hub.InviteID(query.Text("before")),
	}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	if q.State != "" && !slices.Contains(inviteStates, q.State) {
		query.Keep(hub.Invalid("state", "there is no such state of an invite").With("states", inviteStates).
			WithFix("use active, exhausted, expired or revoked"))
	}
	if _, err := c.view(query); err != nil {
		return reply{}, err
	}
	return listed(c.server.config.Service.Invites(c.context(), q))
}

func previewInvite(c *call) (reply, error) {
	row, err := guess(c, func() (hub.InvitePreview, error) {
		return c.server.config.Service.PreviewInvite(c.context(), c.param)
	})
	return reply{result: row}, err
}

// acceptInvite is no sign of life of the agent that it names: an idle session
// would become live again, and then the name would be taken.
func acceptInvite(c *call) (reply, error) {
	var in hub.AcceptInput
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	c.name(&in.AgentID)
	if err := api.ValidateAccept(&in); err != nil {
		return reply{}, err
	}
	if err := c.mayActAs(in.AgentID); err != nil {
		return reply{}, err
	}
	out, err := guess(c, func() (hub.Outcome[hub.Joined], error) {
		return c.server.config.Service.AcceptInvite(c.context(), c.param, in)
	})
	c.agent = out.Row.Seat.AgentID
	return created(out, true), err
}

// revokeInvite accepts a code or an id. Ids are not secret, so wrong ids cost
// nothing.
func revokeInvite(c *call) (reply, error) {
	var in struct{}
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := c.actAs(c.own()); err != nil {
		return reply{}, err
	}
	named := c.param
	revoke := func() (hub.Outcome[hub.Invite], error) {
		return c.server.config.Service.RevokeInvite(c.context(), named)
	}
	if strings.Contains(named, "_") {
		out, err := revoke()
		return created(out, false), err
	}
	out, err := guess(c, revoke)
	return created(out, false), err
}
