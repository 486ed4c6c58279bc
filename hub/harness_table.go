package hub

import "time"

// The known harnesses. HarnessGeneric stands for any other.
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
	// HarnessGit is no program in which agents run. It has a row because a repository has
	// an adapter.
	HarnessGit Harness = "git"
)

// harnesses holds one row for each harness, in the order in which they are
// shown. The facts come from the vendors' documentation and sources of 2026.
// The row of the same name in integrations/adapter says what is written into
// the harness's files.
//
// Wakes is true only where waking is certain: an agent that waits for a wake
// that never comes is worse than one that ends its turn.
var harnesses = []HarnessFacts{
	{
		ID: HarnessGeneric, Title: "any MCP client",
		Clients: []string{"claude-ai"}, // the chat of the desktop, not Claude Code
		Hooks:   &claudeForm,
	},
	{
		ID: HarnessClaudeCode, Title: "Claude Code",
		Programs: []string{"claude"}, Opens: []string{"$text"},
		Aliases:    []string{"claude"},
		ToolPrefix: "mcp__hub__", ToolSearch: `with ToolSearch "select:mcp__hub__hub_take,mcp__hub__hub_lock"`,
		MaxWait:  110 * time.Second, // beyond two minutes it moves a call to the background
		WakeFile: "skills/hubcli/monitors/monitors.json",
		Hooks:    claudeCodeForm(), Wakes: true, SubAgents: true,
		ProjectVariable: "CLAUDE_PROJECT_DIR", Variables: []string{"CLAUDECODE"},
		SessionVariable: "CLAUDE_CODE_SESSION_ID", ExportVariable: "CLAUDE_ENV_FILE",
		CallMember: "claudecode/toolUseId", Channel: "claude/channel",
		HomeVariable: "CLAUDE_CONFIG_DIR", Homes: []string{".claude"},
		RewritesServers: true,
	},
	{
		ID: HarnessCodex, Title: "Codex",
		Programs: []string{"codex"}, Opens: []string{"$text"},
		Aliases:    []string{"codex-cli"},
		ToolSearch: `with tool_search "hub_start hub_take hub_lock hub_done"`,
		MaxWait:    240 * time.Second,
		Offline:    true, Queues: true,
		// Codex refuses unknown members, so a form that it shares must not get
		// a member that only another harness needs.
		Hooks:     codexForm(),
		Variables: []string{"CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_CI"},
		// Its sessions in terminals share a daemon, which starts their MCP servers
		// and their hooks.
		SessionMembers: []string{"threadId", "sessionId"},
		HomeVariable:   "CODEX_HOME", Homes: []string{".codex"},
	},
	{
		ID: HarnessVSCode, Title: "VS Code with Copilot",
		Programs: []string{"code"},
		Aliases:  []string{"vs-code", "vscode-copilot"}, Clients: []string{"visual-studio-code"},
		Surface: SurfaceProgressive, // it takes 128 tools a request
		Hooks: &HookForm{
			Start: claudeForm.Start,
			Stop:  HookAnswer{JSON: `{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":$text}}`},
			Call:  copilotCall,
		},
		Wakes: true, SubAgents: true,
	},
	{
		ID: HarnessCopilotCLI, Title: "Copilot CLI",
		Programs: []string{"copilot"}, ACP: []string{"--acp"},
		Aliases: []string{"copilot", "github-copilot"}, Clients: []string{"copilot", "github-copilot"},
		ToolPrefix: "hub-", Hooks: copilotForm(), Wakes: true, ShowsBothForms: true, SubAgents: true,
		ProjectVariable: "COPILOT_PROJECT_DIR", HookVariables: []string{"COPILOT_HOOK_DIR"}, Variables: []string{"COPILOT_CLI"},
		SessionVariable: "COPILOT_AGENT_SESSION_ID", CallMember: "hubcli/toolCallId",
		HomeVariable: "COPILOT_HOME", Homes: []string{".copilot"}, KillsServers: true, BeginsLate: true,
	},
	{
		ID: HarnessCursor, Title: "Cursor",
		Programs: []string{"cursor", "cursor-agent"},
		Aliases:  []string{"cursor-agent"},
		Surface:  SurfaceProgressive, // it has taken 40 tools in all
		Hooks: &HookForm{
			Silence: "{}",
			Start:   HookAnswer{JSON: `{"additional_context":$text}`},
			Stop:    HookAnswer{JSON: `{"followup_message":$text}`},
			Call:    HookCall{JSON: `{"conversation_id":$session,"cursor_version":"1","workspace_roots":[$folder],"hook_event_name":$event}`, Stop: "Stop"},
		},
		SubAgents:       true,
		ProjectVariable: "CURSOR_PROJECT_DIR", HookVariables: []string{"CURSOR_VERSION"},
		Variables: []string{"CURSOR_AGENT", "CURSOR_TRACE_ID"}, Homes: []string{".cursor"},
	},
	{
		ID: HarnessGeminiCLI, Title: "Gemini CLI",
		Programs: []string{"gemini"}, Opens: []string{"-i", "$text"}, ACP: []string{"--acp"},
		Aliases: []string{"gemini"}, ToolPrefix: "mcp_hub_",
		MaxWait: 540 * time.Second,
		Hooks: &HookForm{
			Silence: "{}", Start: claudeForm.Start,
			Stop:   HookAnswer{JSON: `{"decision":"deny","reason":$text}`},
			Prompt: HookAnswer{JSON: contextBegin + "BeforeAgent" + contextEnd}, Tool: HookAnswer{JSON: contextBegin + "AfterTool" + contextEnd}, End: endsTurn,
			Refuse:      HookAnswer{JSON: `{"decision":"deny","reason":$text}`},
			DropsFailed: true, // its model gets the error alone
			Call: HookCall{
				JSON: claudeForm.Call.JSON, Stop: "AfterAgent", Prompt: "BeforeAgent", Tool: "AfterTool", End: "SessionEnd",
				Edit: "BeforeTool", EditTools: "write_file|replace",
				Permission: "Notification", // it only tells: no answer of a hook allows a tool
			},
		},
		Wakes:           false, // it wakes only with a setting that is off by default
		SubAgents:       true,
		ProjectVariable: "GEMINI_PROJECT_DIR", HookVariables: []string{"GEMINI_SESSION_ID"},
		Variables: []string{"GEMINI_CLI"}, Homes: []string{".gemini"},
	},
	{
		ID: HarnessAntigravity, Title: "Antigravity",
		Programs: []string{"antigravity", "agy"},
		Aliases:  []string{"agy"}, Hooks: &claudeForm,
		TerminalVariables: []string{"ANTIGRAVITY_AGENT"},
	},
	{
		ID: HarnessQwenCode, Title: "Qwen Code",
		Programs: []string{"qwen"}, Opens: []string{"-i", "$text"}, ACP: []string{"--acp"},
		Aliases: []string{"qwen"}, Clients: []string{"qwen"}, ToolPrefix: "mcp__hub__", ToolSearch: "by calling them with tool_call",
		MaxWait: 540 * time.Second, Hooks: qwenForm(),
		ProjectVariable: "QWEN_PROJECT_DIR", Variables: []string{"QWEN_CODE"}, Homes: []string{".qwen"},
		ShowsBothForms: true, TakesInput: true, SubAgents: true,
	},
	{
		ID: HarnessOpenCode, Title: "opencode", ToolPrefix: "hub_",
		Programs: []string{"opencode"}, Opens: []string{"--prompt", "$text"}, ACP: []string{"acp"},
		MaxWait: 25 * time.Second, Hooks: openCodeForm(),
		Variables: []string{"OPENCODE"}, ExportVariable: "HUB_ENV_FILE", Streams: true, SubAgents: true,
		CancelsAnswered: true,
	},
	{
		ID: HarnessWindsurf, Title: "Windsurf",
		Programs: []string{"windsurf", "devin"},
		Aliases:  []string{"devin"}, Clients: []string{"devin"},
		Surface: SurfaceProgressive, // it takes 100 tools
	},
	{ID: HarnessCline, Title: "Cline", Programs: []string{"cline"}, ToolPrefix: "hub__", ShowsBothForms: true},
	{ID: HarnessZed, Title: "Zed", Programs: []string{"zed", "zeditor"}},
	{
		ID: HarnessGoose, Title: "Goose",
		Programs: []string{"goose"}, ACP: []string{"acp"},
		MaxWait: 240 * time.Second,
		Hooks: &HookForm{
			Stop: claudeForm.Stop, // it does not show what the hook answers to the start
			Call: HookCall{JSON: `{"session_id":$session,"cwd":$folder,"event":$event}`, Stop: "Stop"},
		},
	},
	{ID: HarnessAmp, Title: "Amp", Programs: []string{"amp"}},
	{
		ID: HarnessDroid, Title: "Droid",
		Programs: []string{"droid"},
		Aliases:  []string{"factory"}, Clients: []string{"factory"}, Hooks: droidForm(),
		ToolPrefix: "hub___", ToolSearch: `with ToolSearch "select:hub___hub_take,hub___hub_lock"`,
		ProjectVariable: "FACTORY_PROJECT_DIR", Homes: []string{".factory"},
	},
	{
		ID: HarnessKimi, Title: "Kimi Code",
		Programs: []string{"kimi"}, ACP: []string{"acp"},
		Aliases: []string{"kimi-code"}, ToolPrefix: "mcp__hub__",
		Hooks: kimiForm(), ShowsBothForms: true, CancelsAnswered: true,
		Homes: []string{".kimi", ".kimi-code"},
	},
	{ID: HarnessCrush, Title: "Crush", Programs: []string{"crush"}},
	{ID: HarnessContinue, Title: "Continue", Programs: []string{"cn"}, Hooks: &claudeForm, Homes: []string{".continue"}},
	{
		ID: HarnessKiro, Title: "Kiro",
		Programs: []string{"kiro", "kiro-cli"},
		Aliases:  []string{"kiro-cli"}, Clients: []string{"q-dev-cli"},
		Hooks: &HookForm{Start: HookAnswer{Text: true}, Call: claudeForm.Call}, // the end of its turn cannot be held
		Homes: []string{".kiro"},
	},
	{ID: HarnessGit, Title: "Git"},
}

// What an answer that adds text to what the model reads is made of, as Claude Code takes it. The name of
// the event stands between.
const (
	contextBegin = `{"hookSpecificOutput":{"hookEventName":"`
	contextEnd   = `","additionalContext":$text}}`
)

// addsContext is such an answer. Most are constants, because each start of the program makes the table.
func addsContext(event string) HookAnswer { return HookAnswer{JSON: contextBegin + event + contextEnd} }

// endsTurn is how the hook of a tool ends the turn in harnesses that document it so.
var endsTurn = HookAnswer{JSON: `{"continue":false,"stopReason":$text}`}

// midTurn returns the form of a harness that also calls hooks by Claude Code's
// names with a prompt, after tools and when a session ends.
func midTurn(f HookForm, tool string) *HookForm {
	f.Warn = HookAnswer{JSON: contextBegin + "PreToolUse" + contextEnd}
	f.Refuse = HookAnswer{JSON: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":$text}}`}
	f.Call.Edit, f.Call.EditTools = "PreToolUse", editTools
	f.Call.Permission = "PermissionRequest"
	f.Prompt, f.Tool = HookAnswer{JSON: contextBegin + "UserPromptSubmit" + contextEnd}, addsContext(tool)
	f.Call.Prompt, f.Call.Tool, f.Call.End = "UserPromptSubmit", tool, "SessionEnd"
	return &f
}

// editTools matches the tools that change files in Claude Code, Codex and Qwen
// Code, and in opencode, whose plugin of the hub names them itself.
const editTools = "Edit|Write|MultiEdit|NotebookEdit|apply_patch|edit|write_file|replace"

// qwenForm is the form of Qwen Code. Its model does not see what a hook adds before a
// tool.
func qwenForm() *HookForm {
	f := midTurn(claudeForm, "PostToolUse")
	f.Warn = HookAnswer{}
	return f
}

// codexForm is the form of Codex. What a hook adds is a developer's message to its model.
func codexForm() *HookForm {
	f := decides(midTurn(HookForm{Silence: "{}", Start: claudeForm.Start, Stop: claudeForm.Stop, Call: claudeForm.Call}, "PostToolUse"))
	return ranking(f, &f.Start, &f.Stop, &f.Prompt, &f.Tool)
}

// openCodeForm is the form of the hub's plugin of opencode. The plugin shows what is said
// after a tool in that tool's result, and begins a turn with what is said at other times.
func openCodeForm() *HookForm {
	f := midTurn(claudeForm, "PostToolUse")
	return ranking(f, &f.Start, &f.Stop, &f.Prompt)
}

// droidForm is the form of Droid. What a hook adds is a message of its user to its model, which does not see
// what one adds before a tool.
func droidForm() *HookForm {
	f := midTurn(claudeForm, "PostToolUse")
	f.Warn = HookAnswer{}
	f.Call.EditTools = "Create|Edit|ApplyPatch"
	f.Call.Permission = "" // it calls no hook when it asks its user
	return ranking(f, &f.Start, &f.Stop, &f.Prompt, &f.Tool)
}

// kimiForm is the form of Kimi Code. Its model reads what a hook says with a prompt and at the end of
// a turn, as a message of its user, and nothing that a hook says when a session begins or after a tool.
func kimiForm() *HookForm {
	call := claudeForm.Call
	call.Prompt, call.End, call.Compact, call.Permission = "UserPromptSubmit", "SessionEnd", "PreCompact", "PermissionRequest"
	call.Edit, call.EditTools, call.Failure = "PreToolUse", "Edit|Write", "StopFailure"
	holds := HookAnswer{Text: true, Exit: 2}
	f := &HookForm{Prompt: HookAnswer{Text: true}, Stop: holds, Refuse: holds, Call: call, HoldsOnce: true}
	return ranking(f, &f.Prompt, &f.Stop)
}

// ranking marks answers of a form that count as the words of a user or a developer.
func ranking(f *HookForm, answers ...*HookAnswer) *HookForm {
	for _, a := range answers {
		a.Ranks = true
	}
	return f
}

// decides adds how Claude Code and Codex read a decision about a question to the user. A
// harness of which that is not known goes on asking its user.
func decides(f *HookForm) *HookForm {
	const begin = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":`
	f.Allow = HookAnswer{JSON: begin + `"allow"}}}`}
	f.Deny = HookAnswer{JSON: begin + `"deny","message":$text}}}`}
	return f
}

// claudeCodeForm is the form of Claude Code. Its model reads context at the end of
// a turn once, and goes on; it reads the reason of a decision twice.
func claudeCodeForm() *HookForm {
	f := midTurn(claudeForm, "PostToolBatch")
	f.Stop = HookAnswer{JSON: contextBegin + "Stop" + contextEnd}
	f.End = endsTurn
	f.Sub = HookAnswer{JSON: contextBegin + "SubagentStart" + contextEnd}
	f.Call.Call, f.Call.HubTools = "PreToolUse", "mcp__hub__.*"
	f.Call.Failure, f.Call.TaskCreated, f.Call.TaskDone = "StopFailure", "TaskCreated", "TaskCompleted"
	f.Call.SubStart, f.Call.SubStop = "SubagentStart", "SubagentStop"
	f.Call.JSON = `{"session_id":$session,"cwd":$folder,"prompt_id":"p1","hook_event_name":$event}`
	return decides(f)
}

// claudeForm is the form of harnesses that imitate Claude Code.
var claudeForm = HookForm{
	Start: HookAnswer{JSON: contextBegin + "SessionStart" + contextEnd},
	Stop:  HookAnswer{JSON: `{"decision":"block","reason":$text}`},
	Call:  HookCall{JSON: `{"session_id":$session,"cwd":$folder,"hook_event_name":$event}`, Stop: "Stop"},
}

// copilotForm is the form of Copilot CLI. What a hook adds at the beginning, with a prompt and at
// the end of a turn stands in a message of its user.
func copilotForm() *HookForm {
	adds := HookAnswer{JSON: `{"additionalContext":$text}`}
	f := &HookForm{
		Start: adds, Stop: claudeForm.Stop, Prompt: adds, Tool: adds, Warn: adds, Sub: adds,
		Refuse: HookAnswer{JSON: `{"permissionDecision":"deny","permissionDecisionReason":$text}`},
		Allow:  HookAnswer{JSON: `{"behavior":"allow"}`}, Deny: HookAnswer{JSON: `{"behavior":"deny","message":$text}`},
		Call: copilotCall, Tagged: "metaToUse", AsksFirst: true,
	}
	f.Call.Stop, f.Call.Prompt, f.Call.Tool, f.Call.Failed, f.Call.End = "agentStop", "userPromptSubmitted", "postToolUse", "postToolUseFailure", "sessionEnd"
	f.Call.Edit, f.Call.EditTools = "preToolUse", "create|edit|str_replace|insert|apply_patch"
	f.Call.Permission, f.Call.Notice, f.Call.Failure = "permissionRequest", "notification", "errorOccurred"
	f.Call.Compact = "preCompact"
	f.Call.Call, f.Call.SubStart, f.Call.SubStop = "preMcpToolCall", "subagentStart", "subagentStop" // it matches no tool by its name there
	return ranking(f, &f.Start, &f.Stop, &f.Prompt)
}

// copilotCall is how VS Code and Copilot CLI call hooks; timestamp is in ms.
var copilotCall = HookCall{JSON: `{"sessionId":$session,"cwd":$folder,"timestamp":1767225600000}`, Stop: "Stop"}
