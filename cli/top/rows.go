package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hubcli/hub"
	"hubcli/overview"
)

// view is one of the lists.
type view struct {
	title   string
	one     string // what a row is
	none    string // what an empty list says
	follows bool   // the last row is the newest
	columns []column
	rows    func(*Model) []row
}

const (
	viewCount = 5
	asksView  = 3 // the place of the asks among the views
)

// views are all of them, in the order of their keys.
var views = [viewCount]view{
	{
		title: "Agents", one: "agent", none: "no agent is here: agents come with hubcli mcp or hubcli join", rows: agentRows,
		columns: []column{{"AGENT", 16, 1, 0}, {"DOES", 12, 1, 0}, {"FOR", 4, 0, 0}, {"ROOM", 12, 1, 72}, {"UNREAD", 6, 0, 60}, {"HARNESS", 12, 0, 110}, {"WORK", 8, 3, 56}},
	},
	{
		title: "Rooms", one: "room", none: "there is no room: make one with hubcli room create", rows: roomRows,
		columns: []column{{"ROOM", 18, 1, 0}, {"AGENTS", 6, 0, 0}, {"TASKS", 5, 0, 0}, {"WORKING", 7, 0, 60}, {"BLOCKED", 7, 0, 60}, {"TOPIC", 6, 3, 50}},
	},
	{
		title: "Waits", one: "wait", none: "nobody waits for anybody", rows: waitRows,
		columns: []column{{"WAITER", 12, 1, 0}, {"WAITS FOR", 12, 1, 0}, {"FOR", 4, 0, 0}, {"BECAUSE", 8, 3, 0}},
	},
	{
		title: "Asks", one: "ask", none: "no agent asks you anything", rows: askRows,
		columns: []column{{"ASK", 8, 0, 0}, {"AGENT", 10, 1, 0}, {"FOR", 4, 0, 0}, {"LEFT", 4, 0, 50}, {"QUESTION", 10, 4, 0}, {"OPTIONS", 10, 1, 80}},
	},
	{
		title: "Log", one: "message", none: "there is no message yet", follows: true, rows: logRows,
		columns: []column{{"TIME", 8, 0, 0}, {"FROM", 10, 1, 0}, {"TO", 10, 1, 50}, {"KIND", 7, 0, 90}, {"TEXT", 10, 5, 0}},
	},
}

// agentRows shows those that need the human first, then those that work.
func agentRows(m *Model) []row {
	if m.snap == nil {
		return nil
	}
	s := m.snap
	agents := make([]*hub.LiveAgent, len(s.Agents))
	for i := range s.Agents {
		agents[i] = &s.Agents[i]
	}
	slices.SortStableFunc(agents, func(a, b *hub.LiveAgent) int { return cmp.Compare(urgency(a), urgency(b)) })
	tasks := titles(s)
	rows := make([]row, 0, len(agents))
	for _, a := range agents {
		room, unread, work := "", "", ""
		if id := overview.RoomOf(a); id != nil {
			room = s.RoomName(*id)
		}
		if d := a.Details; d != nil {
			if d.Unread > 0 {
				unread = fmt.Sprint(d.Unread)
			}
			work = workOf(d, tasks)
			if held := overview.Held(a); held != "" {
				work = strings.TrimSuffix(held+", "+work, ", ")
			}
		}
		rows = append(rows, row{
			key: string(a.AgentID), tone: overview.ToneOf(a), to: toAgent(a.AgentID),
			cells:  safe(string(a.AgentID), overview.Doing(a), s.Since(a.ActivitySince), room, unread, string(a.Harness()), work),
			detail: func() []string { return agentDetail(m, a) },
		})
	}
	return rows
}

func urgency(a *hub.LiveAgent) int {
	switch {
	case a.Activity == hub.ActivityAtPrompt, a.Activity == hub.ActivityStuck:
		return 0
	case a.Activity == hub.ActivityBlocked:
		return 1
	case a.Presence == hub.PresenceAway, a.Activity == hub.ActivityNoTerminal:
		return 5
	case a.Activity == hub.ActivityWorking:
		return 2
	case a.Activity == hub.ActivityWaiting:
		return 3
	}
	return 4
}

// workOf says in one line what an agent has to do, or what it waits for.
func workOf(d *hub.AgentDetails, tasks map[hub.TaskID]string) string {
	var parts []string
	if d.CurrentTaskID != nil {
		parts = append(parts, fmt.Sprintf("task %d %s", *d.CurrentTaskID, tasks[*d.CurrentTaskID]))
	}
	if d.Label != "" {
		parts = append(parts, d.Label)
	}
	if len(d.Watching) > 0 {
		parts = append(parts, "until "+strings.Join(d.Watching, " and "))
	}
	return strings.Join(parts, "; ")
}

func titles(s *overview.Snapshot) map[hub.TaskID]string {
	t := make(map[hub.TaskID]string, len(s.Tasks))
	for i := range s.Tasks {
		t[s.Tasks[i].TaskID] = s.Tasks[i].Title
	}
	return t
}

func toAgent(id hub.AgentID) *Target {
	return &Target{Agent: id, Name: overview.Clip(overview.Safe(string(id)), 40)}
}

func toRoom(s *overview.Snapshot, r *hub.Room) *Target {
	return &Target{Channel: r.Channel, Name: "room " + overview.Clip(overview.Safe(s.RoomName(r.RoomID)), 40)}
}

// safe makes cells fit for a terminal. No cell has more characters than a line can show.
func safe(cells ...string) []string {
	for i, c := range cells {
		cells[i] = overview.Clip(overview.Safe(c), 400)
	}
	return cells
}

// roomRows shows the rooms with the most agents first.
func roomRows(m *Model) []row {
	if m.snap == nil {
		return nil
	}
	s, counts := m.snap, m.snap.RoomCounts()
	rooms := make([]*hub.Room, len(s.Rooms))
	for i := range s.Rooms {
		rooms[i] = &s.Rooms[i]
	}
	slices.SortStableFunc(rooms, func(a, b *hub.Room) int {
		x, y := counts[a.RoomID], counts[b.RoomID]
		return cmp.Or(y.Agents-x.Agents, y.Tasks-x.Tasks)
	})
	rows := make([]row, 0, len(rooms))
	for _, r := range rooms {
		c, tone := counts[r.RoomID], overview.Plain
		if c == (overview.RoomCount{}) {
			tone = overview.Dim
		}
		rows = append(rows, row{
			key: string(r.RoomID), tone: tone, to: toRoom(s, r),
			cells:  safe(s.RoomName(r.RoomID), fmt.Sprint(c.Agents), fmt.Sprint(c.Tasks), fmt.Sprint(c.Working), fmt.Sprint(c.Blocked), r.Topic),
			detail: func() []string { return roomDetail(m.snap, r) },
		})
	}
	return rows
}

// waitRows shows first the waits that are part of a circle.
func waitRows(m *Model) []row {
	if m.snap == nil {
		return nil
	}
	s, circle := m.snap, inCircle(m.snap)
	var ends, others []row
	for i := range s.Waits {
		w := &s.Waits[i]
		r := row{
			key: strings.Join([]string{string(w.Waiter), string(w.For), string(w.Reason), w.What}, "\x00"), to: toAgent(w.For),
			cells:  safe(string(w.Waiter), string(w.For), s.Since(w.Since), w.What),
			detail: func() []string { return waitDetail(s, w) },
		}
		switch {
		case circle[[2]hub.AgentID{w.Waiter, w.For}]:
			r.tone = overview.Bad
			ends = append(ends, r)
			continue
		case w.For == overview.Human:
			r.tone, r.to = overview.Warn, toAgent(w.Waiter)
		}
		others = append(others, r)
	}
	return append(ends, others...)
}

// inCircle returns the pairs of agents that follow each other in a circle.
func inCircle(s *overview.Snapshot) map[[2]hub.AgentID]bool {
	pairs := map[[2]hub.AgentID]bool{}
	for _, c := range s.Circles {
		for i, from := range c {
			pairs[[2]hub.AgentID{from, c[(i+1)%len(c)]}] = true
		}
	}
	return pairs
}

func askRows(m *Model) []row {
	if m.snap == nil {
		return nil
	}
	rows := make([]row, 0, len(m.snap.Asks))
	for i := range m.snap.Asks {
		a := &m.snap.Asks[i]
		rows = append(rows, row{
			key: string(a.AskID) + " " + a.Digest, ask: a, tone: overview.Warn, to: toAgent(a.AgentID),
			cells:  safe(string(a.AskID), string(a.AgentID), hub.Age(m.snap.At-a.CreatedAt), leftOf(m.snap, a), a.Question, overview.Choices(a.Options)),
			detail: func() []string { return askDetail(m.snap, a) },
		})
	}
	return rows
}

// goneCells are those of a row that the hub has no more. how says how a question was closed;
// empty: it is not known.
func goneCells(r *row, how string) []string {
	if a := r.ask; a != nil {
		return safe(string(a.AskID), string(a.AgentID), "", "", cmp.Or(how, "closed")+" | "+a.Question, "")
	}
	cells := slices.Clone(r.cells)
	cells[len(cells)-1] = "(gone)"
	return cells
}

func logRows(m *Model) []row {
	rooms := map[hub.RoomID]*hub.Room{}
	if m.snap != nil {
		for i := range m.snap.Rooms {
			rooms[m.snap.Rooms[i].RoomID] = &m.snap.Rooms[i]
		}
	}
	rows := make([]row, 0, len(m.log))
	for i := range m.log {
		msg := &m.log[i]
		to, target, tone := string(msg.Channel), toAgent(msg.FromAgent), overview.Plain
		switch {
		case msg.ToAgent != nil:
			to = "-> " + string(*msg.ToAgent)
		case msg.RoomID != nil && rooms[*msg.RoomID] != nil:
			room := rooms[*msg.RoomID]
			to, target = m.snap.RoomName(room.RoomID), toRoom(m.snap, room)
		}
		switch msg.Authority {
		case hub.AuthoritySystem:
			tone = overview.Dim
		case hub.AuthorityOperator:
			tone = overview.Good
		case hub.AuthorityAgent:
		}
		if msg.FromAgent.Reserved() && target.Agent != "" {
			target = nil
		}
		rows = append(rows, row{
			key: fmt.Sprint(msg.ID), tone: tone, to: target,
			cells:  safe(clock(msg.TS), string(msg.FromAgent), to, string(msg.Kind), textOf(msg)),
			detail: func() []string { return messageDetail(msg, to) },
		})
	}
	return rows
}

// clock is the time of the day here.
func clock(t hub.Time) string { return t.Std().Local().Format("15:04:05") }

// textOf is what a message says, in one line.
func textOf(msg *hub.Message) string {
	text := firstOf(msg.Body)
	if n := len(msg.Attachments); n > 0 {
		text = strings.TrimSpace(text + " (" + overview.Count(n, "attachment") + ")")
	}
	return text
}

// firstOf is the beginning of a body, as one line.
func firstOf(body string) string {
	const most = 600 // bytes; more than a line can show
	if len(body) > most {
		body = body[:most]
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(body, "")), " ")
}
