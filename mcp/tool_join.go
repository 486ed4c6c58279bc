package mcp

import (
	"context"
	"fmt"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/mcp/session"
)

func joinTools() []tool {
	return []tool{
		define(tool{
			name: "hub_join", title: "Join a room, or become another agent", alone: true,
			description: "Join a room with an invite code. With agent_id alone: continue as another agent.",
		}, joinTool),
	}
}

type joinIn struct {
	Code           string `json:"code,omitempty" jsonschema:"of an invite, such as 7KQ2-M9XD"`
	AgentID        string `json:"agent_id,omitempty" jsonschema:"agent to become; default: the id you were started with, else the invite's"`
	DisplayName    string `json:"display_name,omitempty" jsonschema:"shown beside the id"`
	IdempotencyKey string `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

type joinOut struct {
	AgentID   hub.AgentID     `json:"agent_id"`
	Was       hub.AgentID     `json:"was,omitempty" lean:"-"`
	Requested hub.AgentID     `json:"requested,omitempty" lean:"-"` // asked for, and another's
	Room      *hub.Room       `json:"room,omitempty" lean:"-"`
	RoomName  string          `json:"room_name,omitempty"`
	Topic     string          `json:"topic,omitempty"`
	Project   *hub.Project    `json:"project,omitempty" lean:"-"`
	Role      string          `json:"role,omitempty"`
	Channel   hub.ChannelName `json:"channel,omitempty" lean:"-"`
}

func joinTool(ctx context.Context, c *call, in joinIn) (*answer, error) {
	out := joinOut{}
	if now := c.bridge.link.Current(); now != nil {
		out.Was = now.Agent
	}
	switch {
	case in.Code == "" && in.AgentID == "":
		return nil, hub.Invalid("code", "neither code nor agent_id is given").
			WithFix("give the code of an invite, or the agent_id to go on as")
	case in.Code == "":
		id := hub.AgentID(in.AgentID)
		if err := hub.CheckSender("agent_id", id); err != nil {
			return nil, err
		}
		s, err := c.bridge.link.TakeUp(ctx, id)
		if err != nil {
			return nil, err
		}
		out.AgentID = s.Agent
		return &answer{data: out, line: session.Sentence(fmt.Sprintf("You are %s now. Next: read unread messages with hub_poll_messages.", s.Agent), s.Remark)}, nil
	}
	accept := hub.AcceptInput{AgentID: hub.AgentID(in.AgentID), DisplayName: in.DisplayName, Harness: string(c.harness())}
	if err := api.ValidateAccept(&accept); err != nil {
		return nil, err
	}
	j, s, err := c.bridge.link.Join(ctx, in.Code, accept, in.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	out.AgentID, out.Requested, out.Room, out.Project, out.Role = s.Agent, j.Requested, &j.Room, &j.Project, j.Seat.Role
	out.Channel, out.RoomName, out.Topic = j.Room.Channel, j.Room.Name, brief(j.Room.Topic, 400)
	line := fmt.Sprintf("You are %s, in room %s now. Next: hub_poll_messages; the team: hub_room_status.",
		s.Agent, word(string(j.Room.RoomID)))
	if j.Requested != "" {
		line = fmt.Sprintf("The id %s is taken. ", j.Requested) + line
	}
	return &answer{data: out, line: session.Sentence(line, s.Remark), untrusted: []string{"room.name", "room.topic", "room_name", "topic", "project.name", "role"}}, nil
}
