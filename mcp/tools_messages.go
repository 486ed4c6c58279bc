package mcp

import (
	"context"
	"fmt"
	"time"

	"hubcli/hub"
)

func messageTools() []tool {
	return []tool{
		define(tool{
			name: "hub_poll_messages", title: "Wait for messages", live: true, reads: true, idempotent: true,
			description: "Use to hear what others say: returns messages after since_id, waiting for one if there is none.",
		}, pollMessages),
		define(tool{
			name: "hub_post_message", title: "Post a message", live: true,
			description: "Use to say something in a channel, or to one agent with to_agent.",
		}, postMessage),
	}
}

type pollIn struct {
	SinceID        int64   `json:"since_id,omitempty" jsonschema:"id of the last message that you know; 0 for all"`
	Channel        string  `json:"channel,omitempty" jsonschema:"hear this channel only, beside direct messages"`
	TimeoutSeconds float64 `json:"timeout_seconds,omitempty" jsonschema:"how long to wait for a message, default 25"`
	Limit          int     `json:"limit,omitempty" jsonschema:"most messages to return, default 50"`
}

type polled struct {
	Messages []hub.EncodedMessage `json:"messages"`
	Cursor   hub.MessageID        `json:"cursor"`
	TimedOut bool                 `json:"timed_out"`
}

func pollMessages(ctx context.Context, c *call, in pollIn) (*answer, error) {
	defer c.waiting(ctx, "waiting for messages")()
	until := time.Now().Add(c.wait(in.TimeoutSeconds))
	q := hub.EventsQuery{Agent: c.agent(), Since: hub.MessageID(in.SinceID), ExcludeSelf: true, Limit: in.Limit, MaxChars: 20_000}
	if q.Limit == 0 {
		q.Limit = 50
	}
	if in.Channel != "" {
		q.Channels = []hub.ChannelName{hub.ChannelName(in.Channel)}
	}
	for {
		q.Wait = max(0, time.Until(until))
		page, err := c.hub().Events(ctx, q)
		if err != nil {
			return nil, err
		}
		q.Since = max(q.Since, page.NextSinceID)
		if n := len(page.Rows); n > 0 {
			return &answer{
				data: polled{Messages: page.Rows, Cursor: q.Since},
				line: fmt.Sprintf("%d messages. Next time: since_id %d.", n, q.Since),
			}, nil
		}
		if q.Wait == 0 {
			return &answer{
				data: polled{Messages: []hub.EncodedMessage{}, Cursor: q.Since, TimedOut: true},
				line: fmt.Sprintf("Nothing new. Next time: since_id %d.", q.Since),
			}, nil
		}
	}
}

type postIn struct {
	Body           string `json:"body" jsonschema:"the text"`
	Channel        string `json:"channel,omitempty" jsonschema:"channel to post to, default general"`
	ToAgent        string `json:"to_agent,omitempty" jsonschema:"agent to send a direct message to"`
	Kind           string `json:"kind,omitempty" jsonschema:"kind of message, default chat"`
	ReplyTo        int64  `json:"reply_to,omitempty" jsonschema:"id of the message that this answers"`
	ThreadID       string `json:"thread_id,omitempty" jsonschema:"thread that the message belongs to"`
	IdempotencyKey string `json:"idempotency_key,omitempty" jsonschema:"makes a repeated call post once"`
}

func postMessage(ctx context.Context, c *call, in postIn) (*answer, error) {
	post := hub.PostInput{
		FromAgent: c.agent(), Channel: hub.ChannelName(in.Channel), ToAgent: hub.AgentID(in.ToAgent), Kind: hub.Kind(in.Kind),
		Body: in.Body, ReplyTo: hub.MessageID(in.ReplyTo), ThreadID: hub.ThreadID(in.ThreadID),
	}
	if post.Channel == "" && post.ToAgent == "" {
		post.Channel = "general"
	}
	out, err := c.hub().Post(c.key(ctx, in.IdempotencyKey), post)
	if err != nil {
		return nil, err
	}
	m, err := out.Row.Decode()
	if err != nil {
		return nil, err
	}
	return &answer{data: m, line: fmt.Sprintf("Posted as message %d. Next: hub_poll_messages with since_id %d for answers.", m.ID, m.ID)}, nil
}
