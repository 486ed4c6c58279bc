package main

import (
	"context"
	"errors"
	"log/slog"

	"hubcli/actors"
	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/process"
)

// endSessions ends the sessions of bridges that have ended while no hub ran: their notes stay in the
// data root. A session that is unknown here, or has ended, is of another hub or needs nothing.
func endSessions(ctx context.Context, h *actors.Hub, instance hub.InstanceID, dataRoot string, log *slog.Logger) {
	notes := identity.NotesOf(dataRoot, process.Look)
	notes.Tell = func(err error) { log.Warn("notes of bridges are not believed", "error", err) }
	ctx = hub.WithCaller(ctx, &hub.Caller{Operator: true})
	notes.Ended(func(note identity.Note) bool {
		if note.InstanceID != instance {
			return false
		}
		_, err := h.CloseSession(ctx, note.HubSession, "")
		var refused *hub.Error
		switch {
		case err == nil:
			log.Info("the session of an agent has ended while no hub ran", "agent", note.AgentID)
		case errors.As(err, &refused) && refused.Code == hub.CodeSessionNotFound: // it has ended
		default:
			log.Warn("the session of a bridge that has gone is left to idle out", "agent", note.AgentID, "error", err)
			return false
		}
		return true
	})
}
