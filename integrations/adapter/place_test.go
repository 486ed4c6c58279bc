package adapter

import (
	"slices"
	"testing"

	"hubcli/hub"
)

// worldOf returns a machine with these variables.
func worldOf(goos string, vars map[string]string) World {
	home := map[string]string{"linux": "/home/u", "darwin": "/Users/u", "windows": `C:\Users\u`}[goos]
	data := map[string]string{"linux": "/home/u/.local/share/hubcli", "darwin": "/Users/u/data", "windows": `C:\Users\u\data`}[goos]
	return World{GOOS: goos, Home: home, DataRoot: data, Getenv: func(name string) string { return vars[name] }}
}

func never(string) bool { return false }

// TestPlaces: every place of every row, on each system, without existing files
// or variables. The table is written out, not computed, because it states what
// harnesses read.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		harness hub.Harness
		scope   hub.AdapterScope
		linux   []string // of servers, hooks, text
		darwin  []string // if it differs from linux
		windows []string
	}{
		{hub.HarnessGeneric, "global", []string{"~/.local/share/hubcli/mcp.json"}, []string{"~/data/mcp.json"}, []string{`~\data\mcp.json`}},
		{hub.HarnessGeneric, "project", []string{"./.mcp.json", "./AGENTS.md"}, nil, nil},
		{hub.HarnessClaudeCode, "global", []string{"~/.claude.json", "~/.claude/settings.json"}, nil, nil},
		{hub.HarnessClaudeCode, "project", []string{"./.mcp.json", "./.claude/settings.json"}, nil, nil},
		{hub.HarnessCodex, "global", []string{"~/.codex/config.toml", "~/.codex/hooks.json"}, nil, nil},
		{hub.HarnessCodex, "project", []string{"./.codex/config.toml", "./.codex/hooks.json", "./AGENTS.md"}, nil, nil},
		{
			hub.HarnessVSCode, "global",
			[]string{"~/.config/Code/User/mcp.json", "~/.copilot/hooks/hubcli.json"},
			[]string{"~/Library/Application Support/Code/User/mcp.json", "~/.copilot/hooks/hubcli.json"},
			[]string{`~\AppData\Roaming\Code\User\mcp.json`, `~\.copilot\hooks\hubcli.json`},
		},
		{hub.HarnessVSCode, "project", []string{"./.vscode/mcp.json", "./.github/hooks/hubcli.json", "./AGENTS.md"}, nil, nil},
		{hub.HarnessCopilotCLI, "global", []string{"~/.copilot/mcp-config.json", "~/.copilot/hooks/hubcli.json"}, nil, nil},
		{hub.HarnessCopilotCLI, "project", []string{"./.github/mcp.json", "./.github/hooks/hubcli.json"}, nil, nil},
		{hub.HarnessCursor, "global", []string{"~/.cursor/mcp.json", "~/.cursor/hooks.json"}, nil, nil},
		{hub.HarnessCursor, "project", []string{"./.cursor/mcp.json", "./.cursor/hooks.json", "./AGENTS.md"}, nil, nil},
		{hub.HarnessGeminiCLI, "global", []string{"~/.gemini/settings.json"}, nil, nil},
		{hub.HarnessGeminiCLI, "project", []string{"./.gemini/settings.json"}, nil, nil},
		{hub.HarnessAntigravity, "global", []string{"~/.gemini/config/mcp_config.json", "~/.gemini/config/hooks.json"}, nil, nil},
		{hub.HarnessAntigravity, "project", []string{"./.agents/mcp_config.json", "./.agents/hooks.json", "./AGENTS.md"}, nil, nil},
		{hub.HarnessQwenCode, "global", []string{"~/.qwen/settings.json"}, nil, nil},
		{hub.HarnessQwenCode, "project", []string{"./.qwen/settings.json"}, nil, nil},
		{hub.HarnessOpenCode, "global", []string{"~/.config/opencode/opencode.json", "~/.config/opencode/plugins/hubcli.js"}, nil, nil},
		{hub.HarnessOpenCode, "project", []string{"./opencode.json", "./.opencode/plugins/hubcli.js"}, nil, nil},
		{hub.HarnessWindsurf, "global", []string{"~/.codeium/windsurf/mcp_config.json"}, nil, nil},
		{hub.HarnessWindsurf, "project", []string{"./.devin/mcp_config.json", "./AGENTS.md"}, nil, nil},
		{hub.HarnessCline, "global", []string{"~/.cline/data/settings/cline_mcp_settings.json"}, nil, nil},
		{hub.HarnessCline, "project", []string{"./AGENTS.md"}, nil, nil},
		{hub.HarnessZed, "global", []string{"~/.config/zed/settings.json"}, nil, []string{`~\AppData\Roaming\Zed\settings.json`}},
		{hub.HarnessZed, "project", []string{"./.zed/settings.json", "./AGENTS.md"}, nil, nil},
		{hub.HarnessGoose, "global", []string{"~/.agents/plugins/hubcli/plugin.json", "~/.agents/plugins/hubcli/.mcp.json", "~/.agents/plugins/hubcli/hooks/hooks.json"}, nil, nil},
		{hub.HarnessGoose, "project", []string{"./.agents/plugins/hubcli/plugin.json", "./.agents/plugins/hubcli/.mcp.json", "./.agents/plugins/hubcli/hooks/hooks.json", "./AGENTS.md"}, nil, nil},
		{hub.HarnessAmp, "global", []string{"~/.config/amp/settings.json"}, nil, nil},
		{hub.HarnessAmp, "project", []string{"./.amp/settings.json", "./AGENTS.md"}, nil, nil},
		{hub.HarnessDroid, "global", []string{"~/.factory/mcp.json", "~/.factory/hooks.json"}, nil, nil},
		{hub.HarnessDroid, "project", []string{"./.factory/mcp.json", "./.factory/hooks.json"}, nil, nil},
		{hub.HarnessKimi, "global", []string{"~/.kimi-code/mcp.json", "~/.kimi-code/config.toml"}, nil, nil},
		{hub.HarnessKimi, "project", []string{"./.kimi-code/mcp.json", "./AGENTS.md"}, nil, nil},
		{hub.HarnessCrush, "global", []string{"~/.config/crush/crush.json"}, nil, []string{`~\AppData\Local\crush\crush.json`}},
		{hub.HarnessCrush, "project", []string{"./.crush.json", "./AGENTS.md"}, nil, nil},
		{hub.HarnessContinue, "global", []string{"~/.continue/mcpServers/hubcli.json", "~/.continue/settings.json"}, nil, nil},
		{hub.HarnessContinue, "project", []string{"./.continue/mcpServers/hubcli.json", "./.continue/settings.json"}, nil, nil},
		{hub.HarnessKiro, "global", []string{"~/.kiro/settings/mcp.json", "~/.kiro/hooks/hubcli.json"}, nil, nil},
		{hub.HarnessKiro, "project", []string{"./.kiro/settings/mcp.json", "./.kiro/hooks/hubcli.json"}, nil, nil},
	} {
		for _, goos := range []string{"linux", "darwin", "windows"} {
			want := map[string][]string{"linux": c.linux, "darwin": c.darwin, "windows": c.windows}[goos]
			if want == nil {
				want = c.linux
			}
			if got := placesOf(c.harness, c.scope, worldOf(goos, nil), never); !slices.Equal(got, spelled(want, goos)) {
				t.Errorf("%s %s on %s: %q, want %q", c.harness, c.scope, goos, got, spelled(want, goos))
			}
		}
	}
}

// spelled writes ~ and . out as a system does.
func spelled(list []string, goos string) []string {
	w := worldOf(goos, nil)
	var out []string
	for _, p := range list {
		base := w.Home
		if p[0] == '.' {
			base = project(goos)
		}
		out = append(out, w.join(base, p[2:]))
	}
	return out
}

func project(goos string) string {
	if goos == "windows" {
		return `D:\work\shop`
	}
	return "/work/shop"
}

// placesOf returns the files of a row in a scope, without duplicates.
func placesOf(h hub.Harness, scope hub.AdapterScope, w World, exists func(string) bool) []string {
	r, _ := rowOf(h)
	s := r.setup(scope)
	if s == nil {
		return nil
	}
	var list []string
	add := func(places []place) {
		if at, _ := w.choose(places, project(w.GOOS), exists); len(places) > 0 && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	for _, p := range slices.Concat(s.mcp, s.hooks) {
		add(p.places)
	}
	add(s.teach)
	return list
}

// TestEveryHarnessHasARow: the rows have the order of the harnesses, can be
// detected and describe both scopes.
func TestEveryHarnessHasARow(t *testing.T) {
	var got []hub.Harness
	for _, r := range rows() {
		got = append(got, r.harness)
		if r.title() == "" || !slices.Contains([]hub.Harness{hub.HarnessGeneric, hub.HarnessGit}, r.harness) && (len(r.harness.Facts().Programs) == 0 || len(r.folders) == 0) {
			t.Errorf("%s has no description, or cannot be detected", r.harness)
		}
		for _, scope := range r.scopes() {
			s := r.setup(scope)
			for name, n := range map[hub.AdapterPartName]int{hub.PartMCP: len(s.mcp), hub.PartHooks: len(s.hooks), hub.PartInstructions: len(s.teach)} {
				if (n == 0) == (s.lacking[name] == "") {
					t.Errorf("%s %s %s: has %d entries and lacks it because %q", r.harness, scope, name, n, s.lacking[name])
				}
			}
		}
	}
	if !slices.Equal(got, hub.Harnesses()) {
		t.Errorf("rows %q, want %q", got, hub.Harnesses())
	}
}

// TestPlacesMove: variables and existing files decide which place is used.
func TestPlacesMove(t *testing.T) {
	for _, c := range []struct {
		harness hub.Harness
		goos    string
		vars    map[string]string
		there   []string
		want    string // first of the global scope
		root    string
	}{
		{hub.HarnessClaudeCode, "linux", map[string]string{"CLAUDE_CONFIG_DIR": "/cfg"}, []string{"/home/u/.claude.json"}, "/cfg/.claude.json", "/cfg"},
		{hub.HarnessClaudeCode, "linux", map[string]string{"CLAUDE_CONFIG_DIR": "/home/u/work"}, nil, "/home/u/work/.claude.json", "/home/u"},
		{hub.HarnessClaudeCode, "linux", map[string]string{"CLAUDE_CONFIG_DIR": "relative"}, nil, "/home/u/.claude.json", "/home/u"},
		{hub.HarnessClaudeCode, "linux", map[string]string{"CLAUDE_CONFIG_DIR": "/home/u2"}, nil, "/home/u2/.claude.json", "/home/u2"},
		{hub.HarnessCodex, "windows", map[string]string{"CODEX_HOME": `E:\codex`}, nil, `E:\codex\config.toml`, `E:\codex`},
		{hub.HarnessCopilotCLI, "darwin", map[string]string{"COPILOT_HOME": "/Users/u/.cop"}, nil, "/Users/u/.cop/mcp-config.json", "/Users/u"},
		{hub.HarnessKimi, "linux", map[string]string{"KIMI_CODE_HOME": "/k"}, nil, "/k/mcp.json", "/k"},
		{hub.HarnessKimi, "linux", nil, []string{"/home/u/.kimi"}, "/home/u/.kimi/mcp.json", "/home/u"},
		{hub.HarnessKimi, "linux", nil, []string{"/home/u/.kimi/mcp.json", "/home/u/.kimi-code"}, "/home/u/.kimi/mcp.json", "/home/u"},
		{hub.HarnessOpenCode, "linux", map[string]string{"XDG_CONFIG_HOME": "/xdg"}, nil, "/xdg/opencode/opencode.json", "/xdg"},
		{hub.HarnessOpenCode, "linux", nil, []string{"/home/u/.config/opencode/opencode.jsonc"}, "/home/u/.config/opencode/opencode.jsonc", "/home/u"},
		{hub.HarnessZed, "darwin", map[string]string{"XDG_CONFIG_HOME": "/xdg"}, nil, "/Users/u/.config/zed/settings.json", "/Users/u"},
		{hub.HarnessVSCode, "windows", map[string]string{"APPDATA": `\\server\u\roaming`}, nil, `\\server\u\roaming\Code\User\mcp.json`, `\\server\u\roaming\Code\User`},
		{hub.HarnessCrush, "windows", map[string]string{"LOCALAPPDATA": `F:\l`}, nil, `F:\l\crush\crush.json`, `F:\l\crush`},
		{hub.HarnessAntigravity, "linux", nil, []string{"/home/u/.gemini/antigravity"}, "/home/u/.gemini/antigravity/mcp_config.json", "/home/u"},
		{
			hub.HarnessCline, "linux", nil,
			[]string{"/home/u/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings"},
			"/home/u/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", "/home/u",
		},
	} {
		r, _ := rowOf(c.harness)
		at, root := worldOf(c.goos, c.vars).choose(r.global.mcp[0].places, "", func(p string) bool { return slices.Contains(c.there, p) })
		if at != c.want || root != c.root {
			t.Errorf("%s on %s with %v and %q: %s in %s, want %s in %s", c.harness, c.goos, c.vars, c.there, at, root, c.want, c.root)
		}
	}
}
