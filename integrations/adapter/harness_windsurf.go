package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func windsurfRow() row {
	return row{
		harness: hub.HarnessWindsurf,
		folders: []place{"~/.codeium/windsurf", "{config}/devin"},
		global: &setup{
			mcp: []piece{server(hub.HarnessWindsurf, edit.JSON, plainShape, inServers,
				"~/.codeium/windsurf/mcp_config.json", "{config}/devin/mcp_config.json")},
			lacking:   lacks("hooks", noTurnHooks, "instructions", perProject),
			followUps: []string{"refresh the list of MCP servers in the settings of Cascade"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessWindsurf, edit.JSON, plainShape, inServers, "./.devin/mcp_config.json")},
			teach:     agentsMD,
			lacking:   lacks("hooks", noTurnHooks),
			warnings:  []string{committed, "only newer versions, named Devin, read .devin/mcp_config.json"},
			followUps: []string{"refresh the list of MCP servers in the settings of Cascade"},
		},
	}
}
