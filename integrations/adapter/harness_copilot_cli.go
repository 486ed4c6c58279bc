package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func copilotCLIRow() row {
	return row{
		harness: hub.HarnessCopilotCLI,
		folders: []place{"$COPILOT_HOME/", "~/.copilot"},
		asks:    copilotAsks,
		global: &setup{
			mcp:       []piece{server(hub.HarnessCopilotCLI, edit.JSON, copilotShape, inServers, "$COPILOT_HOME/mcp-config.json", "~/.copilot/mcp-config.json")},
			hooks:     []piece{copilotHooks("$COPILOT_HOME/hooks/hubcli.json", "~/.copilot/hooks/hubcli.json")},
			permit:    []piece{copilotPermissions("$COPILOT_HOME/hooks/hubcli-permissions.json", "~/.copilot/hooks/hubcli-permissions.json")},
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
// it, so it names neither. VS Code calls what it knows of it, and hears the start and the end of a turn.
func copilotHooks(places ...place) piece {
	on := occasionsOf(hub.HarnessCopilotCLI)
	on.start = "sessionStart"
	return whole(func(e Entry) string {
		hooks := object{}
		for _, ev := range events {
			if name := on.name(ev); name != "" {
				hooks = append(hooks, member{name, copilotCall(e, ev, on.tools(ev), on.limit(ev))})
			}
			if ev == eventTool {
				hooks = append(hooks, member{on.failed, copilotCall(e, ev, "", on.limit(ev))})
			}
		}
		return text(object{{"version", 1}, {"hooks", hooks}})
	}, places...)
}

// copilotPermissions is another file of the hub's own: Copilot CLI has no list of allowed tools
// for all folders, but asks its hooks whether a tool may run. The line names the harness, and the
// hook allows the tools of the hub alone, whatever calls it.
func copilotPermissions(places ...place) piece {
	return whole(func(e Entry) string {
		call := copilotCall(e, eventOwn, "", hookLimit)
		return text(object{{"version", 1}, {"hooks", object{{hub.HarnessCopilotCLI.HookForm().Call.Permission, call}}}})
	}, places...)
}

// copilotCall is the list of calls at one event, for the tools that match. limit is in seconds.
func copilotCall(e Entry, ev event, tools string, limit int) any {
	named := hub.Harness("")
	if ev == eventOwn {
		named = hub.HarnessCopilotCLI
	}
	line := e.command(ev, named)
	shell := line
	if e.quoted() != e.Command && e.GOOS == "windows" {
		shell = "& " + line // PowerShell needs it before a quoted path
	}
	one := object{{"type", "command"}}
	if tools != "" {
		one = append(one, member{"matcher", tools})
	}
	return []any{append(one, object{{"bash", line + orElse}, {"powershell", shell + "; exit 0"}, {"timeoutSec", limit}}...)}
}

// orElse keeps a line from failing where the executable is gone: Copilot CLI refuses all edits and
// all permissions when the hook that it asks about them fails.
const orElse = " || true"
