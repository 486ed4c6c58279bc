package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func kiroRow() row {
	return row{
		harness: hub.HarnessKiro,
		folders: []place{"~/.kiro"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessKiro, edit.JSON, plainShape, inServers, "~/.kiro/settings/mcp.json")},
			hooks:     []piece{kiroHooks("~/.kiro/hooks/hubcli.json")},
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{"see in Kiro's list of MCP servers that hub is connected"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessKiro, edit.JSON, plainShape, inServers, "./.kiro/settings/mcp.json")},
			hooks:     []piece{kiroHooks("./.kiro/hooks/hubcli.json")},
			lacking:   lacks("instructions", hooksTeach),
			warnings:  []string{committed},
			followUps: []string{"see in Kiro's list of MCP servers that hub is connected"},
		},
	}
}

// kiroHooks has only the hook of a session's start: Kiro's end of a turn cannot
// be held.
func kiroHooks(places ...place) piece {
	return whole(func(e Entry) string {
		return text(object{{"version", "v1"}, {"hooks", []any{object{
			{"name", "hubcli-session-start"},
			{"trigger", "SessionStart"},
			{"action", object{{"type", "command"}, {"command", e.command(eventStart, hub.HarnessKiro)}}},
			{"timeout", hookLimit},
			{"enabled", true},
		}}}})
	}, places...)
}
