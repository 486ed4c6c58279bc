package view

import (
	"cmp"
	"errors"
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/answers"
)

// MaxExamined bounds the rows that one call looks at. A call that finds nothing
// among so many answers with a cursor that lies behind them.
const MaxExamined = 20_000

// farBack bounds how often a tail of several scopes takes one look more, when it has only
// rows that it must not show yet. Without any row it takes none: the caller goes on.
const farBack = 10

// MaxPageBytes bounds the rows of one answer, in bytes of JSON; one row may be
// larger. The rest comes with the next call.
const MaxPageBytes = answers.Rows

// Feed selects messages: those of any of its scopes that pass the rest. Scopes
// that share a message must not both be given.
type Feed struct {
	Scopes  []core.Scope
	Viewer  hub.AgentID // sees direct messages to itself
	Thread  hub.ThreadID
	Exclude hub.AgentID                    // whose messages are left out; empty: nobody's
	Party   hub.AgentID                    // who wrote the messages or got them; empty: anybody
	Without func(*core.StoredMessage) bool // leaves messages out too; nil: none
	All     bool                           // direct messages of all agents too, for the operator; those of a trial only to a Party in it
	Limit   int
	Tail    bool // the last rows rather than the first

	bytes int // of the rows; 0: MaxPageBytes. See ReadPage.
	looks int // rows that are looked at of each scope; 0: MaxExamined
}

// most is how many bytes of rows an answer may have.
func (f *Feed) most() int { return cmp.Or(f.bytes, MaxPageBytes) }

// looksAt is how many rows of each scope an answer may look at.
func (f *Feed) looksAt() int { return cmp.Or(f.looks, MaxExamined) }

// keeps applies what the scopes do not say.
func (f *Feed) keeps(m *core.StoredMessage) bool {
	return (f.All && (!m.Trial() || f.Party.Trial()) || hub.Delivered(f.Viewer, m.To)) &&
		(f.Thread == "" || m.Thread == f.Thread) &&
		(f.Party == "" || m.From == f.Party || m.To == f.Party) &&
		(f.Exclude == "" || m.From != f.Exclude) &&
		(f.Without == nil || !f.Without(m))
}

// Read returns the rows with since < id <= head that the feed selects, rising,
// and the highest id that was examined: every row that the feed selects up to it
// is in rows or is older than since.
func (v *View) Read(f *Feed, since, head hub.MessageID) (rows []*core.StoredMessage, examined hub.MessageID, err error) {
	if since >= head {
		return nil, since, nil
	}
	rows, ok := v.readRing(f, since, head)
	switch {
	case ok:
		examined = head
	case f.Tail:
		rows, err = v.readTail(f, since, head)
		examined = head
	default:
		rows, examined, err = v.readStore(f, since, head)
	}
	if kept := f.cut(rows); len(kept) < len(rows) {
		rows = kept
		if !f.Tail {
			examined = rows[len(rows)-1].ID
		}
	}
	return rows, examined, err
}

// cut returns the rows that fit one answer: the first ones, or of a tail the
// last.
func (f *Feed) cut(rows []*core.StoredMessage) []*core.StoredMessage {
	bytes := 0
	for n := range rows {
		i := n
		if f.Tail {
			i = len(rows) - 1 - n
		}
		if bytes += len(rows[i].JSON); n < f.Limit && (n == 0 || bytes <= f.most()) {
			continue
		}
		if f.Tail {
			return rows[i+1:]
		}
		return rows[:i]
	}
	return rows
}

// readRing reads from memory; false if the ring does not reach back to since.
func (v *View) readRing(f *Feed, since, head hub.MessageID) ([]*core.StoredMessage, bool) {
	var rows []*core.StoredMessage
	for _, s := range f.Scopes {
		from := len(rows)
		ok := v.Ring.walk(s, since, head, func(m *core.StoredMessage) bool {
			if f.keeps(m) {
				rows = append(rows, m)
			}
			return !f.Tail || len(rows)-from < f.Limit
		})
		if !ok {
			return nil, false
		}
	}
	if len(rows) > 1 {
		slices.SortFunc(rows, ByID)
	}
	return rows, true
}

// ByID orders messages by their ids.
func ByID(a, b *core.StoredMessage) int { return cmp.Compare(a.ID, b.ID) }

// readStore reads from the store, oldest first. Every scope is read up to where
// the limits of an answer end it; what all of them reach is what has been
// examined.
func (v *View) readStore(f *Feed, since, head hub.MessageID) (rows []*core.StoredMessage, examined hub.MessageID, err error) {
	examined = head
	for _, s := range f.Scopes {
		part := part{feed: f, public: s.Kind == core.ScopePublic}
		reached := examined // what an earlier scope does not reach would be dropped
		err := v.rows.Messages(s, since, examined, false, func(m *core.StoredMessage) bool {
			if part.add(m) {
				return true
			}
			reached = m.ID
			return false
		})
		if err != nil {
			return nil, since, err
		}
		rows = append(rows, part.rows...)
		examined = reached
	}
	slices.SortFunc(rows, ByID)
	return rows[:upTo(rows, examined)], examined, nil
}

// readTail reads the last rows behind since from the store. Every scope is read back to where
// the limits of an answer end it. Rows from before the first of these places are left out:
// there may be others among them that were not read. Where that leaves no row, the scope that
// ends first is read on, until all reach back to a row or farBack looks were taken.
func (v *View) readTail(f *Feed, since, head hub.MessageID) ([]*core.StoredMessage, error) {
	if len(f.Scopes) == 0 {
		return nil, nil
	}
	parts := make([]part, len(f.Scopes))
	for i, s := range f.Scopes {
		parts[i] = part{feed: f, scope: s, public: s.Kind == core.ScopePublic, reached: head}
		if err := v.readBack(&parts[i], since); err != nil {
			return nil, err
		}
	}
	for looked := 0; ; {
		var rows []*core.StoredMessage
		first := &parts[0]
		for i := range parts {
			rows = append(rows, parts[i].rows...)
			if parts[i].reached > first.reached {
				first = &parts[i]
			}
		}
		slices.SortFunc(rows, ByID)
		kept := rows[upTo(rows, first.reached):]
		if len(kept) > 0 || len(rows) == 0 || looked >= farBack*f.looksAt() {
			return kept, nil
		}
		if err := v.readBack(first, since); err != nil {
			return nil, err
		}
		looked += first.seen
	}
}

// readBack takes the rows of a scope behind since that are before those it has reached.
func (v *View) readBack(p *part, since hub.MessageID) error {
	upto := p.reached
	p.reached, p.seen = since, 0
	return v.rows.Messages(p.scope, since, upto, true, func(m *core.StoredMessage) bool {
		if p.add(m) {
			return true
		}
		p.reached = m.ID - 1
		return false
	})
}

// upTo returns how many of rising rows have ids up to one.
func upTo(rows []*core.StoredMessage, id hub.MessageID) int {
	n, _ := slices.BinarySearchFunc(rows, id+1, func(m *core.StoredMessage, id hub.MessageID) int {
		return cmp.Compare(m.ID, id)
	})
	return n
}

// part is what one scope gives to an answer from the store.
type part struct {
	feed        *Feed
	scope       core.Scope    // of a tail
	reached     hub.MessageID // of a tail: all rows behind it are looked at
	public      bool          // the scope is stored among direct messages
	rows        []*core.StoredMessage
	seen, bytes int
}

// add takes a row if the feed wants it; false once the part is as large as an
// answer may be.
func (p *part) add(m *core.StoredMessage) bool {
	p.seen++
	if p.feed.keeps(m) && (!p.public || m.To == "") {
		row := *m
		p.rows = append(p.rows, &row)
		p.bytes += len(m.JSON)
	}
	return len(p.rows) < p.feed.Limit && p.seen < p.feed.looksAt() && p.bytes < p.feed.most()
}

// Message returns one row, from the ring or the store. message_not_found.
func (v *View) Message(id hub.MessageID) (*core.StoredMessage, error) {
	if id < 1 || id > v.Ring.Visible() {
		return nil, ErrMessageNotFound(id)
	}
	if m, ok := v.Ring.Get(id); ok {
		return m, nil
	}
	m, err := v.rows.Message(id)
	if errors.Is(err, core.ErrNotFound) {
		return nil, ErrMessageNotFound(id)
	}
	if err != nil {
		return nil, err
	}
	return &m, nil
}

// ErrMessageNotFound is the refusal for a message that is not there or not shown.
func ErrMessageNotFound(id hub.MessageID) error {
	return hub.Errorf(hub.CodeMessageNotFound, "there is no message %d", id)
}

// Page renders rows within a budget of body characters; 0 is no budget. The
// newest rows are whole first; a body that does not fit becomes a notice.
func Page(rows []*core.StoredMessage, maxChars int, next hub.MessageID) hub.Page {
	p := hub.Page{Rows: make([]hub.EncodedMessage, len(rows)), NextSinceID: next}
	left := maxChars
	for i := len(rows) - 1; i >= 0; i-- {
		m := rows[i]
		p.Rows[i] = m.JSON
		if maxChars == 0 || m.Whole {
			continue
		}
		if m.BodyChars > left {
			if short := m.Shorten(); len(short) < len(m.JSON) {
				p.Rows[i] = short // a body shorter than the notice stays
			}
			left = 0 // older bodies must not come before newer ones
			continue
		}
		left -= m.BodyChars
	}
	return p
}
