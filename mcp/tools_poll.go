package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hubcli/hub"
)

// retryPause is how long a waiting call lets a hub alone that is away or answers
// too early.
const retryPause = 250 * time.Millisecond

type pollIn struct {
	TimeoutSeconds *float64        `json:"timeout_seconds,omitempty" jsonschema:"default 25; 0: look once"`
	RoomID         string          `json:"room_id,omitempty" jsonschema:"default: your room"`
	Channel        hub.ChannelName `json:"channel,omitempty" jsonschema:"not a room"`
	ThreadID       hub.ThreadID    `json:"thread_id,omitempty" jsonschema:"only it"`
	SinceID        *hub.MessageID  `json:"since_id,omitempty" jsonschema:"default: unread; 0: all"`
	Limit          int             `json:"limit,omitempty" jsonschema:"default 20" range:"1,100"`
}

func pollTools() []tool {
	return []tool{
		define(tool{
			name: "hub_poll_messages", title: "Read and await messages", live: true, idempotent: true,
			description: "Read new messages of your room and to you alone, or wait for one. For minutes: hub_watch.",
		}, pollMessages),
	}
}

// polled is what a poll has brought.
type polled struct {
	RoomID    hub.RoomID      `json:"room_id,omitempty"` // that was read
	Channel   hub.ChannelName `json:"channel,omitempty"`
	Messages  []shownMessage  `json:"messages"`
	Cursor    hub.MessageID   `json:"cursor"` // all up to it has been returned
	Truncated bool            `json:"truncated"`
	TimedOut  bool            `json:"timed_out"`
}

func pollMessages(ctx context.Context, c *call, in pollIn) (*answer, error) {
	q := hub.EventsQuery{
		Agent: c.agent(), ThreadID: in.ThreadID, ExcludeSelf: true, Limit: orDefault(in.Limit, defaultRows) + 1,
	}
	if err := c.scope(ctx, &q, in); err != nil {
		return nil, err
	}
	since, err := c.begins(ctx, &q, in.SinceID)
	if err != nil {
		return nil, err
	}
	page, err := c.await(ctx, q, since, c.patience(in.TimeoutSeconds))
	if err != nil {
		return nil, err
	}
	rows, err := decodeRows(page.Rows)
	if err != nil {
		return nil, err
	}
	var out polled
	a, err := fit(func(room int) *answer {
		out = polled{RoomID: q.RoomID, Cursor: page.NextSinceID, TimedOut: len(rows) == 0}
		if len(q.Channels) > 0 {
			out.Channel = q.Channels[0]
		}
		out.Messages, out.Truncated = showMessages(rows, q.Limit-1, room-300)
		if out.Truncated {
			out.Cursor = out.Messages[len(out.Messages)-1].ID
		}
		return &answer{data: out, line: out.line(), text: out.text(), untrusted: within("messages[].", ofPeers)}
	})
	if err != nil {
		return nil, err
	}
	// Nothing may fail from here on: what moves the cursor is returned.
	c.bridge.feeds.move(feedOf(&q), since, out.Cursor)
	return a, nil
}

func (p *polled) text() string {
	if len(p.Messages) == 0 {
		return fmt.Sprintf("no messages; cursor %d", p.Cursor)
	}
	return texts(p.Messages) + fmt.Sprintf("cursor %d", p.Cursor)
}

func (p *polled) line() string {
	where := "all public channels and direct messages"
	switch {
	case p.RoomID != "":
		where = "room " + word(string(p.RoomID)) + " and direct messages"
	case p.Channel != "":
		where = "channel " + quoted(string(p.Channel), 60) + " and direct messages"
	}
	switch {
	case p.Truncated:
		return fmt.Sprintf("%d messages of %s, and there are more: call hub_poll_messages again.", len(p.Messages), where)
	case p.TimedOut:
		return fmt.Sprintf("Nothing new in %s. Work on, or poll again; for a long wait hub_watch gives a command.", where)
	}
	requests := slices.ContainsFunc(p.Messages, func(m shownMessage) bool { return m.Kind == hub.KindTaskRequest })
	line := fmt.Sprintf("%d messages of %s.", len(p.Messages), where)
	if requests {
		line += " Answer a task_request when it is done: hub_post_message with kind task_result and reply_to."
	} else {
		line += " Answer with hub_post_message; poll again for more."
	}
	return line
}

// scope sets what a poll reads: the room or channel that is named, else the
// agent's room, else everything public.
func (c *call) scope(ctx context.Context, q *hub.EventsQuery, in pollIn) (err error) {
	switch {
	case in.RoomID != "" && in.Channel != "":
		return hub.Invalid("channel", "a poll reads a room or a channel, not both").WithFix("leave out room_id or channel")
	case in.Channel != "":
		q.Channels = []hub.ChannelName{in.Channel}
	case in.RoomID != "":
		q.RoomID, err = c.room(ctx, in.RoomID)
	default:
		q.RoomID, err = c.home(ctx)
	}
	return err
}

// patience is how long a call waits that was asked to wait so many seconds.
func (c *call) patience(asked *float64) time.Duration {
	if asked == nil {
		return c.wait(0)
	}
	if *asked <= 0 {
		return 0
	}
	return c.wait(*asked)
}

// await polls until there is a row or the time is over; then the page has none. A
// hub that restarts in between is waited for.
func (c *call) await(ctx context.Context, q hub.EventsQuery, since hub.MessageID, patience time.Duration) (hub.Page, error) {
	if patience > 0 {
		defer c.waiting(ctx, "waiting for messages")()
	}
	deadline := c.until(patience)
	q.Since = since
	for {
		left := max(time.Until(deadline), 0)
		q.Wait = min(left, hub.MaxPollWait)
		began := time.Now()
		page, err := c.hub().Events(ctx, q)
		switch {
		case ctx.Err() != nil:
			return page, context.Cause(ctx)
		case err != nil && (left == 0 || !passes(err)):
			return page, err
		case err == nil && (len(page.Rows) > 0 || left == 0):
			return page, nil
		case err == nil:
			q.Since = max(q.Since, page.NextSinceID)
		}
		if time.Since(began) < retryPause && !pause(ctx, min(retryPause, left)) {
			return hub.Page{}, context.Cause(ctx)
		}
	}
}

// passes reports whether a call that waits may try again in the same session. Where
// the hub cannot be reached the bridge brings about another, and begins the call anew.
func passes(err error) bool {
	e := asError(err)
	return e.Code == hub.CodeStopping || e.Code == hub.CodeOverloaded || e.Code == hub.CodeTooManyPolls
}

// pause reports whether d passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func decodeRows(list []hub.EncodedMessage) ([]hub.Message, error) {
	rows := make([]hub.Message, 0, len(list))
	for _, enc := range list {
		row, err := enc.Decode()
		if err != nil {
			return nil, hub.NewError(hub.CodeCorruptRecord, "a message cannot be read")
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func asError(err error) *hub.Error {
	if e, ok := errors.AsType[*hub.Error](err); ok {
		return e
	}
	return hub.NewError(hub.CodeInternal, err.Error())
}

// feed names what polls read one after the other: each has a cursor of its own.
type feed struct {
	agent  hub.AgentID
	scope  string
	thread hub.ThreadID
}

func feedOf(q *hub.EventsQuery) feed {
	var scope strings.Builder
	scope.WriteString(string(q.RoomID))
	for _, name := range q.Channels {
		scope.WriteString("\n" + string(name))
	}
	return feed{agent: q.Agent, scope: scope.String(), thread: q.ThreadID}
}

// undoneFor is how long after its answer a poll may be cancelled: the client that
// cancels ignores an answer that has crossed its cancellation.
const undoneFor = 10 * time.Second

// feeds holds how far the agent has been given each feed. What it holds is given:
// a cursor moves with the answer that holds the rows, and back if that answer was
// cancelled. The hub learns of it with the next poll, so that a bridge that is
// killed before the next poll leaves the rows unread there. The zero value is
// ready; it is safe for concurrent use.
type feeds struct {
	mu    sync.Mutex
	at    map[feed]hub.MessageID
	moved []move
}

type move struct {
	feed   feed
	before hub.MessageID
	when   time.Time
}

// known returns the cursor of a feed.
func (f *feeds) known(of feed) (hub.MessageID, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.at[of]
	return at, ok
}

// begin sets the cursor of a feed that has none, and returns the one it has.
func (f *feeds) begin(of feed, at hub.MessageID) hub.MessageID {
	f.mu.Lock()
	defer f.mu.Unlock()
	if has, ok := f.at[of]; ok {
		return has
	}
	if f.at == nil {
		f.at = map[feed]hub.MessageID{}
	}
	f.at[of] = at
	return at
}

// move notes that the rows behind since up to cursor have been given. It does
// nothing where the cursor is elsewhere meanwhile: below since, then rows between
// would be lost, or already further.
func (f *feeds) move(of feed, since, cursor hub.MessageID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.at[of]
	if at < since || at >= cursor {
		return
	}
	now := time.Now()
	f.moved = append(slices.DeleteFunc(f.moved, func(m move) bool { return now.Sub(m.when) > undoneFor }), move{of, at, now})
	f.at[of] = cursor
}

// forget begins anew: the hub has another store, whose messages have other ids.
func (f *feeds) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.moved = nil, nil
}

// undo takes back what was given in the last seconds: a call was cancelled, and
// its answer may have crossed the cancellation. Rows that did arrive come twice.
func (f *feeds) undo() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for _, m := range slices.Backward(f.moved) {
		if now.Sub(m.when) <= undoneFor {
			f.at[m.feed] = min(f.at[m.feed], m.before)
		}
	}
	f.moved = nil
}

// begins is where a poll begins: where it says, else where the last one ended.
// The first of a bridge begins where the hub says that the agent has read up to;
// an agent that has never read begins with the first message that asks something
// of it, else with what is new.
func (c *call) begins(ctx context.Context, q *hub.EventsQuery, given *hub.MessageID) (hub.MessageID, error) {
	of := feedOf(q)
	at, ok := c.bridge.feeds.known(of)
	if !ok {
		begin, err := c.unreadFrom(ctx, q)
		if err != nil {
			return 0, err
		}
		at = c.bridge.feeds.begin(of, begin)
	}
	if given != nil {
		if *given > at {
			// Who names a later message has had what is before it.
			c.bridge.feeds.move(of, at, *given)
		}
		return *given, nil
	}
	return at, nil
}

func (c *call) unreadFrom(ctx context.Context, q *hub.EventsQuery) (hub.MessageID, error) {
	room := q.RoomID
	if len(q.Channels) > 0 || q.ThreadID != "" {
		// These begin where the agent's own feed is.
		home, err := c.home(ctx)
		if err != nil {
			return 0, err
		}
		if at, ok := c.bridge.feeds.known(feed{agent: q.Agent, scope: string(home)}); ok {
			return at, nil
		}
		room = home
	}
	a, err := c.hub().Attention(ctx, hub.AttentionQuery{Agent: q.Agent, Room: room})
	if err != nil || a.SeenID > 0 {
		return a.SeenID, err
	}
	at := a.HeadID
	for _, row := range a.Directed {
		at = min(at, row.ID-1)
	}
	return at, nil
}
