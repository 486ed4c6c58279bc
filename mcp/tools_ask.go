package mcp

import (
	"context"
	"fmt"

	"hubcli/hub"
	"hubcli/internal/peertext"
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
	Question       string     `json:"question,omitempty" jsonschema:"all that the human must know" most:"AskInput.question"`
	Options        []string   `json:"options,omitempty" jsonschema:"suggested answers"`
	Default        string     `json:"default,omitempty" jsonschema:"taken at the deadline" range:"AskInput.default"`
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
	if id, said, ok := c.saidHere(); ok {
		row, err := c.hub().AskByID(ctx, id, c.agent())
		if err != nil {
			return nil, err
		}
		said.closed = row.State != hub.AskOpen
		return c.afterAsking(ctx, asked{Ask: row}, said)
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
	var said here
	if out.Row.State == hub.AskOpen {
		switch c.asksHere() {
		case byRequest:
			said = c.askHere(ctx, &out.Row)
		case byTheirEnd:
			return &answer{ask: &out.Row}, nil
		case notHere:
		}
	}
	return c.afterAsking(ctx, asked{Ask: out.Row}, said)
}

// afterAsking answers a call whose question stands in the inbox, and stood in the terminal of the session too.
func (c *call) afterAsking(ctx context.Context, a asked, said here) (*answer, error) {
	switch {
	case said.closed:
		return &answer{data: a, untrusted: askTexts, line: fmt.Sprintf("%s was answered or closed in the inbox: hub_poll_messages brings how.", a.AskID)}, nil
	case said.answer != "":
		return c.answeredHere(ctx, a, said.answer)
	}
	return &answer{
		data: a, untrusted: askTexts,
		line: fmt.Sprintf("The human is asked: %s. The answer comes to you as a direct message. Go on with what does not need it, or wait with hub_watch until answered:%d.",
			a.AskID, a.MessageID),
	}, nil
}

// asked is a question, with the answer that the user of the session gave in its terminal.
type asked struct {
	hub.Ask
	Here string `json:"answered_here,omitempty" lean:"-"`
}

// answeredHere closes a question that the user of the session has answered in its terminal. The hub
// keeps no answer of the operator then: it knows the terminal's user by the word of the harness alone.
// If the operator's answer was first, that one counts.
func (c *call) answeredHere(ctx context.Context, a asked, words string) (*answer, error) {
	reason := peertext.Excerpt("answered in the terminal of the session: "+words, hub.MaxAskChars)
	out, err := c.hub().WithdrawAsk(c.key(ctx, ""), a.AskID, hub.AskWithdrawInput{AgentID: c.agent(), Reason: reason})
	if e := asErrorOrNil(err); e != nil && e.Code == hub.CodeAskClosed {
		return c.afterAsking(ctx, a, here{closed: true})
	}
	if err == nil { // what the user said counts also if the hub cannot be told
		a.Ask = out.Row
	}
	a.Here = words
	return &answer{data: a, untrusted: askTexts, line: fmt.Sprintf("Your user answers %s in this session's terminal: %s", a.AskID, peertext.Model(words))}, nil
}

// askTexts are the members of a question that people and agents wrote.
var askTexts = []string{"question", "options", "default", "answer", "closed_by", "reason"}
