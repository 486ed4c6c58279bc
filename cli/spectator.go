package cli

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

// spectator looks at a hub for a person: it registers nobody and marks nothing as seen.
type spectator struct {
	*client.Client
	env *Env
}

// sight says how much a spectator sees that is not public. With HUB_AGENT it sees as much
// as this agent, unless it needs the operator's secret.
type sight int

const (
	sightOfOperator sight = iota // everything, if the user can read the operator's secret
	sightOfPublic                // nothing of it
	sightOfSecrets               // everything; without the secret the command fails
)

// newSpectator decides as whom to look.
func newSpectator(ctx context.Context, env *Env, c *client.Client, sees sight) (*spectator, error) {
	if sees == sightOfSecrets {
		if err := personOnly(env, "what concerns other agents"); err != nil {
			return nil, err
		}
		return &spectator{c.AsOperator(), env}, nil
	}
	if named := hub.AgentID(env.Getenv(hook.EnvAgent)); named != "" {
		if err := hub.CheckSender(hook.EnvAgent, named); err != nil {
			return nil, asUsage(err)
		}
		return &spectator{c.As(named, ""), env}, nil
	}
	if sees == sightOfPublic {
		return &spectator{c, env}, nil
	}
	operator := c.AsOperator()
	_, err := operator.AppStatus(ctx)
	var refused *hub.Error
	if errors.As(err, &refused) && refused.Code == hub.CodeOperatorRequired {
		env.note("what concerns only some agents is not shown: %s", refused.Message)
		return &spectator{c, env}, nil
	}
	return &spectator{operator, env}, err
}

// now is the time of this look.
func (s *spectator) now() hub.Time { return hub.TimeOf(s.env.Now()) }

// outsideArchive leaves out rows of archived rooms. It asks which those are when it meets the
// first row of a room.
func outsideArchive[T any](ctx context.Context, s *spectator, rows iter.Seq2[T, error], room func(*T) *hub.RoomID) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var archived map[hub.RoomID]bool
		for row, err := range rows {
			if err == nil && archived == nil && room(&row) != nil {
				archived, err = s.archivedRooms(ctx)
			}
			if err == nil && room(&row) != nil && archived[*room(&row)] {
				continue
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// archivedRooms says which rooms are archived.
func (s *spectator) archivedRooms(ctx context.Context) (map[hub.RoomID]bool, error) {
	rooms, err := hub.All(ctx, s.Rooms, hub.RoomsQuery{Archived: true, Limit: hub.MaxPageRows})
	archived := map[hub.RoomID]bool{}
	for i := range rooms {
		archived[rooms[i].RoomID] = rooms[i].Archived
	}
	return archived, err
}

// roomNames are the names of rooms as a person types them.
type roomNames map[hub.RoomID]string

// roomNames finds the names of all rooms: the slug, or project/slug where several rooms
// have the slug.
func (s *spectator) roomNames(ctx context.Context) (roomNames, error) {
	rooms, err := hub.All(ctx, s.Rooms, hub.RoomsQuery{Archived: true, Limit: hub.MaxPageRows})
	if err != nil || len(rooms) == 0 {
		return nil, err
	}
	projects, err := hub.All(ctx, s.Projects, hub.ProjectsQuery{Archived: true, Limit: hub.MaxPageRows})
	if err != nil {
		return nil, err
	}
	slugs, of := map[string]int{}, map[hub.ProjectID]string{}
	for i := range rooms {
		slugs[rooms[i].Slug]++
	}
	for _, p := range projects {
		of[p.ProjectID] = p.Slug
	}
	names := roomNames{}
	for i := range rooms {
		r := &rooms[i]
		names[r.RoomID] = r.Slug
		if slugs[r.Slug] > 1 {
			names[r.RoomID] = cmp.Or(of[r.ProjectID], string(r.ProjectID)) + "/" + r.Slug
		}
	}
	return names, nil
}

// roomName returns the name of one room, safe for a terminal.
func roomName(ctx context.Context, env *Env, c *client.Client, id hub.RoomID) (string, error) {
	names, err := (&spectator{c, env}).roomNames(ctx)
	return peertext.TerminalLine(names.of(&id)), err
}

// of returns the name of a room that a row may have.
func (n roomNames) of(id *hub.RoomID) string {
	if id == nil {
		return ""
	}
	return cmp.Or(n[*id], string(*id))
}
