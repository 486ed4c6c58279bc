package mcp

import (
	"context"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/testhub"
)

func TestPostIsHeard(t *testing.T) {
	h := testhub.Start(t)
	me := bridgeTo(t, h, nil)
	other := bridgeTo(t, h, func(c *Config) { c.Agent = "other" })
	var posted hub.Message
	me.must("hub_post_message", map[string]any{"body": "hello"}, &posted)
	if posted.FromAgent != "me" || posted.Assurance != hub.AssuranceSession {
		t.Errorf("posted as %s with assurance %s, want me with the session", posted.FromAgent, posted.Assurance)
	}
	res := other.try("hub_poll_messages", map[string]any{"since_id": 0})
	if res.IsError || !strings.Contains(mustJSON(t, res.StructuredContent), "hello") {
		t.Errorf("the other hears %s", mustJSON(t, res.StructuredContent))
	}
}

func TestSessionEndsWithTheClient(t *testing.T) {
	h := testhub.Start(t)
	me := bridgeTo(t, h, nil)
	me.must("hub_whoami", nil, nil)
	rows, err := me.hub.Agents(context.Background(), hub.AgentsQuery{})
	if err != nil || len(rows) != 1 {
		t.Fatalf("live: %v, %v", rows, err)
	}
	watch := me.hub
	me.end()
	if rows, err = watch.Agents(context.Background(), hub.AgentsQuery{}); err != nil || len(rows) != 0 {
		t.Errorf("live after the end: %v, %v", rows, err)
	}
	watch.Close()
}
