package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func copilotCLIRow() row {
	return row{
		harness: hub.HarnessCopilotCLI,
		folders: []place{"$COPILOT_HOME/", "~/.copilot"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessCopilotCLI, edit.JSON, copilotShape, inServers, "$COPILOT_HOME/mcp-config.json", "~/.copilot/mcp-config.json")},
			hooks:     []piece{copilotHooks("$COPILOT_HOME/hooks/hubcli.json", "~/.copilot/hooks/hubcli.json")},
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{"start a new session of copilot"},
		},
		project: &setup{
			mcp:      []piece{server(hub.HarnessCopilotCLI, edit.JSON, copilotShape, inServers, "./.github/mcp.json")},
			hooks:    []piece{copilotHooks("./.github/hooks/hubcli.json")},
			lacking:  lacks("instructions", hooksTeach),
			warnings: []string{committed},
			followUps: []string{
				"trust the folder when copilot asks; copilot -p reads a project's servers only with GITHUB_COPILOT_PROMPT_MODE_WORKSPACE_MCP=true",
			},
		},
	}
}

// copilotHooks is a file of the hub's own. Copilot CLI and VS Code both read
// it, so it names neither.
func copilotHooks(places ...place) piece {
	call := func(e Entry, ev event) any {
		line := e.command(ev, "")
		shell := line
		if e.quoted() != e.Command && e.GOOS == "windows" {
			shell = "& " + line // PowerShell needs it before a quoted path
		}
		return []any{object{{"type", "command"}, {"bash", line}, {"powershell", shell}, {"timeoutSec", hookLimit}}}
	}
	return whole(func(e Entry) string {
		return text(object{
			{"version", 1},
			{"hooks", object{{"sessionStart", call(e, eventStart)}, {"agentStop", call(e, eventStop)}}},
		})
	}, places...)
}
