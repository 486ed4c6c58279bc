package api

import (
	"unicode/utf8"

	"hubcli/hub"
)

// ValidateMute checks a mute.
func ValidateMute(in *hub.MuteInput) error {
	if n := utf8.RuneCountInString(in.Reason); n > hub.MaxPauseWords {
		return hub.Invalid("reason", "reason is too long").With("limit", hub.MaxPauseWords).With("size", n).
			WithFix("say it shorter, and post the rest as a message")
	}
	if in.ForSec < 0 || in.ForSec > hub.MaxMuteSec {
		return hub.Invalid("for_sec", "for_sec is out of bounds").With("limit", hub.MaxMuteSec).
			WithFix("name seconds, thirty days at most, or leave it out until you end the mute")
	}
	return ValidateMuteEnd(&hub.MuteEndInput{AgentID: in.AgentID, RoomID: in.RoomID})
}

// ValidateMuteEnd checks which mute ends.
func ValidateMuteEnd(in *hub.MuteEndInput) error {
	if in.AgentID == "" && in.RoomID == "" {
		return hub.Invalid("agent_id", "neither an agent nor a room is named").WithFix("name an agent in agent_id, a room in room_id, or both")
	}
	var agent error
	if in.AgentID != "" {
		agent = hub.CheckSender("agent_id", in.AgentID)
	}
	return first(agent, checkBounds(in))
}
