package hook

import (
	"cmp"
	"strings"
	"sync"
)

// aboutTools are the types of the notifications by which a harness says that it asks its user
// whether a tool may run: Gemini CLI, which waits for the hook before it draws the question, and
// Copilot CLI and Claude Code, which do not.
var aboutTools = []string{"ToolPermission", "permission_prompt"}

// toolsOfDetails names the tool by the type of a notification's details. Those of an edit
// name it in their title alone, and so does information that is fetched.
var toolsOfDetails = sync.OnceValue(func() map[string]string {
	return map[string]string{"exec": "run_shell_command", "sandbox_expansion": "run_shell_command"}
})

// toolsOfTitles are the beginnings of titles and the tools that have them.
var toolsOfTitles = []struct{ begin, tool string }{
	{"Confirm Write:", "write_file"},
	{"Confirm Edit:", "replace"},
	{"Confirm Web Fetch", "web_fetch"},
	{"Activate Skill:", "activate_skill"},
	{"Enter Plan Mode", "enter_plan_mode"},
}

// toolsOfMessages are the beginnings of what Copilot CLI tells its user, and the tools of which it
// asks its hooks by these names. What follows the beginning of a tool of a server is its name.
var toolsOfMessages = []struct{ begin, tool string }{
	{"Edit file:", "edit"},
	{"Run command:", "bash"},
	{"Use MCP tool: ", ""},
}

// toolOfNotification returns the tool that a notification is about, by the
// name that the model of Gemini CLI calls it. The details do not name the harness's own tools. Of one
// that is not known, their type is returned, which for some tools is the name. Without details the
// message names the tool.
func (f fields) toolOfNotification() string {
	if !f.has("details") {
		message := f.text("message")
		for _, known := range toolsOfMessages {
			if rest, ok := strings.CutPrefix(message, known.begin); ok {
				return cmp.Or(known.tool, rest)
			}
		}
		return ""
	}
	details, _ := members(f["details"])
	kind, title := details.text("type"), details.text("title")
	if server, tool := details.text("serverName"), details.text("toolName"); kind == "mcp" && server != "" && tool != "" {
		return "mcp_" + server + "_" + tool
	}
	for _, known := range toolsOfTitles {
		if strings.HasPrefix(title, known.begin) {
			return known.tool
		}
	}
	if tool := toolsOfDetails()[kind]; tool != "" {
		return tool
	}
	return kind
}
