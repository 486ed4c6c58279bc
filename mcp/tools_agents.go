package mcp

import (
	"context"
	"errors"
	"fmt"

	"hubcli/hub"
)

// agentTools list the agents of the hub.
func agentTools() []tool {
	return []tool{
		define(tool{
			name: "hub_whoami", title: "Who am I", reads: true, idempotent: true,
			description: "Call this first, or when unsure: returns your agent id, room, unread messages, tasks and claims.",
		}, whoami),
		define(tool{
			name: "hub_list_agents", title: "List live agents", reads: true, idempotent: true,
			description: "Find out which agents are live and can be written to.",
		}, listAgents),
	}
}

// aboutMe is what hub_whoami tells an agent about itself.
type aboutMe struct {
	AgentID  hub.AgentID     `json:"agent_id"`
	Session  hub.SessionID   `json:"session_id"` // public form
	Harness  hub.Harness     `json:"harness"`
	RoomID   hub.RoomID      `json:"room_id,omitempty"`
	Channel  hub.ChannelName `json:"channel"` // where it posts if it names none
	Unread   int             `json:"unread"`
	ForYou   []unreadRow     `json:"for_you"` // unread, to you alone or naming you
	Tasks    []shownTask     `json:"tasks"`   // yours, or offered to you
	Claims   []string        `json:"claims"`
	Watching bool            `json:"watching"`
	LatestID hub.MessageID   `json:"latest_id"`
	Remark   string          `json:"remark,omitempty"`
}

// unreadRow is an unread message in short.
type unreadRow struct {
	ID        hub.MessageID `json:"id"`
	From      hub.AgentID   `json:"from"`
	Authority hub.Authority `json:"authority"`
	Assurance hub.Assurance `json:"assurance"`
	Kind      hub.Kind      `json:"kind"`
	Excerpt   string        `json:"excerpt"`
}

func whoami(ctx context.Context, c *call, _ struct{}) (*answer, error) {
	room, err := c.home(ctx)
	if err != nil {
		return nil, err
	}
	c.bridge.link.CatchUp(ctx, c.at)
	a, err := c.hub().Attention(ctx, hub.AttentionQuery{Agent: c.agent(), Room: room})
	if room != "" && errors.Is(err, &hub.Error{Code: hub.CodeRoomNotFound}) {
		// The agent must learn its own id even if its room is gone.
		c.bridge.link.Homes.Forget()
		room = ""
		a, err = c.hub().Attention(ctx, hub.AttentionQuery{Agent: c.agent()})
	}
	if err != nil {
		return nil, err
	}
	me := aboutMe{
		AgentID: c.agent(), Session: c.at.ID.Public(), Harness: c.harness(), RoomID: room, Channel: hub.DefaultChannel, Unread: a.Unread,
		ForYou: []unreadRow{}, Tasks: []shownTask{}, Claims: []string{}, Watching: a.Watching, LatestID: a.HeadID,
		Remark: c.at.Remark,
	}
	if room != "" {
		me.Channel = room.Channel()
	}
	for _, row := range a.Directed[:min(len(a.Directed), 5)] {
		me.ForYou = append(me.ForYou, unreadRow{row.ID, row.FromAgent, row.Authority, row.Assurance, row.Kind, row.Excerpt})
	}
	for i := range a.Tasks[:min(len(a.Tasks), 10)] {
		me.Tasks = append(me.Tasks, showTask(&a.Tasks[i]))
	}
	for _, key := range a.Claims[:min(len(a.Claims), 10)] {
		me.Claims = append(me.Claims, string(key))
	}
	where := "in no room: hub_list_rooms shows them, hub_join takes an invite's code"
	if room != "" {
		where = "in room " + word(string(room))
	}
	line := fmt.Sprintf("You are %s, %s; %d unread. Read them with hub_poll_messages.", c.agent(), where, a.Unread)
	if c.at.Remark != "" {
		line += " " + c.at.Remark
	}
	return &answer{data: me, line: line, untrusted: []string{"for_you[].excerpt", "tasks[].title", "claims"}}, nil
}

type listAgentsIn struct {
	Capability string     `json:"capability,omitempty" jsonschema:"only agents that have it"`
	Cursor     hub.Cursor `json:"cursor,omitempty" jsonschema:"from the last answer"`
	Limit      int        `json:"limit,omitempty" jsonschema:"default 20" range:"1,100"`
}

// shownAgent is a live agent.
type shownAgent struct {
	AgentID      hub.AgentID `json:"agent_id"`
	DisplayName  string      `json:"display_name,omitempty"`
	Capabilities []string    `json:"capabilities,omitempty"`
	LastSeen     hub.Time    `json:"last_seen"`
	You          bool        `json:"you,omitempty"`
}

func listAgents(ctx context.Context, c *call, in listAgentsIn) (*answer, error) {
	list := func(limit int) ([]hub.Session, hub.Cursor, error) {
		return c.hub().Agents(ctx, hub.AgentsQuery{Capability: in.Capability, Cursor: in.Cursor, Limit: limit})
	}
	return pages(in.Limit, list, func(live []hub.Session, next hub.Cursor, room int) (*answer, int) {
		all := make([]shownAgent, 0, len(live))
		for i := range live {
			s := &live[i]
			all = append(all, shownAgent{
				AgentID: s.AgentID, DisplayName: s.DisplayName, Capabilities: s.Capabilities[:min(len(s.Capabilities), 10)],
				LastSeen: s.LastSeen, You: s.AgentID == c.agent(),
			})
		}
		l := listing[shownAgent]{Truncated: next != "", Cursor: next}
		l.Items, _ = take(all, len(all), room-200)
		line := fmt.Sprintf("%s. Write to one with hub_dm, ask one with hub_rpc_call.", counted(len(l.Items), "live agent"))
		if next != "" {
			line = fmt.Sprintf("%s. More: hub_list_agents with cursor %s.", counted(len(l.Items), "live agent"), next)
		}
		return &answer{data: l, line: line, untrusted: []string{"items[].display_name", "items[].capabilities"}}, len(l.Items)
	})
}
