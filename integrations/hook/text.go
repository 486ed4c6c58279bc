package hook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// scene holds the parts of a text. Status and Attention are nil if the hub did
// not return them.
type scene struct {
	Agent     hub.AgentID
	Harness   hub.Harness
	BaseURL   string        // empty: the default
	Bridged   bool          // a bridge holds the agent's session; a command with the agent's name would end that session
	Begins    bool          // the session begins, and its bridge may not have started yet
	Resumed   bool          // the model has read what the agent was told of before
	Again     hub.MessageID // messages up to this one may have been shown before
	Woken     bool          // what the adapter has installed begins a turn of an idle session with a message
	Program   string        // the path of hubcli, as the adapter's rule for permissions names it; empty: its name
	Ranks     bool          // the model takes the text for its user's or its developer's: peers' messages are named alone
	Room      *hub.Room
	Project   *hub.Project
	Status    *hub.RoomStatus
	Attention *hub.Attention
	Now       hub.Time // 0: no age is shown
}

// The largest number of listed entries of each kind.
const (
	mostHere     = 8
	mostTasks    = 4
	mostDecided  = 3
	mostProposed = 2

	maxCondition = 120 // characters of a proposed condition
	maxQuestion  = 80  // of the agent's own question, beside its answer
)

// opening returns the text at the start of a session. The second result is the
// latest message that it shows, or 0.
func (s *scene) opening() (string, hub.MessageID) {
	var rows []hub.UnreadRow
	if s.Attention != nil {
		rows = s.Attention.Directed
	}
	last := []string{asData} // names and titles are others' words too
	if s.tooled() {
		last[0] = asDataRead
	}
	if slices.ContainsFunc(rows, hub.UnreadRow.ByOperator) {
		last = []string{last[0] + " " + asOrder}
	}
	last = append(last, s.commands()...)
	last = append(last, s.waiting()...)
	p := &page{left: MaxText}
	p.reserve(last)
	p.add(s.identity())
	if s.Attention != nil && s.Attention.Paused != nil {
		p.add(pausedText(s.Attention.Paused))
	}
	if s.Room != nil && peertext.Plain(s.Room.Topic) != "" {
		p.add("Topic: " + quote(s.Room.Topic, maxTopic))
	}
	told := s.unread(p)
	s.tasks(p)
	s.here(p)
	s.decisions(p)
	return p.text(last), told
}

func (s *scene) identity() string {
	line := "You are agent " + word(string(s.Agent)) + " on the hub of this machine's agents"
	if s.Room != nil {
		line += ", in room " + quote(s.Room.Name, maxName) + " (" + word(string(s.Room.RoomID)) + ")"
	}
	if s.Project != nil {
		line += " of project " + quote(s.Project.Name, maxName)
	}
	return line + "."
}

// unread lists the messages for the agent, and counts the rest.
func (s *scene) unread(p *page) hub.MessageID {
	if s.Attention == nil { // it was not read in time, and may hold messages
		p.add("Unread messages: not known, the hub did not answer in time. Read them as below.")
		return 0
	}
	if s.Attention.Unread == 0 {
		p.add("No unread messages.")
		return 0
	}
	count := fmt.Sprintf("Unread: %s", count(s.Attention.Unread))
	rows := s.Attention.Directed
	if len(rows) == 0 {
		p.add(count + ", none of them for you alone.")
		return 0
	}
	if s.Resumed {
		rows = untold(s.Attention)
	}
	if len(rows) == 0 {
		p.add(count + ", and you were told of those for you.")
		return 0
	}
	told := s.listDirected(p, count+"; for you:", rows)
	s.answering(p, rows)
	return told
}

// tasks lists the tasks of the agent, then those that are free.
func (s *scene) tasks(p *page) {
	var mine []hub.Task
	if s.Attention != nil {
		mine = s.Attention.Tasks
	}
	s.taskLines(p, "Your tasks: ", mine)
	if s.Status == nil {
		return
	}
	s.taskLines(p, "Open for anybody: ", slices.DeleteFunc(slices.Clone(s.Status.OpenTasks), func(t hub.Task) bool {
		return t.Assignee != nil || !t.Ready || t.Status != hub.TaskOpen
	}))
}

func (s *scene) taskLines(p *page, title string, list []hub.Task) {
	var parts []string
	for _, t := range list[:min(len(list), mostTasks)] {
		parts = append(parts, fmt.Sprintf("#%d %s (%s%s)", t.TaskID, quote(t.Title, maxTitle), word(string(t.Status)), s.whose(&t)))
	}
	fitting(p, title, parts, len(list))
}

// whose returns the end of a task's line: that it is offered to the agent, that
// another agent has it, or that the agent posted it and no agent has it.
func (s *scene) whose(t *hub.Task) string {
	switch {
	case t.OfferedTo != nil && *t.OfferedTo == s.Agent:
		return ", offered to you"
	case t.Assignee != nil && *t.Assignee != s.Agent:
		return ", with " + word(string(*t.Assignee))
	case t.Assignee == nil && t.CreatedBy == s.Agent:
		return ", posted by you"
	}
	return ""
}

// here lists the other agents with a seat that are there.
func (s *scene) here(p *page) {
	if s.Status == nil {
		return
	}
	var parts []string
	others := s.Status.SeatCount
	for i := range s.Status.Seats {
		seat := &s.Status.Seats[i]
		if seat.AgentID == s.Agent || seat.Presence == hub.PresenceGone {
			others--
			continue
		}
		about := s.about(seat)
		if len(parts) < mostHere {
			parts = append(parts, word(string(seat.AgentID))+" ("+about+")")
		}
	}
	fitting(p, "In the room: ", parts, others)
}

// about says in a few words who an agent is and what it does: its role, its harness, where it
// works, what it does and since when, and its task.
func (s *scene) about(seat *hub.Seat) string {
	var parts []string
	if role := peertext.Plain(seat.Role); role != "" {
		parts = append(parts, quote(role, 30))
	}
	if harness, known := hub.ParseHarness(seat.Harness); known {
		parts = append(parts, word(string(harness)))
	}
	if where := peertext.Plain(seat.Where()); where != "" {
		parts = append(parts, "in "+quote(where, 40))
	}
	does := word(string(seat.Activity))
	if seat.Presence != hub.PresenceLive {
		does = word(string(seat.Presence))
	} else if seat.ActivitySince != nil && s.Now > *seat.ActivitySince {
		does += " " + hub.Age(s.Now-*seat.ActivitySince)
	}
	parts = append(parts, does)
	if seat.CurrentTaskID != nil {
		parts = append(parts, fmt.Sprintf("task #%d", *seat.CurrentTaskID))
	}
	return strings.Join(parts, ", ")
}

func (s *scene) decisions(p *page) {
	if s.Status == nil {
		return
	}
	var parts []string
	for _, d := range s.Status.Decisions[:min(len(s.Status.Decisions), mostDecided)] {
		parts = append(parts, quote(d.Title, maxTitle))
	}
	fitting(p, "Decided lately: ", parts, len(parts))
}

// fitting adds one line with as many of the parts as fit, and how many of all
// are missing.
func fitting(p *page, title string, parts []string, all int) {
	for n := len(parts); n > 0; n-- {
		line := title + strings.Join(parts[:n], ", ")
		if all > n {
			line += fmt.Sprintf(", and %d more", all-n)
		}
		if p.add(line) {
			return
		}
	}
}

// tooled reports whether the agent has the tools of a bridge, or will have them soon: an adapter
// installs the bridge with the hooks. Hooks of an unknown harness were installed by hand.
func (s *scene) tooled() bool {
	return s.Bridged || s.Begins && s.Harness != hub.HarnessGeneric && s.Harness != ""
}

// essentials are what an agent has to know of the tools. Some harnesses show nothing of the server's
// instructions, or their first line alone.
const essentials = "Begin with hub_start. Before a task: hub_take; when it is done: hub_done. Before you edit a shared file: hub_lock. To ask your user: hub_ask_human. " +
	"Read: the tool hub_poll_messages. Write: hub_post_message, to one agent hub_dm."

// commands returns lines that say how the agent works on the hub, reads and writes. With a bridge
// it uses its tools, because commands that act as the agent would end the
// bridge's session.
func (s *scene) commands() []string {
	post := s.command("post")
	if s.Room != nil {
		post += " --channel " + peertext.Shell(string(s.Room.Channel))
	}
	if !s.tooled() {
		return []string{
			"Read: " + s.poll(), "Write: " + post + ` "..." (to one agent alone: --to AGENT)`,
			"If you have tools named hub_..., use those instead: these commands would end their session.",
		}
	}
	lines := []string{essentials}
	if names := s.Harness.Facts().ToolNames(); names != "" {
		lines = append(lines, names)
	}
	if s.Bridged {
		return append(lines, "Act through these tools alone: hubcli post, poll and whoami would end their session.")
	}
	return append(lines, "Only if you have no such tools: "+s.pollCommand()+", and "+post+` "..."`)
}

func (s *scene) command(name string) string { return command(s.Program, name, s.Agent, s.BaseURL) }

// command begins a line for a shell. An empty program is hubcli by its name, an empty baseURL the default.
func command(program, name string, agent hub.AgentID, baseURL string) string {
	line := peertext.Shell(cmp.Or(program, "hubcli")) + " " + name + " --agent " + peertext.Shell(string(agent))
	if baseURL != "" {
		line += " --base-url " + peertext.Shell(baseURL)
	}
	return line
}

// poll returns the line that says how the agent reads.
func (s *scene) poll() string {
	if s.tooled() {
		return "the tool hub_poll_messages"
	}
	return s.pollCommand()
}

// pollCommand is poll for an agent without tools.
func (s *scene) pollCommand() string {
	var channel hub.ChannelName
	if s.Room != nil {
		channel = s.Room.Channel
	}
	var since hub.MessageID
	if s.Attention != nil {
		since = s.Attention.ReadFrom
	}
	return pollCommand(s.Program, s.Agent, s.BaseURL, channel, since)
}

// PollCommand returns the shell command with which an agent reads messages
// after since: those of one channel and those addressed to it. An empty channel
// means all channels, an empty baseURL the default. Messages that the command
// prints count as seen.
func PollCommand(agent hub.AgentID, baseURL string, channel hub.ChannelName, since hub.MessageID) string {
	return pollCommand("", agent, baseURL, channel, since)
}

func pollCommand(program string, agent hub.AgentID, baseURL string, channel hub.ChannelName, since hub.MessageID) string {
	line := command(program, "poll", agent, baseURL)
	if channel != "" {
		line += " --channel " + peertext.Shell(string(channel))
	}
	if since > 0 {
		line += fmt.Sprintf(" --since-id %d", since)
	}
	return line + " --timeout 0"
}

// waiting returns lines that say how an agent waits for others in this harness.
func (s *scene) waiting() []string {
	switch {
	case s.Attention != nil && s.Attention.Watching:
		return []string{"A watch of yours is armed; it calls you again."}
	case s.Woken:
		return []string{"To wait for others, finish your turn: a message for you begins the next one."}
	case Wakes(s.Harness):
		return []string{
			"To wait for others, run this in the background and finish your turn; its exit calls you again, after 20 minutes at the latest (--timeout):",
			s.watch(s.conditions()...),
		}
	case formOf(s.Harness).hears(Stop):
		return []string{"To wait for others, finish your turn: messages for you are shown when a turn ends and when a session begins."}
	default:
		return []string{"Nothing wakes you here: read your messages before you finish a turn."}
	}
}

func (s *scene) watch(conditions ...string) string {
	line := s.command("watch")
	if s.Room != nil {
		line += " --room " + peertext.Shell(string(s.Room.RoomID))
	}
	for _, c := range conditions {
		line += " --until " + peertext.Shell(c)
	}
	return line
}

// conditions returns the condition that the hub proposes. Without one the watch waits
// for all messages that are for the agent.
func (s *scene) conditions() []string {
	if s.Attention != nil {
		for _, w := range s.Attention.Proposals {
			if len(w.Condition) <= maxCondition {
				return []string{w.Condition}
			}
		}
	}
	return nil
}

// advice returns the text that holds a turn of an agent that has unfinished
// work and that nothing would wake. It is empty if there is nothing to wait
// for.
func (s *scene) advice() string {
	a := s.Attention
	if len(a.Proposals) == 0 || len(a.Tasks) == 0 && len(a.Claims) == 0 {
		return ""
	}
	last := []string{
		"If you wait for others, start one of these in the background, then finish; its exit calls you again.",
		"If not, just finish; this is said once in a session.",
	}
	p := &page{left: MaxText}
	p.reserve(last)
	p.add("You have work under way on the hub, and nothing would wake you.")
	s.taskLines(p, "Your tasks: ", a.Tasks)
	for _, w := range a.Proposals[:min(len(a.Proposals), mostProposed)] {
		line := s.watch(w.Condition)
		if why := peertext.Plain(w.Why); why != "" {
			p.add("- "+quote(why, maxWhy)+":", "  "+line)
		} else {
			p.add("  " + line)
		}
	}
	return p.text(last)
}

func count(n int) string {
	if n >= hub.MaxUnread {
		return fmt.Sprintf("%d or more", hub.MaxUnread)
	}
	return fmt.Sprint(n)
}
