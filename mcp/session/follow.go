package session

import (
	"context"
	"errors"
	"time"

	"hubcli/hub"
	"hubcli/internal/pause"
)

// followLook is how often the waker looks whether somebody follows the session. A look reads
// the list of processes.
const followLook = 5 * time.Second

var errNoTerminal = errors.New("nobody follows the session: its terminal was quit")

// followed reports whether somebody may follow the harness session. Where the harness cannot
// go on without its user, or nobody can tell, somebody does.
func (w *waker) followed() bool {
	return w.Followed == nil || !w.Harness().Facts().Queues || w.Followed(w.of)
}

// untilFollowed waits while nobody follows the session, and has the hub show that. A turn
// that is under way goes on, and is shown as what it is.
func (w *waker) untilFollowed(ctx context.Context, s *Session, room hub.RoomID) error {
	told := false
	for !w.followed() {
		if !told {
			a, err := s.Client.Attention(ctx, hub.AttentionQuery{Agent: s.Agent, Room: room})
			if err != nil {
				return err
			}
			if a.Turn != hub.TurnWorking && a.Turn != hub.TurnAtPrompt {
				if _, err := s.Client.NoteTurn(ctx, hub.TurnInput{AgentID: s.Agent, Turn: hub.TurnNoTerminal}); err != nil {
					return err
				}
				told = true
			}
		}
		if !pause.For(ctx, w.Look) {
			return context.Cause(ctx)
		}
	}
	if !told {
		return nil
	}
	_, err := s.Client.NoteTurn(ctx, hub.TurnInput{AgentID: s.Agent, Turn: hub.TurnIdle})
	return err
}

// whileFollowed returns a context that ends when nobody follows the session any more. stop ends the
// look-out.
func (w *waker) whileFollowed(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if w.Followed != nil {
		go func() {
			for pause.For(ctx, w.Look) {
				if !w.followed() {
					cancel(errNoTerminal)
				}
			}
		}()
	}
	return ctx, func() { cancel(context.Canceled) }
}
