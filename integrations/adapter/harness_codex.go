package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func codexRow() row {
	return row{
		harness: hub.HarnessCodex,
		folders: []place{"$CODEX_HOME/", "~/.codex"},
		asks:    codexAsks,
		global: &setup{
			mcp:       []piece{server(hub.HarnessCodex, edit.TOML, codexShape, []string{"mcp_servers"}, "$CODEX_HOME/config.toml", "~/.codex/config.toml")},
			hooks:     claudeHooks(hub.HarnessCodex, occasionsOf(hub.HarnessCodex), "$CODEX_HOME/hooks.json", "~/.codex/hooks.json"),
			allow:     &allowance{"default_tools_approval_mode", "approve"},
			lacking:   lacks("instructions", perProject),
			followUps: []string{codexTrust},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessCodex, edit.TOML, codexShape, []string{"mcp_servers"}, "./.codex/config.toml")},
			hooks:     claudeHooks(hub.HarnessCodex, occasionsOf(hub.HarnessCodex), "./.codex/hooks.json"),
			teach:     agentsMD,
			warnings:  []string{committed},
			followUps: []string{"trust the project when codex asks: it reads .codex only in trusted ones", codexTrust},
		},
	}
}

const codexTrust = "run /hooks in codex and trust the hooks of hubcli: until then they are not called; codex asks again whenever their line changes"
