package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func kimiRow() row {
	return row{
		harness: hub.HarnessKimi,
		folders: []place{"$KIMI_CODE_HOME/", "~/.kimi-code", "~/.kimi"},
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
	}
}

// kimiHooks have just four members: Kimi refuses a file with others.
func kimiHooks(places ...place) (all []piece) {
	on := occasionsOf(hub.HarnessKimi)
	for _, ev := range events {
		name := on.name(ev)
		if name == "" {
			continue
		}
		all = append(all, piece{
			places: places, format: edit.TOML, keys: []string{"hooks"}, mark: marker(ev),
			value: func(e Entry) any {
				one := object{{"event", name}}
				if tools := on.tools(ev); tools != "" {
					one = append(one, member{"matcher", tools})
				}
				return append(one, object{{"command", e.command(ev, hub.HarnessKimi)}, {"timeout", on.limit(ev)}}...)
			},
		})
	}
	return all
}
