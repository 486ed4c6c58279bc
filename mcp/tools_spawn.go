package mcp

import (
	"context"
	"fmt"

	"hubcli/hub"
)

func spawnTools() []tool {
	return []tool{
		define(tool{
			name: "hub_spawn", title: "Start another agent",
			description: "Start a program as a new agent in a room, if the operator allows it. With spawn_id: see its state, or stop it.",
		}, spawn),
	}
}

type spawnIn struct {
	Harness        string      `json:"harness,omitempty" jsonschema:"such as codex" range:"SpawnInput.harness"`
	Prompt         string      `json:"prompt,omitempty" jsonschema:"what it should do" most:"200000"`
	Role           string      `json:"role,omitempty" jsonschema:"shown with its seat"`
	Title          string      `json:"title,omitempty" jsonschema:"for people" range:"SpawnInput.title"`
	AgentID        hub.AgentID `json:"agent_id,omitempty" jsonschema:"its name; default: made up"`
	RoomID         string      `json:"room_id,omitempty" jsonschema:"default: yours"`
	SpawnID        hub.SpawnID `json:"spawn_id,omitempty" jsonschema:"one that was started"`
	Stop           bool        `json:"stop,omitempty" jsonschema:"end spawn_id"`
	IdempotencyKey string      `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func spawn(ctx context.Context, c *call, in spawnIn) (*answer, error) {
	if in.SpawnID != "" {
		return c.spawned(ctx, in)
	}
	if in.Harness == "" || in.Prompt == "" || in.Stop {
		return nil, hub.Invalid("harness", "to start an agent, harness and prompt are needed").
			WithFix("name both; or spawn_id, to see or stop one that was started")
	}
	harness, ok := hub.ParseHarness(in.Harness)
	if !ok {
		return nil, hub.Invalid("harness", "there is no such harness").With("harnesses", hub.Harnesses()).
			WithFix("name one of detail.harnesses that the operator allows")
	}
	room, err := c.room(ctx, in.RoomID)
	if err != nil {
		return nil, err
	}
	out, err := c.hub().Spawn(c.key(ctx, in.IdempotencyKey), hub.SpawnInput{
		RoomID: room, Harness: harness, Prompt: in.Prompt, By: c.agent(), AgentID: in.AgentID, Role: in.Role, Title: in.Title,
	})
	if err != nil {
		return nil, err
	}
	s := out.Row
	return &answer{
		data: s, prose: true, untrusted: []string{"role", "title"},
		line: inRoom(fmt.Sprintf("%s starts as agent %s (%s). Its end is told to you; meanwhile write to it with hub_dm, or wait for it with hub_watch and message-from:%s.",
			s.Harness, s.AgentID, s.SpawnID, s.AgentID), room),
	}, nil
}

// spawned shows a spawn, or stops it.
func (c *call) spawned(ctx context.Context, in spawnIn) (*answer, error) {
	var s hub.Spawn
	var err error
	if in.Stop {
		var out hub.Outcome[hub.Spawn]
		out, err = c.hub().StopSpawn(c.key(ctx, in.IdempotencyKey), in.SpawnID, hub.SpawnStopInput{AgentID: c.agent()})
		s = out.Row
	} else {
		s, err = c.hub().SpawnByID(ctx, in.SpawnID)
	}
	if err != nil {
		return nil, err
	}
	line := fmt.Sprintf("%s is %s, as agent %s.", s.SpawnID, s.Status, s.AgentID)
	switch {
	case s.ArtifactID != nil:
		line += fmt.Sprintf(" Its output: hub_get_artifact with artifact_id %s.", *s.ArtifactID)
	case !s.Status.Terminal():
		line += " Its output is kept as an artifact when it ends, and its end is told to you."
	}
	return &answer{data: s, line: inRoom(line, s.RoomID), untrusted: []string{"role", "title", "reason"}}, nil
}
