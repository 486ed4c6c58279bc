package adapter

import (
	"hubcli/hub"
)

func continueRow() row {
	return row{
		harness: hub.HarnessContinue,
		folders: []place{"~/.continue"},
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
	}
}

// continueServers has only the members that Continue's strict type knows.
func continueServers(places ...place) piece {
	return whole(func(e Entry) string {
		return text(object{{"mcpServers", object{{serverName, stdioShape(e, hub.HarnessContinue)}}}})
	}, places...)
}
