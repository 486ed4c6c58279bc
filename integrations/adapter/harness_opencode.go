package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

var openCodeRow = row{
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
}
