package asks

import (
	"context"
	"errors"
	"log/slog"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Notifier tells the operator of a question outside of the hub. It may take as long as it
// needs; the end of ctx ends it.
type Notifier interface {
	Notify(ctx context.Context, to hub.Notify, a hub.Ask) hub.Notified
}

// maxUntold bounds the questions that wait for their notification. More are in the list of
// questions alone: a person who gets so many notifications at once looks there anyway.
const maxUntold = 100

// untell notes a new question. The caller holds the mutex.
func (s *Asks) untell(id hub.AskID) {
	if len(s.untold) == maxUntold {
		return
	}
	s.untold = append(s.untold, id)
	select {
	case s.fresh <- struct{}{}:
	default:
	}
}

// Tell sends notifications of new questions, one after the other, until quit is closed.
// A notification that fails is logged and not repeated.
func (s *Asks) Tell(quit <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		select {
		case <-s.fresh:
		case <-quit:
			return
		}
		for id, ok := s.nextUntold(); ok && ctx.Err() == nil; id, ok = s.nextUntold() {
			s.tell(ctx, id)
		}
	}
}

func (s *Asks) nextUntold() (id hub.AskID, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.untold) == 0 {
		return "", false
	}
	id, s.untold = s.untold[0], s.untold[1:]
	return id, true
}

// tell sends the notification of a question that is still open.
func (s *Asks) tell(ctx context.Context, id hub.AskID) {
	to, err := Setting(s.rows)
	if err != nil || len(to.Command) == 0 && to.Webhook == "" {
		return
	}
	stored, err := row(s.rows, id)
	if err != nil || stored.Ask.State != hub.AskOpen {
		return
	}
	s.noteFailure(s.send(ctx, to, stored.Row(s.engine.Clock.Now())))
}

// send sends a notification.
func (s *Asks) send(ctx context.Context, to hub.Notify, a hub.Ask) hub.Notified {
	if s.notifier == nil {
		const none = "this hub sends no notifications"
		return hub.Notified{CommandError: none}
	}
	return s.notifier.Notify(ctx, to, a)
}

// noteFailure keeps why the latest notification failed, for the operator.
func (s *Asks) noteFailure(out hub.Notified) {
	why := out.Failed()
	s.mu.Lock()
	s.failed = why
	s.mu.Unlock()
	if why != "" {
		s.log.LogAttrs(context.Background(), slog.LevelWarn, "a question was not notified", slog.String("error", why))
	}
}

// Notify returns the setting; see hub.Notifications.
func (s *Asks) Notify(context.Context) (hub.Notify, error) {
	to, err := Setting(s.rows)
	s.mu.Lock()
	defer s.mu.Unlock()
	to.LastError = s.failed
	return to, err
}

// TestNotify sends a notification of a made-up question; see hub.Notifications.
func (s *Asks) TestNotify(ctx context.Context) (hub.Notified, error) {
	to, err := Setting(s.rows)
	if err != nil {
		return hub.Notified{}, err
	}
	if len(to.Command) == 0 && to.Webhook == "" {
		return hub.Notified{}, hub.Invalid("command", "no notification is set").WithFix("set a command or a webhook first")
	}
	return s.send(ctx, to, hub.Ask{
		AskID: "ask_0", State: hub.AskOpen, AgentID: "test", Question: "This is a test of notifications.", Options: []string{"ok"},
		CreatedAt: s.engine.Clock.Now().Wall,
	}), nil
}

// Setting returns how the operator is told of questions.
func Setting(rows core.Rows) (hub.Notify, error) {
	to, err := view.StoredRow[hub.Notify](rows, core.TableNotify, core.NotifyKey())
	if errors.Is(err, core.ErrNotFound) {
		return core.NoNotify(), nil
	}
	return to, err
}
