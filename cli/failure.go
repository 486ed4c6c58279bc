package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/hub"
	"hubcli/internal/near"
	"hubcli/internal/peertext"
)

// Failure is an error that does not come from the hub: a sentence for people, a
// fix, and the exit code.
type Failure struct {
	Exit     int
	Sentence string // empty: it was already printed
	Fix      string // may be empty
	Err      error  // the cause, for errors.Is; may be nil
}

func (f *Failure) Error() string { return f.Sentence }
func (f *Failure) Unwrap() error { return f.Err }

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// ErrInterrupted is the cause to cancel Run's context with when a signal asks
// the command to end.
func ErrInterrupted() error { return errInterrupted }

func usage(fix, format string, args ...any) *Failure {
	return &Failure{Exit: ExitUsage, Sentence: fmt.Sprintf(format, args...), Fix: fix}
}

func fail(exit int, fix, format string, args ...any) *Failure {
	return &Failure{Exit: exit, Sentence: fmt.Sprintf(format, args...), Fix: fix}
}

// report prints a failure for people.
func report(w io.Writer, err error) {
	if errors.Is(err, errInterrupted) {
		fmt.Fprintln(w, "hubcli: interrupted")
		return
	}
	sentence, fix, more := err.Error(), "", []string(nil)
	var f *Failure
	var h *hub.Error
	switch {
	case errors.As(err, &f):
		sentence, fix = f.Sentence, f.Fix
	case errors.As(err, &h):
		sentence, fix, more = h.Message+measured(h.Detail), h.FixFor(hub.ForCLI), candidates(h.Detail)
		if back := takesBack(h); back != "" {
			fix = back
		}
		if h.RetryAfter > 0 {
			fix = strings.TrimPrefix(fmt.Sprintf("%s; wait %d s first", fix, h.RetryAfter), "; ")
		}
		if h.Detail["outcome"] == "unknown" {
			sentence += "; whether the call took effect is unknown"
		}
	}
	if sentence == "" {
		return
	}
	fmt.Fprintln(w, "hubcli: "+peertext.TerminalLine(sentence))
	for _, line := range more {
		fmt.Fprintln(w, "  "+peertext.TerminalLine(line))
	}
	if fix != "" {
		fmt.Fprintln(w, "fix: "+peertext.TerminalLine(fix))
	}
}

// candidates lists the rooms in an error's detail that look like the new one.
func candidates(detail map[string]any) []string {
	list, _ := detail["candidates"].([]any)
	var lines []string
	for _, one := range list {
		if c, ok := one.(map[string]any); ok && c["room_id"] != nil {
			lines = append(lines, fmt.Sprintf("%v  %v  %v: %v", c["room_id"], c["slug"], c["name"], c["why"]))
		}
	}
	return lines
}

// takesBack is the fix of a refusal because a place is archived: the command that takes this
// place back. It is empty if the answer does not say which one it is.
func takesBack(h *hub.Error) string {
	if h.Code != hub.CodeArchived {
		return ""
	}
	channel, _ := h.Detail["channel"].(string)
	project, _ := h.Detail["project"].(string)
	room, ofRoom := hub.ChannelName(channel).Room()
	undo := ""
	switch {
	case project != "":
		undo = "project unarchive " + project
	case ofRoom:
		undo = "room unarchive " + string(room)
	case plainValue.MatchString(channel):
		undo = "app unarchive " + channel
	default:
		return ""
	}
	if channel == "" {
		return "take it back first, as the operator: hubcli " + undo
	}
	return "post elsewhere, or take it back as the operator: hubcli " + undo
}

// measured returns the figures of an exceeded limit.
func measured(detail map[string]any) string {
	limit, ok := wholeNumber(detail["limit"])
	size, also := wholeNumber(detail["size"])
	if !ok || !also {
		return ""
	}
	return fmt.Sprintf(" (%d, the limit is %d)", size, limit)
}

// wholeNumber reads a number of a detail, of an answer of the hub or of a check made here.
func wholeNumber(v any) (int, bool) {
	switch n := v.(type) {
	case float64:
		return int(n), true
	case int:
		return n, true
	}
	return 0, false
}

// flagFailure turns an error of pflag into a sentence with a fix.
func flagFailure(cmd *cobra.Command, err error) error {
	if typed := cmd.Flags().Args(); cmd.HasSubCommands() && len(typed) > 0 {
		return unknownCommand(cmd, typed) // the flag is that of a command that there is not
	}
	help := "see: " + cmd.CommandPath() + " --help"
	var missing *pflag.NotExistError
	var valueless *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &missing):
		name := missing.GetSpecifiedName()
		dashed := "--" + name
		if missing.GetSpecifiedShortnames() != "" {
			dashed = "-" + name
		}
		if meant := nearestFlag(cmd, name); meant != "" {
			help = "did you mean --" + meant + "? " + help
		}
		if text := "-" + missing.GetSpecifiedShortnames(); isText(text) && strings.Contains(cmd.Use, " ") {
			text = strconv.Quote(peertext.Excerpt(text, 30))
			return usage(fmt.Sprintf("put -- before a text that begins with a dash: %s -- %s", cmd.CommandPath(), text), "%s takes %s for flags", cmd.CommandPath(), text)
		}
		return usage(help, "%s has no flag %s", cmd.CommandPath(), dashed)
	case errors.As(err, &valueless):
		return usage(help, "the flag --%s needs a value", valueless.GetSpecifiedName())
	case errors.As(err, &invalid):
		return usage(help, "--%s cannot be %q: %v", invalid.GetFlag().Name, invalid.GetValue(), whyInvalid(invalid))
	case errors.As(err, &syntax):
		return usage(help, "%q is no flag", syntax.GetSpecifiedFlag())
	}
	return usage(help, "%v", err)
}

// isText reports whether what was taken for short flags is a text: a mistyped flag has no
// blanks and no digit behind its dash.
func isText(dashed string) bool {
	return strings.ContainsAny(dashed, " \t\n") || len(dashed) > 1 && dashed[1] >= '0' && dashed[1] <= '9'
}

func whyInvalid(e *pflag.InvalidValueError) string {
	var bad *badValue
	if errors.As(e, &bad) {
		return bad.why
	}
	return "it must be " + e.GetFlag().Value.Type()
}

// nearestFlag finds a flag of cmd that name may have meant.
func nearestFlag(cmd *cobra.Command, name string) string {
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	return near.Name(name, flags)
}
