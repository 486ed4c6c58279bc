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
	a, err := r.attention(ctx, id, room)
	if err != nil {
		return "", err
	}
	if a.Paused != nil {
		return r.paused(a.Paused)
	}
	if r.event == Tool && r.payload.Failed && r.form().DropsFailed {
		return "", quiet("this harness shows no answer after a tool that failed")
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

// end ends the hub's session of a harness session that is over, if a hook began
// it. A bridge ends its own.
func (r *run) end(ctx context.Context) error {
	if slices.Contains(laterSources, r.payload.Reason) {
		return quiet("the harness goes on with another session")
	}
	saved, ok := r.sessions.Load(r.payload.SessionID)
	if !ok || saved.SessionID == "" {
		return quiet("no hook began a session of the hub")
	}
	if err := r.connect(ctx, saved); err != nil {
		return err
	}
	if saved.InstanceID != r.instance {
		return quiet("the session was another hub's")
	}
	_, err := r.hub.CloseSession(ctx, saved.SessionID, "")
	if errors.Is(err, &hub.Error{Code: hub.CodeSessionNotFound}) {
		return quiet("the session of the hub has ended already")
	}
	return err
}
