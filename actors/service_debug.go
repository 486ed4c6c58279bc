package actors

import "hubcli/hub"

// Debug shows what the actors and the views do at this moment; see hub.Debug. It
// waits for no owner and not for the disk.
func (h *Hub) Debug() hub.Debug {
	out := hub.Debug{At: h.engine.Clock.Now().Wall, Views: h.view.Sizes(), Recent: h.engine.DebugRecent()}
	out.Views["agents with direct messages"] = h.asleep.Len()
	out.Owners, out.OwnerCount, out.RetiredCount = h.engine.DebugOwners(hub.MaxDebugOwners)
	out.Parked, out.ParkedCount = h.view.Directory.ParkedCalls(hub.MaxDebugParked)
	pending := h.engine.DebugPending(hub.MaxDebugRecords)
	out.NumberedSeq, out.DurableSeq = pending.Numbered, pending.Durable
	out.PendingCount, out.PendingAnswers = int(pending.Numbered-pending.Durable), pending.Answers
	out.Pending = pending.Records
	return out
}

// Ending is closed when the hub begins to stop.
func (h *Hub) Ending() <-chan struct{} { return h.engine.Ending }
