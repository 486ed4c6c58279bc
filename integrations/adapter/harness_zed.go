package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func zedRow() row {
	return row{
		harness: hub.HarnessZed,
		folders: []place{"{zed}/"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessZed, edit.JSON, zedShape, []string{"context_servers"}, "{zed}/settings.json")},
			lacking:   lacks("hooks", noHooks, "instructions", perProject),
			followUps: []string{"see in the settings of Zed's agent that the server hub is green"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessZed, edit.JSON, zedShape, []string{"context_servers"}, "./.zed/settings.json")},
			teach:     agentsMD,
			lacking:   lacks("hooks", noHooks),
			warnings:  []string{committed},
			followUps: []string{"trust the folder when Zed asks"},
		},
	}
}
