package view

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/bounded"
)

const (
	ledgerSlots = 12 // of an hour
	ledgerSlot  = hub.Time(time.Hour/time.Millisecond) / ledgerSlots
)

// ledger counts what agents were given. It holds a bounded number of rows and agents,
// and forgets what has not changed for the longest time.
type ledger struct {
	mu    sync.Mutex
	since hub.Time
	known *bounded.Map[ledgerKey, hub.Given]
	rooms *bounded.Map[ledgerPlace, hub.GivenIn]
	hours *bounded.Map[hub.AgentID, ledgerHour]
}

type ledgerKey struct {
	agent, from hub.AgentID
	path        hub.GivenBy
}

type ledgerPlace struct {
	agent hub.AgentID
	room  hub.RoomID // empty: none
}

// ledgerHour holds the characters of the last hour in slots of five minutes.
type ledgerHour struct {
	at    [ledgerSlots]hub.Time // number of the slot since the epoch
	chars [ledgerSlots]int
}

func newLedger(now hub.Time) *ledger {
	return &ledger{
		since: now, known: bounded.New[ledgerKey, hub.Given](hub.MaxLedgerRows),
		rooms: bounded.New[ledgerPlace, hub.GivenIn](hub.MaxLedgerRows),
		hours: bounded.New[hub.AgentID, ledgerHour](hub.MaxLedgerRows),
	}
}

// give counts one message, which was said in a room or, if that is empty, elsewhere.
func (l *ledger) give(k ledgerKey, room hub.RoomID, chars int, now hub.Time) {
	l.giveIn(ledgerPlace{k.agent, room}, chars, now)
	row, _ := l.known.Get(k)
	row.AgentID, row.FromAgent, row.Path, row.LastAt = k.agent, k.from, k.path, now
	row.Messages++
	row.Chars += chars
	l.known.Put(k, row)
	h, _ := l.hours.Get(k.agent)
	n := now / ledgerSlot
	i := n % ledgerSlots
	if h.at[i] != n {
		h.at[i], h.chars[i] = n, 0
	}
	h.chars[i] += chars
	l.hours.Put(k.agent, h)
}

func (l *ledger) giveIn(place ledgerPlace, chars int, now hub.Time) {
	row, _ := l.rooms.Get(place)
	row.AgentID, row.LastAt = place.agent, now
	if place.room != "" {
		row.RoomID = &place.room
	}
	row.Messages++
	row.Chars += chars
	l.rooms.Put(place, row)
}

// place returns the room in which a message was said to all; empty: none.
func (v *View) place(channel hub.ChannelName, direct bool) hub.RoomID {
	if direct {
		return ""
	}
	return v.RoomOf(channel)
}

// NoteGiven counts the rows of a page that an agent is answered. A body that was left out
// counts as none, and a digest as what it shows.
func (v *View) NoteGiven(ctx context.Context, agent hub.AgentID, path hub.GivenBy, rows []*core.StoredMessage, page *hub.Page, digested []bool, now hub.Time) {
	if len(rows) == 0 || !counts(ctx, agent) {
		return
	}
	v.ledger.mu.Lock()
	defer v.ledger.mu.Unlock()
	for i, m := range rows {
		chars := m.BodyChars
		if digested != nil && digested[i] {
			chars = digestChars
		} else if len(page.Rows[i]) != len(m.JSON) {
			chars = 0
		}
		v.ledger.give(ledgerKey{agent, m.From, path}, v.place(m.Channel, m.To != ""), chars, now)
	}
}

// NoteShown counts messages whose beginnings an agent was shown.
func (v *View) NoteShown(ctx context.Context, agent hub.AgentID, path hub.GivenBy, rows []hub.UnreadRow, now hub.Time) {
	if len(rows) == 0 || !counts(ctx, agent) {
		return
	}
	v.ledger.mu.Lock()
	defer v.ledger.mu.Unlock()
	for i := range rows {
		v.ledger.give(ledgerKey{agent, rows[i].FromAgent, path}, v.place(rows[i].Channel, rows[i].Direct), utf8.RuneCountInString(rows[i].Excerpt), now)
	}
}

// GivenLately returns the characters that an agent was given in the last hour.
func (v *View) GivenLately(agent hub.AgentID, now hub.Time) (chars int) {
	v.ledger.mu.Lock()
	defer v.ledger.mu.Unlock()
	h, _ := v.ledger.hours.Get(agent)
	for i, at := range h.at {
		if at > now/ledgerSlot-ledgerSlots {
			chars += h.chars[i]
		}
	}
	return chars
}

// Ledger returns what agents were given, most characters first.
func (v *View) Ledger() hub.Ledger {
	l := v.ledger
	l.mu.Lock()
	out := hub.Ledger{Since: l.since, Rows: l.known.Values(), Rooms: l.rooms.Values()}
	l.mu.Unlock()
	slices.SortFunc(out.Rows, func(a, b hub.Given) int {
		return cmp.Or(cmp.Compare(b.Chars, a.Chars), cmp.Compare(b.Messages, a.Messages), cmp.Compare(a.AgentID, b.AgentID),
			cmp.Compare(a.FromAgent, b.FromAgent), cmp.Compare(a.Path, b.Path))
	})
	slices.SortFunc(out.Rooms, func(a, b hub.GivenIn) int {
		return cmp.Or(cmp.Compare(b.Chars, a.Chars), cmp.Compare(b.Messages, a.Messages), cmp.Compare(a.AgentID, b.AgentID), cmp.Compare(idOf(a.RoomID), idOf(b.RoomID)))
	})
	return out
}

func idOf(room *hub.RoomID) hub.RoomID {
	if room == nil {
		return ""
	}
	return *room
}
