package acp

import (
	"context"
	"errors"
	"fmt"
)

// Initialize makes the two sides known to each other.
func (c *Conn) Initialize(ctx context.Context, version string) (Info, error) {
	var got struct {
		Version      int `json:"protocolVersion"`
		Capabilities struct {
			LoadSession bool `json:"loadSession"`
		} `json:"agentCapabilities"`
		Agent struct {
			Name    string `json:"name"`
			Title   string `json:"title"`
			Version string `json:"version"`
		} `json:"agentInfo"`
		Logins []struct {
			Name string `json:"name"`
		} `json:"authMethods"`
	}
	err := c.call(ctx, "initialize", map[string]any{
		"protocolVersion": protocolVersion,
		"clientCapabilities": map[string]any{
			"fs": map[string]any{"readTextFile": false, "writeTextFile": false}, "terminal": false,
		},
		"clientInfo": map[string]any{"name": "hubcli", "title": "hubcli run", "version": version},
	}, &got)
	if err != nil {
		return Info{}, err
	}
	if got.Version != protocolVersion {
		return Info{}, fmt.Errorf("the program speaks version %d of the protocol, and only %d is known here", got.Version, protocolVersion)
	}
	info := Info{Name: got.Agent.Name, Title: got.Agent.Title, Version: got.Agent.Version, LoadsSessions: got.Capabilities.LoadSession}
	for _, l := range got.Logins[:min(len(got.Logins), maxOptions)] {
		info.Logins = append(info.Logins, l.Name)
	}
	return info, nil
}

// NewSession begins a session in a folder and returns its id.
func (c *Conn) NewSession(ctx context.Context, folder string, servers []Server) (string, error) {
	var got struct {
		Session string `json:"sessionId"`
	}
	err := c.call(ctx, "session/new", map[string]any{"cwd": folder, "mcpServers": listed(servers)}, &got)
	if err == nil && got.Session == "" {
		err = errors.New("the program has begun a session without an id")
	}
	return got.Session, err
}

// LoadSession goes on with an earlier session. The harness tells of all that was said in it.
func (c *Conn) LoadSession(ctx context.Context, session, folder string, servers []Server) error {
	var got any
	return c.call(ctx, "session/load", map[string]any{"sessionId": session, "cwd": folder, "mcpServers": listed(servers)}, &got)
}

// listed is the list on the wire, which is never null.
func listed(servers []Server) []Server {
	if servers == nil {
		return []Server{}
	}
	return servers
}

// Prompt gives a session a text and waits until the turn has ended.
func (c *Conn) Prompt(ctx context.Context, session, text string) (StopReason, error) {
	var got struct {
		Reason StopReason `json:"stopReason"`
	}
	err := c.call(ctx, "session/prompt", map[string]any{
		"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}},
	}, &got)
	return got.Reason, err
}

// Cancel asks the harness to end the turn. Prompt returns Cancelled then.
func (c *Conn) Cancel(session string) error {
	return c.send(map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]any{"sessionId": session}})
}
