package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

var (
	inServers = []string{"mcpServers"}
	agentsMD  = []place{"./AGENTS.md"}
)

// rowsOfFirst are the harnesses that most agents run in.
var rowsOfFirst = []row{
	{
		harness: hub.HarnessGeneric,
		global: &setup{
			mcp:       []piece{server("", edit.JSON, stdioShape, inServers, "{data}/mcp.json")},
			lacking:   lacks("hooks", onlyOwnFile, "instructions", perProject),
			followUps: []string{"point the client at the file, or copy its entry into the client's own settings"},
		},
		project: &setup{
			mcp:      []piece{server("", edit.JSON, stdioShape, inServers, "./.mcp.json")},
			teach:    agentsMD,
			lacking:  lacks("hooks", onlyOwnFile),
			warnings: []string{committed},
		},
	},
	{
		harness:  hub.HarnessClaudeCode,
		binaries: []string{"claude"}, folders: []place{"$CLAUDE_CONFIG_DIR/", "~/.claude"},
		asks: claudeAsks,
		global: &setup{
			mcp:       []piece{server(hub.HarnessClaudeCode, edit.JSON, claudeShape, inServers, "$CLAUDE_CONFIG_DIR/.claude.json", "~/.claude.json")},
			hooks:     claudeHooks("", occasionsOf(hub.HarnessClaudeCode), "$CLAUDE_CONFIG_DIR/settings.json", "~/.claude/settings.json"),
			permit:    claudePermissions("$CLAUDE_CONFIG_DIR/settings.json", "~/.claude/settings.json"),
			plugin:    claudePlugin("$CLAUDE_CONFIG_DIR/skills/hubcli", "~/.claude/skills/hubcli"),
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{"start a new session: running ones keep the servers and hooks that they began with"},
		},
		project: &setup{
			mcp:      []piece{server("", edit.JSON, stdioShape, inServers, "./.mcp.json")},
			hooks:    claudeHooks("", occasionsOf(hub.HarnessClaudeCode), "./.claude/settings.json"),
			lacking:  lacks("instructions", hooksTeach),
			warnings: []string{committed},
			followUps: []string{
				"start claude in the folder and approve the server hub, which it asks for once",
			},
		},
	},
	{
		harness:  hub.HarnessCodex,
		binaries: []string{"codex"}, folders: []place{"$CODEX_HOME/", "~/.codex"},
		asks: codexAsks,
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
	},
	{
		harness:  hub.HarnessVSCode,
		binaries: []string{"code"}, folders: []place{"{code}/"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessVSCode, edit.JSON, stdioShape, []string{"servers"}, "{code}/mcp.json")},
			hooks:     []piece{copilotHooks("~/.copilot/hooks/hubcli.json")},
			lacking:   lacks("instructions", perProject),
			followUps: []string{"start the server hub once in the view of MCP servers and trust it; hooks are a preview there and may have to be switched on"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessVSCode, edit.JSON, stdioShape, []string{"servers"}, "./.vscode/mcp.json")},
			hooks:     []piece{copilotHooks("./.github/hooks/hubcli.json")},
			teach:     agentsMD,
			warnings:  []string{committed},
			followUps: []string{"trust the folder and start the server hub once from .vscode/mcp.json"},
		},
	},
	{
		harness:  hub.HarnessCopilotCLI,
		binaries: []string{"copilot"}, folders: []place{"$COPILOT_HOME/", "~/.copilot"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessCopilotCLI, edit.JSON, copilotShape, inServers, "$COPILOT_HOME/mcp-config.json", "~/.copilot/mcp-config.json")},
			hooks:     []piece{copilotHooks("$COPILOT_HOME/hooks/hubcli.json", "~/.copilot/hooks/hubcli.json")},
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{"start a new session of copilot"},
		},
		project: &setup{
			mcp:      []piece{server(hub.HarnessCopilotCLI, edit.JSON, copilotShape, inServers, "./.github/mcp.json")},
			hooks:    []piece{copilotHooks("./.github/hooks/hubcli.json")},
			lacking:  lacks("instructions", hooksTeach),
			warnings: []string{committed},
			followUps: []string{
				"trust the folder when copilot asks; copilot -p reads a project's servers only with GITHUB_COPILOT_PROMPT_MODE_WORKSPACE_MCP=true",
			},
		},
	},
	{
		harness:  hub.HarnessCursor,
		binaries: []string{"cursor", "cursor-agent"}, folders: []place{"~/.cursor"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessCursor, edit.JSON, stdioShape, inServers, "~/.cursor/mcp.json")},
			hooks:     cursorHooks("~/.cursor/hooks.json"),
			lacking:   lacks("instructions", hooksTeach),
			followUps: []string{cursorReload},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessCursor, edit.JSON, stdioShape, inServers, "./.cursor/mcp.json")},
			hooks:     cursorHooks("./.cursor/hooks.json"),
			teach:     agentsMD,
			warnings:  []string{committed},
			followUps: []string{cursorReload},
		},
	},
}

const (
	codexTrust   = "run /hooks in codex and trust the hooks of hubcli: until then they are not called; codex asks again whenever their line changes"
	cursorReload = "reload the window of Cursor and switch the server hub on in its settings if it is off"
)

// copilotHooks is a file of the hub's own. Copilot CLI and VS Code both read
// it, so it names neither.
func copilotHooks(places ...place) piece {
	call := func(e Entry, ev event) any {
		line := e.command(ev, "")
		shell := line
		if e.quoted() != e.Command && e.GOOS == "windows" {
			shell = "& " + line // PowerShell needs it before a quoted path
		}
		return []any{object{{"type", "command"}, {"bash", line}, {"powershell", shell}, {"timeoutSec", hookLimit}}}
	}
	return whole(func(e Entry) string {
		return text(object{
			{"version", 1},
			{"hooks", object{{"sessionStart", call(e, eventStart)}, {"agentStop", call(e, eventStop)}}},
		})
	}, places...)
}

// cursorHooks hold the turn at most five times by Cursor's own count.
func cursorHooks(places ...place) []piece {
	seed := piece{places: places, format: edit.JSON, keys: []string{"version"}, value: func(Entry) any { return 1 }, seed: true}
	return append([]piece{seed}, calls(hub.HarnessCursor, []string{"hooks"}, occasions{start: "sessionStart", stop: "stop"}, func(line string) any {
		return object{{"command", line}, {"timeout", hookLimit}}
	}, places...)...)
}
