package adapter

import (
	"hubcli/hub"
)

func gooseRow() row {
	return row{
		harness: hub.HarnessGoose,
		folders: []place{"{goose}/"},
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
	}
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
		call := func(ev event) any {
			return []any{claudeCall(1, nil, nil)(e.command(ev, hub.HarnessGoose), "", hookLimit)}
		}
		return text(object{{"hooks", object{{"SessionStart", call(eventStart)}, {"Stop", call(eventStop)}}}})
	}, places...)
}
