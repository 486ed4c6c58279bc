package api

import "hubcli/hub"

// ValidateBudget checks a budget.
func ValidateBudget(in *hub.BudgetInput) error {
	switch {
	case (in.AgentID == "") == (in.RoomID == ""):
		return hub.Invalid("agent_id", "a budget is of one agent or of one room").WithFix("send exactly one of agent_id and room_id")
	case in.Chars != 0 && (in.Chars < hub.MinBudgetChars || in.Chars > hub.MaxBudgetChars):
		return hub.Invalid("chars", "chars is out of range").With("min", hub.MinBudgetChars).With("max", hub.MaxBudgetChars).
			WithFix("name characters an hour from 1000 to 10000000, or 0 for no budget")
	}
	return first(given(hub.CheckSender, "agent_id", in.AgentID), checkBounds(in))
}
