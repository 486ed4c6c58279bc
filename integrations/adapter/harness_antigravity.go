package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func antigravityRow() row {
	return row{
		harness: hub.HarnessAntigravity,
		folders: []place{"~/.gemini/config", "~/.gemini/antigravity", "~/.gemini/antigravity-cli"},
		global: &setup{
			mcp: []piece{server(hub.HarnessAntigravity, edit.JSON, plainShape, inServers,
				"~/.gemini/config/mcp_config.json", "~/.gemini/antigravity/mcp_config.json")},
			hooks:     []piece{antigravityHooks("~/.gemini/config/hooks.json")},
			lacking:   lacks("instructions", perProject),
			followUps: []string{"refresh the list of MCP servers in Antigravity, or start agy anew"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessAntigravity, edit.JSON, plainShape, inServers, "./.agents/mcp_config.json")},
			hooks:     []piece{antigravityHooks("./.agents/hooks.json")},
			teach:     agentsMD,
			warnings:  []string{committed},
			followUps: []string{"refresh the list of MCP servers in Antigravity, or start agy anew"},
		},
	}
}

// antigravityHooks are a bundle with a name of its own at the top of the file.
func antigravityHooks(places ...place) piece {
	call := func(e Entry, ev event) any {
		return []any{object{{"type", "command"}, {"command", e.command(ev, hub.HarnessAntigravity)}, {"timeout", hookLimit}}}
	}
	return piece{places: places, format: edit.JSON, keys: []string{"hubcli"}, value: func(e Entry) any {
		return object{{"SessionStart", call(e, eventStart)}, {"Stop", call(e, eventStop)}}
	}}
}
