package core

import (
	"fmt"

	"hubcli/hub"
)

// AsleepNotice tells a room that one of its agents has unread direct messages and was not
// woken. why says what is known of the agent; it may be empty. The notice names no
// message and no sender: these are for the two parties alone.
func AsleepNotice(a hub.AsleepAgent, why string) MessageDraft {
	messages := "1 unread direct message"
	if a.Unread != 1 {
		messages = fmt.Sprintf("%d unread direct messages", a.Unread)
	}
	body := fmt.Sprintf("%s has %s and was not woken for %d minutes.", a.AgentID, messages, int(hub.AsleepAfter.Minutes()))
	if why != "" {
		body += " " + why
	}
	n := systemNotice(body, map[string]any{"asleep": a})
	n.Channel, n.Room = a.RoomID.Channel(), *a.RoomID
	return n
}

// StuckNotice tells a room that a turn of one of its agents ended because its model failed. why is
// the kind of failure; it may be empty.
func StuckNotice(agent hub.AgentID, room hub.RoomID, why string) MessageDraft {
	body := fmt.Sprintf("%s is stuck: its model failed, and its turn has ended.", agent)
	if why != "" {
		body = fmt.Sprintf("%s is stuck: its model failed (%s), and its turn has ended.", agent, why)
	}
	n := systemNotice(body+" It goes on when its user, or a message that wakes it, begins another turn.", map[string]any{"stuck": map[string]any{"agent_id": agent, "error": why}})
	n.Channel, n.Room = room.Channel(), room
	return n
}
