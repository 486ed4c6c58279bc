package session

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/pause"
)

// Of beginning turns.
const (
	wakeLabel      = "wake"                 // of the watch, which is none of the agent's own
	wakeLook       = 100 * time.Millisecond // how often a busy agent is looked at
	wakeBegins     = 15 * time.Second       // how long a turn may take to begin
	wakeRetryFirst = time.Second            // after an error, then twice as long each time
	wakeRetryMost  = 10 * time.Second
	wakeFailed     = 3                      // errors in a row after which no turn is begun any more
	wakeQuiet      = 5 * time.Second        // without a call of a tool an agent counts as idle where no hook tells
	wakeBroken     = 2 * time.Minute        // without a call of a tool a turn may have been broken off: no hook tells of that
	streamAgain    = 200 * time.Millisecond // in which a stream that has shown messages waits for others
	wakeMessage    = "There are new messages for you on the hub. If you do not see them here, read them with hub_poll_messages."
)

// The pace of turns: wakeBurst at once, then one every wakeEvery. Each costs a request to the
// model, and two agents may answer each other without end.
const (
	wakeBurst = 8
	wakeEvery = 2500 * time.Millisecond
)

// waker begins turns of an idle harness session for messages to its agent. It takes
// messages that a hook shows for told, and never shows any itself: the text that it
// gives the harness counts as the user's.
type waker struct {
	*Link
	of     string                                       // the id of the harness session, where turn needs it
	turn   func(ctx context.Context, text string) error // begins one
	pace   *rate.Limiter
	after  hub.MessageID // those up to this one need no turn
	failed int           // turns in a row that could not be begun
	broken *hub.Time     // the beginning of a turn that seemed broken off, and for which another was begun
}

// wakes begins turns while the bridge lives, if the harness has a means and the session
// goes on after its turn.
func (l *Link) wakes() {
	of, ok := l.untilWanted()
	if !ok {
		return
	}
	w := &waker{Link: l, of: of, pace: rate.NewLimiter(rate.Every(wakeEvery), wakeBurst)}
	if w.turn = w.means(); w.turn == nil {
		return
	}
	for delay := wakeRetryFirst; l.life.Err() == nil && w.failed < wakeFailed; {
		if err := w.once(l.life); err == nil {
			delay = wakeRetryFirst
			continue
		} else if l.life.Err() == nil {
			l.log.Debug("no turn is begun for messages", "error", err)
		}
		pause.For(l.life, delay)
		delay = min(2*delay, wakeRetryMost)
	}
}

// untilWanted waits until messages may begin turns of the harness session. It returns the id of the session if
// that is known and the session goes on after its turn. ok is false if the life of the bridge ends before.
//
// An agent that the environment names, as "hubcli run" does, is to be reached from the start.
// Any other has to have called a tool: where the hub is only installed, its user may never use it.
func (l *Link) untilWanted() (of string, ok bool) {
	if l.named() == "" || l.driven() {
		select {
		case <-l.life.Done():
			return "", false
		case <-l.called:
			return l.ofCall(), true
		}
	}
	select {
	case <-l.life.Done():
		return "", false
	case <-l.Met:
	}
	l.countsAsCall()
	if !l.Harness().Facts().Queues {
		return "", true
	}
	for {
		if of := l.ofRun(); of != "" {
			return of, true
		}
		if l.wasCalled() {
			return l.ofCall(), true
		}
		if !pause.For(l.life, heedRarely) {
			return "", false
		}
	}
}

// ofCall is the id of the harness session as a call has named it; empty if it has not, or if the session ends with
// its turn. There must have been a call.
func (l *Link) ofCall() string {
	if !l.interactive {
		return ""
	}
	return l.thread
}

// ofRun is the id of the harness session that "hubcli run" has started, as a hook or the process that keeps it in the
// background has left it; empty if neither has yet.
func (l *Link) ofRun() string {
	s := l.Current()
	if s == nil {
		return ""
	}
	if note, ok := l.notes.OfHook(l.Starter, l.Harness()); ok && note.AgentID == s.Agent && note.InstanceID == s.Instance && note.Thread != "" {
		return note.Thread
	}
	if l.DataRoot == "" {
		return ""
	}
	kept, ok := identity.BackgroundsOf(l.DataRoot).Load(s.Agent)
	if !ok || kept.InstanceID != s.Instance || kept.Sleeping || l.Process == nil {
		return ""
	}
	if keeper, runs := l.Process(kept.PID); !runs || keeper.Began != kept.Began {
		return ""
	}
	return kept.Session
}

// countsAsCall lets a session that has just begun count as busy until wakeQuiet is over: it is still starting.
func (l *Link) countsAsCall() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lastCall.IsZero() {
		l.lastCall = l.Now()
	}
}

// means returns what begins a turn of the harness session; nil if nothing does.
func (w *waker) means() func(ctx context.Context, text string) error {
	switch facts := w.Harness().Facts(); {
	case facts.Queues && w.Wake != nil && w.of != "":
		return func(ctx context.Context, text string) error { return w.Wake(ctx, w.of, text) }
	case facts.TakesInput:
		return w.Input
	case w.TakesChannel():
		return func(ctx context.Context, text string) error {
			return w.Notify(ctx, "notifications/"+facts.Channel, map[string]string{"content": text})
		}
	}
	return nil
}

// TakesChannel reports whether the harness session takes notifications of the bridge for messages.
func (l *Link) TakesChannel() bool {
	return l.Channels && l.Notify != nil && l.Harness().Facts().Channel != ""
}

// streamed reports whether a stream beside the session shows messages to the agent. Then no
// channel does: each message comes once.
func (w *waker) streamed(ctx context.Context, s *Session, q hub.WatchQuery) (bool, error) {
	if !w.TakesChannel() {
		return false, nil
	}
	q.Wait = 0
	got, err := s.Client.Watch(ctx, q)
	return got.Streamed, err
}

// once waits for messages to the agent and begins a turn for them.
func (w *waker) once(ctx context.Context) error {
	// It starts no hub that has gone: a call of a tool does.
	if _, err := w.Base().Info(ctx); err != nil {
		return err
	}
	s, err := w.Session(ctx)
	if err != nil {
		return err
	}
	room, err := w.Home(ctx, s)
	if err != nil {
		return err
	}
	if err := w.untilFollowed(ctx, s, room); err != nil {
		return err
	}
	ctx, stop := w.whileFollowed(ctx)
	defer stop()
	q := hub.WatchQuery{
		Agent: s.Agent, Room: room, Until: []hub.Condition{{Kind: hub.UntilForMe, Text: string(hub.UntilForMe)}},
		Label: wakeLabel, Wait: hub.MaxWatchWait, Stream: true, After: w.after,
	}
	before, err := w.streamed(ctx, s, q)
	if err != nil {
		return err
	}
	got, err := s.Client.Watch(ctx, q)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !away(err):
		_, err = w.Lost(s, err)
		return err
	case err != nil:
		w.Feeds.Again() // it may have been killed
		return err
	case !got.Met:
		return nil
	}
	if missing := 1 - w.pace.Tokens(); missing > 0 && !pause.For(ctx, time.Duration(missing*float64(wakeEvery))) {
		return context.Cause(ctx)
	}
	head, turn, err := w.untilIdle(ctx, s, q)
	if err != nil || head <= w.after {
		return err
	}
	// A stream that began meanwhile has just got the messages, and waits again a moment later.
	if w.TakesChannel() && !before && !pause.For(ctx, streamAgain) {
		return context.Cause(ctx)
	}
	if now, err := w.streamed(ctx, s, q); err != nil || before || now {
		w.after = head
		return err
	}
	w.pace.Allow() // a turn is begun
	return w.begin(ctx, s, room, head, turn)
}

// untilIdle waits until the agent's turn has ended and messages are left that it was not told
// of. It returns the last message that it has taken into account, and since when the hub
// knows of the turn what it knows. If no message is left, the next wait is for later ones.
func (w *waker) untilIdle(ctx context.Context, s *Session, q hub.WatchQuery) (head hub.MessageID, turn *hub.Time, err error) {
	for q.Wait = 0; ; {
		a, err := s.Client.Attention(ctx, hub.AttentionQuery{Agent: s.Agent, Room: q.Room})
		if err != nil {
			return 0, nil, err
		}
		q.After = max(w.after, a.ToldID)
		got, err := s.Client.Watch(ctx, q)
		switch {
		case err != nil:
			return 0, nil, err
		case !got.Met:
			w.after = max(w.after, got.HeadID)
			return w.after, nil, nil
		case len(got.Messages) > 0 && got.Messages[0].ID <= a.GivenID: // the agent may be reading them
		case a.Turn == hub.TurnIdle, a.Turn == hub.TurnNoTerminal, a.Turn == hub.TurnUnknown && w.quiet(wakeQuiet), w.brokenOff(&a):
			return got.HeadID, a.TurnSince, nil
		}
		if !pause.For(ctx, wakeLook) {
			return 0, nil, context.Cause(ctx)
		}
	}
}

// quiet reports whether no tool was called for that long.
func (w *waker) quiet(length time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Now().Sub(w.lastCall) >= length
}

// brokenOff reports, once for each turn, whether the turn may have been broken off. If it
// goes on after all, Codex keeps the text until its end.
func (w *waker) brokenOff(a *hub.Attention) bool {
	if a.Turn != hub.TurnWorking || a.TurnSince == nil || w.broken != nil && *w.broken == *a.TurnSince {
		return false
	}
	if hub.TimeOf(w.Now())-*a.TurnSince < hub.Time(wakeBroken.Milliseconds()) || !w.quiet(wakeBroken) {
		return false
	}
	w.broken = a.TurnSince
	return true
}

// begin begins a turn for the messages up to head, and waits until they were shown in it:
// what comes meanwhile is shown there too. since is when the turn before ended, as far as the
// hub knows. If the hub was away when the hook of the prompt asked it, the turn has shown
// nothing, and another is begun.
func (w *waker) begin(ctx context.Context, s *Session, room hub.RoomID, head hub.MessageID, since *hub.Time) error {
	if !w.followed() {
		return errNoTerminal
	}
	if err := w.turn(ctx, wakeMessage); err != nil {
		return w.fail(err)
	}
	began, known := false, since != nil
	for until := w.Now().Add(wakeBegins); w.Now().Before(until); {
		if !pause.For(ctx, wakeLook) {
			return context.Cause(ctx)
		}
		a, err := s.Client.Attention(ctx, hub.AttentionQuery{Agent: s.Agent, Room: room})
		if err != nil {
			return err
		}
		switch known = a.Turn != hub.TurnUnknown; {
		case a.ToldID >= head, a.SeenID >= head:
			w.failed = 0
			return nil
		case a.Turn == hub.TurnIdle && (began || since == nil || a.TurnSince == nil || *a.TurnSince != *since):
			return w.fail(errNotShown)
		case known && a.Turn != hub.TurnIdle:
			began = true
		}
	}
	switch {
	case !known: // no hook tells what has become of the turn
		w.after = head
		return nil
	case began: // its later hooks show the messages
		w.failed = 0
		return nil
	}
	return w.fail(errNoTurn)
}

// fail counts an error. Who cannot begin a turn must not seem to wait for messages.
func (w *waker) fail(err error) error {
	if w.failed++; w.failed == wakeFailed {
		w.log.Warn("idle sessions are not woken", "error", err)
	}
	return err
}

var (
	errNoTurn   = errors.New("the harness has begun no turn")
	errNotShown = errors.New("the turn has ended and no hook has shown the messages")
)
