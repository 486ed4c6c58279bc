package cli

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/lazy"
)

// typedAs are the flags and arguments that take the fields of the hub's interface, where
// their names differ by more than a hyphen.
var typedAs = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"q": {"text"}, "text": {"body"}, "claim_key": {"key", "claim"}, "file_path": {"file", "lock"}, "options": {"option"},
		"deadline_sec": {"deadline"}, "artifact_id": {"artifact"}, "blocks": {"task"}, "agent_id": {"agent", "by"}, "owner_agent_id": {"agent", "holder"},
		"from_agent": {"agent"}, "to_agent": {"to", "agent"}, "created_by": {"by"}, "message_id": {"message id"}, "command": {"program"},
		"answer_sec": {"wait"}, "room_id": {"room"}, "project_id": {"project"}, "answer": {"option or text"}, "assignee": {"agent"},
	}
})

// typedName is how a command names a field of the interface: its flag or its argument. It
// is empty if the command has neither.
func typedName(cmd *cobra.Command, field string) string {
	for _, name := range append([]string{strings.ReplaceAll(field, "_", "-"), field}, typedAs()[field]...) {
		if f := cmd.Flags().Lookup(name); f != nil && !f.Hidden {
			return "--" + name
		}
		if slices.ContainsFunc([]string{"<", "["}, func(begin string) bool { return strings.Contains(cmd.Use, begin+name) }) {
			return "the " + name
		}
	}
	return ""
}

// fieldName is a field in a text of the hub. Words of its sentences have no underscores.
var fieldName = lazy.Regexp{Pattern: `\b[a-z]+(_[a-z]+)+\b`}

// inTypedWords says the refusal of a field in the words of the command line. Nobody has
// typed the fields of the interface here.
func inTypedWords(cmd *cobra.Command, err error) error {
	var h *hub.Error
	var f *term.Failure
	if !errors.As(err, &h) || errors.As(err, &f) && f.Sentence != h.Message {
		return err // its sentence was made here
	}
	field, _ := h.Detail["field"].(string)
	if field == "" {
		return err
	}
	said := term.Fail(term.ExitOf(err), h.FixFor(hub.ForCLI), "%s", h.Message+term.Measured(h.Detail))
	said.Err = err
	if typed := typedName(cmd, field); typed != "" {
		if rest, ok := strings.CutPrefix(said.Sentence, field+" "); ok {
			if strings.HasSuffix(typed, "s") && !strings.HasPrefix(typed, "--") {
				rest = strings.Replace(rest, "is ", "are ", 1)
			}
			said.Sentence = typed + " " + rest
		}
	}
	if said.Fix == "" || said.Fix == hub.GeneralFix {
		said.Fix = generalFix(cmd, said.Sentence)
	}
	said.Fix = fieldName.Get().ReplaceAllStringFunc(said.Fix, func(name string) string {
		if typed := typedName(cmd, name); typed != "" {
			return typed
		}
		return name
	})
	return said
}

// generalFix is the fix of a refusal that has none of its own.
func generalFix(cmd *cobra.Command, sentence string) string {
	help := "see: " + cmd.CommandPath() + " --help"
	switch {
	case strings.Contains(sentence, "too long"):
		return "give a shorter one; " + help
	case strings.Contains(sentence, "missing"):
		return "give it; " + help
	}
	return "correct it; " + help
}
