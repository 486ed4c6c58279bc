package view

import (
	"cmp"
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
)

// An order is what the operator says to all in a channel.

// IsOrder reports whether the operator has said a message to all in a channel, and does not
// name the agent.
func IsOrder(m *core.StoredMessage, agent hub.AgentID) bool {
	return m.From == hub.AgentOperator && m.To == "" && !mentions(m, agent)
}

// inRoomOf reports whether an agent that reads room is in the room that the channel of a message
// belongs to, and was when it was said. In a channel of no room everybody is.
func (v *View) inRoomOf(m *core.StoredMessage, agent hub.AgentID, room hub.RoomID) bool {
	of := v.RoomOf(m.Channel)
	if of == "" || of == room {
		return true
	}
	seat, err := v.SeatOf(of, agent)
	return err == nil && m.TS >= seat.JoinedAt
}

// Foremost returns n of these messages for an agent, in the order of their ids: the newest order,
// then the oldest of those that are no orders, and then further orders, the newest first. So old
// orders hide no mail of an agent's own, and its mail does not hide the newest order.
func Foremost(all []*core.StoredMessage, agent hub.AgentID, n int) []*core.StoredMessage {
	var own, orders []*core.StoredMessage
	for _, m := range all {
		if IsOrder(m, agent) {
			orders = append(orders, m)
		} else {
			own = append(own, m)
		}
	}
	slices.SortFunc(own, ByID)
	slices.SortFunc(orders, func(a, b *core.StoredMessage) int { return cmp.Compare(b.ID, a.ID) })
	out := append([]*core.StoredMessage{}, orders[:min(len(orders), 1, n)]...)
	orders = orders[len(out):]
	out = append(out, own[:min(len(own), n-len(out))]...)
	out = append(out, orders[:min(len(orders), n-len(out))]...)
	slices.SortFunc(out, ByID)
	return out
}
