package hub

import "strings"

// Harness names a program in which agents run.
type Harness string

// The harnesses that are told apart. HarnessGeneric is any other.
const (
	HarnessGeneric     Harness = "generic"
	HarnessClaudeCode  Harness = "claude-code"
	HarnessCodex       Harness = "codex"
	HarnessVSCode      Harness = "vscode"
	HarnessCopilotCLI  Harness = "copilot-cli"
	HarnessCursor      Harness = "cursor"
	HarnessGeminiCLI   Harness = "gemini-cli"
	HarnessAntigravity Harness = "antigravity"
	HarnessQwenCode    Harness = "qwen-code"
	HarnessOpenCode    Harness = "opencode"
	HarnessWindsurf    Harness = "windsurf"
	HarnessCline       Harness = "cline"
	HarnessZed         Harness = "zed"
	HarnessGoose       Harness = "goose"
	HarnessAmp         Harness = "amp"
	HarnessDroid       Harness = "droid"
	HarnessKimi        Harness = "kimi"
	HarnessCrush       Harness = "crush"
	HarnessContinue    Harness = "continue"
	HarnessKiro        Harness = "kiro"
)

// Harnesses lists them in the order in which they are shown.
func Harnesses() []Harness {
	return []Harness{
		HarnessGeneric, HarnessClaudeCode, HarnessCodex, HarnessVSCode, HarnessCopilotCLI, HarnessCursor,
		HarnessGeminiCLI, HarnessAntigravity, HarnessQwenCode, HarnessOpenCode, HarnessWindsurf, HarnessCline,
		HarnessZed, HarnessGoose, HarnessAmp, HarnessDroid, HarnessKimi, HarnessCrush, HarnessContinue, HarnessKiro,
	}
}

// harnessAliases are other names under which harnesses go.
var harnessAliases = map[string]Harness{
	"claude":         HarnessClaudeCode,
	"codex-cli":      HarnessCodex,
	"gemini":         HarnessGeminiCLI,
	"vs-code":        HarnessVSCode,
	"vscode-copilot": HarnessVSCode,
	"copilot":        HarnessCopilotCLI,
	"github-copilot": HarnessCopilotCLI,
	"cursor-agent":   HarnessCursor,
	"qwen":           HarnessQwenCode,
	"devin":          HarnessWindsurf,
	"factory":        HarnessDroid,
	"kimi-code":      HarnessKimi,
	"kiro-cli":       HarnessKiro,
	"agy":            HarnessAntigravity,
}

// harnessClients are the names by which harnesses introduce themselves as clients
// of MCP, as far as those are no name or alias; a name that begins with one of
// them counts too. Names are compared as ParseHarness writes them.
var harnessClients = []struct {
	prefix  string
	harness Harness
}{
	{"claude-ai", HarnessGeneric}, // the desktop's chat, no Claude Code
	{"claude-code", HarnessClaudeCode},
	{"codex", HarnessCodex},
	{"gemini-cli", HarnessGeminiCLI},
	{"qwen", HarnessQwenCode},
	{"cursor", HarnessCursor},
	{"visual-studio-code", HarnessVSCode},
	{"vscode", HarnessVSCode},
	{"github-copilot", HarnessCopilotCLI},
	{"copilot", HarnessCopilotCLI},
	{"opencode", HarnessOpenCode},
	{"windsurf", HarnessWindsurf},
	{"devin", HarnessWindsurf},
	{"zed", HarnessZed},
	{"goose", HarnessGoose},
	{"cline", HarnessCline},
	{"amp", HarnessAmp},
	{"factory", HarnessDroid},
	{"crush", HarnessCrush},
	{"continue", HarnessContinue},
	{"q-dev-cli", HarnessKiro},
	{"kiro", HarnessKiro},
	{"kimi", HarnessKimi},
	{"antigravity", HarnessAntigravity},
}

// ParseHarness finds a harness by a name of it, in any case and with underscores
// or spaces for hyphens; false for others.
func ParseHarness(name string) (Harness, bool) {
	name = harnessName(name)
	if h, ok := harnessAliases[name]; ok {
		return h, true
	}
	for _, h := range Harnesses() {
		if string(h) == name {
			return h, true
		}
	}
	return "", false
}

// HarnessOfClient finds a harness by the name of an MCP client (clientInfo.name);
// HarnessGeneric for others.
func HarnessOfClient(name string) Harness {
	name = harnessName(name)
	for _, c := range harnessClients {
		rest, ok := strings.CutPrefix(name, c.prefix)
		if ok && (rest == "" || rest[0] == '-') {
			return c.harness
		}
	}
	if h, ok := ParseHarness(name); ok {
		return h
	}
	return HarnessGeneric
}

func harnessName(name string) string {
	return strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}
