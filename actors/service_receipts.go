package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Receipt says what has become of a direct message; see hub.Messages. It reads
// views only: nothing of a receipt is journaled.
func (h *Hub) Receipt(ctx context.Context, id hub.MessageID, viewer hub.AgentID) (hub.Receipt, error) {
	m, err := h.view.Message(id)
	if err != nil {
		return hub.Receipt{}, err
	}
	if !hub.CallerOf(ctx).Operator && !hub.Visible(viewer, m.From, m.To) {
		return hub.Receipt{}, view.ErrMessageNotFound(id)
	}
	if m.To == "" {
		return hub.Receipt{}, hub.Invalid("message_id", "message_id names a public message, and only a direct message has a receipt").
			WithFix("look in the room's status, which shows how much each agent has not read")
	}
	out := hub.Receipt{MessageID: m.ID, FromAgent: m.From, StoredAt: m.TS, State: hub.ReceiptStored, Muted: m.Muted}
	seen := h.view.Seen.Of(m.To)
	offer, known := h.view.Offers.Of(m.To, m.ID)
	switch {
	case known:
		out.State = hub.ReceiptOffered
		out.Offered = &hub.Offer{SessionID: core.Optional(offer.Session), By: &offer.By, At: &offer.At}
	case m.ID <= seen.Told:
		out.State, out.Offered = hub.ReceiptOffered, &hub.Offer{}
	}
	if m.ID <= seen.InInbox() || seen.HasAnswered(m.ID) {
		out.State = hub.ReceiptSeen
	}
	if h.view.DigestOnly(m.To, m.ID) { // it has not read the whole
		out.State = hub.ReceiptOffered
		if out.Offered == nil {
			out.Offered = &hub.Offer{}
		}
	}
	out.Recipient, err = h.recipient(m.To)
	return out, err
}

// Recipient says whether an agent would notice a message now; see hub.Retirements.
func (h *Hub) Recipient(_ context.Context, agent hub.AgentID) (hub.Recipient, error) {
	return h.recipient(agent)
}

// recipient says whether an agent would notice a message now.
func (h *Hub) recipient(agent hub.AgentID) (hub.Recipient, error) {
	out := hub.Recipient{AgentID: agent, Near: []hub.AgentID{}}
	d, now := h.view.Directory.Doing(agent), h.engine.Clock.Now().Wall
	heard := h.idle.last(agent)
	if d.Session != nil {
		facts := d.Session.Harness().Facts()
		out.Harness, out.Wakes = facts.ID, facts.Wakes || facts.Streams || facts.Queues
		heard = max(heard, d.Session.LastSeen)
	}
	acts := now-heard < hub.Time(hub.SeatWorkingFor.Milliseconds())
	left := false
	if d.Session == nil && d.Streams {
		row, err := h.view.AgentRow(agent)
		if err != nil {
			return out, err
		}
		left = outlived(d, row)
	}
	switch {
	case d.Listener() == hub.ListenerArmed && !left:
		out.State = hub.RecipientListening
	case d.Session != nil && d.Unreachable(now):
		out.State = hub.RecipientAsleep
	case d.Session != nil || d.Parked || heard != 0 && acts:
		out.State = hub.RecipientLive
	default:
		row, err := h.view.AgentRow(agent)
		if err != nil {
			return out, err
		}
		out.State = hub.RecipientNeverRegistered
		if row == nil {
			out.Near = append(out.Near, h.view.Near(agent)...)
		} else {
			out.State, heard = hub.RecipientGone, max(heard, lastHeard(row))
		}
	}
	out.LastSeen = core.Optional(heard)
	out.Reachable = out.State == hub.RecipientListening || out.State == hub.RecipientLive
	return out, nil
}

// lastHeard returns when an agent whose session has ended was last heard of.
func lastHeard(row *core.AgentRow) hub.Time {
	if row.EndReason == core.EndedIdle {
		return row.EndedAt - hub.Time(hub.SessionIdleAfter.Milliseconds())
	}
	return row.EndedAt
}

// unreached returns the recipient of a direct message if it cannot be reached
// now. The message is stored, so a failure to look says nothing.
func (h *Hub) unreached(from, to hub.AgentID) *hub.Recipient {
	if to == "" || to == from || to.Reserved() || to.Watcher() {
		return nil
	}
	r, err := h.recipient(to)
	if err != nil || r.Reachable {
		return nil
	}
	return &r
}
