package api

import (
	"hubcli/hub"
)

// ValidateInvite checks a new invite and fills in its defaults.
func ValidateInvite(in *hub.InviteInput, operator bool) error {
	if err := checkBy(&in.By, operator); err != nil {
		return err
	}
	if in.TTLSec == 0 {
		in.TTLSec = hub.DefaultInviteTTLSec
	}
	if in.MaxUses == 0 {
		in.MaxUses = 1
	}
	switch {
	case in.TTLSec < hub.MinTTLSec || in.TTLSec > hub.MaxInviteTTLSec:
		return hub.Invalid("ttl_sec", "ttl_sec must be from 1 to 2592000, which is 30 days").
			With("limit", hub.MaxInviteTTLSec).With("size", in.TTLSec)
	case in.MaxUses < 1 || in.MaxUses > hub.MaxInviteUses:
		return hub.Invalid("max_uses", "max_uses must be from 1 to 1000").
			With("limit", hub.MaxInviteUses).With("size", in.MaxUses)
	}
	return first(
		given(checkJoiner, "handle", in.Handle),
		checkBounds(in))
}

// ValidateAccept checks the agent that joins.
func ValidateAccept(in *hub.AcceptInput) error {
	return first(
		given(checkJoiner, "agent_id", in.AgentID),
		checkBounds(in))
}

// ValidateSit checks the agent that works in a room.
func ValidateSit(in *hub.SitInput) error { return checkJoiner("agent_id", in.AgentID) }

// checkJoiner is hub.CheckSender; a watcher has no seat.
func checkJoiner(field string, id hub.AgentID) error {
	if err := hub.CheckSender(field, id); err != nil {
		return err
	}
	if id.Watcher() {
		return hub.NewError(hub.CodeReservedAgent, "ids that end with "+hub.WatchSuffix+" belong to watches").
			With("field", field).WithFix("choose another agent id")
	}
	return nil
}
