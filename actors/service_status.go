package actors

import (
	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Counts says what is live now and how many messages are stored.
func (h *Hub) Counts() hub.Counts {
	sessions, channels, parked := h.view.Directory.Counts()
	rooms := view.Look(h.view.Places, (*core.ProjectIndex).Len) // each has a channel
	head := h.view.Ring.Visible()
	messages := int64(head)
	if h.importer != nil {
		messages -= h.importer.Stager.Vacant(head)
	}
	return hub.Counts{
		Sessions: sessions, Channels: int(channels) + 2 + rooms, Messages: messages,
		OpenTasks: h.view.Tasks.Len(), Leases: h.view.Leases.Len(), ParkedPolls: parked,
		Spawns: h.spawns.Count(),
	}
}

// Busy reports whether the hub has commands to carry out.
func (h *Hub) Busy() bool { return h.engine.Busy() }

// JournalStatus says how far the journal is and whether writes go through. The
// duration of the last commit is the store's to tell.
func (h *Hub) JournalStatus() hub.JournalStatus {
	ok, free := h.journal.Room()
	s := hub.JournalStatus{Head: hub.Seq(h.view.ShownSeq.Load()), FreeBytes: free, State: hub.JournalOK}
	if !ok {
		s.State = hub.JournalFull
	}
	select {
	case <-h.engine.Failed:
		s.State = hub.JournalFailed
	default:
	}
	return s
}

// Asleep lists the agents that leave direct messages unread and are not woken.
func (h *Hub) Asleep() []hub.AsleepAgent { return h.asleep.Agents() }

// Paused lists what the operator has paused, the earliest first.
func (h *Hub) Paused() []hub.Pause { return h.view.Pauses() }

// Muted lists whom the operator has muted, the earliest first.
func (h *Hub) Muted() []hub.Mute { return h.view.Mutes(h.engine.Clock.Now().Wall) }

// Quarantined lists the owners that are out of service.
func (h *Hub) Quarantined() []hub.QuarantinedActor {
	return h.engine.Quarantined()
}
