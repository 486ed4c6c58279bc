package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func geminiCLIRow() row {
	return row{
		harness: hub.HarnessGeminiCLI,
		folders: []place{"~/.gemini/settings.json"},
		asks:    geminiAsks,
		global: &setup{
			mcp:       []piece{server(hub.HarnessGeminiCLI, edit.JSON, geminiShape, inServers, "~/.gemini/settings.json")},
			hooks:     geminiHooks("~/.gemini/settings.json"),
			allow:     &allowance{"trust", true},
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{"start a new session of gemini"},
			own:       geminiExtension("~/.gemini/extensions/hubcli"),
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessGeminiCLI, edit.JSON, geminiShape, inServers, "./.gemini/settings.json")},
			hooks:     geminiHooks("./.gemini/settings.json"),
			lacking:   lacks("instructions", hooksTeach),
			warnings:  []string{committed},
			followUps: []string{"trust the folder when gemini asks, and the project's hooks, of which it warns when they change"},
		},
	}
}

// geminiHooks use AfterAgent as the end of a turn; their timeouts are in ms.
func geminiHooks(places ...place) []piece {
	call := claudeCall(1000, object{{"matcher", "*"}}, object{{"name", "hubcli"}})
	return calls(hub.HarnessGeminiCLI, []string{"hooks"}, occasionsOf(hub.HarnessGeminiCLI), call, places...)
}

// geminiExtension is a folder that Gemini CLI loads by itself. It ignores the member trust in there,
// and rules that allow anything, so the permissions are a rule among the user's.
func geminiExtension(folder place) *ownForm {
	settings := []place{"~/.gemini/settings.json", "{gemini}/settings.json"}
	return &ownForm{
		setup: setup{
			mcp: []piece{
				whole(geminiInstalled, folder+"/.gemini-extension-install.json"),
				serversFile(hub.HarnessGeminiCLI, geminiShape, folder+"/gemini-extension.json"),
			},
			hooks:     []piece{hooksFile(geminiHooks(), folder+"/hooks/hooks.json")},
			permit:    []piece{whole(func(Entry) string { return geminiRule }, "~/.gemini/policies/hubcli.toml")},
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{"start a new session of gemini"},
		},
		dir: folder, under: "extensions/hubcli",
		unless: []unless{
			{settings, []string{"security", "allowedExtensions"}, "security.allowedExtensions names the extensions that Gemini CLI may load, so the hub belongs in its settings"},
			{settings, []string{"policyPaths"}, "policyPaths takes the place of the user's rules of Gemini CLI, so the hub belongs in its settings"},
		},
	}
}

// geminiInstalled says where the extension comes from. Without it Gemini CLI does not start once
// security.allowedExtensions is set. Gemini CLI finds no extension there, so it offers no update.
func geminiInstalled(e Entry) string {
	return text(object{{"source", e.Command}, {"type", "local"}})
}

// geminiRule has the rank and the modes that Gemini CLI gives to servers with the member trust.
const geminiRule = `# Written by hubcli: Gemini CLI calls the tools of the hub without asking.
[[rule]]
mcpName = "hub"
toolName = "*"
decision = "allow"
priority = 200
modes = ["default", "autoEdit", "yolo"]
`
