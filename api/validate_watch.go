package api

import "hubcli/hub"

// ValidateTold checks the mark of what an agent has been told of.
func ValidateTold(in *hub.ToldInput) error {
	if err := hub.CheckSender("agent_id", in.AgentID); err != nil {
		return err
	}
	if in.ToldID == 0 {
		return hub.Invalid("told_id", "told_id is missing").WithFix("send the id of the last message that the agent was told of")
	}
	return checkID("told_id", in.ToldID)
}
