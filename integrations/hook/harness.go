package hook

import (
	"path/filepath"
	"strings"

	"hubcli/hub"
)

// traits is what a harness can do for an agent that has finished its turn.
type traits struct {
	dialect dialect
	wakes   bool // the exit of a background process begins a new turn
}

// harnesses is the one table of those that run hooks. A harness that is not sure to wake counts
// as one that does not: an agent that waits in vain is worse than one that ends.
var harnesses = map[hub.Harness]traits{
	hub.HarnessClaudeCode:  {dialectClaude, true},
	hub.HarnessCodex:       {dialectCodex, false},
	hub.HarnessGeminiCLI:   {dialectGemini, false}, // wakes only with a setting that is off by default
	hub.HarnessVSCode:      {dialectVSCode, true},
	hub.HarnessCopilotCLI:  {dialectCopilot, true},
	hub.HarnessCursor:      {dialectCursor, false},
	hub.HarnessGoose:       {dialectGoose, false},
	hub.HarnessQwenCode:    {dialectClaude, false},
	hub.HarnessDroid:       {dialectClaude, false},
	hub.HarnessContinue:    {dialectClaude, false},
	hub.HarnessKimi:        {dialectKimi, false},
	hub.HarnessKiro:        {dialectKiro, false},
	hub.HarnessAntigravity: {dialectClaude, false},
	hub.HarnessOpenCode:    {dialectClaude, false},
	hub.HarnessGeneric:     {dialectClaude, false},
}

// variable is an environment variable by which a harness is known.
type variable struct {
	name    string
	harness hub.Harness
}

// variables are in the order in which they count. Those that harnesses set for
// hooks alone come first: the others are inherited by harnesses that were started
// from the shell of another. Cursor sets CLAUDE_PROJECT_DIR too.
var variables = []variable{
	{"CURSOR_PROJECT_DIR", hub.HarnessCursor},
	{"CURSOR_VERSION", hub.HarnessCursor},
	{"FACTORY_PROJECT_DIR", hub.HarnessDroid},
	{"QWEN_PROJECT_DIR", hub.HarnessQwenCode},
	{"GEMINI_PROJECT_DIR", hub.HarnessGeminiCLI},
	{"GEMINI_SESSION_ID", hub.HarnessGeminiCLI},
	{"CLAUDE_PROJECT_DIR", hub.HarnessClaudeCode},
	{"CLAUDECODE", hub.HarnessClaudeCode},
	{"CODEX_THREAD_ID", hub.HarnessCodex},
	{"CODEX_SANDBOX", hub.HarnessCodex},
	{"CODEX_CI", hub.HarnessCodex},
	{"CURSOR_AGENT", hub.HarnessCursor},
	{"CURSOR_TRACE_ID", hub.HarnessCursor},
	{"GEMINI_CLI", hub.HarnessGeminiCLI},
	{"QWEN_CODE", hub.HarnessQwenCode},
	{"OPENCODE", hub.HarnessOpenCode},
	{"ANTIGRAVITY_AGENT", hub.HarnessAntigravity},
}

// Wakes reports whether the exit of a background process begins a new turn of an
// agent in this harness.
func Wakes(h hub.Harness) bool { return harnesses[h].wakes }

// parse finds a harness that runs hooks by a name of it.
func parse(name string) (hub.Harness, bool) {
	h, _ := hub.ParseHarness(name)
	_, ok := harnesses[h]
	return h, ok
}

// Recognise tells the harness: by the flag of the command line, if it names one;
// else by the payload's marks; else by the environment. The payload counts before
// the environment because variables are inherited: of two nested harnesses the
// inner one wrote the payload.
func Recognise(flag string, p Payload, getenv func(string) string) hub.Harness {
	if h, ok := parse(flag); ok {
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
		if h, ok := parse(getenv(name)); ok {
			return h
		}
	}
	return hub.HarnessGeneric
}

// homes are the folders in which harnesses keep their transcripts.
var homes = map[string]hub.Harness{
	".codex": hub.HarnessCodex, ".claude": hub.HarnessClaudeCode, ".gemini": hub.HarnessGeminiCLI, ".qwen": hub.HarnessQwenCode, ".factory": hub.HarnessDroid,
	".cursor": hub.HarnessCursor, ".continue": hub.HarnessContinue, ".kimi": hub.HarnessKimi, ".kimi-code": hub.HarnessKimi, ".kiro": hub.HarnessKiro, ".copilot": hub.HarnessCopilotCLI,
}

// byTranscript goes by where the transcript of the session lies. The harnesses
// whose payloads look alike differ in that.
func byTranscript(path string, getenv func(string) string) (hub.Harness, bool) {
	if path == "" {
		return "", false
	}
	for _, home := range []variable{{"CODEX_HOME", hub.HarnessCodex}, {"CLAUDE_CONFIG_DIR", hub.HarnessClaudeCode}} {
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
