package hook

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"hubcli/hub"
)

// The members of a shell tool's input that change nothing about what its command may do.
var commandMembers = []string{"command", "description", "timeout", "timeout_ms", "run_in_background"}

// fileTools are the tools that touch the one file that their first member names. A call
// with a member that is not here is unclear.
var fileTools = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"Read":         {"file_path", "offset", "limit", "pages"},
		"Write":        {"file_path", "content"},
		"Edit":         {"file_path", "old_string", "new_string", "replace_all"},
		"MultiEdit":    {"file_path", "edits"},
		"NotebookRead": {"notebook_path", "cell_id"},
		"NotebookEdit": {"notebook_path", "cell_id", "new_source", "cell_type", "edit_mode"},
		"LS":           {"path", "ignore"},
		"edit":         {"file_path", "diff"}, // of Copilot CLI, which asks for each file of a patch
	}
})

// FileTool reports whether a tool touches one file and runs no command.
func FileTool(name string) bool { return fileTools()[name] != nil }

// patchTool names its files in a patch, which is no command of a shell.
const patchTool = "apply_patch"

// prompt is what the hub is asked about a call of a tool.
func (r *run) prompt(id hub.AgentID) hub.PermissionInput {
	in := hub.PermissionInput{AgentID: id, Tool: r.payload.Tool, Folder: r.folder()}
	input, whole := members(r.payload.Input)
	known := fileTools()[in.Tool]
	switch command, isCommand := commandOf(input); {
	case in.Tool != patchTool && isCommand:
		in.Command, known = &command, commandMembers
		in.About = command
	case len(known) > 0:
		given := input.text(known[0])
		in.About = given
		if real := r.absolute(given); real != "" && filepath.IsAbs(given) && !leadsUp(given) {
			in.File, in.RealFile = filepath.Clean(given), real
		}
	case in.Tool == patchTool && len(r.payload.Files) > 0:
		in.About = strings.Join(r.payload.Files, "\n")
	default:
		in.About = compact(r.payload.Input)
	}
	in.About = shown(in.About)
	for name := range input {
		in.Unclear = in.Unclear || !slices.Contains(known, name)
	}
	in.Unclear = in.Unclear || !whole
	for _, given := range r.payload.Files {
		for _, path := range []string{r.joined(given), r.absolute(given)} {
			if path != "" && len(in.Files) < hub.MaxPermissionFiles && !slices.Contains(in.Files, path) {
				in.Files = append(in.Files, path)
			}
		}
	}
	return in
}

// commandOf returns the command of a shell tool. What is no single text, or too long, ends
// with a line break, so that no rule takes it for a plain command.
func commandOf(input fields) (string, bool) {
	list := texts(input["command"])
	if len(list) == 0 {
		return "", false
	}
	var one string
	command := strings.Join(list, " ")
	if json.Unmarshal(input["command"], &one) != nil || utf8.RuneCountInString(command) > hub.MaxPermissionCommand {
		command = string([]rune(command)[:min(utf8.RuneCountInString(command), hub.MaxPermissionCommand-1)]) + "\n"
	}
	return strings.ToValidUTF8(command, "\n"), true
}

// folder is the folder in which the agent works, or "".
func (r *run) folder() string {
	if len(r.payload.Folders) > 0 {
		return r.payload.Folders[0]
	}
	return r.Dir
}

// joined returns a file by the name that a tool was given, made absolute; empty if it has
// none or is too long.
func (r *run) joined(path string) string {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.folder(), path)
	}
	if path = filepath.Clean(path); hub.CheckName("file_path", path, hub.MaxFilePathChars) != nil || !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// leadsUp reports whether a path has an element that leads out of a folder. Behind a
// symbolic link nobody can tell by the letters where it leads.
func leadsUp(path string) bool {
	return slices.Contains(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), "..")
}

// compact is an input in one line.
func compact(input json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, input) != nil {
		return ""
	}
	return b.String()
}

// cut stands at the end of a text of which the operator sees the beginning only.
const cut = "\n[more follows, which is not shown]"

// shown makes a text fit for the operator's eyes: without secrets, and cut where it is too
// long, which it then says. Whatever shows it escapes its hidden characters, as in any
// other text of agents.
func shown(text string) string {
	text = strings.ToValidUTF8(mask(text), "\ufffd")
	if utf8.RuneCountInString(text) <= hub.MaxPermissionAbout {
		return text
	}
	return string([]rune(text)[:hub.MaxPermissionAbout-utf8.RuneCountInString(cut)]) + cut
}

// ForEyes makes what a harness says of a tool's input fit for the operator's eyes.
func ForEyes(text string) string { return shown(text) }
