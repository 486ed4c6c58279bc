package api

import (
	"strings"
	"unicode/utf8"

	"hubcli/hub"
)

// ValidatePause checks a pause.
func ValidatePause(in *hub.PauseInput) error {
	if err := checkPauseTarget(in.Target()); err != nil {
		return err
	}
	return checkWords("words", in.Words)
}

// checkWords checks what the operator tells the agents that a call concerns.
func checkWords(field, words string) error {
	switch n := utf8.RuneCountInString(words); {
	case strings.TrimSpace(words) == "":
		return hub.Invalid(field, field+" is missing").WithFix("say why, or what comes next: the agents that it concerns are told it")
	case n > hub.MaxPauseWords:
		return hub.Invalid(field, field+" is too long").With("limit", hub.MaxPauseWords).With("size", n).
			WithFix("say it shorter, and post the rest as a message")
	}
	return nil
}

// ValidatePauseEnd checks which pause ends.
func ValidatePauseEnd(in *hub.PauseEndInput) error { return checkPauseTarget(hub.PauseTarget(*in)) }

// checkPauseTarget checks that exactly one thing is named.
func checkPauseTarget(in hub.PauseTarget) error {
	named := 0
	for _, is := range []bool{in.AgentID != "", in.RoomID != "", in.All} {
		if is {
			named++
		}
	}
	if named != 1 {
		return hub.Invalid("agent_id", "a pause is of one agent, one room or everything").
			WithFix("send exactly one of agent_id, room_id and all")
	}
	return first(given(hub.CheckSender, "agent_id", in.AgentID), checkName("room_id", in.RoomID, hub.MaxNameChars))
}

// ValidateSessionEnd checks what the operator says when a session ends.
func ValidateSessionEnd(in *hub.SessionEndInput) error { return checkWords("reason", in.Reason) }

// ValidateRetire checks what those are told whom a retirement concerns. It may be nothing.
func ValidateRetire(in *hub.RetireInput) error {
	if in.Reason == "" {
		return nil
	}
	return checkWords("reason", in.Reason)
}
