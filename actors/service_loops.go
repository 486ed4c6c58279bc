package actors

import (
	"context"

	"hubcli/hub"
)

// Loops lists agents that post to each other without progress; see hub.Loops.
func (h *Hub) Loops(context.Context) ([]hub.Loop, error) { return h.guard.Loops(), nil }
