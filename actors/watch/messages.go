package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// feed is one scope of messages that a condition examines. Each message is examined
// once, however often the condition is tested.
type feed struct {
	scope core.Scope
	// looked is the last message that was examined, latest the last of them that counts.
	looked, latest hub.MessageID
}

// unreadFeeds are the room, or without one all that is public, and the inbox, in the order of
// view.UnreadIn.Scopes.
func (w *watch) unreadFeeds() []feed {
	if w.query.Room == "" {
		return []feed{{scope: view.PublicScope()}, {scope: view.InboxScope(w.query.Agent)}}
	}
	return []feed{{scope: view.ChannelScope(w.query.Room.Channel())}, {scope: view.InboxScope(w.query.Agent)}}
}

// scopes returns the scopes of the feeds.
func (c *test) scopes() []core.Scope {
	scopes := make([]core.Scope, len(c.feeds))
	for i := range c.feeds {
		scopes[i] = c.feeds[i].scope
	}
	return scopes
}

// newest returns the last message behind since, in the feed at the same place, that
// keep keeps; 0 if there is none.
func (c *test) newest(v *view.View, since []hub.MessageID, head hub.MessageID, keep func(*core.StoredMessage) bool) (hub.MessageID, error) {
	last := hub.MessageID(0)
	for i := range c.feeds {
		f := &c.feeds[i]
		if v.Answered.TakenBack(f.latest) { // another message may be the last one now
			f.looked, f.latest = 0, 0
		}
		if from := max(since[i], f.looked); from < head {
			latest, err := v.Newest(f.scope, from, head, keep)
			if err != nil {
				return 0, err
			}
			f.latest, f.looked = max(f.latest, latest), head
		}
		if f.latest <= since[i] {
			f.latest = 0
		}
		last = max(last, f.latest)
	}
	return last, nil
}

// unread returns what selects the unread messages that count for the watch.
func (w *watch) unread() view.UnreadIn {
	u := w.view.UnreadOf(w.query.Agent)
	u.After = w.query.After
	return u
}

// messageFrom holds while a message of the agent is unread: one in the room, or a
// direct one to the agent that watches.
func (w *watch) messageFrom(c *test) (bool, string, error) {
	u := w.unread()
	u.From = c.Agent
	_, since := u.Scopes(w.query.Room)
	latest, err := c.newest(w.view, since[:], u.Head, func(m *core.StoredMessage) bool { return u.Keeps(m) && !m.Muted })
	switch {
	case err != nil:
		return false, "", err
	case latest == 0:
		return false, fmt.Sprintf("no unread message from %s", c.Agent), nil
	default:
		return true, fmt.Sprintf("message %d from %s is unread", latest, c.Agent), nil
	}
}

// forMe holds while a message is unread that is for the agent; see view.View.IsFor.
func (w *watch) forMe(c *test) (bool, string, error) {
	u := w.unread()
	_, since := u.Scopes(w.query.Room)
	latest, err := c.newest(w.view, since[:], u.Head, func(m *core.StoredMessage) bool {
		return u.Keeps(m) && w.view.IsFor(m, u.Agent, w.query.Room, w.since)
	})
	switch {
	case err != nil:
		return false, "", err
	case latest == 0:
		return false, "no unread message is for you", nil
	default:
		return true, fmt.Sprintf("message %d is for you and unread", latest), nil
	}
}

// prepareAnswered refuses a message that the agent may not see. Answers are looked for
// where they usually are: in the channel of the message, in the room, in its thread and
// in the inbox.
func (w *watch) prepareAnswered(t *test) error {
	known, err := w.view.Knows(w.sees, t.Message)
	if err != nil {
		return err
	}
	if !known {
		return view.ErrMessageNotFound(t.Message)
	}
	asked, err := w.view.Message(t.Message)
	if err != nil {
		return err
	}
	t.feeds = w.unreadFeeds()
	if channel := view.ChannelScope(asked.Channel); asked.To == "" && channel != t.feeds[0].scope {
		t.feeds = append(t.feeds, feed{scope: channel})
	}
	if asked.Thread != "" {
		t.feeds = append(t.feeds, feed{scope: view.ThreadScope(asked.Thread)})
	}
	return nil
}

// answered holds when another agent has replied to the message, or when the task that
// the message opened has ended. It is stuck while that task is left.
func (w *watch) answered(c *test) (hub.ConditionState, error) {
	state := hub.ConditionState{Condition: c.Text}
	since := slices.Repeat([]hub.MessageID{c.Message}, len(c.feeds))
	latest, err := c.newest(w.view, since, w.view.Ring.Visible(), func(m *core.StoredMessage) bool { return w.answers(c, m) })
	if err != nil {
		return state, err
	}
	if latest != 0 {
		state.Met, state.Why = true, fmt.Sprintf("message %d answers message %d", latest, c.Message)
		return state, nil
	}
	status, ended := c.ended[c.Message]
	why := ""
	if !ended {
		t, err := w.view.AnyTask(c.Message)
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return state, err
		}
		if ended = err == nil && t.Task.Status.Terminal(); ended {
			status = t.Task.Status
			c.ended[c.Message] = status
		} else if err == nil {
			why = w.left(&t.Task)
		}
	}
	switch {
	case ended:
		state.Met, state.Why = true, fmt.Sprintf("task %d is %s", c.Message, status)
	case why != "":
		state.Stuck, state.Why = true, fmt.Sprintf("no answer to task %d%s", c.Message, why)
	default:
		state.Why = fmt.Sprintf("no answer to message %d", c.Message)
	}
	return state, nil
}

// answers reports whether a message is an answer that the agent may see. What the
// system says of a task is none, but that nobody has answered a question in time is one.
func (w *watch) answers(c *test, m *core.StoredMessage) bool {
	return !m.Muted && m.From != w.query.Agent && hub.Visible(w.query.Agent, m.From, m.To) && m.ReplyTo() == c.Message &&
		(m.From != hub.AgentSystem || view.EndsAskOf(m, w.query.Agent))
}

// wanted reports whether an answer shows an unread message: it is for the agent, comes
// from an agent that a condition names, or answers what a condition names.
func (w *watch) wanted(m *core.StoredMessage) bool {
	for i := range w.tests {
		switch c := &w.tests[i]; c.Kind { //nolint:exhaustive // the others ask for no message
		case hub.UntilMessageFrom:
			if m.From == c.Agent && !m.Muted {
				return true
			}
		case hub.UntilAnswered:
			if w.answers(c, m) {
				return true
			}
		}
	}
	return w.view.IsFor(m, w.query.Agent, w.query.Room, w.since)
}

// handsOut reports whether the agent may be shown all that an answer tells of, and notes that it
// was. If not, an answer of the operator was taken back meanwhile, and the conditions are tested
// again.
func (w *watch) handsOut(ctx context.Context, got *hub.Watched) bool {
	for i := range got.Messages {
		if !w.view.HandsOut(ctx, got.Messages[i].ID) {
			return false
		}
	}
	for i := range w.tests {
		for _, f := range w.tests[i].feeds {
			if f.latest != 0 && !w.view.HandsOut(ctx, f.latest) {
				return false
			}
		}
	}
	return true
}

// messages returns the foremost unread messages that are wanted, in the order of their ids,
// and how many there are beside them, as far as they are counted.
func (w *watch) messages(u view.UnreadIn) (rows []hub.UnreadRow, more int, err error) {
	found, err := w.view.ListUnread(&u, w.query.Room, watchCounted, func(m *core.StoredMessage) bool { return !view.IsOrder(m, u.Agent) && w.wanted(m) })
	if err != nil {
		return nil, 0, err
	}
	orders, err := w.view.LastUnread(&u, w.query.Room, watchCounted, func(m *core.StoredMessage) bool { return view.IsOrder(m, u.Agent) && w.wanted(m) })
	if err != nil {
		return nil, 0, err
	}
	found = append(found, orders...)
	all := min(len(found), 2*watchCounted)
	rows = []hub.UnreadRow{}
	for _, m := range view.Foremost(found, u.Agent, watchMessages) {
		row, err := w.view.UnreadRow(m, u.Agent)
		if err != nil {
			return nil, 0, err
		}
		rows = append(rows, row)
	}
	return rows, all - len(rows), nil
}
