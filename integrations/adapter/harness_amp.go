package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func ampRow() row {
	return row{
		harness: hub.HarnessAmp,
		folders: []place{"{config}/amp"},
		global: &setup{
			mcp:     []piece{server(hub.HarnessAmp, edit.JSON, plainShape, []string{"amp.mcpServers"}, "{config}/amp/settings.json")},
			lacking: lacks("hooks", noHooks, "instructions", perProject),
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessAmp, edit.JSON, plainShape, []string{"amp.mcpServers"}, "./.amp/settings.json")},
			teach:     agentsMD,
			lacking:   lacks("hooks", noHooks),
			warnings:  []string{committed},
			followUps: []string{"approve the server when amp asks: it does so for servers of a project"},
		},
	}
}
