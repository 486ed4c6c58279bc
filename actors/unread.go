package actors

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/hub"
)

// askingRows is how many of the last messages are looked for that ask something.
const askingRows = 20

// excerptChars is how much of a body a row of unread messages shows.
const excerptChars = 200

// unreadIn selects what agent has not seen up to head: messages of others that
// are no wake notices, whose sender is from unless that is empty.
type unreadIn struct {
	agent hub.AgentID
	seen  core.Seen
	from  hub.AgentID
	after hub.MessageID // what is not above it is left out
	head  hub.MessageID
}

// unreadOf returns what selects the unread messages of an agent as of now.
func (v *views) unreadOf(agent hub.AgentID) unreadIn {
	head := v.ring.visible()
	return unreadIn{agent: agent, seen: v.seen.of(agent), head: head}
}

func (u *unreadIn) keeps(m *core.StoredMessage) bool {
	if m.From == u.agent || m.Whole || u.from != "" && m.From != u.from || !hub.Visible(u.agent, m.From, m.To) || u.seen.HasAnswered(m.ID) {
		return false
	}
	if m.To != "" {
		return m.To == u.agent && m.ID > u.seen.InInbox()
	}
	return m.ID > u.seen.InChannel(m.Channel)
}

// scopes returns where the unread messages of a room and the inbox lie, or for no
// room those of all that is public, and up to where each has been seen.
func (u *unreadIn) scopes(room hub.RoomID) (scopes [2]core.Scope, since [2]hub.MessageID) {
	scopes[0], since[0] = publicScope(), u.seen.All
	if room != "" {
		scopes[0], since[0] = channelScope(room.Channel()), u.seen.InChannel(room.Channel())
	}
	scopes[1], since[1] = inboxScope(u.agent), u.seen.InInbox()
	since[0], since[1] = max(since[0], u.after), max(since[1], u.after)
	return scopes, since
}

// unread counts what an agent has not seen of a room and its inbox, up to
// hub.MaxUnread. An empty room is all that is public.
func (v *views) unread(agent hub.AgentID, room hub.RoomID) (int, error) {
	u := v.unreadOf(agent)
	return v.countUnread(&u, room)
}

func (v *views) countUnread(u *unreadIn, room hub.RoomID) (n int, err error) {
	scopes, since := u.scopes(room)
	for i := range scopes {
		looked := 0
		err = v.earlier(scopes[i], since[i], u.head, func(m *core.StoredMessage) bool {
			if u.keeps(m) {
				n++
			}
			looked++
			return n < hub.MaxUnread && looked < maxExamined
		})
		if err != nil || n >= hub.MaxUnread {
			break
		}
	}
	return n, err
}

// listUnread returns the first unread messages that keep keeps, rising, at most
// limit of each scope.
func (v *views) listUnread(u *unreadIn, room hub.RoomID, limit int, keep func(*core.StoredMessage) bool) (out []*core.StoredMessage, err error) {
	scopes, since := u.scopes(room)
	for i := range scopes {
		n := 0
		err = v.later(scopes[i], since[i], u.head, func(m *core.StoredMessage) bool {
			if u.keeps(m) && keep(m) {
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

// lastUnread is listUnread for the last of them, falling within each scope.
func (v *views) lastUnread(u *unreadIn, room hub.RoomID, limit int, keep func(*core.StoredMessage) bool) (out []*core.StoredMessage, err error) {
	scopes, since := u.scopes(room)
	for i := range scopes {
		n, looked := 0, 0
		err = v.earlier(scopes[i], since[i], u.head, func(m *core.StoredMessage) bool {
			if looked++; u.keeps(m) && keep(m) {
				row := *m
				out = append(out, &row)
				n++
			}
			return n < limit && looked < maxExamined
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// earlier calls fn, falling, for the messages of a scope behind since up to head
// until fn returns false, or of all that is public so many were looked at as one
// call may.
func (v *views) earlier(scope core.Scope, since, head hub.MessageID, fn func(*core.StoredMessage) bool) error {
	if since >= head || v.ring.walk(scope, since, head, fn) {
		return nil
	}
	public, looked := scope.Kind == core.ScopePublic, 0
	return v.rows.Messages(storedScope(scope), since, head, true, func(m *core.StoredMessage) bool {
		looked++
		return !public && fn(m) || public && looked <= maxExamined && (m.To != "" || fn(m))
	})
}

// later calls fn, rising, for the messages of a scope behind since up to head
// until fn returns false or so many were looked at as one call may. The ring links
// them backwards: where it has more than that, the store has them in their order.
func (v *views) later(scope core.Scope, since, head hub.MessageID, fn func(*core.StoredMessage) bool) error {
	if since >= head {
		return nil
	}
	var found []*core.StoredMessage
	complete := v.ring.walk(scope, since, head, func(m *core.StoredMessage) bool {
		found = append(found, m)
		return len(found) <= maxExamined
	})
	if complete && len(found) <= maxExamined {
		for i := len(found) - 1; i >= 0 && fn(found[i]); i-- {
		}
		return nil
	}
	public, looked := scope.Kind == core.ScopePublic, 0
	return v.rows.Messages(storedScope(scope), since, head, false, func(m *core.StoredMessage) bool {
		looked++
		return looked <= maxExamined && (public && m.To != "" || fn(m))
	})
}

// seenUpTo returns the id up to which an agent has seen all of a room and its
// inbox; an empty room is all that is public.
func (v *views) seenUpTo(agent hub.AgentID, room hub.RoomID) hub.MessageID {
	u := unreadIn{agent: agent, seen: v.seen.of(agent)}
	_, since := u.scopes(room)
	return min(since[0], since[1])
}

// unreadRow shows a message in short.
func unreadRow(m *core.StoredMessage) (hub.UnreadRow, error) {
	row, err := m.JSON.Decode()
	if err != nil {
		return hub.UnreadRow{}, hub.NewError(hub.CodeCorruptRecord, "a stored message cannot be read")
	}
	return hub.UnreadRow{
		ID: row.ID, FromAgent: row.FromAgent, Channel: row.Channel, Direct: row.ToAgent != nil, Kind: row.Kind,
		ThreadID: row.ThreadID, Excerpt: excerpt(row.Body), Authority: row.Authority, Assurance: row.Assurance,
	}, nil
}

// excerpt is the beginning of a body on one line, without characters that would
// act on a terminal or turn the order of the text.
func excerpt(body string) string {
	var b strings.Builder
	n, gap := 0, false
	for _, r := range body {
		switch {
		case unicode.IsSpace(r):
			gap = n > 0
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d':
			continue
		}
		if n+1 >= excerptChars {
			b.WriteRune('…')
			break
		}
		if gap {
			b.WriteByte(' ')
			n++
		}
		b.WriteRune(r)
		n++
		gap = false
	}
	return b.String()
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

// firstAsking returns the id of the first unread message that asks something of
// its reader, and the id behind the head if there is none. Of what is public it
// looks at so many of the first and of the last messages as one call may.
func (v *views) firstAsking(u *unreadIn) (hub.MessageID, error) {
	asks := func(m *core.StoredMessage) bool { return asksOf(m, u.agent) }
	found, err := v.listUnread(u, "", 1, asks)
	if err != nil {
		return 0, err
	}
	last, err := v.lastUnread(u, "", askingRows, asks)
	if err != nil {
		return 0, err
	}
	first := u.head + 1
	for _, m := range append(found, last...) {
		first = min(first, m.ID)
	}
	return first, nil
}

// asksOf reports whether a message that the agent may see asks something of it.
func asksOf(m *core.StoredMessage, agent hub.AgentID) bool {
	if m.From == hub.AgentSystem && m.Kind == hub.KindNotice {
		return noticeAsks(m, agent)
	}
	return m.To != "" || mentions(m, agent)
}

// noticeAsks reports whether a notice of the system says that a lease of the
// agent has expired, or that a task is the agent's now.
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
		} `json:"metadata"`
	}
	if json.Unmarshal(m.JSON, &row) != nil {
		return false
	}
	to := &row.Metadata.Handoff
	return row.Metadata.Recovery.AgentID == agent || to.State == core.HandoffAssigned && to.To == agent
}

// tail returns the latest messages of a scope with since < id <= head, newest
// first, at most limit.
func (v *views) tail(scope core.Scope, since, head hub.MessageID, limit int) (out []*core.StoredMessage, err error) {
	add := func(m *core.StoredMessage) bool {
		out = append(out, m)
		return len(out) < limit
	}
	floor := max(since, v.ring.reach())
	if !v.ring.walk(scope, floor, head, add) {
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

// length returns how long a span is, at least one millisecond.
func (s span) length() time.Duration {
	return time.Duration(max(s.to-s.from, 1)) * time.Millisecond
}

// newest returns the last message of a scope behind since up to head that keep
// keeps, 0 if there is none.
func (v *views) newest(scope core.Scope, since, head hub.MessageID, keep func(*core.StoredMessage) bool) (found hub.MessageID, err error) {
	err = v.earlier(scope, since, head, func(m *core.StoredMessage) bool {
		if keep(m) {
			found = m.ID
		}
		return found == 0
	})
	return found, err
}
