package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// TestQuestionThatOnlyItsUserEnds: in the newest revision of the protocol no answer elsewhere takes a question from the
// terminal. So it stands there only where the user of the session wants that.
func TestQuestionThatOnlyItsUserEnds(t *testing.T) {
	h := testhub.Start(t)
	content, action := map[string]any{"choice": "up"}, "accept"
	asked := 0
	options := &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked++
		return &sdk.ElicitResult{Action: action, Content: content}, nil
	}}
	question := args{"question": "Round half up?", "options": []string{"up", "down"}}
	plain := bridgeOf(t, h, nil, func(*bridge) {}, options, "")
	if said := text(plain.try("hub_ask_human", question)); asked != 0 || !strings.Contains(said, "The answer comes to you as a direct message") {
		t.Errorf("without the variable the terminal was asked %d times, and the tool says %q", asked, said)
	}
	plain.end()
	r := bridgeOf(t, h, func(c *Config) {
		c.Getenv = func(name string) string { return map[string]string{hub.EnvAskHere: "1"}[name] }
	}, func(*bridge) {}, options, "")
	if said := text(r.try("hub_ask_human", question)); asked != 1 || !strings.Contains(said, "in this session's terminal: up") {
		t.Errorf("the terminal was asked %d times, and the tool says %q", asked, said)
	}
	if said := text(r.try("hub_call_tool", args{"name": "hub_ask_human", "arguments": `{"question":"Round half up?","options":["up","down"]}`})); asked != 2 || !strings.Contains(said, "in this session's terminal: up") {
		t.Errorf("by hub_call_tool the terminal was asked %d times, and the tool says %q", asked, said)
	}
	action, content = "decline", nil
	if said := text(r.try("hub_ask_human", question)); !strings.Contains(said, "The answer comes to you as a direct message") {
		t.Errorf("after it was declined the tool says %q", said)
	}
	rows, _, err := r.hub.AsOperator().Asks(t.Context(), hub.AsksQuery{Limit: 10})
	require.NoError(t, err)
	var states []hub.AskState
	for i := range rows {
		states = append(states, rows[i].State)
	}
	if want := []hub.AskState{hub.AskOpen, hub.AskWithdrawn, hub.AskWithdrawn, hub.AskOpen}; !slices.Equal(states, want) {
		t.Errorf("the questions are %q, want %q", states, want)
	}
}

// TestQuestionInTheTerminalToo: where the client can ask its user, a question of hub_ask_human stands in the terminal of the
// session as well as in the inbox. The first answer counts, and what the terminal leaves open stays open.
func TestQuestionInTheTerminalToo(t *testing.T) {
	h := testhub.Start(t)
	var asked []*sdk.ElicitParams
	var inTerminal func(context.Context) (*sdk.ElicitResult, error)
	r := bridgeOf(t, h, nil, func(*bridge) {}, &sdk.ClientOptions{ElicitationHandler: func(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked = append(asked, req.Params)
		return inTerminal(ctx)
	}}, "2025-11-25")
	accept := func(content map[string]any) func(context.Context) (*sdk.ElicitResult, error) {
		return func(context.Context) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: content}, nil
		}
	}
	latest := func() hub.Ask {
		t.Helper()
		rows, _, err := r.hub.AsOperator().Asks(t.Context(), hub.AsksQuery{Limit: 1})
		require.NoError(t, err)
		return rows[0]
	}
	question := args{"question": "Round half up?\u001b[2J", "options": []string{"up", "down"}}
	for _, c := range []struct {
		name    string
		with    func(context.Context) (*sdk.ElicitResult, error)
		says    string
		want    hub.AskState
		because string
	}{
		{"an option", accept(map[string]any{"choice": "up"}), "in this session's terminal: up", hub.AskWithdrawn, "answered in the terminal of the session: up"},
		{"other words count more", accept(map[string]any{"choice": "up", "words": "to the even one"}), "in this session's terminal: to the even one", hub.AskWithdrawn, "to the even one"},
		{"nothing is chosen", accept(map[string]any{"words": "  "}), "The answer comes to you as a direct message", hub.AskOpen, ""},
		{"no such option", accept(map[string]any{"choice": "sideways"}), "The answer comes to you as a direct message", hub.AskOpen, ""},
		{"declined", func(context.Context) (*sdk.ElicitResult, error) { return &sdk.ElicitResult{Action: "decline"}, nil }, "The answer comes to you as a direct message", hub.AskOpen, ""},
		{"a client that fails", func(context.Context) (*sdk.ElicitResult, error) { return nil, errors.New("no terminal") }, "The answer comes to you as a direct message", hub.AskOpen, ""},
		{"the inbox is faster", func(ctx context.Context) (*sdk.ElicitResult, error) {
			_, err := r.hub.AsOperator().AnswerAsk(ctx, latest().AskID, hub.AskAnswerInput{Answer: "down"})
			require.NoError(t, err)
			<-ctx.Done() // the question is taken from the terminal
			return nil, ctx.Err()
		}, "answered or closed in the inbox", hub.AskAnswered, ""},
	} {
		asked, inTerminal = nil, c.with
		said := text(r.try("hub_ask_human", question))
		row := latest()
		if !strings.Contains(said, c.says) || row.State != c.want || !strings.Contains(row.Reason, c.because) {
			t.Errorf("%s: the tool says %q, and the question is %s (%q)", c.name, said, row.State, row.Reason)
		}
		if len(asked) != 1 || !strings.Contains(asked[0].Message, `me asks you: Round half up?`) || strings.Contains(asked[0].Message, "\u001b") {
			t.Errorf("%s: the terminal was asked %+v", c.name, asked)
		}
	}
	// The operator's answer comes as a message, as ever.
	if said := text(r.try("hub_poll_messages", args{"timeout_seconds": 0})); !strings.Contains(said, "down") {
		t.Errorf("the poll says %q", said)
	}
}
