package term

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"hubcli/hub"
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

// ErrInterrupted is the cause of a context that a signal ended: the one to cancel Run's context with when a signal
// asks the command to end.
var ErrInterrupted = errors.New("interrupted")

// Usage is the failure of a command that was called in a wrong way: a fix, which may be empty, and a sentence.
func Usage(fix, format string, args ...any) *Failure {
	return &Failure{Exit: ExitUsage, Sentence: fmt.Sprintf(format, args...), Fix: fix}
}

// Fail is a failure with an exit code, a fix, which may be empty, and a sentence.
func Fail(exit int, fix, format string, args ...any) *Failure {
	return &Failure{Exit: exit, Sentence: fmt.Sprintf(format, args...), Fix: fix}
}

// Report prints a failure for people.
func Report(w io.Writer, err error) {
	if errors.Is(err, ErrInterrupted) {
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
		sentence, fix, more = h.Message+Measured(h.Detail), h.FixFor(hub.ForCLI), candidates(h.Detail)
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
	case PlainValue.MatchString(channel):
		undo = "app unarchive " + channel
	default:
		return ""
	}
	if channel == "" {
		return "take it back first, as the operator: hubcli " + undo
	}
	return "post elsewhere, or take it back as the operator: hubcli " + undo
}

// Measured returns the figures of an exceeded limit.
func Measured(detail map[string]any) string {
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
