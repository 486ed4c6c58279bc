package hook

import (
	"strings"
	"sync"
)

// aboutTool is the type of the notification by which Gemini CLI says that it asks its
// user whether a tool may run. It waits for the hook before it draws the question.
const aboutTool = "ToolPermission"

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

// toolOfNotification returns the tool that a notification of Gemini CLI is about, by the
// name that its model calls it. The details do not name the harness's own tools. Of one
// that is not known, their type is returned, which for some tools is the name.
func (f fields) toolOfNotification() string {
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
