package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func qwenCodeRow() row {
	return row{
		harness: hub.HarnessQwenCode,
		folders: []place{"~/.qwen"},
		asks:    qwenAsks,
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
	}
}

func qwenHooks(places ...place) []piece {
	return calls(hub.HarnessQwenCode, []string{"hooks"}, occasionsOf(hub.HarnessQwenCode), claudeCall(1000, nil, nil), places...)
}
