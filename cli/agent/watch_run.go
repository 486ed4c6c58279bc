package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/pause"
)

// Pauses before a watch calls a hub again that went away.
const (
	watchRetryFirst = 100 * time.Millisecond
	watchRetryMost  = 5 * time.Second
)

// Bounds of calls that do not wait.
const (
	overtime = 2 * time.Second // beyond the watch's own time
	lastLook = time.Second     // when the outcome is known
)

// watcher is one run of the command watch.
type watcher struct {
	env      *term.Env
	options  *watchOptions
	deadline time.Time
	hub      *client.Client
	query    hub.WatchQuery
	instance hub.InstanceID // of the hub first reached; empty: none yet
	last     hub.Watched    // the hub's last answer
	looked   bool           // the hub has answered
	away     bool           // the last call got no answer
	bridged  bool           // the agent is known to have a bridge
	given    hub.MessageID  // the agent has just been given the messages up to this one by a poll
	skips    bool           // what the agent was told of before does not count; a stream's way
	begun    bool           // it is known what that is
	offer    *offer         // what a stream is about to show; nil: nothing
	said     *sideLines     // progress; nil if not wanted
}

// endless is the time of a stream without --timeout.
const endless = 100 * 365 * 24 * time.Hour

func newWatcher(env *term.Env, o *watchOptions) *watcher {
	if o.stream && !o.timed {
		o.timeout = endless
	}
	w := &watcher{env: env, options: o, deadline: env.Now().Add(o.timeout)}
	if o.verbose {
		w.said = newSideLines(env)
	}
	return w
}

// end prints the outcome first and then the failure. It does not wait for a
// reader that does not read.
func (w *watcher) end(ctx context.Context, out *watchOutcome, err error) error {
	line := out.line()
	printed := term.WriteInTime(w.env.Stdout, line)
	w.said.close()
	if printed {
		w.tell(ctx, out)
	} else {
		term.WriteInTime(w.env.Stderr, line)
	}
	return w.close(err)
}

// close prints a failure without waiting for a reader. The returned error has only the
// exit code.
func (w *watcher) close(err error) error {
	if w.hub != nil {
		w.hub.Close()
	}
	if err == nil {
		return nil
	}
	var text bytes.Buffer
	term.Report(&text, err)
	term.WriteInTime(w.env.Stderr, text.Bytes())
	return &term.Failure{Exit: term.ExitOf(err)}
}

// run waits until the watch has an outcome. The error carries the exit code.
func (w *watcher) run(ctx context.Context) (*watchOutcome, error) {
	if err := w.prepare(); err != nil {
		return w.failed(err)
	}
	return w.await(ctx)
}

func (w *watcher) prepare() error {
	q, err := w.options.query()
	if err == nil {
		w.hub, err = w.options.Client()
	}
	w.query, w.query.Began = q, hub.TimeOf(w.env.Now())
	return err
}

// await waits until the conditions hold, or the watch ends otherwise.
func (w *watcher) await(ctx context.Context) (*watchOutcome, error) {
	for delay := watchRetryFirst; ; {
		err := w.same(ctx, w.once(ctx))
		switch {
		case ctx.Err() != nil:
			w.refresh(ctx)
			return w.interrupted(context.Cause(ctx))
		case err == nil && w.last.Met:
			w.lookForBridge(ctx)
			return w.matched(), nil
		case err == nil && w.last.Stuck:
			w.lookForBridge(ctx)
			return w.stuck()
		case err == nil && w.left() <= 0:
			w.lookForBridge(ctx)
			return w.timeout()
		case err == nil: // before its time: the hub stops, and another store may come back
			delay, w.away = watchRetryFirst, true
		case !passing(err), opt.Sandboxed(w.env, err), w.left() <= 0 && w.instance == "":
			w.refresh(ctx)
			return w.failed(opt.OutsideSandbox(w.env, err))
		case w.left() <= 0:
			return w.timeout()
		}
		if err != nil {
			w.progress("%v; trying again", err)
			w.away = true
		}
		// A hub that stops answers its calls early; the next one finds it gone.
		pause.For(ctx, min(delay, max(w.left(), 0)))
		if err != nil {
			delay = min(2*delay, watchRetryMost)
		}
	}
}

// once checks that the hub still serves the same store, and waits there.
func (w *watcher) once(ctx context.Context) error {
	if w.instance == "" || w.away {
		if err := w.meet(ctx); err != nil {
			return err
		}
	}
	if w.query.Room == "" {
		if err := w.resolve(ctx); err != nil {
			return err
		}
	}
	if w.offer != nil { // the hub is there again, and the stream goes on with this
		w.last.Met = true
		return nil
	}
	if (w.query.Stream || w.skips) && !w.begun {
		if err := w.skipTold(ctx); err != nil {
			return err
		}
	}
	if !w.looked { // so that an outcome has conditions even if the wait is never answered
		w.query.Wait = 0
		if err := w.ask(ctx); err != nil || w.last.Met || w.last.Stuck || w.left() <= 0 {
			return err
		}
		w.looked = true
	}
	w.query.Wait = min(max(w.left(), 0), hub.MaxWatchWait)
	where := "in no room"
	if w.query.Room != "" {
		where = "in room " + string(w.query.Room)
	}
	w.progress("waiting %s for at most %s", where, w.left().Round(time.Second))
	return w.ask(ctx)
}

func (w *watcher) ask(ctx context.Context) error {
	ctx, cancel := w.within(ctx, max(w.query.Wait+client.WaitMargin, client.DefaultTimeout))
	defer cancel()
	got, err := w.hub.Watch(ctx, w.query)
	if err != nil {
		return err
	}
	w.last = got
	if w.query.Stream && got.AgentID != w.query.Agent { // it goes on under another id
		w.query.Agent, w.query.After, w.begun = got.AgentID, 0, false
	}
	return nil
}

// within bounds a call by most and by the time left. So a silent hub does not
// hold the watch for long beyond its time.
func (w *watcher) within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	limit := min(most, max(w.left(), 0)+overtime)
	return context.WithTimeoutCause(ctx, limit, hub.Errorf(hub.CodeNoAnswer, "the hub at %s does not answer", w.options.URL).
		WithFix("check whether the hub hangs or is stopped"))
}

// refresh looks once more when a watch ends early, so that the outcome shows
// the present unread messages.
func (w *watcher) refresh(ctx context.Context) {
	if !w.looked {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	q := w.query
	q.Wait = 0
	if got, err := w.hub.Watch(ctx, q); err == nil {
		w.last = got
	}
	w.lookForBridge(ctx)
}

// lookForBridge finds out whether the agent's session belongs to a bridge. A
// bridge counts until another session takes its place, because it may be
// reconnecting.
func (w *watcher) lookForBridge(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	if live, err := hub.LiveAs(ctx, w.hub.Agents, w.query.Agent); err == nil && live != nil {
		w.bridged = live.Bridged()
	}
}

// tell reports to the hub that the agent was told of the messages in an
// outcome, so that no hook holds its turn for them. Messages that the outcome
// does not show stay untold. Only outcomes that surely have a reader count.
func (w *watcher) tell(ctx context.Context, out *watchOutcome) {
	shown := len(out.Messages)
	if shown == 0 || out.Outcome == outcomeInterrupted {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	// If this call fails, a hook announces the messages once more.
	_, _ = w.hub.Tell(ctx, hub.ToldInput{AgentID: w.query.Agent, ToldID: out.Messages[shown-1].ID})
}

// meet learns which store the hub serves. Another store than before knows
// nothing of the watch's conditions.
func (w *watcher) meet(ctx context.Context) error {
	ctx, cancel := w.within(ctx, client.DefaultTimeout)
	defer cancel()
	info, err := w.hub.Info(ctx)
	if err != nil {
		return err
	}
	if w.instance != "" && info.InstanceID != w.instance {
		return hub.NewError(hub.CodeStoreChanged, "the hub came back with another store: the rooms and tasks of the watch are gone").
			WithFix("begin anew: register, and watch rooms and tasks of the new store")
	}
	if w.away && w.instance != "" {
		w.progress("the hub is back")
	}
	w.instance, w.away = info.InstanceID, false
	w.lookForBridge(ctx)
	return nil
}

// same checks after a refusal whether the hub still serves the same store: a
// refusal of another store does not count.
func (w *watcher) same(ctx context.Context, err error) error {
	var e *hub.Error
	if err == nil || !w.looked || passing(err) || !errors.As(err, &e) || e.Code == hub.CodeWatchReplaced {
		return err
	}
	if other := w.meet(ctx); other != nil && !passing(other) {
		return other
	}
	return err
}

// resolve finds the room that is named, or bound to the folder.
func (w *watcher) resolve(ctx context.Context) error {
	ctx, cancel := w.within(ctx, client.DefaultTimeout)
	defer cancel()
	room, err := w.options.room.RoomID(ctx, w.hub)
	if err != nil && !w.needsRoom() && errors.Is(err, list.ErrUnbound) {
		err = nil
	}
	w.query.Room = room
	return err
}

// needsRoom reports whether the watch is about a room: one was named, or a condition means one.
func (w *watcher) needsRoom() bool {
	return w.options.room.Room != "" || w.options.room.Folder != "" || slices.ContainsFunc(w.query.Until, func(c hub.Condition) bool {
		return c.Kind == hub.UntilTaskReady && c.Room == ""
	})
}

func (w *watcher) left() time.Duration { return w.deadline.Sub(w.env.Now()) }

func (w *watcher) progress(format string, args ...any) {
	w.said.add(fmt.Sprintf(format, args...))
}

// sideLines prints remarks without ever delaying the other work: lines that the
// reader does not take are dropped. A nil *sideLines prints nothing.
type sideLines struct {
	lines chan string
	done  chan struct{}
}

func newSideLines(env *term.Env) *sideLines {
	s := &sideLines{lines: make(chan string, 16), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for line := range s.lines {
			env.Note("%s", line)
		}
	}()
	return s
}

func (s *sideLines) add(line string) {
	if s == nil {
		return
	}
	select {
	case s.lines <- line:
	default:
	}
}

// close waits a moment for the last lines.
func (s *sideLines) close() {
	if s == nil {
		return
	}
	close(s.lines)
	grace := time.NewTimer(term.WriteGrace)
	defer grace.Stop()
	select {
	case <-s.done:
	case <-grace.C:
	}
}

// passing reports whether a hub that is gone, restarts or has too much to do may
// answer a later call.
func passing(err error) bool {
	var e *hub.Error
	return errors.As(err, &e) && slices.Contains(passingCodes, e.Code)
}

var passingCodes = []hub.Code{
	hub.CodeUnreachable, hub.CodeNoAnswer, hub.CodeBrokeOff,
	hub.CodeStopping, hub.CodeOverloaded, hub.CodeTimedOut, hub.CodeStoreFailed, hub.CodeStoreGone, hub.CodeQuarantined,
}
