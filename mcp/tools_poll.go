package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/mcp/wire"
)

// retryPause is the pause of a waiting call before it asks a hub again that is
// away or answered too early.
const retryPause = 250 * time.Millisecond

type pollIn struct {
	TimeoutSeconds *float64        `json:"timeout_seconds,omitempty" jsonschema:"default 25; 0: look once"`
	RoomID         string          `json:"room_id,omitempty" jsonschema:"default: yours"`
	Channel        hub.ChannelName `json:"channel,omitempty" jsonschema:"not a room"`
	ThreadID       hub.ThreadID    `json:"thread_id,omitempty" jsonschema:"only it"`
	SinceID        *hub.MessageID  `json:"since_id,omitempty" jsonschema:"default: unread; 0: all"`
	Limit          int             `json:"limit,omitempty" jsonschema:"default 20" range:"1,100"`
}

func pollTools() []tool {
	return []tool{
		define(tool{
			name: "hub_poll_messages", title: "Read messages", preload: true, idempotent: true,
			description: "Read or wait for new messages, in your room and to you.",
		}, pollMessages),
	}
}

// polled is the answer to a poll.
type polled struct {
	RoomID    hub.RoomID      `json:"room_id,omitempty"` // that was read
	Channel   hub.ChannelName `json:"channel,omitempty"`
	Messages  []shownMessage  `json:"messages"`
	Cursor    hub.MessageID   `json:"cursor"` // all up to it has been returned
	Truncated bool            `json:"truncated"`
	TimedOut  bool            `json:"timed_out"`
}

// fetch reads rows, or waits for one, without moving the cursor.
func (c *call) fetch(ctx context.Context, in pollIn) (*reading, hub.Page, error) {
	q := hub.EventsQuery{
		Agent: c.agent(), ThreadID: in.ThreadID, ExcludeSelf: true, Limit: orDefault(in.Limit, defaultRows) + 1,
	}
	if err := c.scope(ctx, &q, in); err != nil {
		return nil, hub.Page{}, err
	}
	r := &reading{c: c, q: q, of: wire.FeedOf(&q)}
	if err := r.begin(ctx, in.SinceID); err != nil {
		return nil, hub.Page{}, err
	}
	page, err := r.await(ctx, c.patience(in.TimeoutSeconds))
	return r, page, err
}

func pollMessages(ctx context.Context, c *call, in pollIn) (*answer, error) {
	r, page, err := c.fetch(ctx, in)
	if err != nil {
		return nil, err
	}
	q := r.q
	rows, err := decodeRows(page.Rows)
	if err != nil {
		return nil, err
	}
	var out polled
	a, err := c.fit(func(room int) *answer {
		out = polled{RoomID: q.RoomID, Cursor: page.NextSinceID, TimedOut: len(rows) == 0}
		if len(q.Channels) > 0 {
			out.Channel = q.Channels[0]
		}
		out.Messages, out.Truncated = showMessages(rows, q.Limit-1, room-300)
		if out.Truncated {
			out.Cursor = out.Messages[len(out.Messages)-1].ID
		}
		return &answer{
			data: out, line: out.line(in.next(out.Cursor)), prose: true, text: texts(out.Messages), untrusted: within("messages[].", ofPeers),
		}
	})
	if err != nil {
		return nil, err
	}
	c.bridge.link.Feeds.Stage(c.seq, r.of, r.since, out.Cursor)
	return a, nil
}

// next returns the call that continues after cursor. A call with since_id must
// pass since_id again: without it a poll continues from the agent's own cursor.
func (in pollIn) next(cursor hub.MessageID) string {
	if in.SinceID == nil && in.RoomID == "" && in.Channel == "" && in.ThreadID == "" {
		return "hub_poll_messages again"
	}
	in.TimeoutSeconds = nil
	if in.SinceID != nil {
		in.SinceID = &cursor
	}
	b, err := compact(in)
	if err != nil {
		return "hub_poll_messages again"
	}
	return "hub_poll_messages " + string(b)
}

// line says what happened, and names the next call.
func (p *polled) line(next string) string {
	where := "all public channels and to you"
	switch {
	case p.RoomID != "":
		where = "room " + word(string(p.RoomID)) + " and to you"
	case p.Channel != "":
		where = "channel " + quoted(string(p.Channel), 60) + " and to you"
	}
	switch {
	case p.Truncated:
		return fmt.Sprintf("%s in %s. There are more: call %s.", counted(len(p.Messages), "message"), where, next)
	case p.TimedOut:
		return fmt.Sprintf("Nothing new in %s. Go on with your work; do not poll in a loop.", where)
	}
	line := fmt.Sprintf("%s in %s.", counted(len(p.Messages), "message"), where)
	if slices.ContainsFunc(p.Messages, func(m shownMessage) bool { return m.Kind == hub.KindTaskRequest }) {
		line += " Answer a task_request with hub_done or with hub_post_message, kind task_result and reply_to."
	}
	return line
}

// scope sets what a poll reads: the named room or channel, else the agent's
// room, else all public channels.
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

// patience returns how long a call waits if its caller asked for that many
// seconds.
func (c *call) patience(asked *float64) time.Duration {
	if asked == nil {
		return c.wait(0)
	}
	if *asked <= 0 {
		return 0
	}
	return c.wait(*asked)
}

// reading is a poll in progress.
type reading struct {
	c     *call
	q     hub.EventsQuery
	of    wire.Feed
	given bool          // since is what the poll says, not where the feed is
	since hub.MessageID // where it has begun
}

// await polls until there is a row, or until the time is over; then the page is
// empty. It waits for a hub that restarts in between. If a cancellation takes
// back the rows of an earlier poll, this poll begins with those rows.
func (r *reading) await(ctx context.Context, patience time.Duration) (hub.Page, error) {
	if patience > 0 {
		defer r.c.waiting(ctx, "waiting for messages")()
	}
	deadline := r.c.until(patience)
	r.q.Since = r.since
	for {
		left := max(time.Until(deadline), 0)
		began := time.Now()
		page, again, err := r.look(ctx, min(left, hub.MaxPollWait))
		switch {
		case ctx.Err() != nil:
			return page, context.Cause(ctx)
		case again:
			continue
		case err != nil && (left == 0 || !passes(err)):
			return page, err
		case err == nil && (len(page.Rows) > 0 || left == 0):
			return page, nil
		case err == nil:
			r.q.Since = max(r.q.Since, page.NextSinceID)
		}
		if time.Since(began) < retryPause && !pause.For(ctx, min(retryPause, left)) {
			return hub.Page{}, context.Cause(ctx)
		}
	}
}

// look polls once. again reports that the feed went back meanwhile. The poll
// also tells the hub which earlier rows were delivered, as soon as that is
// certain.
func (r *reading) look(ctx context.Context, wait time.Duration) (page hub.Page, again bool, err error) {
	feeds := r.c.bridge.link.Feeds
	at, heard, _, undone := feeds.Begin(r.of)
	if !r.given && at < r.since {
		r.since, r.q.Since = at, at
	}
	r.q.Peek = r.given && r.since != at || !heard
	if r.q.Wait = wait; !heard {
		r.q.Wait = min(wait, feeds.AckDelay)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	back := make(chan bool, 1)
	go func() {
		select {
		case <-undone:
			cancel()
			back <- true
		case <-ctx.Done():
			back <- false
		}
	}()
	page, err = r.c.hub().Events(ctx, r.q)
	if cancel(); err == nil && !r.q.Peek {
		feeds.Tell(r.of, r.q.Since)
	}
	if now, _ := feeds.Known(r.of); <-back && (err != nil || !r.given && now < r.since) {
		return hub.Page{}, true, nil
	}
	return page, false, err
}

// passes reports whether a waiting call may try again in the same session. If
// the hub cannot be reached, the bridge makes another session and begins the
// call anew.
func passes(err error) bool {
	e := asError(err)
	return e.Code == hub.CodeStopping || e.Code == hub.CodeOverloaded || e.Code == hub.CodeTooManyPolls
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

// begin sets where a poll begins: at the given id, else where the last poll
// ended. An id above the latest message is refused: the agent would miss every
// message up to that id.
//
// The first poll of a bridge begins where the hub says that the agent's unread messages
// begin.
func (r *reading) begin(ctx context.Context, given *hub.MessageID) (err error) {
	feeds := r.c.bridge.link.Feeds
	at, ok := feeds.Known(r.of)
	if !ok {
		if at, err = r.c.unreadFrom(ctx, &r.q); err != nil {
			return err
		}
		at = feeds.Start(r.of, at)
	}
	r.since = at
	if given == nil {
		return nil
	}
	r.given, r.since = true, *given
	if *given <= at {
		return nil
	}
	a, err := r.c.hub().Attention(ctx, hub.AttentionQuery{Agent: r.q.Agent})
	if err == nil && *given > a.HeadID {
		err = hub.Invalid("since_id", fmt.Sprintf("there is no message %d yet: the latest is %d", *given, a.HeadID)).
			WithFix(fmt.Sprintf("leave out since_id to go on with what is unread, or give at most %d", a.HeadID))
	}
	return err
}

func (c *call) unreadFrom(ctx context.Context, q *hub.EventsQuery) (hub.MessageID, error) {
	room := q.RoomID
	if len(q.Channels) > 0 || q.ThreadID != "" {
		// These begin where the agent's own feed is.
		home, err := c.home(ctx)
		if err != nil {
			return 0, err
		}
		if at, ok := c.bridge.link.Feeds.Known(wire.FeedOf(&hub.EventsQuery{Agent: q.Agent, RoomID: home})); ok {
			return at, nil
		}
		room = home
	}
	a, err := c.hub().Attention(ctx, hub.AttentionQuery{Agent: q.Agent, Room: room})
	return a.ReadFrom, err
}
