package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// streamLabel keeps a stream from taking the place of a watch without a label.
const streamLabel = "stream"

// streamPause is how long a stream waits after a message: what comes meanwhile is in
// the same line.
const streamPause = 30 * time.Millisecond

// streamReads is how long a stream waits for the hub to learn what the agent has read of a poll.
const streamReads = 200 * time.Millisecond

// The pace of a stream: streamBurst lines at once, then one line every streamEvery. Each
// line begins a turn of an idle agent, and Claude Code drops the lines of a monitor beyond
// about ten, and then one every two seconds. What waits comes in one line.
const (
	streamBurst = 8
	streamEvery = 2500 * time.Millisecond
)

// stream is a run of watch --stream: it prints one line for each event until it is
// stopped. It remembers which messages it has shown, and its requests leave them out. So
// a restart of the hub neither loses a message nor repeats one, even if the hub has
// forgotten what the agent has read.
type stream struct {
	*watcher
	pace *rate.Limiter // lines

	// A driver of a session takes events in place of stdout: ready waits until they may
	// come, and hand gives it the line that names them without the words of peers.
	ready func(ctx context.Context) error
	hand  func(ctx context.Context, pointer string) error
}

func newStream(w *watcher) *stream {
	return &stream{watcher: w, pace: rate.NewLimiter(rate.Every(streamEvery), streamBurst)}
}

// offer is what a stream is about to show, once the hub confirms that nobody else has
// shown it. Its key makes a repetition of the call known to the hub, also after a crash.
type offer struct {
	event hub.Watched
	last  hub.MessageID // of what it shows or counts
	key   string
}

// streamEvent is a line with --json. Its members are for programs and stay.
type streamEvent struct {
	Event    string         `json:"event"` // messages
	AgentID  hub.AgentID    `json:"agent_id"`
	RoomID   hub.RoomID     `json:"room_id"`
	Unread   int            `json:"unread"`
	Messages []watchMessage `json:"messages"`
	More     int            `json:"more"` // messages for the agent that follow those
	Next     string         `json:"next"`
	Text     string         `json:"text"`    // the line that is printed without --json
	Pointer  string         `json:"pointer"` // the same without the words of peers
}

// maxStreamEvent bounds the line of an event with --json, in characters. It holds two
// lines of text.
const maxStreamEvent = maxOutcome + 2*hook.MaxText

// checkStream refuses conditions that are no events: they hold for as long as nothing
// changes, so that a stream would print them without end.
func (o *watchOptions) checkStream(q *hub.WatchQuery) error {
	for _, c := range q.Until {
		if c.Kind != hub.UntilForMe && c.Kind != hub.UntilMessageFrom {
			return term.Usage("wait for "+c.Text+" with a watch of its own, without --stream", "--stream shows messages, and %s is none: it takes for-me and message-from", c.Text)
		}
	}
	if o.byHook && o.json {
		return term.Usage("leave out one of them", "--operator-by-hook and --json do not go together")
	}
	q.Stream = true
	if q.Label == "" {
		q.Label = streamLabel
	}
	return nil
}

// run shows events until the stream ends.
func (s *stream) run(ctx context.Context) (*watchOutcome, error) {
	if err := s.prepare(); err != nil {
		return s.failed(err)
	}
	for {
		out, err := s.await(ctx)
		if out.Outcome != outcomeMatched {
			return out, err
		}
		err = s.show(ctx)
		var gone *daemon.GoneError
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return s.interrupted(context.Cause(ctx))
		case errors.As(err, &gone):
			return s.interrupted(err)
		case !passing(err):
			return s.failed(err)
		default: // what was not shown is still unread, or on offer
			s.away = true
			pause.For(ctx, watchRetryFirst)
		}
	}
}

// skipTold leaves out the messages that the agent was told of, by a hook or by an
// earlier stream.
func (w *watcher) skipTold(ctx context.Context) error {
	ctx, cancel := w.within(ctx, lastLook)
	defer cancel()
	a, err := w.hub.Attention(ctx, hub.AttentionQuery{Agent: w.query.Agent, Room: w.query.Room})
	if err == nil {
		w.query.After, w.begun, w.given = max(w.query.After, a.ToldID), true, a.GivenID
	}
	return err
}

// show waits a moment, looks again and prints what is unread then. It leaves out what a
// hook has told the agent meanwhile.
func (s *stream) show(ctx context.Context) error {
	if s.offer != nil { // the hub went away before it had answered
		return s.deliver(ctx)
	}
	if !pause.For(ctx, streamPause) {
		return context.Cause(ctx)
	}
	if err := s.skipTold(ctx); err != nil {
		return err
	}
	if len(s.last.Messages) > 0 && s.last.Messages[0].ID <= s.given { // the agent may be reading them
		pause.For(ctx, streamReads)
		return nil
	}
	if s.ready != nil {
		if err := s.ready(ctx); err != nil {
			return err
		}
	}
	if err := s.coolDown(ctx, s.pace.Reserve().Delay()); err != nil {
		return err
	}
	if err := s.skipTold(ctx); err != nil {
		return err
	}
	s.query.Wait = 0
	if err := s.ask(ctx); err != nil {
		return err
	}
	if !s.last.Met {
		s.query.After = max(s.query.After, s.last.HeadID)
		return nil
	}
	s.lookForBridge(ctx)
	s.bridged = s.bridged || s.hand != nil // the bridge of a driven session registers with its first call
	event := s.last
	if s.options.byHook {
		switch i := slices.IndexFunc(event.Messages, hub.UnreadRow.ByOperator); {
		case i == 0:
			return s.pointAt(ctx, &event)
		case i > 0: // the next event begins with the operator's message
			event.Messages, event.More, event.HeadID = event.Messages[:i], 0, event.Messages[i-1].ID
		}
	}
	s.offer = &offer{event: event, last: event.HeadID, key: rand.Text()}
	if n := len(event.Messages); n > 0 && event.More == 0 {
		s.offer.last = event.Messages[n-1].ID
	}
	return s.deliver(ctx)
}

// pointAt prints that the operator has written. The messages do not count as told: a hook
// shows them, or the agent reads them.
func (s *stream) pointAt(ctx context.Context, event *hub.Watched) error {
	s.query.After = max(s.query.After, event.HeadID)
	return s.print(ctx, []byte(s.news(event).ByHook()+"\n"))
}

func (s *stream) news(event *hub.Watched) *hook.News {
	return &hook.News{Agent: s.query.Agent, Rows: event.Messages, More: event.More, Read: s.reading(), Now: hub.TimeOf(s.env.Now())}
}

// coolDown waits until the next line may come. It waits at the hub, so that the hooks of
// the agent know that a stream will show the messages, and hold no turn for them.
func (s *stream) coolDown(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	after := s.query.After
	s.query.Wait, s.query.After = min(wait, max(s.left(), 0)), hub.MaxMessageID // nothing is unread behind it
	err := s.ask(ctx)
	if s.query.After == hub.MaxMessageID { // it is another if the agent goes on under another id
		s.query.After = after
	}
	return err
}

// deliver prints what is on offer, once the hub has stored that the agent was told of it.
// If the hub does not answer, the same call is made again: a line that was printed first
// would be shown again by the hook of the turn that it begins.
func (s *stream) deliver(ctx context.Context) error {
	o := s.offer
	call, cancel := s.within(hub.WithCaller(ctx, &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: o.key}}), client.DefaultTimeout)
	defer cancel()
	told, err := s.hub.Tell(call, hub.ToldInput{AgentID: s.query.Agent, ToldID: o.last})
	if err != nil {
		return err
	}
	s.offer = nil
	s.query.After = max(s.query.After, o.event.HeadID)
	rows := slices.DeleteFunc(o.event.Messages, func(row hub.UnreadRow) bool { return row.ID <= told.AfterID })
	if !told.Moved || len(rows) == 0 && o.event.More == 0 {
		return nil // a hook has shown it
	}
	o.event.Messages = rows
	if s.hand != nil {
		return s.hand(ctx, s.news(&o.event).Pointer())
	}
	return s.print(ctx, s.line(&o.event))
}

// line renders an event as one line.
func (s *stream) line(event *hub.Watched) []byte {
	if !s.options.json {
		return []byte(s.news(event).Line() + "\n")
	}
	out := streamEvent{
		Event: "messages", AgentID: s.query.Agent, RoomID: s.query.Room, Unread: event.Unread,
		Messages: messagesOf(event), More: event.More, Next: s.reading(),
		Text: s.news(event).Line(), Pointer: s.news(event).Pointer(),
	}
	for {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(out); err != nil {
			panic("cli: an event does not encode: " + err.Error())
		}
		if utf8.RuneCount(b.Bytes()) <= maxStreamEvent || !dropLast(&out.Messages) {
			return b.Bytes()
		}
		out.More++
	}
}

// print writes a line and waits for a reader that is slow: a line that was given up
// might still be written, and be there twice.
func (s *stream) print(ctx context.Context, line []byte) error {
	done := make(chan error, 1)
	go func() {
		_, err := s.env.Stdout.Write(line)
		done <- err
	}()
	select {
	case err := <-done:
		return unread(err)
	case <-ctx.Done():
	}
	// What the reader has got counts as told, also if the reader ended the stream at once.
	grace := time.NewTimer(term.WriteGrace)
	defer grace.Stop()
	select {
	case err := <-done:
		return unread(err)
	case <-grace.C:
		return context.Cause(ctx)
	}
}

// unread says that a line was not written because nobody reads it.
func unread(err error) error {
	if err == nil {
		return nil
	}
	return &daemon.GoneError{Why: "nobody reads its output any more"}
}

// end prints why the stream has ended. To an agent that reads plain lines it says this
// only if the stream has failed after it began: the end of the session is no event.
func (s *stream) end(ctx context.Context, out *watchOutcome, err error) error {
	if s.options.json {
		return s.watcher.end(ctx, out, err)
	}
	if s.begun && out.Outcome == outcomeError {
		term.WriteInTime(s.env.Stdout, []byte("Messages for you are no longer shown here: "+peertext.Excerpt(out.Error.Message, 200)+". Read them yourself: "+s.reading()+"\n"))
	}
	return s.close(err)
}
