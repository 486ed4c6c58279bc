package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func clineRow() row {
	return row{
		harness: hub.HarnessCline,
		folders: []place{"~/.cline", "{code}/globalStorage/saoudrizwan.claude-dev"},
		global: &setup{
			mcp: []piece{server(hub.HarnessCline, edit.JSON, clineShape, inServers,
				"~/.cline/data/settings/cline_mcp_settings.json",
				"{code}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")},
			approve:   &approval{"autoApprove", `, if "Use MCP servers" is on in its menu Auto-approve`},
			lacking:   lacks("hooks", noTurnHooks, "instructions", perProject),
			followUps: []string{"switch the server hub on in Cline's list of MCP servers if it is off"},
		},
		project: &setup{
			teach:    agentsMD,
			lacking:  lacks("mcp", "this harness reads servers from the user's settings alone", "hooks", noTurnHooks),
			warnings: []string{"the server is installed with the scope global"},
		},
	}
}
