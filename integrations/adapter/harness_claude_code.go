package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func claudeCodeRow() row {
	return row{
		harness: hub.HarnessClaudeCode,
		folders: []place{"$CLAUDE_CONFIG_DIR/", "~/.claude"},
		asks:    claudeAsks, strict: "settings.json",
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
			lacking:  lacks("instructions", hooksTeach, "plugin", forTheUser),
			warnings: []string{committed},
			followUps: []string{
				"start claude in the folder and approve the server hub, which it asks for once",
			},
		},
	}
}

// claudePermissions let Claude Code call the tools of the hub and run
// hubcli watch, and nothing else.
func claudePermissions(places ...place) []piece {
	keys := []string{"permissions", "allow"}
	return []piece{
		allowed(func(Entry) string { return "mcp__" + serverName }, keys, places...),
		allowed(func(e Entry) string { return "Bash(" + e.argument(e.Command) + watchRule }, keys, places...),
	}
}

// watchRule is the end of the rule that allows hubcli watch with any arguments.
const watchRule = " watch:*)"
