package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"hubcli/cli/daemon"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// streamLabel keeps a stream from taking the place of a watch without a label.
const streamLabel = "stream"

// streamPause is how long a stream waits after a message: what comes meanwhile is in
// the same line.
const streamPause = 100 * time.Millisecond

// stream is a run of watch --stream: it prints one line for each event until it is
// stopped. It remembers which messages it has shown, and its requests leave them out. So
// a restart of the hub neither loses a message nor repeats one, even if the hub has
// forgotten what the agent has read.
type stream struct{ *watcher }

// streamEvent is a line with --json. Its members are for programs and stay.
type streamEvent struct {
	Event    string         `json:"event"` // messages
	AgentID  hub.AgentID    `json:"agent_id"`
	RoomID   hub.RoomID     `json:"room_id"`
	Unread   int            `json:"unread"`
	Messages []watchMessage `json:"messages"`
	More     int            `json:"more"` // messages for the agent that follow those
	Next     string         `json:"next"`
}

// checkStream refuses conditions that are no events: they hold for as long as nothing
// changes, so that a stream would print them without end.
func (o *watchOptions) checkStream(q *hub.WatchQuery) error {
	for _, c := range q.Until {
		if c.Kind != hub.UntilForMe && c.Kind != hub.UntilMessageFrom {
			return usage("wait for "+c.Text+" with a watch of its own, without --stream", "--stream shows messages, and %s is none: it takes for-me and message-from", c.Text)
		}
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
		default: // what was not shown is still unread
			s.away = true
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
		w.query.After, w.begun = max(w.query.After, a.ToldID), true
	}
	return err
}

// show waits a moment, looks again and prints what is unread then. It leaves out what a
// hook has told the agent meanwhile.
func (s *stream) show(ctx context.Context) error {
	if !pause.For(ctx, streamPause) {
		return context.Cause(ctx)
	}
	if err := s.skipTold(ctx); err != nil {
		return err
	}
	s.query.Wait = 0
	if err := s.ask(ctx); err != nil {
		return err
	}
	if s.last.Met {
		s.lookForBridge(ctx)
		if err := s.print(ctx, s.line()); err != nil {
			return err
		}
		s.tellAll(ctx)
	}
	s.query.After = max(s.query.After, s.last.HeadID)
	return nil
}

// tellAll reports to the hub that the agent was told of the messages of an event. If the
// call fails, a hook announces them once more.
func (s *stream) tellAll(ctx context.Context) {
	last := s.last.HeadID
	if n := len(s.last.Messages); n > 0 && s.last.More == 0 {
		last = s.last.Messages[n-1].ID
	}
	if last == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	_, _ = s.hub.Tell(ctx, hub.ToldInput{AgentID: s.query.Agent, ToldID: last})
}

// line renders the hub's last answer as one line.
func (s *stream) line() []byte {
	if !s.options.json {
		e := hook.News{Agent: s.query.Agent, Rows: s.last.Messages, More: s.last.More, Read: s.reading()}
		return []byte(e.Line() + "\n")
	}
	out := streamEvent{
		Event: "messages", AgentID: s.query.Agent, RoomID: s.query.Room, Unread: s.last.Unread,
		Messages: s.outcome(outcomeMatched, "").Messages, More: s.last.More, Next: s.reading(),
	}
	for {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(out); err != nil {
			panic("cli: an event does not encode: " + err.Error())
		}
		if utf8.RuneCount(b.Bytes()) <= maxOutcome || !dropLast(&out.Messages) {
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
	grace := time.NewTimer(writeGrace)
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
		writeInTime(s.env.Stdout, []byte("Messages for you are no longer shown here: "+peertext.Excerpt(out.Error.Message, 200)+". Read them yourself: "+s.reading()+"\n"))
	}
	return s.close(err)
}
