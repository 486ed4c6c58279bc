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
	return h.changeUser(ctx, user, func(s *core.Settings, now core.Now) (core.Decision[hub.AllowedUser], error) {
		return s.AllowUser(user, now)
	})
}

// RefuseUser takes that back; see hub.Users.
func (h *Hub) RefuseUser(ctx context.Context, user hub.LocalUser) (hub.Outcome[hub.AllowedUser], error) {
	return h.changeUser(ctx, user, func(s *core.Settings, _ core.Now) (core.Decision[hub.AllowedUser], error) {
		return s.RefuseUser(user)
	})
}

// UserAllowed reports whether the operator has let the user of this ID in.
func (h *Hub) UserAllowed(id string) bool { return h.view.UserAllowed(id) }

func (h *Hub) changeUser(ctx context.Context, user hub.LocalUser, decide func(*core.Settings, core.Now) (core.Decision[hub.AllowedUser], error)) (hub.Outcome[hub.AllowedUser], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Settings, hub.AllowedUser, hub.AllowedUser]{
		Owner: core.SettingsOwner(), Agent: hub.AgentOperator, Size: len(user.Name), Decide: decide,
		Answer: func(row hub.AllowedUser, _ *core.Record) hub.AllowedUser { return row },
		Codec:  engine.JSONCodec[hub.AllowedUser](engine.EffectUser),
	})
	return hub.Outcome[hub.AllowedUser]{Row: row, Replayed: replayed}, err
}
