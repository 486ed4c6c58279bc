package top

import (
	"fmt"
	"slices"
	"strings"

	"hubcli/hub"
	"hubcli/overview"
)

// The most rows of each part of a page, and the most bytes of a body on it.
const (
	detailRows = 50
	detailBody = 64 << 10
)

// field is one line of a page: a name and a value. Without a value there is no line.
func field(lines []string, name, value string) []string {
	if value == "" {
		return lines
	}
	return append(lines, fmt.Sprintf("%-10s %s", name, value))
}

// part adds a part with a title, unless it is empty.
func part(lines []string, title string, rows []string) []string {
	if len(rows) == 0 {
		return lines
	}
	lines = append(lines, "", title)
	for _, r := range rows[:min(len(rows), detailRows)] {
		lines = append(lines, "  "+r)
	}
	if more := len(rows) - detailRows; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return lines
}

func agentDetail(m *Model, a *hub.LiveAgent) []string {
	s := m.snap
	lines := field(nil, "agent", string(a.AgentID))
	lines = field(lines, "name", a.DisplayName)
	lines = field(lines, "does", overview.Doing(a)+" for "+s.Since(a.ActivitySince))
	lines = field(lines, "held", overview.Held(a))
	lines = field(lines, "presence", fmt.Sprintf("%s, last call %s ago, session since %s", a.Presence, hub.Age(s.At-a.LastSeen), hub.Age(s.At-a.CreatedAt)))
	lines = field(lines, "listener", string(a.Listener))
	lines = field(lines, "harness", string(a.Harness()))
	lines = field(lines, "can", strings.Join(a.Capabilities, ", "))
	if d := a.Details; d != nil {
		var rooms []string
		for _, id := range d.Rooms {
			rooms = append(rooms, s.RoomName(id))
		}
		lines = field(lines, "rooms", strings.Join(rooms, ", "))
		lines = field(lines, "unread", overview.Unread(d.Unread))
		if d.Budget > 0 {
			lines = field(lines, "read", fmt.Sprintf("%d of %d characters in the last hour", d.GivenHour, d.Budget))
		}
		lines = field(lines, "watch", d.Label)
		lines = field(lines, "until", strings.Join(d.Watching, " and "))
	}
	return append(lines, aboutAgent(m, a.AgentID)...)
}

// aboutAgent lists what the snapshot and the log have of an agent.
func aboutAgent(m *Model, id hub.AgentID) []string {
	s := m.snap
	var wrong, waits, tasks, held, said []string
	for _, t := range s.Trouble {
		if slices.Contains(t.Agents, id) {
			wrong = append(wrong, t.Text)
		}
	}
	for i := range s.Waits {
		if w := &s.Waits[i]; w.Waiter == id || w.For == id {
			waits = append(waits, fmt.Sprintf("%s waits for %s: %s", w.Waiter, w.For, w.What))
		}
	}
	for i := range s.Tasks {
		if t := &s.Tasks[i]; has(t.Assignee, id) || has(t.OfferedTo, id) || t.CreatedBy == id {
			tasks = append(tasks, taskLine(t))
		}
	}
	for _, l := range s.Leases() {
		if l.Owner == id {
			held = append(held, fmt.Sprintf("%s, for %s, %s left", l.String(), hub.Age(s.At-l.Since), hub.Age(l.Expires-s.At)))
		}
	}
	for i := len(m.log) - 1; i >= 0 && len(said) < 10; i-- {
		if msg := &m.log[i]; msg.FromAgent == id || has(msg.ToAgent, id) {
			said = append(said, fmt.Sprintf("%s %s%s: %s", clock(msg.TS), msg.FromAgent, arrow(msg), textOf(msg)))
		}
	}
	lines := part(nil, "TROUBLE", wrong)
	lines = part(lines, "WAITS", waits)
	lines = part(lines, "TASKS", tasks)
	lines = part(lines, "HOLDS", held)
	return part(lines, "LATEST MESSAGES", said)
}

func has(p *hub.AgentID, id hub.AgentID) bool { return p != nil && *p == id }

func arrow(msg *hub.Message) string {
	if msg.ToAgent == nil {
		return " in " + string(msg.Channel)
	}
	return " -> " + string(*msg.ToAgent)
}

func taskLine(t *hub.Task) string {
	holder := "nobody"
	if t.Assignee != nil {
		holder = string(*t.Assignee)
	}
	if t.OfferedTo != nil {
		holder += ", offered to " + string(*t.OfferedTo)
	}
	text := fmt.Sprintf("%d %s, %s: %s", t.TaskID, t.Status, holder, t.Title)
	if !t.Ready && len(t.BlockedBy) > 0 {
		text += fmt.Sprintf(" (waits for %s)", strings.Trim(fmt.Sprint(t.BlockedBy), "[]"))
	}
	return text
}

func roomDetail(s *overview.Snapshot, r *hub.Room) []string {
	lines := field(nil, "room", fmt.Sprintf("%s, %s, %s", s.RoomName(r.RoomID), r.RoomID, r.Name))
	lines = field(lines, "topic", r.Topic)
	lines = field(lines, "channel", string(r.Channel))
	lines = field(lines, "folders", strings.Join(r.Bindings, ", "))
	lines = field(lines, "locks", string(r.Locks))
	var agents, tasks []string
	for i := range s.Agents {
		if a := &s.Agents[i]; a.Details != nil && slices.Contains(a.Details.Rooms, r.RoomID) {
			agents = append(agents, fmt.Sprintf("%s: %s %s", a.AgentID, overview.Doing(a), s.Since(a.ActivitySince)))
		}
	}
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.RoomID != nil && *t.RoomID == r.RoomID {
			tasks = append(tasks, taskLine(t))
		}
	}
	return part(part(lines, "AGENTS", agents), "TASKS", tasks)
}

// waitDetail shows the wait, and for whom the other waits in turn.
func waitDetail(s *overview.Snapshot, w *hub.Wait) []string {
	lines := field(nil, "waiter", string(w.Waiter))
	lines = field(lines, "waits for", string(w.For))
	lines = field(lines, "because", string(w.Reason)+": "+w.What)
	lines = field(lines, "for", s.Since(w.Since))
	var chain []string
	seen := map[hub.AgentID]bool{w.Waiter: true}
	for at := w.For; len(chain) < detailRows; {
		next := waitOf(s, at)
		if next == nil {
			chain = append(chain, fmt.Sprintf("%s waits for nobody", at))
			break
		}
		chain = append(chain, fmt.Sprintf("%s waits for %s: %s", at, next.For, next.What))
		if at = next.For; at == overview.Human || seen[at] {
			break
		}
		seen[at] = true
	}
	if w.For == overview.Human {
		chain = nil
	}
	return part(lines, "AND THEN", chain)
}

func waitOf(s *overview.Snapshot, id hub.AgentID) *hub.Wait {
	for i := range s.Waits {
		if s.Waits[i].Waiter == id {
			return &s.Waits[i]
		}
	}
	return nil
}

func askDetail(s *overview.Snapshot, a *hub.Ask) []string {
	lines := field(nil, "ask", string(a.AskID))
	lines = field(lines, "agent", string(a.AgentID))
	if a.RoomID != nil {
		lines = field(lines, "room", s.RoomName(*a.RoomID))
	}
	lines = field(lines, "for", hub.Age(s.At-a.CreatedAt))
	lines = field(lines, "left", leftOf(s, a))
	if a.Default != nil {
		lines = field(lines, "default", *a.Default)
	}
	lines = append(lines, "")
	lines = append(lines, strings.Split(a.Question, "\n")...)
	options := make([]string, len(a.Options))
	for i, option := range a.Options {
		options[i] = fmt.Sprintf("%d  %s", i+1, option)
	}
	return part(lines, "OPTIONS", options)
}

// leftOf is the time until the deadline of a question, or "".
func leftOf(s *overview.Snapshot, a *hub.Ask) string {
	if a.DeadlineAt == nil {
		return ""
	}
	return hub.Age(*a.DeadlineAt - s.At)
}

func messageDetail(msg *hub.Message, to string) []string {
	lines := field(nil, "message", fmt.Sprintf("#%d %s, %s", msg.ID, msg.Kind, msg.TS.Std().Local().Format("2006-01-02 15:04:05")))
	lines = field(lines, "from", fmt.Sprintf("%s (%s, %s)", msg.FromAgent, msg.Authority, msg.Assurance))
	if msg.User != "" {
		lines = field(lines, "user", msg.User)
	}
	lines = field(lines, "to", strings.TrimPrefix(to, "-> "))
	if msg.ReplyTo != nil {
		lines = field(lines, "answers", fmt.Sprintf("#%d", *msg.ReplyTo))
	}
	if msg.ThreadID != nil {
		lines = field(lines, "thread", string(*msg.ThreadID))
	}
	if n := len(msg.Attachments); n > 0 {
		lines = field(lines, "with", overview.Count(n, "attachment"))
	}
	body, more := msg.Body, len(msg.Body)-detailBody
	if more > 0 {
		body = strings.ToValidUTF8(body[:detailBody], "")
	}
	lines = append(append(lines, ""), strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")...)
	if more > 0 {
		lines = append(lines, "", fmt.Sprintf("and %d more bytes", more))
	}
	return lines
}

func (m *Model) troubleText() []string {
	switch {
	case m.snap == nil:
		return []string{"The hub has not been read yet."}
	case len(m.snap.Trouble) == 0:
		return []string{"There is no trouble."}
	}
	var lines []string
	for _, t := range m.snap.Trouble {
		lines = append(lines, "! "+t.Text)
	}
	return lines
}

func helpText() []string {
	return strings.Split(`The views show agents, rooms, which agent waits for which, questions to you,
and the log. They are read again every two seconds.

  1 to 5, tab    change the view
  j k, arrows    select a row; space, g and G go further
  enter          show all of it; esc goes back
  /              show only rows with a text; esc shows all again
  s              say something to the selected agent or room, as the operator
  a              answer the selected question: an option, its number, or your words
  t              show what is wrong
  r              read the hub now
  ?              this page
  q              quit

While you press keys, rows stay where they are: new ones come last, and one
that is over stays until you leave it. A word that is nearly an option is asked
about; ctrl+t sends it as it is.

An agent in yellow waits for you. A wait in red is part of a circle: these agents
wait for each other. The log shows direct messages too.`, "\n")
}
