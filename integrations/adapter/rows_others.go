package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

// rowsOfOthers are the remaining agents of the command line.
var rowsOfOthers = []row{
	{
		harness:  hub.HarnessGoose,
		binaries: []string{"goose"}, folders: []place{"{goose}/"},
		global: &setup{
			mcp: []piece{
				goosePlugin("~/.agents/plugins/hubcli/plugin.json"),
				gooseServers("~/.agents/plugins/hubcli/.mcp.json"),
			},
			hooks:     []piece{gooseHooks("~/.agents/plugins/hubcli/hooks/hooks.json")},
			lacking:   lacks("instructions", perProject),
			followUps: []string{"Goose reads plugins since version 1.39"},
		},
		project: &setup{
			mcp: []piece{
				goosePlugin("./.agents/plugins/hubcli/plugin.json"),
				gooseServers("./.agents/plugins/hubcli/.mcp.json"),
			},
			hooks:     []piece{gooseHooks("./.agents/plugins/hubcli/hooks/hooks.json")},
			teach:     agentsMD,
			warnings:  []string{committed},
			followUps: []string{"Goose reads plugins since version 1.39"},
		},
	},
	{
		harness:  hub.HarnessAmp,
		binaries: []string{"amp"}, folders: []place{"{config}/amp"},
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
	},
	{
		harness:  hub.HarnessDroid,
		binaries: []string{"droid"}, folders: []place{"~/.factory"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessDroid, edit.JSON, stdioShape, inServers, "~/.factory/mcp.json")},
			hooks:     droidHooks("~/.factory/hooks.json"),
			elsewhere: &elsewhere{"~/.factory/settings.json", "hooks", claudeHooks(hub.HarnessDroid, occasionsOf(hub.HarnessDroid), "~/.factory/settings.json")},
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{"start droid anew and look at its hooks with /hooks"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessDroid, edit.JSON, stdioShape, inServers, "./.factory/mcp.json")},
			hooks:     droidHooks("./.factory/hooks.json"),
			elsewhere: &elsewhere{"./.factory/settings.json", "hooks", claudeHooks(hub.HarnessDroid, occasionsOf(hub.HarnessDroid), "./.factory/settings.json")},
			lacking:   lacks("instructions", hooksTeach),
			warnings:  []string{committed},
			followUps: []string{"start droid anew and look at its hooks with /hooks"},
		},
	},
	{
		harness:  hub.HarnessKimi,
		binaries: []string{"kimi"}, folders: []place{"$KIMI_CODE_HOME/", "~/.kimi-code", "~/.kimi"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessKimi, edit.JSON, plainShape, inServers, "$KIMI_CODE_HOME/mcp.json", "~/.kimi-code/mcp.json", "~/.kimi/mcp.json")},
			hooks:     kimiHooks("$KIMI_CODE_HOME/config.toml", "~/.kimi-code/config.toml", "~/.kimi/config.toml"),
			lacking:   lacks("instructions", perProject),
			followUps: []string{"start a new session of kimi"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessKimi, edit.JSON, plainShape, inServers, "./.kimi-code/mcp.json")},
			teach:     agentsMD,
			lacking:   lacks("hooks", hooksGlobal),
			warnings:  []string{committed},
			followUps: []string{"start a new session of kimi"},
		},
	},
	{
		harness:  hub.HarnessCrush,
		binaries: []string{"crush"}, folders: []place{"{crush}/"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessCrush, edit.JSON, crushShape, []string{"mcp"}, "{crush}/crush.json")},
			lacking:   lacks("hooks", noTurnHooks, "instructions", perProject),
			followUps: []string{"a crushrc overrides crush.json: see that it does not"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessCrush, edit.JSON, crushShape, []string{"mcp"}, "./.crush.json", "./crush.json")},
			teach:     agentsMD,
			lacking:   lacks("hooks", noTurnHooks),
			warnings:  []string{committed},
			followUps: []string{"a crushrc overrides the file: see that it does not"},
		},
	},
	{
		harness:  hub.HarnessContinue,
		binaries: []string{"cn"}, folders: []place{"~/.continue"},
		global: &setup{
			mcp:       []piece{continueServers("~/.continue/mcpServers/hubcli.json")},
			hooks:     claudeHooks(hub.HarnessContinue, occasionsOf(hub.HarnessContinue), "~/.continue/settings.json"),
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{"start cn anew, or reload the window of the editor"},
		},
		project: &setup{
			mcp:       []piece{continueServers("./.continue/mcpServers/hubcli.json")},
			hooks:     claudeHooks(hub.HarnessContinue, occasionsOf(hub.HarnessContinue), "./.continue/settings.json"),
			lacking:   lacks("instructions", hooksTeach),
			warnings:  []string{committed},
			followUps: []string{"start cn anew, or reload the window of the editor"},
		},
	},
	{
		harness:  hub.HarnessKiro,
		binaries: []string{"kiro", "kiro-cli"}, folders: []place{"~/.kiro"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessKiro, edit.JSON, plainShape, inServers, "~/.kiro/settings/mcp.json")},
			hooks:     []piece{kiroHooks("~/.kiro/hooks/hubcli.json")},
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{"see in Kiro's list of MCP servers that hub is connected"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessKiro, edit.JSON, plainShape, inServers, "./.kiro/settings/mcp.json")},
			hooks:     []piece{kiroHooks("./.kiro/hooks/hubcli.json")},
			lacking:   lacks("instructions", hooksTeach),
			warnings:  []string{committed},
			followUps: []string{"see in Kiro's list of MCP servers that hub is connected"},
		},
	},
}

// goosePlugin is a folder of the hub's own with a manifest, servers and hooks.
// Goose's settings are YAML that Goose rewrites, so they are left alone.
func goosePlugin(places ...place) piece {
	return whole(func(Entry) string {
		return text(object{{"name", "hubcli"}, {"version", "1.0.0"}, {"description", "The hub through which agents work together"}})
	}, places...)
}

func gooseServers(places ...place) piece {
	return whole(func(e Entry) string {
		return text(object{{"mcpServers", object{{serverName, plainShape(e, hub.HarnessGoose)}}}})
	}, places...)
}

func gooseHooks(places ...place) piece {
	return whole(func(e Entry) string {
		call := func(ev event) any { return []any{claudeCall(1, nil, nil)(e.command(ev, hub.HarnessGoose))} }
		return text(object{{"hooks", object{{"SessionStart", call(eventStart)}, {"Stop", call(eventStop)}}}})
	}, places...)
}

// droidHooks are keyed by event at the top of the file. The file hides the hooks
// of settings.json.
func droidHooks(places ...place) []piece {
	return calls(hub.HarnessDroid, nil, occasionsOf(hub.HarnessDroid), claudeCall(1, nil, nil), places...)
}

// kimiHooks have just four members: Kimi refuses a file with others.
func kimiHooks(places ...place) []piece {
	one := func(ev event, name string) piece {
		return piece{
			places: places, format: edit.TOML, keys: []string{"hooks"}, mark: marker(ev),
			value: func(e Entry) any {
				return object{{"event", name}, {"command", e.command(ev, hub.HarnessKimi)}, {"timeout", hookLimit}}
			},
		}
	}
	return []piece{one(eventStart, "SessionStart"), one(eventStop, "Stop")}
}

// continueServers has only the members that Continue's strict type knows.
func continueServers(places ...place) piece {
	return whole(func(e Entry) string {
		return text(object{{"mcpServers", object{{serverName, stdioShape(e, hub.HarnessContinue)}}}})
	}, places...)
}

// kiroHooks has only the hook of a session's start: Kiro's end of a turn cannot
// be held.
func kiroHooks(places ...place) piece {
	return whole(func(e Entry) string {
		return text(object{{"version", "v1"}, {"hooks", []any{object{
			{"name", "hubcli-session-start"},
			{"trigger", "SessionStart"},
			{"action", object{{"type", "command"}, {"command", e.command(eventStart, hub.HarnessKiro)}}},
			{"timeout", hookLimit},
			{"enabled", true},
		}}}})
	}, places...)
}
