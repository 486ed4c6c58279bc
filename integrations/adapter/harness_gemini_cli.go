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
