package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

// rowsOfGoogle are Gemini CLI, its successor and its forks.
var rowsOfGoogle = []row{
	{
		harness:  hub.HarnessGeminiCLI,
		binaries: []string{"gemini"}, folders: []place{"~/.gemini/settings.json"},
		asks: geminiAsks,
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
	},
	{
		harness:  hub.HarnessAntigravity,
		binaries: []string{"antigravity", "agy"},
		folders:  []place{"~/.gemini/config", "~/.gemini/antigravity", "~/.gemini/antigravity-cli"},
		global: &setup{
			mcp: []piece{server(hub.HarnessAntigravity, edit.JSON, plainShape, inServers,
				"~/.gemini/config/mcp_config.json", "~/.gemini/antigravity/mcp_config.json")},
			hooks:     []piece{antigravityHooks("~/.gemini/config/hooks.json")},
			lacking:   lacks("instructions", perProject),
			followUps: []string{"refresh the list of MCP servers in Antigravity, or start agy anew"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessAntigravity, edit.JSON, plainShape, inServers, "./.agents/mcp_config.json")},
			hooks:     []piece{antigravityHooks("./.agents/hooks.json")},
			teach:     agentsMD,
			warnings:  []string{committed},
			followUps: []string{"refresh the list of MCP servers in Antigravity, or start agy anew"},
		},
	},
	{
		harness:  hub.HarnessQwenCode,
		binaries: []string{"qwen"}, folders: []place{"~/.qwen"},
		asks: qwenAsks,
		global: &setup{
			mcp:       []piece{server(hub.HarnessQwenCode, edit.JSON, geminiShape, inServers, "~/.qwen/settings.json")},
			hooks:     qwenHooks("~/.qwen/settings.json"),
			allow:     &allowance{"trust", true},
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{"start a new session of qwen"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessQwenCode, edit.JSON, geminiShape, inServers, "./.qwen/settings.json")},
			hooks:     qwenHooks("./.qwen/settings.json"),
			lacking:   lacks("instructions", hooksTeach),
			warnings:  []string{committed},
			followUps: []string{"trust the folder when qwen asks"},
		},
	},
}

// geminiHooks use AfterAgent as the end of a turn; their timeouts are in ms.
func geminiHooks(places ...place) []piece {
	call := claudeCall(1000, object{{"matcher", "*"}}, object{{"name", "hubcli"}})
	return calls(hub.HarnessGeminiCLI, []string{"hooks"}, occasionsOf(hub.HarnessGeminiCLI), call, places...)
}

func qwenHooks(places ...place) []piece {
	return calls(hub.HarnessQwenCode, []string{"hooks"}, occasionsOf(hub.HarnessQwenCode), claudeCall(1000, nil, nil), places...)
}

// antigravityHooks are a bundle with a name of its own at the top of the file.
func antigravityHooks(places ...place) piece {
	call := func(e Entry, ev event) any {
		return []any{object{{"type", "command"}, {"command", e.command(ev, hub.HarnessAntigravity)}, {"timeout", hookLimit}}}
	}
	return piece{places: places, format: edit.JSON, keys: []string{"hubcli"}, value: func(e Entry) any {
		return object{{"SessionStart", call(e, eventStart)}, {"Stop", call(e, eventStop)}}
	}}
}
