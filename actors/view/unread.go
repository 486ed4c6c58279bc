package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// askingRows is how many of the last messages are looked for that ask something.
const askingRows = 20

// excerptChars is how much of a body a row of unread messages shows.
const excerptChars = 200

// UnreadIn selects what agent has not seen up to head: messages of others that
// are no wake notices, whose sender is from unless that is empty.
type UnreadIn struct {
	Agent hub.AgentID
	Seen  core.Seen
	From  hub.AgentID
	After hub.MessageID // what is not above it is left out
	Begin hub.MessageID // where the agent begins to read channels; see View.Begins
	Head  hub.MessageID
}

// UnreadOf returns what selects the unread messages of an agent as of now.
func (v *View) UnreadOf(agent hub.AgentID) UnreadIn {
	head := v.Ring.Visible()
	u := UnreadIn{Agent: agent, Seen: v.Seen.Of(agent), Head: head}
	if u.Seen.All == 0 { // else the agent has gone past it
		_, u.Begin = v.Begins(agent)
	}
	return u
}

// Keeps reports whether a message is unread for the agent.
func (u *UnreadIn) Keeps(m *core.StoredMessage) bool {
	if m.From == u.Agent || m.Whole || u.From != "" && m.From != u.From || !hub.Visible(u.Agent, m.From, m.To) || u.Seen.HasAnswered(m.ID) {
		return false
	}
	if m.To != "" {
		return m.To == u.Agent && m.ID > u.Seen.InInbox()
	}
	return m.ID > max(u.Begin, u.Seen.InChannel(m.Channel))
}

// Scopes returns where the unread messages of a room and the inbox lie, or for no
// room those of all that is public, and up to where each has been seen.
func (u *UnreadIn) Scopes(room hub.RoomID) (scopes [2]core.Scope, since [2]hub.MessageID) {
	scopes[0], since[0] = PublicScope(), u.Seen.All
	if room != "" {
		scopes[0], since[0] = ChannelScope(room.Channel()), u.Seen.InChannel(room.Channel())
	}
	scopes[1], since[1] = InboxScope(u.Agent), u.Seen.InInbox()
	since[0], since[1] = max(since[0], u.After, u.Begin), max(since[1], u.After)
	return scopes, since
}

// Unread counts what an agent has not seen of a room and its inbox, up to
// hub.MaxUnread. An empty room is all that is public.
func (v *View) Unread(agent hub.AgentID, room hub.RoomID) (int, error) {
	u := v.UnreadOf(agent)
	return v.CountUnread(&u, room)
}

// CountUnread counts the unread messages that u keeps.
func (v *View) CountUnread(u *UnreadIn, room hub.RoomID) (n int, err error) {
	scopes, since := u.Scopes(room)
	for i := range scopes {
		looked := 0
		err = v.earlier(scopes[i], since[i], u.Head, func(m *core.StoredMessage) bool {
			if u.Keeps(m) {
				n++
			}
			looked++
			return n < hub.MaxUnread && looked < MaxExamined
		})
		if err != nil || n >= hub.MaxUnread {
			break
		}
	}
	return n, err
}

// ListUnread returns the first unread messages that keep keeps, rising, at most
// limit of each scope.
func (v *View) ListUnread(u *UnreadIn, room hub.RoomID, limit int, keep func(*core.StoredMessage) bool) (out []*core.StoredMessage, err error) {
	scopes, since := u.Scopes(room)
	for i := range scopes {
		n := 0
		err = v.Later(scopes[i], since[i], u.Head, func(m *core.StoredMessage) bool {
			if u.Keeps(m) && keep(m) {
				row := *m
				out = append(out, &row)
				n++
			}
			return n < limit
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// LastUnread is listUnread for the last of them, falling within each scope.
func (v *View) LastUnread(u *UnreadIn, room hub.RoomID, limit int, keep func(*core.StoredMessage) bool) (out []*core.StoredMessage, err error) {
	scopes, since := u.Scopes(room)
	for i := range scopes {
		n, looked := 0, 0
		err = v.earlier(scopes[i], since[i], u.Head, func(m *core.StoredMessage) bool {
			if looked++; u.Keeps(m) && keep(m) {
				row := *m
				out = append(out, &row)
				n++
			}
			return n < limit && looked < MaxExamined
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ringBatch is how many messages earlier takes from the ring first. Each time it takes twice as many,
// because the ring is walked from its end again.
const ringBatch = 64

// earlier calls fn, falling, for the messages of a scope behind since up to head
// until fn returns false, or of all that is public so many were looked at as one
// call may. fn may ask the view: it is called without the lock of the ring. A goroutine that
// locks the ring twice for reading waits for ever if the writer came to the lock in between.
func (v *View) earlier(scope core.Scope, since, head hub.MessageID, fn func(*core.StoredMessage) bool) error {
	for n := ringBatch; since < head; n *= 2 {
		var found []*core.StoredMessage
		complete := v.Ring.walk(scope, since, head, func(m *core.StoredMessage) bool {
			found = append(found, m)
			return len(found) < n
		})
		if !complete {
			break // the store has the rest
		}
		for _, m := range found {
			if !fn(m) {
				return nil
			}
		}
		if len(found) < n {
			return nil
		}
		head = found[n-1].ID - 1
	}
	if since >= head {
		return nil
	}
	public, looked := scope.Kind == core.ScopePublic, 0
	return v.rows.Messages(scope, since, head, true, func(m *core.StoredMessage) bool {
		looked++
		return !public && fn(m) || public && looked <= MaxExamined && (m.To != "" || fn(m))
	})
}

// Later calls fn, rising, for the messages of a scope behind since up to head
// until fn returns false or so many were looked at as one call may. The ring links
// them backwards: where it has more than that, the store has them in their order.
func (v *View) Later(scope core.Scope, since, head hub.MessageID, fn func(*core.StoredMessage) bool) error {
	if since >= head {
		return nil
	}
	var found []*core.StoredMessage
	complete := v.Ring.walk(scope, since, head, func(m *core.StoredMessage) bool {
		found = append(found, m)
		return len(found) <= MaxExamined
	})
	if complete && len(found) <= MaxExamined {
		for i := len(found) - 1; i >= 0 && fn(found[i]); i-- {
		}
		return nil
	}
	public, looked := scope.Kind == core.ScopePublic, 0
	return v.rows.Messages(scope, since, head, false, func(m *core.StoredMessage) bool {
		looked++
		return looked <= MaxExamined && (public && m.To != "" || fn(m))
	})
}

// SeenUpTo returns the id up to which an agent has seen all of a room and its
// inbox; an empty room is all that is public.
func (v *View) SeenUpTo(agent hub.AgentID, room hub.RoomID) hub.MessageID {
	u := UnreadIn{Agent: agent, Seen: v.Seen.Of(agent)}
	_, since := u.Scopes(room)
	return min(since[0], since[1])
}

// UnreadRow shows a message in short, to an agent.
func (v *View) UnreadRow(m *core.StoredMessage, agent hub.AgentID) (hub.UnreadRow, error) {
	row, err := m.JSON.Decode()
	if err != nil {
		return hub.UnreadRow{}, hub.NewError(hub.CodeCorruptRecord, "a stored message cannot be read")
	}
	excerpt := peertext.Excerpt(row.Body, excerptChars)
	return hub.UnreadRow{
		Partial: excerpt != strings.TrimSpace(row.Body) || len(row.Attachments) > 0,
		ID:      row.ID, TS: row.TS, FromAgent: row.FromAgent, Channel: row.Channel, Direct: row.ToAgent != nil, Kind: row.Kind,
		ThreadID: row.ThreadID, Excerpt: excerpt, Authority: row.Authority, Assurance: row.Assurance, User: row.User, Order: IsOrder(m, agent),
		Answers: v.question(m, agent),
	}, nil
}

// question returns the beginning of the message of the agent that the operator's message to it
// answers; empty: it answers none.
func (v *View) question(m *core.StoredMessage, agent hub.AgentID) string {
	if m.From != hub.AgentOperator || m.To != agent {
		return ""
	}
	id := m.ReplyTo()
	if id == 0 {
		return ""
	}
	asked, err := v.Message(id)
	if err != nil || asked.From != agent {
		return ""
	}
	row, err := asked.JSON.Decode()
	if err != nil {
		return ""
	}
	return peertext.Excerpt(row.Body, excerptChars)
}

// mentions reports whether the body of a message names the agent as @agent.
func mentions(m *core.StoredMessage, agent hub.AgentID) bool {
	name := "@" + string(agent)
	if !bytes.Contains(m.JSON[m.BodyStart:m.BodyEnd], []byte(name)) { // no agent id is changed by JSON
		return false
	}
	var row struct {
		Body string `json:"body"`
	}
	if json.Unmarshal(m.JSON, &row) != nil {
		return false
	}
	for body := row.Body; ; {
		i := strings.Index(body, name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(body[:i]) // a letter: an address of mail, as a rule
		if rest := body[i+len(name):]; !unicode.IsLetter(before) && !unicode.IsDigit(before) && !idGoesOn(rest) {
			return true
		}
		body = body[i+1:]
	}
}

// idRune reports whether r may stand in an agent id.
func idRune(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._@:+-", r))
}

// idGoesOn reports whether the text goes on with more of an agent id; signs at
// its end are taken for punctuation.
func idGoesOn(rest string) bool {
	for _, r := range rest {
		if !idRune(r) {
			return false
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return true
		}
	}
	return false
}

// UnreadRequest returns a task_request to an agent that the agent has not read. tasks
// are the agent's live tasks; only a task that such a request opened counts. nil: there
// is none.
func (v *View) UnreadRequest(agent hub.AgentID, tasks []core.StoredTask) (*core.StoredMessage, error) {
	seen := v.Seen.Of(agent)
	for i := range tasks {
		t := &tasks[i]
		if !t.Direct || t.Task.CreatedBy == agent || t.Task.TaskID <= seen.InInbox() || seen.HasAnswered(t.Task.TaskID) {
			continue
		}
		m, err := v.Message(t.Task.TaskID)
		if err != nil {
			return nil, err
		}
		if m.Kind == hub.KindTaskRequest && m.To == agent && !m.Muted {
			return m, nil
		}
	}
	return nil, nil
}

// firstAsking returns the id of the first unread message that asks something of
// its reader, and the id behind the head if there is none. Of what is public it
// looks at so many of the first and of the last messages as one call may.
func (v *View) firstAsking(u *UnreadIn) (hub.MessageID, error) {
	asks := func(m *core.StoredMessage) bool { return v.AsksOf(m, u.Agent, "") }
	found, err := v.ListUnread(u, "", 1, asks)
	if err != nil {
		return 0, err
	}
	last, err := v.LastUnread(u, "", askingRows, asks)
	if err != nil {
		return 0, err
	}
	first := u.Head + 1
	for _, m := range append(found, last...) {
		first = min(first, m.ID)
	}
	return first, nil
}

// AsksOf reports whether a message that the agent may see asks something of it. What the
// operator says to a room asks something of the agents in it: of those that have a seat there,
// and of one that reads as an agent of room, which may be empty. What a muted agent has posted
// asks nothing of anybody.
func (v *View) AsksOf(m *core.StoredMessage, agent hub.AgentID, room hub.RoomID) bool {
	if m.Muted {
		return false
	}
	if m.From == hub.AgentSystem && m.Kind == hub.KindNotice {
		return noticeAsks(m, agent)
	}
	return m.To != "" || mentions(m, agent) || m.From == hub.AgentOperator && v.inRoomOf(m, agent, room)
}

// EndsAskOf reports whether a message of the system says how a question of the agent to
// the operator has ended.
func EndsAskOf(m *core.StoredMessage, agent hub.AgentID) bool {
	var row struct {
		Metadata struct {
			Ask core.AskNotice `json:"ask"`
		} `json:"metadata"`
	}
	return m.From == hub.AgentSystem && json.Unmarshal(m.JSON, &row) == nil && row.Metadata.Ask.AgentID == agent
}

// noticeAsks reports whether a notice of the system says that a lease of the agent has
// expired, that a task is the agent's now, that the agent's task was left, or that nobody has
// answered its question.
func noticeAsks(m *core.StoredMessage, agent hub.AgentID) bool {
	var row struct {
		Metadata struct {
			Recovery struct {
				AgentID hub.AgentID `json:"agent_id"`
			} `json:"recovery"`
			Handoff struct {
				To    hub.AgentID `json:"to"`
				State string      `json:"state"`
			} `json:"handoff"`
			Ask  core.AskNotice `json:"ask"`
			Left struct {
				Tell hub.AgentID `json:"tell"`
			} `json:"left"`
		} `json:"metadata"`
	}
	if json.Unmarshal(m.JSON, &row) != nil {
		return false
	}
	to := &row.Metadata.Handoff
	return row.Metadata.Left.Tell == agent || row.Metadata.Recovery.AgentID == agent || row.Metadata.Ask.AgentID == agent || to.State == core.HandoffAssigned && to.To == agent
}

// IsFor reports whether an unread message is for the agent: it asks something of the
// agent, or it answers a message of the agent. The agent reads room; since is when it
// registered first: what was posted to all before that is not for it.
func (v *View) IsFor(m *core.StoredMessage, agent hub.AgentID, room hub.RoomID, since hub.Time) bool {
	if m.Muted || m.To == "" && m.TS < since {
		return false
	}
	if v.AsksOf(m, agent, room) {
		return true
	}
	id := m.ReplyTo()
	if id == 0 || m.From == hub.AgentSystem {
		return false
	}
	asked, err := v.Message(id)
	return err == nil && asked.From == agent
}

// Tail returns the latest messages of a scope with since < id <= head, newest
// first, at most limit.
func (v *View) Tail(scope core.Scope, since, head hub.MessageID, limit int) (out []*core.StoredMessage, err error) {
	add := func(m *core.StoredMessage) bool {
		out = append(out, m)
		return len(out) < limit
	}
	floor := max(since, v.Ring.reach())
	if !v.Ring.walk(scope, floor, head, add) {
		out, floor = nil, head // the ring has moved on
	}
	if len(out) == limit || floor <= since {
		return out, nil
	}
	err = v.rows.Messages(scope, since, floor, true, func(m *core.StoredMessage) bool {
		row := *m
		return add(&row)
	})
	return out, err
}

// Length returns how long a span is, at least one millisecond.
func (s Span) Length() time.Duration {
	return time.Duration(max(s.To-s.From, 1)) * time.Millisecond
}

// Newest returns the last message of a scope behind since up to head that keep
// keeps, 0 if there is none.
func (v *View) Newest(scope core.Scope, since, head hub.MessageID, keep func(*core.StoredMessage) bool) (found hub.MessageID, err error) {
	err = v.earlier(scope, since, head, func(m *core.StoredMessage) bool {
		if keep(m) {
			found = m.ID
		}
		return found == 0
	})
	return found, err
}
