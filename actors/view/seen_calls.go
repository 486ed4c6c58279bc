package view

import (
	"context"

	"hubcli/actors/core"
	"hubcli/hub"
)

// counts reports whether a read in the name of agent shows that the agent has seen the
// rows. Reads by the operator and by a watch do not, nor do those that show nobody a row.
func counts(ctx context.Context, agent hub.AgentID) bool {
	caller := hub.CallerOf(ctx)
	return agent != "" && !agent.Watcher() && !agent.Reserved() && !caller.Operator && !caller.Peeks
}

// NotePoll notes what the agent of a poll has seen. A poll of a thread tells
// nothing: it leaves out most messages.
func (v *View) NotePoll(ctx context.Context, q *hub.EventsQuery) {
	if q.Since == 0 || q.Peek || q.ThreadID != "" || !counts(ctx, q.Agent) {
		return
	}
	to := min(q.Since, v.Ring.Visible())
	v.saw(q.Agent, func(s *core.Seen) bool {
		if len(q.Channels) == 0 && q.RoomID == "" {
			return s.SawAll(to)
		}
		moved := s.SawInbox(to)
		if q.RoomID != "" {
			moved = s.SawChannel(q.RoomID.Channel(), to) || moved
		}
		for _, c := range q.Channels {
			moved = s.SawChannel(c, to) || moved
		}
		return moved
	})
}

// NoteAnswer notes that a poll of an agent is answered with the rows of a page. The
// agent has seen them when it says so; until then it may be reading them.
func (v *View) NoteAnswer(ctx context.Context, q *hub.EventsQuery, page *hub.Page, now hub.Time) {
	if len(page.Rows) > 0 && !q.Peek && counts(ctx, q.Agent) {
		v.Directory.Give(q.Agent, page.NextSinceID, now)
		if q.ThreadID == "" { // else most messages are left out
			v.NoteOffer(q.Agent, q.Since, page.NextSinceID, hub.OfferedByPoll, now)
		}
	}
}

// NoteInboxAnswer notes that an agent that reads its inbox is answered with the rows
// of a page.
func (v *View) NoteInboxAnswer(ctx context.Context, q *hub.InboxQuery, page *hub.Page, now hub.Time) {
	if len(page.Rows) > 0 && !q.Peek && !q.Tail && counts(ctx, q.Agent) {
		v.NoteOffer(q.Agent, q.Since, page.NextSinceID, hub.OfferedByPoll, now)
	}
}

// NoteInbox notes what an agent has seen when it reads its inbox.
func (v *View) NoteInbox(ctx context.Context, q *hub.InboxQuery) {
	if q.Since == 0 || q.Peek || !counts(ctx, q.Agent) {
		return
	}
	to := min(q.Since, v.Ring.Visible())
	v.saw(q.Agent, func(s *core.Seen) bool { return s.SawInbox(to) })
}

// NoteBootstrap counts all messages up to head as seen by an agent that begins
// there.
func (v *View) NoteBootstrap(ctx context.Context, agent hub.AgentID, head hub.MessageID) {
	if counts(ctx, agent) {
		v.saw(agent, func(s *core.Seen) bool { return s.SawAll(head) })
	}
}

// NoteJoin counts the messages up to head as seen by an agent that joins at head. If
// an earlier message asks something of the agent, that message and all later ones stay
// unread: an agent may be briefed before it joins.
func (v *View) NoteJoin(ctx context.Context, agent hub.AgentID, head hub.MessageID) error {
	u := v.UnreadOf(agent)
	u.Head = head
	first, err := v.firstAsking(&u)
	if err == nil {
		v.NoteBootstrap(ctx, agent, first-1)
	}
	return err
}

// NoteReply notes that an agent has seen the message to which it replied. A
// reply tells nothing about other messages, not even earlier ones.
func (v *View) NoteReply(ctx context.Context, agent hub.AgentID, id hub.MessageID) {
	if id == 0 || !counts(ctx, agent) {
		return
	}
	m, err := v.Message(id)
	if u := v.UnreadOf(agent); err == nil && u.Keeps(m) { // else the message is not unread
		v.saw(agent, func(s *core.Seen) bool { return s.Answer(id) })
	}
}

// saw changes how far an agent has seen, and wakes the calls that wait for
// that.
func (v *View) saw(agent hub.AgentID, change func(*core.Seen) bool) {
	if v.Seen.move(agent, change) {
		v.Directory.Changed(agent)
	}
}
