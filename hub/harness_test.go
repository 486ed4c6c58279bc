package hub

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestHarnessTable: no name means two harnesses, and every template is JSON.
func TestHarnessTable(t *testing.T) {
	names, clients := map[string]Harness{}, map[string]Harness{}
	take := func(taken map[string]Harness, name string, h Harness) {
		if other, ok := taken[name]; ok {
			t.Errorf("%q names both %s and %s", name, other, h)
		}
		if name != harnessName(name) {
			t.Errorf("%s: %q is not written as names are compared", h, name)
		}
		taken[name] = h
	}
	valid := func(h Harness, template string) {
		filled := strings.NewReplacer("$text", `"x"`, "$session", `"x"`, "$folder", `"x"`, "$event", `"x"`).Replace(template)
		if template != "" && !json.Valid([]byte(filled)) {
			t.Errorf("%s: %s is no JSON", h, filled)
		}
	}
	for _, f := range AllHarnessFacts() {
		take(names, string(f.ID), f.ID)
		take(clients, string(f.ID), f.ID)
		for _, alias := range f.Aliases {
			take(names, alias, f.ID)
		}
		for _, client := range f.Clients {
			take(clients, client, f.ID)
		}
		if f.Title == "" {
			t.Errorf("%s has no name for people", f.ID)
		}
		if f.Hooks == nil {
			continue
		}
		for _, template := range []string{f.Hooks.Silence, f.Hooks.Start.JSON, f.Hooks.Stop.JSON, f.Hooks.Call.JSON, f.Hooks.Allow.JSON, f.Hooks.Deny.JSON} {
			valid(f.ID, template)
		}
		if f.Hooks.Call.JSON == "" || f.Hooks.Call.Stop == "" || !f.Hooks.Start.Heard() && !f.Hooks.Stop.Heard() {
			t.Errorf("%s: its hooks are %+v", f.ID, *f.Hooks)
		}
	}
	for client, h := range clients {
		for longer, other := range clients {
			if longer != client && isClient(longer, client) && h != other {
				t.Errorf("a client %q is %s by its beginning and %s by its name", longer, h, other)
			}
		}
	}
}

func TestParseHarness(t *testing.T) {
	for _, h := range Harnesses() {
		if got, ok := ParseHarness(string(h)); got != h || !ok {
			t.Errorf("%s is read as %q", h, got)
		}
	}
	for name, want := range map[string]Harness{
		" Claude_Code ": HarnessClaudeCode, "Gemini": HarnessGeminiCLI, "QWEN": HarnessQwenCode,
		"factory": HarnessDroid, "github copilot": HarnessCopilotCLI, "": "", "pi": "",
	} {
		if got, ok := ParseHarness(name); got != want || ok != (want != "") {
			t.Errorf("%q is read as %q, %v; want %q", name, got, ok, want)
		}
	}
}

func TestHarnessOfClient(t *testing.T) {
	for name, want := range map[string]Harness{
		"claude-code": HarnessClaudeCode, "claude-ai": HarnessGeneric, "codex-mcp-client": HarnessCodex,
		"gemini-cli-mcp-client": HarnessGeminiCLI, "qwen-cli-mcp-client-hub": HarnessQwenCode,
		"cursor-vscode": HarnessCursor, "Visual Studio Code": HarnessVSCode,
		"Visual-Studio-Code-Insiders": HarnessVSCode, "github-copilot-developer": HarnessCopilotCLI,
		"opencode": HarnessOpenCode, "windsurf-client": HarnessWindsurf, "Zed": HarnessZed, "goose": HarnessGoose,
		"Cline": HarnessCline, "amp-mcp-client": HarnessAmp, "factory-cli": HarnessDroid, "droid": HarnessDroid, "claude": HarnessClaudeCode, "claude-other": HarnessGeneric, "crush": HarnessCrush,
		"continue-cli-client": HarnessContinue, "Q-DEV-CLI": HarnessKiro, "kiro": HarnessKiro,
		"antigravity-client": HarnessAntigravity, "inspector-cli": HarnessGeneric, "": HarnessGeneric,
		"amplifier": HarnessGeneric, "zedd": HarnessGeneric,
	} {
		if got := HarnessOfClient(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
