package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func vscodeRow() row {
	return row{
		harness: hub.HarnessVSCode,
		folders: []place{"{code}/"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessVSCode, edit.JSON, stdioShape, []string{"servers"}, "{code}/mcp.json")},
			hooks:     []piece{copilotHooks("~/.copilot/hooks/hubcli.json")},
			lacking:   lacks("instructions", perProject),
			followUps: []string{"start the server hub once in the view of MCP servers and trust it; hooks are a preview there and may have to be switched on"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessVSCode, edit.JSON, stdioShape, []string{"servers"}, "./.vscode/mcp.json")},
			hooks:     []piece{copilotHooks("./.github/hooks/hubcli.json")},
			teach:     agentsMD,
			warnings:  []string{committed},
			followUps: []string{"trust the folder and start the server hub once from .vscode/mcp.json"},
		},
	}
}
