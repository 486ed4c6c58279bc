package actors

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// pollCall is one read of a feed, which may wait.
type pollCall struct {
	feed     view.Feed
	since    hub.MessageID
	wait     time.Duration
	maxChars int
	agent    hub.AgentID // the agent that waits; may be empty
	reader   hub.AgentID // the agent that is given the rows; empty: nobody is
	rations  hub.AgentID // the agent whose budget bounds the rows; empty: none does
	path     hub.GivenBy
	awaits   hub.MessageID // the message whose answer the agent waits for; 0: none
	kept     bool          // rows of muted senders have come, which the wait does not end with
}

// waiter is the agent to which the wait of a call counts that is not an agent's own poll: one
// that has proved itself, because a call that waits makes its agent reachable.
func waiter(ctx context.Context) hub.AgentID {
	c := hub.CallerOf(ctx)
	return cmp.Or(c.Agent, c.Relay)
}

// poll reads a feed. If the feed has no rows, poll waits for the first one. A row that
// the feed leaves out is examined once.
func (h *Hub) poll(ctx context.Context, c pollCall) (hub.Page, error) {
	head := h.view.Ring.Visible()
	rows, examined, err := h.view.ReadPage(ctx, &c.feed, c.since, head)
	if err == nil && len(rows) > 0 && c.wait > 0 {
		h.view.Directory.Woke(c.agent, h.engine.Clock.Now().Wall)
	}
	if err != nil || len(rows) > 0 || c.wait <= 0 || examined < head {
		return h.page(ctx, &c, rows, examined), err
	}
	return h.park(ctx, &c, examined)
}

// page renders rows, and notes that the reader is given them.
func (h *Hub) page(ctx context.Context, c *pollCall, rows []*core.StoredMessage, examined hub.MessageID) hub.Page {
	page, now := view.Page(rows, c.maxChars, examined), h.engine.Clock.Now().Wall
	digested := h.view.Ration(ctx, c.rations, rows, &page, now)
	if c.reader != "" {
		h.view.NoteGiven(ctx, c.reader, c.path, rows, &page, digested, now)
	}
	return page
}

// park waits for rows behind examined. It subscribes before it reads the head,
// so that it misses no row that comes in between. It is not part of poll
// because thousands of calls wait here and must take little stack.
func (h *Hub) park(ctx context.Context, c *pollCall, examined hub.MessageID) (hub.Page, error) {
	caller := hub.CallerOf(ctx)
	call, err := h.view.Directory.Park(caller, c.agent, hub.ParkedPoll)
	if err != nil {
		return hub.Page{}, err
	}
	defer func() {
		h.view.Directory.Touch(c.agent, h.engine.Clock.Now().Wall) // a parked call is presence until it ends
		h.view.Directory.Unpark(call)
	}()
	if c.awaits != 0 {
		defer h.view.Waiters.Await(c.agent, c.awaits)()
		if circle := h.view.CircleOfAnswer(c.agent, c.awaits, h.engine.Clock.Now().Wall); circle != nil {
			page := h.page(ctx, c, nil, examined)
			page.Circle = circle
			return page, nil
		}
	}
	timeout := time.NewTimer(c.wait)
	defer timeout.Stop()
	news := h.view.Notifier.Subscribe(c.waitsFor(caller))
	defer news.Close()
	from := examined // rows behind it that end no wait are kept for the answer
	for {
		rows, drop, err := h.look(ctx, c, caller, &examined)
		ended := err != nil || c.ends(caller, rows)
		if !ended || c.kept { // an answer reads again from the first row that was kept
			drop()
		}
		switch {
		case ended:
			return h.answer(ctx, c, rows, from, examined, err)
		case len(rows) > 0:
			c.kept = true
			if examined < h.view.Ring.Visible() {
				continue // a page was full
			}
		case !c.kept:
			from = examined
		}
		select {
		case <-news.C:
		case <-timeout.C:
			return h.answer(ctx, c, nil, from, examined, nil)
		case <-ctx.Done():
			return view.Page(nil, 0, from), nil
		case <-h.engine.Ending:
			return view.Page(nil, 0, from), nil
		}
	}
}

// ends reports whether rows end a wait: for an agent those alone whose senders were not
// muted.
func (c *pollCall) ends(caller *hub.Caller, rows []*core.StoredMessage) bool {
	if c.agent == "" || caller.Operator {
		return len(rows) > 0
	}
	return slices.ContainsFunc(rows, func(m *core.StoredMessage) bool { return !m.Muted })
}

// answer ends a wait: with rows, or from the first row that was kept, if there is one.
func (h *Hub) answer(ctx context.Context, c *pollCall, rows []*core.StoredMessage, from, examined hub.MessageID, err error) (hub.Page, error) {
	h.view.Directory.Woke(c.agent, h.engine.Clock.Now().Wall) // before the wait counts as ended
	if c.kept && err == nil {
		rows, examined, err = h.view.ReadPage(ctx, &c.feed, from, h.view.Ring.Visible())
	}
	return h.page(ctx, c, rows, examined), err
}

// waitsFor returns the scopes whose news may end the wait: the scopes of the feed, and
// the session that the caller has proved.
func (c *pollCall) waitsFor(caller *hub.Caller) []core.Scope {
	scopes := c.feed.Scopes
	if slices.Contains(scopes, view.AllScope()) {
		scopes = []core.Scope{view.PublicScope(), view.DirectScope()}
	}
	if caller.Incarnation == 0 {
		return scopes
	}
	return append(slices.Clip(scopes), view.SessionScope(caller.Agent))
}

// look reads the rows behind examined and moves examined. The rows count as under way until
// the answer is over or drop is called. Error: session_replaced.
func (h *Hub) look(ctx context.Context, c *pollCall, caller *hub.Caller, examined *hub.MessageID) (rows []*core.StoredMessage, drop context.CancelFunc, err error) {
	answer, drop := context.WithCancel(hub.AnswerOf(ctx))
	ctx = hub.WithAnswer(ctx, answer)
	if h.view.Displaced(caller) {
		return nil, drop, engine.ErrSessionReplaced(caller.Agent)
	}
	rows, *examined, err = h.view.ReadPage(ctx, &c.feed, *examined, h.view.Ring.Visible())
	return rows, drop, err
}
