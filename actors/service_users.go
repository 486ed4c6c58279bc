package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// AllowedUsers lists whom the operator has let in; see hub.Users.
func (h *Hub) AllowedUsers(context.Context) ([]hub.AllowedUser, error) { return h.view.Users(), nil }

// Users lists them for the status.
func (h *Hub) Users() []hub.AllowedUser { return h.view.Users() }

// AllowUser lets a user in; see hub.Users.
func (h *Hub) AllowUser(ctx context.Context, user hub.LocalUser) (hub.Outcome[hub.AllowedUser], error) {
	return changeSettings(ctx, h, "allowUser", engine.EffectUser, len(user.Name), func(s *core.Settings, now core.Now) (core.Decision[hub.AllowedUser], error) {
		return s.AllowUser(user, now)
	})
}

// RefuseUser takes that back; see hub.Users.
func (h *Hub) RefuseUser(ctx context.Context, user hub.LocalUser) (hub.Outcome[hub.AllowedUser], error) {
	return changeSettings(ctx, h, "refuseUser", engine.EffectUser, len(user.Name), func(s *core.Settings, _ core.Now) (core.Decision[hub.AllowedUser], error) {
		return s.RefuseUser(user)
	})
}

// UserAllowed reports whether the operator has let the user of this ID in.
func (h *Hub) UserAllowed(id string) bool { return h.view.UserAllowed(id) }
