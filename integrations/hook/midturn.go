package hook

import (
	"context"
	"errors"
	"slices"

	"hubcli/hub"
)

// interject answers an event within a turn: a prompt, or the end of tools. It
// shows the agent the messages that ask something of it, once. It never waits:
// if the hub may not know yet what the agent has read, a later event speaks.
func (r *run) interject(ctx context.Context) (string, error) {
	id, saved, err := r.known()
	if err != nil {
		return "", err
	}
	room, err := r.room(ctx, id, saved)
	if err != nil {
		return "", err
	}
	late := r.afterEdit(ctx, id)
	r.takeBack(ctx, id)
	a, err := r.attention(ctx, id, room)
	if err != nil {
		return "", err
	}
	switch r.event { //nolint:exhaustive // the others are no signs of a turn
	case Prompt:
		r.turnBegins(&a)
	case Tool:
		r.proves(ctx, id)
	}
	if a.Paused != nil {
		return r.paused(a.Paused)
	}
	if r.event == Tool && r.payload.Failed && r.form().DropsFailed {
		return "", quiet("this harness shows no answer after a tool that failed")
	}
	if text, again := r.openAgain(ctx, id); again {
		if late != "" {
			text = late + "\n\n" + text
		}
		return text, nil
	}
	fresh, why := untold(&a), "nothing is new"
	if given(&a, fresh) {
		fresh, why = nil, "the agent may be reading it already"
	}
	switch {
	case len(fresh) == 0 && late != "":
		return late, nil
	case len(fresh) == 0:
		return "", quiet(why)
	}
	s := r.sceneOf(id, room, &a)
	s.Bridged = r.hasBridge(ctx, id)
	text, err := r.tell(ctx, s, fresh)
	switch {
	case late == "":
		return text, err
	case err != nil:
		return late, nil //nolint:nilerr // the messages are told of later
	}
	return late + "\n\n" + text, nil
}

// compacted marks a session of which the model has forgotten what its beginning said, and unsaid one of which
// it has not read that yet.
const (
	compacted = "compacted"
	unsaid    = "unsaid"
)

// openAgain returns the text of the beginning of a session whose harness has put a summary in the
// place of it, or has not shown it; again is false if that is not so, or if another run shows the text.
func (r *run) openAgain(ctx context.Context, id hub.AgentID) (text string, again bool) {
	marks := []string{unsaid, compacted}
	i := slices.IndexFunc(marks, func(mark string) bool { return r.sessions.Marked(r.payload.SessionID, mark) })
	if i < 0 {
		return "", false
	}
	at, err := r.resolve(ctx)
	if err != nil || !at.Bound || !first(r.sessions, r.payload.SessionID, marks[i], r.Now()) {
		return "", false
	}
	r.sessions.Unmark(r.payload.SessionID, marks[i])
	return r.open(ctx, id, at), true
}

// end ends the hub's session of a harness session that is over, if a hook began
// it. A bridge ends its own.
func (r *run) end(ctx context.Context) error {
	if slices.Contains(laterSources, r.payload.Reason) {
		return quiet("the harness goes on with another session")
	}
	saved, ok := r.sessions.Load(r.payload.SessionID)
	kills := r.harness.Facts().KillsServers
	if !ok || saved.SessionID == "" && !kills {
		return quiet("no hook began a session of the hub")
	}
	if err := r.connect(ctx, saved); err != nil {
		return err
	}
	if saved.InstanceID != r.instance {
		return quiet("the session was another hub's")
	}
	if kills {
		return r.endForBridge(ctx, saved.AgentID)
	}
	_, err := r.hub.CloseSession(ctx, saved.SessionID, "")
	if errors.Is(err, &hub.Error{Code: hub.CodeSessionNotFound}) {
		return quiet("the session of the hub has ended already")
	}
	return err
}

// endForBridge ends the session of an agent whose bridge cannot: its harness kills the bridge, or
// leaves it without a session. A session that takes its place can be ended here.
func (r *run) endForBridge(ctx context.Context, id hub.AgentID) error {
	live, err := hub.LiveAs(ctx, r.hub.Agents, id)
	switch {
	case err != nil:
		return err
	case live == nil:
		return quiet("the session of the hub has ended already")
	}
	return r.endLive(ctx, live, "")
}

// endLive takes the place of a session and ends it. Its messages go to successor, if there is one.
func (r *run) endLive(ctx context.Context, live *hub.LiveAgent, successor hub.AgentID) error {
	replace := true
	out, err := r.hub.Register(ctx, hub.RegisterInput{AgentID: live.AgentID, Replace: &replace, Metadata: live.Metadata})
	if err == nil {
		_, err = r.hub.CloseSession(ctx, out.Row.SessionID, successor)
	}
	return err
}
