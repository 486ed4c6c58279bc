package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// askedHere is how long a question stands in the session's own terminal. Its user may be elsewhere,
// and the agent goes on then; the question stays in the inbox.
const askedHere = 50 * time.Second

// mostHere is how many characters of a question the terminal shows.
const mostHere = 4_000

// asksByResult is the first revision of the protocol in which a server asks by the result of a call,
// which the client repeats with the answer (SEP-2322). No answer elsewhere can take the question back.
const asksByResult = "2026-07-28"

// askedAs names the one question of a result.
const askedAs = "answer"

// here is what the user at the session's own terminal said to a question.
type here struct {
	answer string // empty: nothing
	closed bool   // the question was closed elsewhere meanwhile
}

// howAsked is how a client lets the bridge ask its user.
type howAsked int

// The ways of asking.
const (
	notHere    howAsked = iota
	byRequest           // the question can be taken back
	byTheirEnd          // only its user ends the question; see asksByResult
)

// asksHere says whether and how the client can ask its user (MCP, elicitation in form mode). A sub-agent
// does not ask so: the terminal would not say who asks.
func (c *call) asksHere() howAsked {
	if c.session == nil || c.bridge.request != nil || c.by.SubAgent != "" {
		return notHere
	}
	p := c.session.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return notHere
	}
	switch e := p.Capabilities.Elicitation; {
	case e.Form == nil && e.URL != nil:
		return notHere
	case p.ProtocolVersion < asksByResult:
		return byRequest
	case c.bridge.Getenv(hub.EnvAskHere) == "1":
		return byTheirEnd
	}
	return notHere
}

// saidHere is what the repeated call brings of the user; false: the call is no repeated one.
func (c *call) saidHere() (id hub.AskID, said here, ok bool) {
	if c.params == nil || c.params.RequestState == "" || c.asksHere() != byTheirEnd {
		return "", said, false
	}
	if res, _ := c.params.InputResponses[askedAs].(*sdk.ElicitResult); res != nil && res.Action == "accept" {
		said.answer = answered(res.Content)
	}
	return hub.AskID(c.params.RequestState), said, true
}

// askHere shows an open question in the terminal of the session too, until somebody answers it there or
// in the inbox, askedHere at most.
func (c *call) askHere(ctx context.Context, a *hub.Ask) here {
	ctx, cancel := context.WithTimeout(ctx, min(askedHere, c.longest()))
	defer cancel()
	elsewhere := make(chan bool, 1)
	go func() {
		closed := c.closedElsewhere(ctx, a)
		if closed {
			cancel() // takes the question from the terminal
		}
		elsewhere <- closed
	}()
	defer c.waiting(ctx, "waiting for the human")()
	said, err := c.session.Elicit(ctx, elicitation(a))
	cancel()
	closed := <-elsewhere
	if err != nil || said.Action != "accept" {
		return here{closed: closed}
	}
	return here{answer: answered(said.Content), closed: closed}
}

// closedElsewhere waits until the question is closed; false: ctx ended before. It reads the agent's direct
// messages, which tell of an answer, without marking them as read.
func (c *call) closedElsewhere(ctx context.Context, a *hub.Ask) bool {
	q := hub.EventsQuery{
		Agent: c.agent(), Channels: []hub.ChannelName{hub.DirectChannel}, Since: a.MessageID,
		Limit: hub.MaxPageRows, Wait: taskEvery, Peek: true,
	}
	for {
		page, err := c.hub().Events(ctx, q)
		if err != nil && !pause.For(ctx, retryPause) {
			return false
		}
		if row, err := c.hub().AskByID(ctx, a.AskID, c.agent()); err == nil && row.State != hub.AskOpen {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		q.Since = max(q.Since, page.NextSinceID)
	}
}

// elicitation asks for one of the options, or for other words.
func elicitation(a *hub.Ask) *sdk.ElicitParams {
	properties := map[string]any{}
	words := map[string]any{"type": "string", "title": "Answer", "maxLength": hub.MaxAnswerChars}
	if len(a.Options) > 0 {
		options := make([]string, len(a.Options))
		for i, o := range a.Options {
			options[i] = peertext.Plain(o)
		}
		properties["choice"] = map[string]any{"type": "string", "title": "Answer", "enum": options}
		words["title"] = "or in other words"
	}
	properties["words"] = words
	return &sdk.ElicitParams{
		Mode: "form", RequestedSchema: map[string]any{"type": "object", "properties": properties},
		Message: fmt.Sprintf("%s asks you: %s\n\nYour answer goes to it alone. If you decline, %s stays open in the inbox of the hub.",
			a.AgentID, peertext.Excerpt(a.Question, mostHere), a.AskID),
	}
}

// answered returns the user's words, or else the choice.
func answered(content map[string]any) string {
	for _, name := range []string{"words", "choice"} {
		if s, _ := content[name].(string); strings.TrimSpace(s) != "" {
			return strings.TrimSpace(s)
		}
	}
	return ""
}
