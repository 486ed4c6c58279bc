package overview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hubcli/hub"
)

// The most rows of each part of a page that does not show all.
const (
	shownTrouble = 10
	shownAsks    = 5
	shownWaits   = 10
	shownAgents  = 24
	shownRooms   = 10
)

// PageOptions say how a page looks.
type PageOptions struct {
	Width int  // cells of a line
	All   bool // show all rows of each part
	Paint Paint
}

// Page shows the snapshot as lines of text, what matters first.
func Page(s *Snapshot, o PageOptions) []string {
	if o.Paint == nil {
		o.Paint = NoPaint
	}
	p := &page{s: s, o: o}
	p.head()
	p.trouble()
	p.pauses()
	p.mutes()
	p.loops()
	p.asks()
	p.waits()
	p.agents()
	p.rooms()
	p.counts()
	return p.lines
}

type page struct {
	s     *Snapshot
	o     PageOptions
	lines []string
}

// put adds one line in a tone.
func (p *page) put(t Tone, text string) {
	p.lines = append(p.lines, p.o.Paint(t, strings.TrimRight(Clip(Safe(text), p.o.Width), " ")))
}

// long adds a text that may take several lines. The first begins with a mark.
func (p *page) long(t Tone, mark, text string) {
	for i, line := range Lines(Safe(text), p.o.Width-len(mark)) {
		if i > 0 {
			mark = strings.Repeat(" ", len(mark))
		}
		p.put(t, mark+line)
	}
}

// part begins a part of the page.
func (p *page) part(title string) {
	p.lines = append(p.lines, "")
	p.put(Title, title)
}

// shown is how many of n rows the page shows.
func (p *page) shown(n, most int) int {
	if p.o.All {
		return n
	}
	return min(n, most)
}

func (p *page) more(n, shown int) {
	if n > shown {
		p.put(Dim, fmt.Sprintf("  and %d more: hubcli status --all", n-shown))
	}
}

func (p *page) head() {
	h := &p.s.Hub
	up := hub.Age(hub.Time(h.UptimeSec * 1000))
	journal := "takes writes"
	if h.Journal.State != hub.JournalOK {
		journal = "refuses writes"
	}
	p.put(Title, fmt.Sprintf("hub %s at %s, up %s, %s", h.Version, p.s.BaseURL, up, journal))
	if text := SearchLag(h.Search); text != "" {
		p.long(Dim, "", "search "+text)
	}
	if p.s.Limited {
		p.long(Warn, "", "without the operator's secret: asks, loops and direct tasks are not shown")
	}
	if len(p.s.Cut) > 0 {
		p.long(Warn, "", "only the first rows were read of: "+strings.Join(p.s.Cut, ", "))
	}
}

func (p *page) trouble() {
	if len(p.s.Trouble) == 0 {
		p.put(Good, "no trouble")
		return
	}
	p.part(fmt.Sprintf("TROUBLE  %d", len(p.s.Trouble)))
	n := p.shown(len(p.s.Trouble), shownTrouble)
	for _, t := range p.s.Trouble[:n] {
		p.long(Bad, "! ", t.Text)
	}
	p.more(len(p.s.Trouble), n)
}

func (p *page) pauses() {
	if len(p.s.Pauses) == 0 {
		return
	}
	p.part("PAUSED")
	n := p.shown(len(p.s.Pauses), shownAsks)
	for i := range p.s.Pauses[:n] {
		v := &p.s.Pauses[i]
		what := "everything"
		switch {
		case v.AgentID != nil:
			what = "agent " + string(*v.AgentID)
		case v.RoomID != nil:
			what = "room " + p.s.RoomName(*v.RoomID)
		}
		p.long(Warn, what+"  ", fmt.Sprintf("%s ago: %s", hub.Age(p.s.At-v.Since), v.Words))
	}
	p.more(len(p.s.Pauses), n)
}

func (p *page) mutes() {
	if len(p.s.Mutes) == 0 {
		return
	}
	p.part("MUTED")
	n := p.shown(len(p.s.Mutes), shownAsks)
	for i := range p.s.Mutes[:n] {
		m := &p.s.Mutes[i]
		who, text := string(m.AgentID), hub.Age(p.s.At-m.Since)+" ago"
		switch {
		case m.RoomID != nil && m.AgentID == "":
			who = "all in " + p.s.RoomName(*m.RoomID)
		case m.RoomID != nil:
			who += " in " + p.s.RoomName(*m.RoomID)
		}
		if m.Until != nil {
			text += fmt.Sprintf(", for %s more", hub.Age(max(*m.Until-p.s.At, 0)))
		}
		if m.Reason != "" {
			text += ": " + m.Reason
		}
		p.long(Warn, who+"  ", text)
	}
	p.more(len(p.s.Mutes), n)
}

func (p *page) loops() {
	if len(p.s.Loops) == 0 {
		return
	}
	p.part("LOOPS")
	n := p.shown(len(p.s.Loops), shownAsks)
	for i := range p.s.Loops[:n] {
		p.long(Warn, string(p.s.Loops[i].Stage)+"  ", p.loop(&p.s.Loops[i]))
	}
	p.more(len(p.s.Loops), n)
}

// loop says which agents post to each other where, how often, and what comes of it.
func (p *page) loop(l *hub.Loop) string {
	names := make([]string, len(l.Agents))
	for i, agent := range l.Agents {
		names[i] = string(agent)
	}
	text := strings.Join(names, ", ") + " in direct messages"
	if l.Channel != nil {
		where := "channel " + string(*l.Channel)
		if l.RoomID != nil {
			where = "room " + p.s.RoomName(*l.RoomID)
		}
		if l.ThreadID != nil {
			where = "thread " + string(*l.ThreadID) + " of " + where
		}
		text = strings.Join(names, ", ") + " in " + where
	}
	if l.Turns > 0 {
		text += fmt.Sprintf(": %s without progress", Count(l.Turns, "turn"))
	}
	if l.Turns > 0 && l.StopAfter > 0 {
		text += fmt.Sprintf(" of %d", l.StopAfter)
	}
	if l.LastAt != nil {
		text += fmt.Sprintf(", the last %s ago", hub.Age(p.s.At-*l.LastAt))
	}
	switch {
	case l.Until != nil && l.Stage == hub.LoopSlowed:
		text += fmt.Sprintf("; what repeats passes in %s", hub.Age(max(*l.Until-p.s.At, 0)))
	case l.Until != nil:
		text += fmt.Sprintf("; kept apart for %s more, or until: hubcli answer %s 1", hub.Age(max(*l.Until-p.s.At, 0)), *l.AskID)
	case l.AskID != nil:
		text += fmt.Sprintf("; you are asked: hubcli answer %s", *l.AskID)
	}
	return text
}

func (p *page) asks() {
	if len(p.s.Asks) == 0 {
		return
	}
	p.part("ASKS")
	n := p.shown(len(p.s.Asks), shownAsks)
	for i := range p.s.Asks[:n] {
		a := &p.s.Asks[i]
		text := fmt.Sprintf("%s, %s ago: %s", a.AgentID, hub.Age(p.s.At-a.CreatedAt), a.Question)
		if len(a.Options) > 0 {
			text += " [" + Choices(a.Options) + "]"
		}
		p.long(Warn, string(a.AskID)+"  ", text)
	}
	p.more(len(p.s.Asks), n)
}

func (p *page) waits() {
	if len(p.s.Waits) == 0 {
		return
	}
	p.part("WAITS")
	n := p.shown(len(p.s.Waits), shownWaits)
	left, right := 0, 0
	for _, w := range p.s.Waits[:n] {
		left, right = max(left, Width(Safe(string(w.Waiter)))), max(right, Width(Safe(string(w.For))))
	}
	left, right = min(left, p.o.Width/3), min(right, p.o.Width/4)
	for _, w := range p.s.Waits[:n] {
		tone := Plain
		if w.For == Human {
			tone = Warn
		}
		since := p.s.Since(w.Since)
		p.put(tone, "  "+Fit(Safe(string(w.Waiter)), left)+" waits for "+Fit(Safe(string(w.For)), right)+"  "+Fit(since, 3)+"  "+w.What)
	}
	p.more(len(p.s.Waits), n)
}

// agents shows the agents by the room that they work in.
func (p *page) agents() {
	const none = "in no room" // behind all rooms
	away := 0
	byRoom := map[string][]*hub.LiveAgent{}
	for i := range p.s.Agents {
		a, name := &p.s.Agents[i], none
		if room := RoomOf(a); room != nil {
			name = p.s.RoomName(*room)
		}
		byRoom[name] = append(byRoom[name], a)
		if a.Presence == hub.PresenceAway {
			away++
		}
	}
	p.part(fmt.Sprintf("AGENTS  %d live, %d away", len(p.s.Agents)-away, away))
	left := p.shown(len(p.s.Agents), shownAgents)
	order := func(a, b string) int { return cmp.Or(first(b != none, a != none), strings.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(byRoom), order) {
		if left == 0 {
			break
		}
		p.put(Dim, name)
		for _, a := range byRoom[name][:min(left, len(byRoom[name]))] {
			p.agent(a)
			left--
		}
	}
	p.more(len(p.s.Agents), p.shown(len(p.s.Agents), shownAgents))
}

func (p *page) agent(a *hub.LiveAgent) {
	doing := Doing(a)
	if since := p.s.Since(a.ActivitySince); since != "" {
		doing += " " + since
	}
	var rest []string
	if held := Held(a); held != "" {
		rest = append(rest, held)
	}
	if d := a.Details; d != nil {
		if d.CurrentTaskID != nil {
			rest = append(rest, p.taskName(*d.CurrentTaskID))
		}
		if d.Unread > 0 {
			rest = append(rest, Unread(d.Unread))
		}
		if len(d.Watching) > 0 {
			rest = append(rest, "until "+strings.Join(d.Watching, " and "))
		}
	}
	if h := a.Harness(); h != "" {
		rest = append(rest, string(h))
	}
	p.put(ToneOf(a), "  "+Fit(Safe(string(a.AgentID)), 20)+" "+Fit(Safe(doing), 20)+" "+strings.Join(rest, ", "))
}

// taskName names a task by its number and title.
func (p *page) taskName(id hub.TaskID) string {
	for i := range p.s.Tasks {
		if t := &p.s.Tasks[i]; t.TaskID == id {
			return fmt.Sprintf("task %d %s", id, Clip(Safe(t.Title), 24))
		}
	}
	return fmt.Sprintf("task %d", id)
}

// Doing says in a few words what an agent does.
func Doing(a *hub.LiveAgent) string {
	switch {
	case a.Activity == hub.ActivityAtPrompt && a.PromptTool != "":
		return "at a prompt (" + a.PromptTool + ")"
	case a.Activity == hub.ActivityAtPrompt:
		return "at a prompt"
	case a.Activity == hub.ActivityNoTerminal:
		return "no terminal"
	case a.Presence == hub.PresenceAway:
		return "away"
	}
	return string(a.Activity)
}

// Held says whether the operator has paused or muted an agent; empty: neither.
func Held(a *hub.LiveAgent) string {
	d := a.Details
	switch {
	case d == nil:
		return ""
	case d.Paused != nil && d.Muted != nil:
		return "paused, muted"
	case d.Paused != nil:
		return "paused"
	case d.Muted != nil:
		return "muted"
	}
	return ""
}

// ToneOf is the tone of an agent's row.
func ToneOf(a *hub.LiveAgent) Tone {
	switch {
	case a.Activity == hub.ActivityAtPrompt, a.Activity == hub.ActivityStuck, a.Activity == hub.ActivityBlocked:
		return Warn
	case a.Presence == hub.PresenceAway, a.Activity == hub.ActivityNoTerminal:
		return Dim
	}
	return Plain
}

// Unread shows a count of unread messages, which the hub bounds.
func Unread(n int) string {
	if n >= hub.MaxUnread {
		return fmt.Sprintf("%d or more unread", hub.MaxUnread)
	}
	return fmt.Sprintf("%d unread", n)
}

// RoomCount counts what there is in a room.
type RoomCount struct {
	Agents, Tasks, Working, Blocked int
}

// String shows the counts that are not zero.
func (c RoomCount) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		text string
	}{{c.Agents, Count(c.Agents, "agent")}, {c.Tasks, Count(c.Tasks, "task")}, {c.Working, fmt.Sprintf("%d working", c.Working)}, {c.Blocked, fmt.Sprintf("%d blocked", c.Blocked)}} {
		if part.n > 0 {
			parts = append(parts, part.text)
		}
	}
	return strings.Join(parts, ", ")
}

// RoomCounts counts what there is in each room.
func (s *Snapshot) RoomCounts() map[hub.RoomID]RoomCount {
	counts := map[hub.RoomID]RoomCount{}
	for i := range s.Agents {
		if d := s.Agents[i].Details; d != nil {
			for _, id := range d.Rooms {
				c := counts[id]
				c.Agents++
				counts[id] = c
			}
		}
	}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.RoomID == nil {
			continue
		}
		c := counts[*t.RoomID]
		c.Tasks++
		if t.Status == hub.TaskWorking {
			c.Working++
		}
		if !t.Ready {
			c.Blocked++
		}
		counts[*t.RoomID] = c
	}
	return counts
}

// rooms shows the rooms in which there is something, the busiest first.
func (p *page) rooms() {
	counts := p.s.RoomCounts()
	var busy []*hub.Room
	for i := range p.s.Rooms {
		if r := &p.s.Rooms[i]; p.o.All || counts[r.RoomID] != (RoomCount{}) {
			busy = append(busy, r)
		}
	}
	if len(p.s.Rooms) == 0 {
		return
	}
	slices.SortStableFunc(busy, func(a, b *hub.Room) int {
		x, y := counts[a.RoomID], counts[b.RoomID]
		return cmp.Or(y.Agents-x.Agents, y.Tasks-x.Tasks)
	})
	p.part("ROOMS")
	n := p.shown(len(busy), shownRooms)
	for _, r := range busy[:n] {
		p.put(Plain, "  "+Fit(Safe(p.s.RoomName(r.RoomID)), 28)+" "+Fit(counts[r.RoomID].String(), 30)+" "+r.Topic)
	}
	p.more(len(busy), n)
	if quiet := len(p.s.Rooms) - len(busy); quiet > 0 {
		p.put(Dim, "  "+Count(quiet, "room")+" without agents and open tasks")
	}
}

func (p *page) counts() {
	s := p.s
	p.lines = append(p.lines, "")
	p.put(Dim, strings.Join([]string{
		Count(len(s.Agents), "agent"), Count(len(s.Rooms), "room"), Count(len(s.Tasks), "open task"), Count(len(s.Claims), "claim"),
		Count(len(s.Locks), "lock"), Count(int(s.Hub.Counts.Messages), "message"), time.UnixMilli(int64(s.At)).Format("15:04:05"),
	}, ", "))
}
