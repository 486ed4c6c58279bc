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
			description: "Returns your agent id, room, unread messages, tasks and claims, and marks nothing as read.",
		}, whoami),
		define(tool{
			name: "hub_list_agents", title: "List live agents", reads: true, idempotent: true,
			description: "See who else is working: the live agents that you can write to.",
		}, listAgents),
	}
}

// aboutMe is what hub_whoami tells an agent about itself.
type aboutMe struct {
	AgentID  hub.AgentID     `json:"agent_id"`
	Session  hub.SessionID   `json:"session_id" lean:"-"` // public form
	Harness  hub.Harness     `json:"harness" lean:"-"`
	RoomID   hub.RoomID      `json:"room_id,omitempty"`
	Channel  hub.ChannelName `json:"channel" lean:"-"` // where it posts if it names none
	Unread   int             `json:"unread"`
	ForYou   []unreadRow     `json:"for_you" lean:"-"`   // unread, to you alone or naming you; the text shows them
	Tasks    []shownTask     `json:"tasks" lean:"empty"` // yours, or offered to you
	Claims   []string        `json:"claims" lean:"empty"`
	Watching bool            `json:"watching" lean:"-"`
	LatestID hub.MessageID   `json:"latest_id" lean:"-"`
	Remark   string          `json:"remark,omitempty" lean:"-"` // the line says it too
}

// unreadRow is an unread message in short.
type unreadRow struct {
	ID        hub.MessageID `json:"id"`
	From      hub.AgentID   `json:"from"`
	Authority hub.Authority `json:"authority"`
	Assurance hub.Assurance `json:"assurance"`
	User      string        `json:"local_user,omitempty"`
	Kind      hub.Kind      `json:"kind"`
	Excerpt   peerText      `json:"excerpt"`
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
		me.ForYou = append(me.ForYou, unreadRow{row.ID, row.FromAgent, row.Authority, row.Assurance, row.User, row.Kind, peerText(row.Excerpt)})
	}
	for i := range a.Tasks[:min(len(a.Tasks), 10)] {
		me.Tasks = append(me.Tasks, showTask(&a.Tasks[i]))
	}
	for _, key := range a.Claims[:min(len(a.Claims), 10)] {
		me.Claims = append(me.Claims, string(key))
	}
	line := fmt.Sprintf("You are %s%s. %s.", c.agent(), whereIs(room), unreadWords(a.Unread))
	if a.Unread > 0 {
		line += " Read them with hub_poll_messages."
	}
	if c.at.Remark != "" {
		line += " " + c.at.Remark
	}
	return &answer{data: me, line: line, text: excerpts(me.ForYou), untrusted: []string{"for_you[].excerpt", "tasks[].title", "claims"}}, nil
}

// whereIs continues a sentence with the agent's room.
func whereIs(room hub.RoomID) string {
	if room == "" {
		return ". You are in no room: hub_list_rooms, or hub_join with a code"
	}
	return ", in room " + word(string(room))
}

func unreadWords(n int) string {
	if n == 0 {
		return "No unread messages"
	}
	return counted(n, "unread message")
}

// excerpts shows unread messages in short.
func excerpts(list []unreadRow) string {
	shown := make([]shownMessage, len(list))
	for i, row := range list {
		shown[i] = shownMessage{
			ID: row.ID, From: row.From, Authority: row.Authority, Assurance: row.Assurance, User: row.User, Kind: row.Kind, Body: row.Excerpt,
			Channel: hub.RoomID("").Channel(),
		}
	}
	return texts(shown)
}

// otherThan returns s, or nothing if it says the same as what stands beside it.
func otherThan(s, beside string) string {
	if s == beside {
		return ""
	}
	return s
}

type listAgentsIn struct {
	Capability string     `json:"capability,omitempty" jsonschema:"only agents that have it"`
	Cursor     hub.Cursor `json:"cursor,omitempty" jsonschema:"from the last answer"`
	Limit      int        `json:"limit,omitempty" jsonschema:"default 20" range:"1,100"`
}

// shownAgent is a live agent.
type shownAgent struct {
	AgentID      hub.AgentID  `json:"agent_id"`
	DisplayName  string       `json:"display_name,omitempty"`
	Capabilities []string     `json:"capabilities,omitempty"`
	Presence     hub.Presence `json:"presence" lean:"-"`
	Activity     hub.Activity `json:"activity"`
	Since        *hub.Time    `json:"activity_since" lean:"-"`
	AsksFor      string       `json:"prompt_tool,omitempty"` // the tool that its program asks a user about
	Listener     hub.Listener `json:"listener" lean:"-"`
	LastSeen     hub.Time     `json:"last_seen" lean:"-"`
	You          bool         `json:"you,omitempty"`
}

func listAgents(ctx context.Context, c *call, in listAgentsIn) (*answer, error) {
	list := func(limit int) ([]hub.LiveAgent, hub.Cursor, error) {
		return c.hub().Agents(ctx, hub.AgentsQuery{Capability: in.Capability, Cursor: in.Cursor, Limit: limit})
	}
	return pages(c, in.Limit, list, func(live []hub.LiveAgent, next hub.Cursor, room int) (*answer, int) {
		all := make([]shownAgent, 0, len(live))
		for i := range live {
			s := &live[i]
			all = append(all, shownAgent{
				AgentID: s.AgentID, DisplayName: otherThan(s.DisplayName, string(s.AgentID)), Capabilities: s.Capabilities[:min(len(s.Capabilities), 10)],
				Presence: s.Presence, Activity: s.Activity, Since: s.ActivitySince, AsksFor: brief(s.PromptTool, 60), Listener: s.Listener,
				LastSeen: s.LastSeen, You: s.AgentID == c.agent(),
			})
		}
		l := listing[shownAgent]{Truncated: next != "", Cursor: next}
		l.Items, _ = take(all, len(all), room-200)
		line := fmt.Sprintf("%s.", counted(len(l.Items), "live agent"))
		if next != "" {
			line = fmt.Sprintf("%s. More: hub_list_agents with cursor %s.", counted(len(l.Items), "live agent"), next)
		}
		return &answer{data: l, line: line, untrusted: []string{"items[].display_name", "items[].capabilities", "items[].prompt_tool"}}, len(l.Items)
	})
}
