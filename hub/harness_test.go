package hub

import "testing"

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
		"Cline": HarnessCline, "amp-mcp-client": HarnessAmp, "factory-cli": HarnessDroid, "crush": HarnessCrush,
		"continue-cli-client": HarnessContinue, "Q-DEV-CLI": HarnessKiro, "kiro": HarnessKiro,
		"antigravity-client": HarnessAntigravity, "inspector-cli": HarnessGeneric, "": HarnessGeneric,
		"amplifier": HarnessGeneric, "zedd": HarnessGeneric,
	} {
		if got := HarnessOfClient(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
