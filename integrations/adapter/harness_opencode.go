package adapter

import (
	_ "embed"
	"encoding/json"
	"strings"

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
			followUps: []string{openCodeAnew},
			own:       openCodePlugins("{config}/opencode/plugins"),
		},
		project: &setup{
			mcp: []piece{server(hub.HarnessOpenCode, edit.JSON, opencodeShape, []string{"mcp"},
				"./opencode.json", "./opencode.jsonc")},
			hooks:     []piece{whole(opencodePlugin, "./.opencode/plugins/hubcli.js")},
			lacking:   lacks("instructions", hooksTeach),
			warnings:  []string{committed},
			followUps: []string{openCodeAnew},
			own:       openCodePlugins("./.opencode/plugins"),
		},
	}
}

const openCodeAnew = "start opencode anew: it loads plugins and servers when it starts"

// openCodePlugins are two files that opencode loads by itself: one names the server, the other calls
// the hooks.
func openCodePlugins(folder place) *ownForm {
	form := &ownForm{
		setup: setup{
			mcp:       []piece{whole(openCodeServer, folder+"/hubcli-server.js")},
			hooks:     []piece{whole(opencodePlugin, folder+"/hubcli.js")},
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{openCodeAnew},
		},
		under: "plugins",
		// opencode fetches a package of types for plugins unless these say that it is there.
		settled: map[string]string{
			"node_modules/.package-lock.json": "{}",
			"package-lock.json":               `{"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}`,
		},
	}
	if strings.HasPrefix(string(folder), ".") {
		form.warnings = []string{committed}
	}
	return form
}

// openCodeServer adds the server to what opencode has read of its files. An entry of the user's
// own comes first, also one that only switches the server off.
func openCodeServer(e Entry) string {
	return writtenByHub + serverLine + quoteJS(opencodeShape(e, hub.HarnessOpenCode)) + ";\n\n" + `export const HubServer = async () => ({
  config: async (config) => {
    const own = config.mcp?.hub;
    config.mcp = { ...config.mcp, hub: own?.type ? own : { ...server, ...own } };
  },
});
`
}

const writtenByHub = "// Written by hubcli: \"hubcli adapter repair opencode\" writes it anew.\n"

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
	return writtenByHub +
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
