package api

import "hubcli/hub"

// ValidateWatch checks a watch and parses its conditions, each once.
func ValidateWatch(q *hub.WatchQuery, until []string) error {
	if err := hub.CheckWatching("agent_id", q.Agent); err != nil {
		return err
	}
	switch n := len(until); {
	case n == 0:
		return hub.Invalid("until", "until is missing: a watch waits for at least one condition").
			WithFix("send until=message-from:<agent>, for example")
	case n > hub.MaxWatchConditions:
		return hub.Invalid("until", "there are too many conditions").With("limit", hub.MaxWatchConditions).With("size", n)
	}
	q.Until = nil
	for _, text := range until {
		c, err := hub.ParseCondition("until", text)
		if err != nil {
			return err
		}
		if c.Agent == q.Agent {
			return hub.Invalid("until", "until names the agent that watches: its own messages are never unread, and it is not idle while it waits").
				With("condition", text).WithFix("name another agent")
		}
		if c.Kind == hub.UntilTaskReady && c.Room == "" && q.Room == "" {
			return hub.Invalid("room_id", "room_id is missing: task-ready is about the tasks of a room").With("condition", text).
				WithFix("name the room, or wait for task-ready:<room_id>")
		}
		q.Until = append(q.Until, c)
	}
	return nil
}

// ValidateTurn checks what is said of an agent's turn.
func ValidateTurn(in *hub.TurnInput) error {
	if err := first(hub.CheckSender("agent_id", in.AgentID), checkBounds(in)); err != nil {
		return err
	}
	if !hub.PlainWord(in.Error) || in.Error != "" && in.Turn != hub.TurnStuck {
		return hub.Invalid("error", "error is the kind of failure, in at most 40 letters, digits and underscores, and goes with the turn stuck alone").WithFix("leave error out")
	}
	switch in.Turn {
	case hub.TurnWorking, hub.TurnIdle, hub.TurnNoTerminal, hub.TurnStuck:
		if in.Tool != "" {
			return hub.Invalid("tool", "tool goes with the turn at_prompt alone").WithFix("leave tool out")
		}
		return nil
	case hub.TurnAtPrompt:
		return nil
	case hub.TurnUnknown:
	}
	return hub.Invalid("turn", "turn is none of working, at_prompt, idle, no_terminal and stuck").WithFix("send one of the five")
}

// ValidateTold checks the new notified cursor of an agent.
func ValidateTold(in *hub.ToldInput) error {
	if err := hub.CheckSender("agent_id", in.AgentID); err != nil {
		return err
	}
	if in.ToldID == 0 {
		return hub.Invalid("told_id", "told_id is missing").WithFix("send the id of the last message that the agent was told of")
	}
	switch in.State {
	case hub.ToldNow, hub.ToldProved, hub.ToldLost:
	default:
		return hub.Invalid("state", "state is neither proved nor lost").WithFix("send one of the two, or leave state out")
	}
	return checkID("told_id", in.ToldID)
}
