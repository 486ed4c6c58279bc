package core

import (
	"slices"
	"strings"

	"hubcli/hub"
)

// SpawnValues are the values of a command's placeholders.
type SpawnValues struct {
	Prompt, Role, Title string // text of an agent
	Agent               hub.AgentID
	Room                hub.RoomID
	BaseURL             string
}

// SpawnArguments replaces the placeholders of a command by their values, once:
// a placeholder inside a value stays text. The text of an agent never becomes
// an option of the command: a value that begins with a hyphen is refused at the
// start of an argument, unless the command has "--" before it. Error: invalid.
func SpawnArguments(args []string, v *SpawnValues) ([]string, error) {
	if v.Prompt != "" && !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "{prompt}") }) {
		return nil, hub.Invalid("prompt", "the operator's command takes no prompt").
			WithFix("leave prompt out; or ask the operator to put {prompt} into the command's args")
	}
	if v.Prompt == "" && slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "{prompt}") }) {
		return nil, hub.Invalid("prompt", "prompt is missing").WithFix("say in prompt what the new agent is to do")
	}
	put := strings.NewReplacer(
		"{prompt}", v.Prompt, "{role}", v.Role, "{title}", v.Title,
		"{agent}", string(v.Agent), "{room}", string(v.Room), "{base_url}", v.BaseURL)
	out := make([]string, len(args))
	options := true // "--" has not come yet
	for i, arg := range args {
		if i == 0 {
			out[0] = arg
			continue
		}
		options = options && arg != "--"
		if out[i] = put.Replace(arg); len(out[i]) > hub.MaxSpawnArgBytes {
			return nil, hub.Invalid("prompt", "an argument of the command would be too long").
				With("limit", hub.MaxSpawnArgBytes).With("size", len(out[i])).
				WithFix("put the text into an artifact or a message, and let prompt name it")
		}
		if options && !strings.HasPrefix(arg, "-") && strings.HasPrefix(out[i], "-") {
			field := beginsWith(arg)
			return nil, hub.Invalid(field, field+" begins with a hyphen, and the command could take it for an option").
				WithFix("begin " + field + " with a letter; or ask the operator to put -- before it in the command's args")
		}
	}
	return out, nil
}

// beginsWith returns the field whose placeholder is at the start of an
// argument.
func beginsWith(arg string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(arg, "{"), "}")
	if name == "role" || name == "title" {
		return name
	}
	return "prompt"
}
