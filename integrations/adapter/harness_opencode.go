package adapter

import (
	_ "embed"
	"encoding/json"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func openCodeRow() row {
	return row{
		harness: hub.HarnessOpenCode,
		folders: []place{"{config}/opencode"},
		asks:    opencodeAsks,
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
}

// opencodeBody is the plugin without what differs from user to user.
//
//go:embed opencode_plugin.js
var opencodeBody string

// opencodePlugin calls the hooks, which opencode cannot do by itself, and keeps a
// stream of messages that begins a turn of an idle session.
func opencodePlugin(e Entry) string {
	flags := []string{"--tools", "--harness", "opencode"}
	env := map[string]string{}
	if e.BaseURL != "" {
		flags = append(flags, "--base-url", e.BaseURL)
		env["HUB_BASE_URL"] = e.BaseURL
	}
	if e.DataRoot != "" {
		env["HUB_DATA_ROOT"] = e.DataRoot
	}
	return "// Written by hubcli: \"hubcli adapter repair opencode\" writes it anew.\n" +
		"const command = " + quoteJS(e.Command) + ";\n" +
		"const flags = " + quoteJS(flags) + ";\n" +
		"const env = { ...process.env, ..." + quoteJS(env) + " };\n\n" + opencodeBody
}

// quoteJS returns v as JavaScript, of which JSON is a part.
func quoteJS(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("harness: a constant is no JSON: " + err.Error())
	}
	return string(b)
}
