package core

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"hubcli/hub"
)

// Loop is a few agents that post to each other and show no progress.
type Loop struct {
	Agents  []hub.AgentID   `json:"agents"`            // two or more, sorted
	Channel hub.ChannelName `json:"channel,omitempty"` // empty: direct messages
	Thread  hub.ThreadID    `json:"thread,omitempty"`
	Room    hub.RoomID      `json:"room,omitempty"`
	Hops    int             `json:"hops"`
	Slug    string          `json:"-"` // how people call the room; empty: not known
}

// The question about a loop, and how long it is open and an answer keeps agents apart.
const (
	LoopGoOn     = "let them go on"
	LoopApart    = "keep them apart for an hour"
	loopSeconds  = 3600
	loopApartMS  = loopSeconds * 1000
	loopProgress = "a task, a decision, an artifact, a memory, a claim or a lock"
)

// Names lists the agents in words.
func (l *Loop) Names() string {
	names := make([]string, len(l.Agents))
	for i, agent := range l.Agents {
		names[i] = string(agent)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// where says in words where they post.
func (l *Loop) where() string {
	switch {
	case l.Channel == "":
		return "in direct messages"
	case l.Thread != "" && l.Room != "":
		return "in the thread " + strconv.Quote(string(l.Thread)) + " of the room " + l.roomName()
	case l.Thread != "":
		return "in the thread " + strconv.Quote(string(l.Thread)) + " of " + strconv.Quote(string(l.Channel))
	case l.Room != "":
		return "in the room " + l.roomName()
	}
	return "in the channel " + strconv.Quote(string(l.Channel))
}

// roomName is how people call the room: by its slug, or by its id.
func (l *Loop) roomName() string { return cmp.Or(l.Slug, string(l.Room)) }

// stopped says what the agents cannot do while the loop is stopped or kept apart. In a room a
// post reaches all that are there, so none of theirs passes.
func (l *Loop) stopped() string {
	if l.Channel == "" {
		return "They cannot post to each other"
	}
	return "They cannot post there, to anybody,"
}

// setting says how the operator ends the refusals in a room for good.
func (l *Loop) setting() string {
	if l.Room == "" {
		return ""
	}
	return fmt.Sprintf("To be asked no more there: hubcli room guard %s default. ", l.Room)
}

// same reports whether two loops are of the same agents at the same place.
func (l *Loop) same(other *Loop) bool {
	return other != nil && l.Names() == other.Names() && l.Channel == other.Channel && l.Thread == other.Thread
}

// LoopNotice tells an agent of a loop that it is in one, and how to go on. It asks for no
// answer, and wakes nobody. slow and stop are turns; 0: nothing is slowed, or stopped.
func LoopNotice(l Loop, to hub.AgentID, slow, stop int) MessageDraft {
	text := fmt.Sprintf("%s have posted %d times in turn %s without %s between. "+
		"If you get somewhere, go on, and note what you have: open a task for work, record a decision when something is settled. "+
		"If you are stuck, ask the operator. If nothing is left to say, end here: this needs no answer.",
		l.Names(), l.Hops, l.where(), loopProgress)
	if slow > 0 {
		text += fmt.Sprintf(" After %d turns the hub slows down posts that come fast, or that repeat what was said.", slow)
	}
	if stop > 0 {
		text += fmt.Sprintf(" After %d it refuses all of them and asks the operator, who wants it so.", stop)
	}
	n := systemNotice(text, map[string]any{"loop": l})
	n.To, n.Channel = to, hub.DirectChannel
	return n
}

// AskAboutLoop decides that the operator is asked whether the agents of a loop may go on.
// While the question is open, a second one has no effect. Error: limit_reached.
func (a *Asks) AskAboutLoop(l Loop, now Now) (Decision[StoredAsk], error) {
	for _, row := range a.open {
		if l.same(row.Loop) {
			return answering(row), nil
		}
	}
	in := hub.AskInput{
		AgentID: hub.AgentSystem, RoomID: l.Room, Options: []string{LoopGoOn, LoopApart}, Default: LoopGoOn, DeadlineSec: loopSeconds,
		Question: fmt.Sprintf("%s have posted %d times in turn %s without %s between. %s until you answer, and for an hour more if you keep them apart. %sMay they go on?",
			l.Names(), l.Hops, l.where(), loopProgress, l.stopped(), l.setting()),
	}
	l.Slug = "" // it may change, so it is not stored
	d, err := a.Ask(AskCommand{In: in, By: StandingOperator, Authority: hub.AuthoritySystem, Assurance: hub.AssuranceSession}, now)
	if err != nil {
		return d, err
	}
	f := d.Facts[0].(*Asked)
	f.Loop = &l
	return d, nil
}

// ApartUntil returns the hub time until which the answer to the question about a loop
// keeps its agents apart; 0: they may go on. Only the words of the option let them go on.
func ApartUntil(answer string, at Position) int64 {
	if goesOn(answer) {
		return 0
	}
	return at.Now.HubMS + loopApartMS
}

// goesOn reports whether an answer to the question about a loop lets its agents go on.
func goesOn(answer string) bool { return strings.EqualFold(strings.TrimSpace(answer), LoopGoOn) }

// toEach addresses the message that ends a question to its agent. The end of a question
// about a loop is told to each agent of the loop.
func (r *StoredAsk) toEach(m MessageDraft) []MessageDraft {
	if r.Loop == nil {
		return []MessageDraft{m}
	}
	m.Body = "About what " + r.Loop.Names() + " post " + r.Loop.where() + ": " + m.Body
	m.ReplyTo = 0 // they cannot see the question
	all := make([]MessageDraft, len(r.Loop.Agents))
	for i, agent := range r.Loop.Agents {
		m.To = agent
		all[i] = m
	}
	return all
}
