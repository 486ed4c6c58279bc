package mcp

import (
	"context"
	"testing"

	"hubcli/hub"
	"hubcli/internal/testhub"
)

func TestPostIsHeard(t *testing.T) {
	h := testhub.Start(t)
	me := bridgeTo(t, h, nil)
	other := bridgeTo(t, h, func(c *Config) { c.Agent = "other" })
	me.must("hub_post_message", map[string]any{"body": "hello"}, nil)
	var heard polled
	other.must("hub_poll_messages", map[string]any{"since_id": 0}, &heard)
	if len(heard.Messages) != 1 {
		t.Fatalf("the other hears %d messages, want 1", len(heard.Messages))
	}
	if m := heard.Messages[0]; m.From != "me" || m.Assurance != hub.AssuranceSession || m.Body != "hello" {
		t.Errorf("the other hears %q of %s with assurance %s, want hello of me with the session", m.Body, m.From, m.Assurance)
	}
}

func TestSessionEndsWithTheClient(t *testing.T) {
	h := testhub.Start(t)
	me := bridgeTo(t, h, nil)
	me.must("hub_whoami", nil, nil)
	rows, _, err := me.hub.Agents(context.Background(), hub.AgentsQuery{})
	if err != nil || len(rows) != 1 {
		t.Fatalf("live: %v, %v", rows, err)
	}
	watch := me.hub
	me.end()
	if rows, _, err = watch.Agents(context.Background(), hub.AgentsQuery{}); err != nil || len(rows) != 0 {
		t.Errorf("live after the end: %v, %v", rows, err)
	}
	watch.Close()
}
