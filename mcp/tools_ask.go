package mcp

import (
	"context"
	"fmt"

	"hubcli/hub"
)

func askTools() []tool {
	return []tool{
		define(tool{
			name: "hub_ask_human", title: "Ask the human",
			description: "Ask the human operator. The answer comes later, as a direct message.",
		}, askHuman),
	}
}

type askIn struct {
	Question       string     `json:"question,omitempty" jsonschema:"all that the human must know" most:"4000"`
	Options        []string   `json:"options,omitempty" jsonschema:"suggested answers"`
	Default        string     `json:"default,omitempty" jsonschema:"taken at the deadline" range:"200"`
	DeadlineSec    int        `json:"deadline_sec,omitempty" jsonschema:"default: none"`
	Blocks         hub.TaskID `json:"blocks,omitempty" jsonschema:"task that waits"`
	Withdraw       hub.AskID  `json:"withdraw,omitempty" jsonschema:"ask_id"`
	IdempotencyKey string     `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

func askHuman(ctx context.Context, c *call, in askIn) (*answer, error) {
	if in.Withdraw != "" {
		out, err := c.hub().WithdrawAsk(c.key(ctx, in.IdempotencyKey), in.Withdraw, hub.AskWithdrawInput{AgentID: c.agent()})
		if err != nil {
			return nil, err
		}
		return &answer{data: out.Row, untrusted: askTexts, line: fmt.Sprintf("%s is withdrawn.", out.Row.AskID)}, nil
	}
	if in.Question == "" {
		return nil, hub.Invalid("question", "to ask, a question is needed").
			WithFix("give question; or withdraw, with the ask_id of a question that needs no answer any more")
	}
	room, err := c.home(ctx)
	if err != nil {
		return nil, err
	}
	out, err := c.hub().Ask(c.key(ctx, in.IdempotencyKey), hub.AskInput{
		AgentID: c.agent(), Question: in.Question, Options: in.Options, Default: in.Default, DeadlineSec: in.DeadlineSec,
		RoomID: room, Blocks: in.Blocks,
	})
	if err != nil {
		return nil, err
	}
	a := out.Row
	return &answer{
		data: a, untrusted: askTexts,
		line: fmt.Sprintf("The human is asked: %s. The answer comes to you as a direct message. Go on with what does not need it, or wait with hub_watch until answered:%d.",
			a.AskID, a.MessageID),
	}, nil
}

// askTexts are the members of a question that people and agents wrote.
var askTexts = []string{"question", "options", "default", "answer", "closed_by", "reason"}
