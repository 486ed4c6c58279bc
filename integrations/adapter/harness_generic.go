package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func genericRow() row {
	return row{
		harness: hub.HarnessGeneric,
		global: &setup{
			mcp:       []piece{server("", edit.JSON, stdioShape, inServers, "{data}/mcp.json")},
			lacking:   lacks("hooks", onlyOwnFile, "instructions", perProject),
			followUps: []string{"point the client at the file, or copy its entry into the client's own settings"},
		},
		project: &setup{
			mcp:      []piece{server("", edit.JSON, stdioShape, inServers, "./.mcp.json")},
			teach:    agentsMD,
			lacking:  lacks("hooks", onlyOwnFile),
			warnings: []string{committed},
		},
	}
}
