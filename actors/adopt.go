package actors

import (
	"context"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// adoptPatience bounds what one owner may take to give up what its maker has set.
const adoptPatience = time.Minute

// disowner is the state of an owner that holds something which its maker has set.
type disowner interface {
	core.Machine
	Disowned() core.Draft
}

// adopt takes a store of others over: whatever its maker had a hub run, call or allow goes,
// owner by owner. Nothing else of the hub acts before it is done, and all of it is durable
// when it returns. A failure leaves the rest for the next start.
func (h *Hub) adopt() error {
	err := disown[*core.Settings](h, core.SettingsOwner())
	if err == nil {
		err = disown[*core.Spawns](h, core.SpawnsOwner())
	}
	if err == nil {
		err = disown[*core.Asks](h, core.AsksOwner())
	}
	if err == nil {
		err = disown[*core.Connections](h, core.ConnectionsOwner())
	}
	if err == nil {
		err = disown[*core.Projects](h, core.ProjectsOwner())
	}
	var inviting []hub.RoomID
	if err == nil {
		err = h.rows.RowsOf(core.TableInvitesActive, nil, false, func(key, _ []byte) bool {
			inviting = append(inviting, hub.RoomID(key))
			return true
		})
	}
	for _, room := range inviting {
		if err == nil {
			err = disown[*core.Room](h, core.RoomOwner(room))
		}
	}
	return err
}

// disown has one owner give up what its maker has set.
func disown[S disowner](h *Hub, owner core.Owner) error {
	ctx, end := context.WithTimeout(context.Background(), adoptPatience)
	defer end()
	_, _, err := engine.Submit(ctx, h.engine, engine.Command[S, struct{}, struct{}]{
		Owner: owner, Agent: hub.AgentOperator,
		Decide: func(s S, _ core.Now) (core.Decision[struct{}], error) {
			return core.Decision[struct{}]{Draft: s.Disowned(), Answer: func(core.Position) struct{} { return struct{}{} }}, nil
		},
		Answer: func(struct{}, *core.Record) struct{} { return struct{}{} },
	})
	return err
}
