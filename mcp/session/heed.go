package session

import (
	"context"
	"errors"
	"time"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/pause"
)

// A bridge and the first hook of a session start at the same time, and each may have named an agent before it
// could know of the other. Then the hook decides: it knows the id of the session, and so whether the session was
// an agent before. The bridge becomes that agent as long as it has served nobody.

const (
	heedsOf    = 30 * time.Second // by how much a hook may have been earlier than the bridge
	heedsOften = 20 * time.Second // how long after its start a bridge looks every heedEvery for what a hook has left
	heedEvery  = 50 * time.Millisecond
	heedRarely = 500 * time.Millisecond // how often it looks then, until it is called: a session may go on later
)

// heeds becomes the agent that the hook of the session has chosen.
func (l *Link) heeds() {
	if !l.notes.Usable() || l.Starter.PID <= 1 || l.Agent != "" || l.ResumeKey != "" || l.named() != "" {
		return
	}
	began := l.Now()
	for every := heedEvery; pause.For(l.life, every) && !l.wasCalled(); {
		if l.Now().Sub(began) > heedsOften {
			every = heedRarely
		}
		note, ok := l.notes.OfHook(l.Starter, l.Harness())
		if s := l.Current(); !ok || s == nil || note.InstanceID != s.Instance || note.Left < hub.TimeOf(began.Add(-heedsOf)) {
			continue
		} else if s.Agent != note.AgentID && l.yieldsTo(&note) {
			if err := l.goOn(l.life, note.AgentID); err != nil {
				l.log.Debug("the bridge does not become the agent of its session", "error", err)
				continue
			}
		}
		if !note.Resumes {
			return // a later one is another session's
		}
	}
}

func (l *Link) wasCalled() bool {
	select {
	case <-l.called:
		return true
	default:
		return false
	}
}

// yieldsTo reports whether a note of a hook is about the session of the bridge. A harness may start its
// bridges before it knows which session goes on, and tells them the id of a new one.
func (l *Link) yieldsTo(note *identity.Note) bool {
	session := l.session()
	return note.Resumes || session == "" || note.Session == identity.Key(session)
}

// goOn makes the bridge another agent that nobody else's bridge is.
func (l *Link) goOn(ctx context.Context, agent hub.AgentID) error {
	if err := l.change(ctx); err != nil {
		return err
	}
	defer l.changed()
	if now := l.Current(); now == nil || !l.made || now.joined || l.wasCalled() {
		return nil
	}
	info, err := l.arrive(ctx, true)
	if err != nil {
		return err
	}
	out, err := l.enter(ctx, agent, false)
	if errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) && !l.bridgeLive(ctx, agent) {
		out, err = l.enter(ctx, agent, true) // a hook has begun it
	}
	if err != nil {
		return err
	}
	l.become(ctx, l.keep(l.sit(out, info)))
	return nil
}
