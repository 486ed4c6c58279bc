package hook

import (
	"path/filepath"
	"strings"
)

// Harness names a program in which agents run.
type Harness string

// The harnesses that are told apart. Generic is any other.
const (
	ClaudeCode  Harness = "claude-code"
	Codex       Harness = "codex"
	Gemini      Harness = "gemini"
	VSCode      Harness = "vscode"
	CopilotCLI  Harness = "copilot-cli"
	Cursor      Harness = "cursor"
	Goose       Harness = "goose"
	Qwen        Harness = "qwen"
	Droid       Harness = "droid"
	Continue    Harness = "continue"
	Kimi        Harness = "kimi"
	Kiro        Harness = "kiro"
	Antigravity Harness = "antigravity"
	OpenCode    Harness = "opencode"
	Generic     Harness = "generic"
)

// traits is what a harness can do for an agent that has finished its turn.
type traits struct {
	dialect dialect
	wakes   bool // the exit of a background process begins a new turn
}

// harnesses is the one table of them. A harness that is not sure to wake counts
// as one that does not: an agent that waits in vain is worse than one that ends.
var harnesses = map[Harness]traits{
	ClaudeCode:  {dialectClaude, true},
	Codex:       {dialectCodex, false},
	Gemini:      {dialectGemini, false}, // wakes only with a setting that is off by default
	VSCode:      {dialectVSCode, true},
	CopilotCLI:  {dialectCopilot, true},
	Cursor:      {dialectCursor, false},
	Goose:       {dialectGoose, false},
	Qwen:        {dialectClaude, false},
	Droid:       {dialectClaude, false},
	Continue:    {dialectClaude, false},
	Kimi:        {dialectKimi, false},
	Kiro:        {dialectKiro, false},
	Antigravity: {dialectClaude, false},
	OpenCode:    {dialectClaude, false},
	Generic:     {dialectClaude, false},
}

// aliases are other names under which harnesses go.
var aliases = map[string]Harness{
	"claude":         ClaudeCode,
	"codex-cli":      Codex,
	"gemini-cli":     Gemini,
	"vs-code":        VSCode,
	"vscode-copilot": VSCode,
	"copilot":        CopilotCLI,
	"github-copilot": CopilotCLI,
	"cursor-agent":   Cursor,
	"qwen-code":      Qwen,
	"factory":        Droid,
	"kimi-code":      Kimi,
	"kiro-cli":       Kiro,
	"agy":            Antigravity,
}

// ParseHarness finds a harness by a name of it, in any case; false for others.
func ParseHarness(name string) (Harness, bool) {
	name = strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
	if h, ok := aliases[name]; ok {
		return h, true
	}
	_, ok := harnesses[Harness(name)]
	return Harness(name), ok
}

// variable is an environment variable by which a harness is known.
type variable struct {
	name    string
	harness Harness
}

// variables are in the order in which they count. Those that harnesses set for
// hooks alone come first: the others are inherited by harnesses that were started
// from the shell of another. Cursor sets CLAUDE_PROJECT_DIR too.
var variables = []variable{
	{"CURSOR_PROJECT_DIR", Cursor},
	{"CURSOR_VERSION", Cursor},
	{"FACTORY_PROJECT_DIR", Droid},
	{"QWEN_PROJECT_DIR", Qwen},
	{"GEMINI_PROJECT_DIR", Gemini},
	{"GEMINI_SESSION_ID", Gemini},
	{"CLAUDE_PROJECT_DIR", ClaudeCode},
	{"CLAUDECODE", ClaudeCode},
	{"CODEX_THREAD_ID", Codex},
	{"CODEX_SANDBOX", Codex},
	{"CODEX_CI", Codex},
	{"CURSOR_AGENT", Cursor},
	{"CURSOR_TRACE_ID", Cursor},
	{"GEMINI_CLI", Gemini},
	{"QWEN_CODE", Qwen},
	{"OPENCODE", OpenCode},
	{"ANTIGRAVITY_AGENT", Antigravity},
}

// Recognise tells the harness: by the flag of the command line, if it names one;
// else by the payload's marks; else by the environment. The payload counts before
// the environment because variables are inherited: of two nested harnesses the
// inner one wrote the payload.
func Recognise(flag string, p Payload, getenv func(string) string) Harness {
	if h, ok := ParseHarness(flag); ok {
		return h
	}
	if p.Harness != "" {
		return p.Harness
	}
	if h, ok := byTranscript(p.Transcript, getenv); ok {
		return h
	}
	for _, v := range variables {
		if getenv(v.name) != "" {
			return v.harness
		}
	}
	for _, name := range []string{"AI_AGENT", "AGENT"} {
		if h, ok := ParseHarness(getenv(name)); ok {
			return h
		}
	}
	return Generic
}

// homes are the folders in which harnesses keep their transcripts.
var homes = map[string]Harness{
	".codex": Codex, ".claude": ClaudeCode, ".gemini": Gemini, ".qwen": Qwen, ".factory": Droid,
	".cursor": Cursor, ".continue": Continue, ".kimi": Kimi, ".kimi-code": Kimi, ".kiro": Kiro, ".copilot": CopilotCLI,
}

// byTranscript goes by where the transcript of the session lies. The harnesses
// whose payloads look alike differ in that.
func byTranscript(path string, getenv func(string) string) (Harness, bool) {
	if path == "" {
		return "", false
	}
	for _, home := range []variable{{"CODEX_HOME", Codex}, {"CLAUDE_CONFIG_DIR", ClaudeCode}} {
		dir := getenv(home.name)
		if rel, err := filepath.Rel(dir, path); dir != "" && err == nil && filepath.IsLocal(rel) {
			return home.harness, true
		}
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		if h, ok := homes[part]; ok {
			return h, true
		}
	}
	return "", false
}
