package actors

import (
	"context"
	"net/http"
	"sort"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Log returns messages as a spectator reads them; see hub.Messages. It is a poll of no
// agent: no message becomes seen by it, and no agent becomes live.
func (h *Hub) Log(ctx context.Context, q hub.LogQuery) (hub.Page, error) {
	f, err := h.logFeed(&q)
	if err != nil {
		return hub.Page{}, err
	}
	upto := h.view.Ring.Visible()
	if q.Since != 0 {
		behind, err := h.lastBefore(q.Since, upto)
		if err != nil {
			return hub.Page{}, err
		}
		q.SinceID = max(q.SinceID, behind)
	}
	if q.Until == 0 && q.BeforeID == 0 {
		return h.poll(ctx, pollCall{feed: f, since: q.SinceID, wait: q.Wait, agent: waiter(ctx)})
	}
	if q.BeforeID != 0 {
		upto = min(upto, q.BeforeID-1)
	}
	if q.Until != 0 {
		if upto, err = h.lastBefore(q.Until, upto); err != nil {
			return hub.Page{}, err
		}
	}
	rows, examined, err := h.view.ReadPage(ctx, &f, q.SinceID, upto)
	return view.Page(rows, 0, examined), err
}

// logFeed makes the feed of a query. The query names at most one of room, channel and
// thread.
func (h *Hub) logFeed(q *hub.LogQuery) (view.Feed, error) {
	f := view.Feed{Party: q.Agent, All: q.Direct, Limit: q.Limit, Tail: q.Tail && q.SinceID == 0}
	switch {
	case q.RoomID != "":
		room, err := h.view.Room(q.RoomID)
		if err != nil {
			return f, err
		}
		f.Scopes = []core.Scope{view.ChannelScope(room.Channel)}
		if q.Direct {
			err = h.addRoomDirect(&f, &room)
		}
		return f, err
	case q.Channel != "":
		if err := h.checkChannel(q.Channel, http.StatusNotFound); err != nil {
			return f, err
		}
		f.Scopes = []core.Scope{view.ChannelScope(q.Channel)}
	case q.ThreadID != "":
		f.Scopes = []core.Scope{view.ThreadScope(q.ThreadID)}
	case q.Direct:
		f.Scopes = []core.Scope{view.AllScope()}
	default:
		f.Scopes = []core.Scope{view.PublicScope()}
	}
	return f, nil
}

// addRoomDirect adds the direct messages that have the channel of a room as their label, as
// far as they go to agents with a seat there or to the operator.
func (h *Hub) addRoomDirect(f *view.Feed, room *hub.Room) error {
	seats, err := h.view.SeatsIn(room.RoomID)
	if err != nil {
		return err
	}
	for agent := range seats {
		f.Scopes = append(f.Scopes, view.InboxScope(agent))
	}
	if !seats[hub.AgentOperator] {
		f.Scopes = append(f.Scopes, view.InboxScope(hub.AgentOperator))
	}
	f.Without = func(m *core.StoredMessage) bool { return m.To != "" && m.Channel != room.Channel }
	return nil
}

// lastBefore returns the highest id of a message that was posted before a moment, or 0.
// It searches by halves, with one read of the store for each half. Where the clock of
// the machine was set back, the times of messages do not rise, and the id is that of
// one of the messages around the moment.
func (h *Hub) lastBefore(at hub.Time, upto hub.MessageID) (hub.MessageID, error) {
	var failed error
	n := sort.Search(int(upto), func(i int) bool {
		if failed != nil {
			return true
		}
		m, err := h.view.Message(hub.MessageID(i + 1))
		if err != nil {
			failed = err
			return true
		}
		return m.TS >= at
	})
	return hub.MessageID(n), failed
}
