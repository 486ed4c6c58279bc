package httpapi

import (
	"slices"
	"strings"

	"hubcli/api"
	"hubcli/hub"
)

func inviteHandlers() handlers {
	return handlers{
		"listInvites":   listInvites,
		"createInvite":  createInvite,
		"previewInvite": previewInvite,
		"acceptInvite":  acceptInvite,
		"revokeInvite":  revokeInvite,
	}
}

func createInvite(c *call) (reply, error) {
	var in hub.InviteInput
	return writeRow(c, &in, &in.By, api.ValidateInvite, c.service().CreateInvite, added)
}

var inviteStates = []hub.InviteState{hub.InviteActive, hub.InviteExhausted, hub.InviteExpired, hub.InviteRevoked}

func listInvites(c *call) (reply, error) {
	query := c.query()
	q := hub.InvitesQuery{
		Project: query.Name("project", hub.MaxNameChars), Room: query.Name("room", hub.MaxNameChars),
		State: hub.InviteState(query.Text("state")), Before: hub.InviteID(query.Text("before")),
	}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	if q.State != "" && !slices.Contains(inviteStates, q.State) {
		query.Keep(hub.Invalid("state", "there is no such state of an invite").With("states", inviteStates).
			WithFix("use active, exhausted, expired or revoked"))
	}
	c.view(query)
	return readList(c, query, q, c.service().Invites)
}

func previewInvite(c *call) (reply, error) {
	return oneRow(guess(c, hub.CodeInviteNotFound, func() (hub.InvitePreview, error) {
		return c.service().PreviewInvite(c.context(), c.param)
	}))
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
	out, err := guess(c, hub.CodeInviteNotFound, func() (hub.Outcome[hub.Joined], error) {
		return c.service().AcceptInvite(c.context(), c.param, in)
	})
	c.agent = out.Row.Seat.AgentID
	return added(out), err
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
		return c.service().RevokeInvite(c.context(), named)
	}
	if strings.Contains(named, "_") {
		out, err := revoke()
		return changed(out), err
	}
	out, err := guess(c, hub.CodeInviteNotFound, revoke)
	return changed(out), err
}
