package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func userHandlers() handlers {
	return handlers{
		"listUsers":  listUsers,
		"allowUser":  allowUser,
		"refuseUser": refuseUser,
	}
}

// LocalUsers says whose calls the hub takes on its own machine, and whom it has refused.
func (s *Server) LocalUsers(allowed []hub.AllowedUser) hub.LocalUsers {
	out := s.config.Peers.Status()
	out.Allowed, out.Refused = allowed, s.refused.list()
	return out
}

func listUsers(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	allowed, err := c.service().AllowedUsers(c.context())
	return reply{result: c.server.LocalUsers(allowed)}, err
}

// account reads the body and finds the account that it names.
func (c *call) account() (hub.LocalUser, error) {
	var in hub.UserInput
	if err := c.decode(&in); err != nil {
		return hub.LocalUser{}, err
	}
	if err := api.ValidateUser(&in); err != nil {
		return hub.LocalUser{}, err
	}
	user, trusted, found := c.server.config.Peers.Find(in.User)
	switch {
	case !found:
		return user, hub.NewError(hub.CodeUserNotFound, "this machine knows no such user").With("field", "user")
	case trusted:
		return user, hub.Errorf(hub.CodeInvalid, "the calls of %s are taken in any case", user.Name).With("field", "user").
			WithFix("name another user of the machine")
	}
	return user, nil
}

// allowUser needs the operator's own token: a user that a pass let in would stay when the pass has ended.
func allowUser(c *call) (reply, error) {
	if err := c.needsSecret("let users of the machine in"); err != nil {
		return reply{}, err
	}
	user, err := c.account()
	if err != nil {
		return reply{}, err
	}
	out, err := c.service().AllowUser(c.context(), user)
	return changed(out), err
}

// refuseUser ends what a user has open, too. One whom the machine has forgotten is named by the
// name under which it was let in.
func refuseUser(c *call) (reply, error) {
	var in hub.UserInput
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := api.ValidateUser(&in); err != nil {
		return reply{}, err
	}
	allowed, err := c.service().AllowedUsers(c.context())
	if err != nil {
		return reply{}, err
	}
	user, _, found := c.server.config.Peers.Find(in.User)
	for _, row := range allowed {
		if row.ID == in.User || row.Name == in.User && !(found && c.server.config.Sessions.UserAllowed(user.ID)) {
			user, found = row.LocalUser, true
		}
	}
	if !found {
		return reply{}, hub.NewError(hub.CodeUserNotFound, "this machine knows no such user").With("field", "user")
	}
	out, err := c.service().RefuseUser(c.context(), user)
	if err == nil {
		c.server.conns.closeOf(user.ID)
	}
	return changed(out), err
}
