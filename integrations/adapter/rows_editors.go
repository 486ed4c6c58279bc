package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

// rowsOfEditors are opencode and the harnesses that run in editors.
var rowsOfEditors = []row{
	{
		harness:  hub.HarnessOpenCode,
		binaries: []string{"opencode"}, folders: []place{"{config}/opencode"},
		asks: opencodeAsks,
		global: &setup{
			mcp: []piece{server(hub.HarnessOpenCode, edit.JSON, opencodeShape, []string{"mcp"},
				"{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc")},
			hooks:     []piece{whole(opencodePlugin, "{config}/opencode/plugins/hubcli.js")},
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{"start opencode anew: it loads plugins and servers when it starts"},
		},
		project: &setup{
			mcp: []piece{server(hub.HarnessOpenCode, edit.JSON, opencodeShape, []string{"mcp"},
				"./opencode.json", "./opencode.jsonc")},
			hooks:     []piece{whole(opencodePlugin, "./.opencode/plugins/hubcli.js")},
			lacking:   lacks("instructions", hooksTeach),
			warnings:  []string{committed},
			followUps: []string{"start opencode anew: it loads plugins and servers when it starts"},
		},
	},
	{
		harness:  hub.HarnessWindsurf,
		binaries: []string{"windsurf", "devin"}, folders: []place{"~/.codeium/windsurf", "{config}/devin"},
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
	},
	{
		harness:  hub.HarnessCline,
		binaries: []string{"cline"}, folders: []place{"~/.cline", "{code}/globalStorage/saoudrizwan.claude-dev"},
		global: &setup{
			mcp: []piece{server(hub.HarnessCline, edit.JSON, clineShape, inServers,
				"~/.cline/data/settings/cline_mcp_settings.json",
				"{code}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")},
			lacking:   lacks("hooks", noTurnHooks, "instructions", perProject),
			followUps: []string{"switch the server hub on in Cline's list of MCP servers if it is off"},
		},
		project: &setup{
			teach:    agentsMD,
			lacking:  lacks("mcp", "this harness reads servers from the user's settings alone", "hooks", noTurnHooks),
			warnings: []string{"the server is installed with the scope global"},
		},
	},
	{
		harness:  hub.HarnessZed,
		binaries: []string{"zed", "zeditor"}, folders: []place{"{zed}/"},
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
	},
}
