package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hubcli/hub"
)

// startTools begin the work of an agent.
func startTools() []tool {
	return []tool{
		define(tool{
			name: "hub_start", title: "Start here", idempotent: true, preload: true,
			description: "Call this first: returns your agent id, new messages, your tasks, ready tasks and your colleagues.",
		}, start),
	}
}

// started is what hub_start tells an agent: who it is, and what it can do.
type started struct {
	AgentID  hub.AgentID    `json:"agent_id"`
	RoomID   hub.RoomID     `json:"room_id,omitempty"`
	Room     string         `json:"room,omitempty"` // its name
	Team     []teammate     `json:"team,omitempty"` // the others in the room
	Tasks    []shownTask    `json:"your_tasks,omitempty"`
	Ready    []shownTask    `json:"ready_tasks,omitempty"` // that no agent has
	Claims   []string       `json:"your_claims,omitempty"`
	Messages []shownMessage `json:"messages" lean:"-"`
}

// teammate is another agent of the room.
type teammate struct {
	AgentID  hub.AgentID  `json:"agent_id"`
	Role     string       `json:"role,omitempty"`
	At       string       `json:"at,omitempty"` // see placeOf
	Activity hub.Activity `json:"activity"`
	For      string       `json:"for,omitempty"` // how long it has done that
	TaskID   hub.TaskID   `json:"task_id,omitempty"`
}

const (
	mostStartMessages = 10
	mostStartRows     = 10 // of each list
)

func start(ctx context.Context, c *call, _ struct{}) (*answer, error) {
	r, page, err := c.fetch(ctx, pollIn{TimeoutSeconds: new(float64), Limit: mostStartMessages})
	if err != nil {
		return nil, err
	}
	rows, err := decodeRows(page.Rows)
	if err != nil {
		return nil, err
	}
	s := started{AgentID: c.agent(), RoomID: r.q.RoomID}
	a, err := c.hub().Attention(ctx, hub.AttentionQuery{Agent: c.agent(), Room: s.RoomID})
	if err != nil {
		return nil, err
	}
	for i := range a.Tasks[:min(len(a.Tasks), mostStartRows)] {
		own := showTask(&a.Tasks[i])
		own.Ready, own.Assignee = false, "" // each of them is the agent's own
		s.Tasks = append(s.Tasks, own)
	}
	for _, key := range a.Claims[:min(len(a.Claims), mostStartRows)] {
		s.Claims = append(s.Claims, string(key))
	}
	if s.RoomID != "" {
		if err := c.surroundings(ctx, &s); err != nil {
			return nil, err
		}
	}
	cursor, more := page.NextSinceID, false
	out, err := c.fit(func(room int) *answer {
		s.Messages, more = showMessages(rows, mostStartMessages, room-600-size(s.Team)-size(s.Tasks)-size(s.Ready))
		if more {
			cursor = s.Messages[len(s.Messages)-1].ID
		}
		return &answer{
			data: s, line: s.line(more, c.at.Remark), text: texts(s.Messages),
			untrusted: append(within("messages[].", ofPeers), "room", "team[].role", "team[].at", "your_tasks[].title", "ready_tasks[].title", "your_claims"),
		}
	})
	if err != nil {
		return nil, err
	}
	c.bridge.link.Feeds.Stage(c.seq, r.of, r.since, cursor)
	return out, nil
}

// surroundings adds the agent's room: its name, the other agents in it and the
// tasks that wait for an agent.
func (c *call) surroundings(ctx context.Context, s *started) error {
	status, err := c.hub().RoomStatus(ctx, hub.StatusQuery{RoomID: s.RoomID, Viewer: c.agent()})
	if err != nil {
		return err
	}
	s.Room = brief(status.Room.Name, 200)
	for i := range status.Seats {
		seat := &status.Seats[i]
		if seat.AgentID != c.agent() && seat.Presence != hub.PresenceGone && len(s.Team) < mostStartRows {
			s.Team = append(s.Team, teammate{
				AgentID: seat.AgentID, Role: brief(seat.Role, 60), At: placeOf(seat),
				Activity: seat.Activity, For: c.age(seat.ActivitySince), TaskID: hub.Value(seat.CurrentTaskID),
			})
		}
	}
	ready, err := c.readyTasks(ctx, s.RoomID)
	for i := range ready[:min(len(ready), mostStartRows)] {
		s.Ready = append(s.Ready, showTask(&ready[i]))
	}
	return err
}

// placeOf says in a few words in which harness, folder and branch an agent works: "codex in shop@fix-tax".
func placeOf(seat *hub.Seat) string {
	said := brief(seat.Harness, 30)
	if where := brief(seat.Where(), 80); where != "" {
		said = strings.TrimSpace(said + " in " + where)
	}
	return said
}

// age says how long ago a time was, in a word; empty if there is none.
func (c *call) age(since *hub.Time) string {
	if since == nil {
		return ""
	}
	return hub.Age(hub.TimeOf(c.bridge.Now()) - *since)
}

// readyTasks returns tasks of a room that can be begun and that no agent has,
// the oldest first.
func (c *call) readyTasks(ctx context.Context, room hub.RoomID) ([]hub.Task, error) {
	rows, err := hub.All(ctx, c.hub().Tasks, hub.TasksQuery{
		Viewer: c.agent(), RoomID: room, Status: hub.TaskOpen, Ready: new(true), Limit: hub.MaxPageRows,
	})
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(t hub.Task) bool { return t.Assignee != nil })
	slices.SortFunc(rows, func(a, b hub.Task) int { return int(a.TaskID - b.TaskID) })
	return rows, nil
}

// line says who the agent is and what it can do next.
func (s *started) line(more bool, remark string) string {
	line := fmt.Sprintf("You are %s%s. ", s.AgentID, whereIs(s.RoomID))
	switch {
	case more:
		line += fmt.Sprintf("%d new messages are shown; there are more: hub_poll_messages.", len(s.Messages))
	case len(s.Messages) == 0:
		line += "No new messages."
	default:
		line += counted(len(s.Messages), "new message") + "."
	}
	if len(s.Ready) > 0 && len(s.Tasks) == 0 {
		line += " Take a ready task with hub_take."
	}
	if remark != "" {
		line += " " + remark
	}
	return line
}
