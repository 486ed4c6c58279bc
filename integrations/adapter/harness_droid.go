package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func droidRow() row {
	return row{
		harness: hub.HarnessDroid,
		folders: []place{"~/.factory"},
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
	}
}

// droidHooks are keyed by event at the top of the file. The file hides the hooks
// of settings.json.
func droidHooks(places ...place) []piece {
	return calls(hub.HarnessDroid, nil, occasionsOf(hub.HarnessDroid), claudeCall(1, nil, nil), places...)
}
