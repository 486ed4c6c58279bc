package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/bounded"
	"hubcli/internal/peertext"
)

// maxDigests bounds the digests of which is kept that their agents have not read the whole.
const maxDigests = 10_000

// budgets shows how much agents are given, and which messages they were given as digests. Each
// answer to an agent asks it, so that no budget costs one look at a number.
type budgets struct {
	*rulings[hub.BudgetTarget, hub.Budget]

	digestsMu sync.Mutex
	digests   *bounded.Map[digestKey, struct{}]
	owed      atomic.Int32 // how many digests there are
}

// digestChars is how much of a body a digest shows.
const digestChars = 80

type digestKey struct {
	agent hub.AgentID
	id    hub.MessageID
}

func newBudgets() *budgets {
	return &budgets{rulings: newRulings(&core.BudgetKind), digests: bounded.New[digestKey, struct{}](maxDigests)}
}

// Budgets lists the budgets, the earliest first.
func (v *View) Budgets() []hub.Budget { return v.budgets.list(nil) }

// BudgetOf returns how many characters an hour an agent is given: its own budget, else the
// smallest of the rooms in which it has a seat; 0: it has none.
func (v *View) BudgetOf(agent hub.AgentID) (int, error) {
	if v.budgets.none() || agent == "" {
		return 0, nil
	}
	least := 0
	for _, b := range v.Budgets() {
		switch {
		case b.AgentID != nil && *b.AgentID == agent:
			return b.Chars, nil
		case b.RoomID == nil || least != 0 && b.Chars >= least:
			continue
		}
		switch _, err := v.SeatOf(*b.RoomID, agent); {
		case err == nil:
			least = b.Chars
		case !errors.Is(err, core.ErrNotFound):
			return 0, err
		}
	}
	return least, nil
}

// left returns how many characters an agent may still be given in this hour, and its budget;
// ok is false if it has none.
func (v *View) left(ctx context.Context, agent hub.AgentID, now hub.Time) (left, budget int, ok bool) {
	if v.budgets.none() || !counts(ctx, agent) {
		return 0, 0, false
	}
	budget, err := v.BudgetOf(agent)
	if err != nil || budget == 0 { // a seat that cannot be read makes nothing shorter
		return 0, 0, false
	}
	return budget - v.GivenLately(agent, now), budget, true
}

// wholeFor reports whether a message is never made a digest: what the operator and the hub say,
// and a request that asks the agent to do a task.
func wholeFor(from hub.AgentID, kind hub.Kind, direct bool) bool {
	return from.Reserved() || kind == hub.KindTaskRequest && direct
}

// Ration makes digests of the bodies of a page that are beyond the budget of its reader, and says
// which. A body that is hardly longer than a digest stays.
func (v *View) Ration(ctx context.Context, agent hub.AgentID, rows []*core.StoredMessage, page *hub.Page, now hub.Time) (digested []bool) {
	left, budget, ok := v.left(ctx, agent, now)
	if !ok {
		return nil
	}
	for i, m := range rows {
		if len(page.Rows[i]) != len(m.JSON) {
			continue // max_chars has left the body out
		}
		short := hub.EncodedMessage(nil)
		if m.BodyChars > left && !wholeFor(m.From, m.Kind, m.To != "") {
			short = digest(m, agent, left, budget)
		}
		if short == nil || len(short) >= len(m.JSON) {
			left -= m.BodyChars
			continue
		}
		if digested == nil {
			digested = make([]bool, len(rows))
		}
		page.Rows[i], digested[i] = short, true
		left -= digestChars
		if k := (digestKey{agent, m.ID}); !v.gaveWhole(k) {
			v.budgets.owe(k)
		}
	}
	return digested
}

// digest returns a message with one line for its body: its beginning, its size, and how the agent
// reads the whole.
func digest(m *core.StoredMessage, agent hub.AgentID, left, budget int) hub.EncodedMessage {
	row, err := m.JSON.Decode()
	if err != nil {
		return m.JSON
	}
	why := fmt.Sprintf("your budget of %d an hour is spent", budget)
	if left > 0 {
		why = fmt.Sprintf("%d of your budget of %d an hour are left", left, budget)
	}
	fetch := fmt.Sprintf("GET /v1/messages/%d?agent_id=%s", m.ID, agent)
	return m.Shortened(fmt.Sprintf("%s [digest of %d characters, because %s; the whole: hub_get_message {\"message_id\":%d}, hubcli app message %d, or %s]",
		peertext.Excerpt(row.Body, digestChars), m.BodyChars, why, m.ID, m.ID, fetch), fetch)
}

// gaveWhole reports whether an agent has been given a whole message lately.
func (v *View) gaveWhole(k digestKey) bool {
	offer, known := v.Offers.Of(k.agent, k.id)
	return known && offer.By == hub.OfferedByPoll && !v.DigestOnly(k.agent, k.id)
}

// RationRows shortens the beginnings of messages that an agent is shown, if it has spent its
// budget.
func (v *View) RationRows(ctx context.Context, agent hub.AgentID, rows []hub.UnreadRow, now hub.Time) {
	left, _, ok := v.left(ctx, agent, now)
	if !ok || left > 0 {
		return
	}
	for i := range rows {
		if r := &rows[i]; !wholeFor(r.FromAgent, r.Kind, r.Direct) {
			r.Excerpt = peertext.Excerpt(r.Excerpt, digestChars)
		}
	}
}

// owe notes that an agent was given a digest.
func (b *budgets) owe(k digestKey) {
	b.digestsMu.Lock()
	defer b.digestsMu.Unlock()
	b.digests.Put(k, struct{}{})
	b.owed.Store(int32(b.digests.Len()))
}

// ReadWhole notes that an agent has read a whole message.
func (v *View) ReadWhole(ctx context.Context, agent hub.AgentID, id hub.MessageID) {
	if v.budgets.owed.Load() == 0 || !counts(ctx, agent) {
		return
	}
	v.budgets.digestsMu.Lock()
	defer v.budgets.digestsMu.Unlock()
	v.budgets.digests.Delete(digestKey{agent, id})
	v.budgets.owed.Store(int32(v.budgets.digests.Len()))
}

// DigestOnly reports whether an agent has been given no more of a message than a digest.
func (v *View) DigestOnly(agent hub.AgentID, id hub.MessageID) bool {
	if v.budgets.owed.Load() == 0 {
		return false
	}
	v.budgets.digestsMu.Lock()
	defer v.budgets.digestsMu.Unlock()
	_, only := v.budgets.digests.Get(digestKey{agent, id})
	return only
}

// Spent says of the agents in rows that have a budget how much of it they were given lately.
func (v *View) Spent(rows []hub.Given, now hub.Time) ([]hub.Spent, error) {
	out, known := []hub.Spent{}, map[hub.AgentID]bool{}
	for i := range rows {
		agent := rows[i].AgentID
		if known[agent] {
			continue
		}
		known[agent] = true
		budget, err := v.BudgetOf(agent)
		if err != nil {
			return nil, err
		}
		if budget > 0 {
			out = append(out, hub.Spent{AgentID: agent, Chars: v.GivenLately(agent, now), Budget: budget})
		}
	}
	slices.SortFunc(out, func(a, b hub.Spent) int { return strings.Compare(string(a.AgentID), string(b.AgentID)) })
	return out, nil
}
