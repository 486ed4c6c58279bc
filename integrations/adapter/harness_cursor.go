package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func cursorRow() row {
	return row{
		harness: hub.HarnessCursor,
		folders: []place{"~/.cursor"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessCursor, edit.JSON, stdioShape, inServers, "~/.cursor/mcp.json")},
			hooks:     cursorHooks("~/.cursor/hooks.json"),
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{cursorReload},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessCursor, edit.JSON, stdioShape, inServers, "./.cursor/mcp.json")},
			hooks:     cursorHooks("./.cursor/hooks.json"),
			teach:     agentsMD,
			warnings:  []string{committed},
			followUps: []string{cursorReload},
		},
	}
}

// cursorHooks hold the turn at most five times by Cursor's own count.
func cursorHooks(places ...place) []piece {
	seed := piece{places: places, format: edit.JSON, keys: []string{"version"}, value: func(Entry) any { return 1 }, seed: true}
	return append([]piece{seed}, calls(hub.HarnessCursor, []string{"hooks"}, occasions{start: "sessionStart", stop: "stop"}, func(line, _ string, limit int) any {
		return object{{"command", line}, {"timeout", limit}}
	}, places...)...)
}

const cursorReload = "reload the window of Cursor and switch the server hub on in its settings if it is off"
