package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"hubcli/cli/daemon"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/hubfile"
)

// The words of watchOutcome.Outcome.
const (
	outcomeMatched     = "matched"
	outcomeTimeout     = "timeout"
	outcomeStuck       = "stuck"
	outcomeInterrupted = "interrupted"
	outcomeReplaced    = "replaced"
	outcomeError       = "error"
)

// maxOutcome bounds the line, in characters: harnesses put it into a prompt.
const maxOutcome = 2_000

// watchOutcome is the line that a watch ends with. Its members and the words of
// outcome are for programs and stay.
type watchOutcome struct {
	Outcome    string               `json:"outcome"`
	Conditions []hub.ConditionState `json:"conditions"`
	RoomID     *hub.RoomID          `json:"room_id"`
	Label      string               `json:"label"`
	Unread     int                  `json:"unread"`
	Messages   []watchMessage       `json:"messages"`
	Next       string               `json:"next"`
	Error      *watchError          `json:"error,omitempty"`
}

type watchMessage struct {
	ID      hub.MessageID `json:"id"`
	From    hub.AgentID   `json:"from"`
	Kind    hub.Kind      `json:"kind"`
	Direct  bool          `json:"direct"`
	Excerpt string        `json:"excerpt"`
}

type watchError struct {
	Code    hub.Code `json:"code,omitempty"`
	Message string   `json:"message"`
}

// outcome begins the line with the hub's last answer.
func (w *watcher) outcome(word, next string) *watchOutcome {
	out := &watchOutcome{
		Outcome: word, Conditions: w.last.Conditions, Label: w.options.label,
		Unread: w.last.Unread, Messages: messagesOf(&w.last), Next: next,
	}
	if out.Conditions == nil { // the hub never answered
		out.Conditions = []hub.ConditionState{}
		for _, text := range w.options.until[:min(len(w.options.until), hub.MaxWatchConditions)] {
			out.Conditions = append(out.Conditions, hub.ConditionState{Condition: text, Why: "not known"})
		}
	}
	if room := w.query.Room; room != "" {
		out.RoomID = &room
	}
	return out
}

// messagesOf returns the messages that an answer of the hub shows.
func messagesOf(got *hub.Watched) []watchMessage {
	rows := make([]watchMessage, len(got.Messages))
	for i := range got.Messages {
		m := &got.Messages[i]
		rows[i] = watchMessage{ID: m.ID, From: m.FromAgent, Kind: m.Kind, Direct: m.Direct, Excerpt: m.Excerpt}
	}
	return rows
}

func (w *watcher) matched() *watchOutcome {
	next := "All conditions hold: go on."
	if w.last.Unread > 0 {
		next = "All conditions hold. Read the unread messages, then go on: " + w.reading()
	}
	return w.outcome(outcomeMatched, next)
}

// reading returns the way to read unread messages. An agent with a bridge reads
// through the bridge, because the command poll would displace the bridge's
// session.
func (w *watcher) reading() string {
	channel := hub.ChannelName("") // of no room: all that is public
	if w.query.Room != "" {
		channel = w.query.Room.Channel()
	} else if w.bridged {
		return `hub_poll_messages {"timeout_seconds":0}`
	}
	if w.bridged {
		return fmt.Sprintf(`hub_poll_messages {"room_id":%q,"timeout_seconds":0}`, w.query.Room)
	}
	base := w.options.URL
	if base == hubfile.BaseURL(w.options.Root) {
		base = ""
	}
	return hook.PollCommand(w.query.Agent, base, channel, w.last.NextSinceID)
}

// readFirst is the advice for outcomes after which an agent may wait again:
// messages that are already unread would not wake it.
func (w *watcher) readFirst() string {
	if w.last.Unread == 0 {
		return ""
	}
	return fmt.Sprintf(" %s unread, read first: %s", term.AtMost(w.last.Unread), w.reading())
}

func (w *watcher) timeout() (*watchOutcome, error) {
	next := "Not all conditions hold. Start the same watch again if you still wait for them."
	if w.options.timeout > 0 {
		next = fmt.Sprintf("The time (%s) is over and not all conditions hold. Start the same watch again if you still wait.", term.DurationText(w.options.timeout))
	}
	return w.outcome(outcomeTimeout, next+w.readFirst()), &term.Failure{Exit: term.ExitWaitOver, Sentence: "not all conditions hold"}
}

// stuck ends a watch that would wait for a task whose assignee has gone, or in a circle.
func (w *watcher) stuck() (*watchOutcome, error) {
	if circle := w.last.Circle; len(circle) > 1 {
		next := "You and others would wait for each other: " + circleText(circle) + ". Do first what they wait for, or release it; then start the same watch again."
		return w.outcome(outcomeStuck, next+w.readFirst()), &term.Failure{Exit: term.ExitWaitOver, Sentence: "the watch would close a circle of agents that wait for each other: " + circleText(circle)}
	}
	next := "A task that you wait for is left: its assignee is gone. Take it over (hub_take with its id), give it to another agent or cancel it; the same watch ends at once until then."
	return w.outcome(outcomeStuck, next+w.readFirst()), &term.Failure{Exit: term.ExitWaitOver, Sentence: "a task that the watch waits for is left: its assignee is gone"}
}

func (w *watcher) interrupted(cause error) (*watchOutcome, error) {
	why := "it was told to stop"
	var gone *daemon.GoneError
	if errors.As(cause, &gone) {
		why = gone.Why
	}
	out := w.outcome(outcomeInterrupted, "The watch was ended from outside ("+why+"). Start it again if you still wait."+w.readFirst())
	return out, &term.Failure{Exit: term.ExitInterrupted, Sentence: "interrupted: " + why, Err: cause}
}

func (w *watcher) failed(err error) (*watchOutcome, error) {
	said := &watchError{Message: err.Error()}
	word, fix := outcomeError, ""
	var f *term.Failure
	var h *hub.Error
	switch {
	case errors.As(err, &f):
		fix = f.Fix
	case errors.As(err, &h):
		said.Code, fix = h.Code, h.FixFor(hub.ForCLI)
		if h.Code == hub.CodeWatchReplaced {
			word, fix = outcomeReplaced, "Do nothing: a later watch with the same label waits now."+w.readFirst()
		}
	}
	if fix == "" {
		fix = "See the error."
	}
	out := w.outcome(word, fix)
	out.Error = said
	return out, err
}

// line renders the outcome within maxOutcome. If it is too long, it leaves out
// the least needed members first.
func (out *watchOutcome) line() []byte {
	shorter := []func() bool{
		func() bool { return out.cutExcerpts(80) },
		func() bool { return out.cutWhys(120) },
		func() bool { return dropLast(&out.Messages) },
		func() bool { return out.cutWhys(30) },
		func() bool { return dropLast(&out.Conditions) },
		func() bool { return cutTo(&out.Label, 40) || out.Error != nil && cutTo(&out.Error.Message, 200) },
		func() bool { return cutTo(&out.Next, 600) }, // it may hold a command
	}
	for {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(out); err != nil {
			panic("cli: an outcome does not encode: " + err.Error())
		}
		if utf8.RuneCount(b.Bytes()) <= maxOutcome || len(shorter) == 0 {
			return b.Bytes()
		}
		for len(shorter) > 0 && !shorter[0]() {
			shorter = shorter[1:]
		}
	}
}

func (out *watchOutcome) cutExcerpts(most int) (cut bool) {
	for i := range out.Messages {
		cut = cutTo(&out.Messages[i].Excerpt, most) || cut
	}
	return cut
}

func (out *watchOutcome) cutWhys(most int) (cut bool) {
	for i := range out.Conditions {
		cut = cutTo(&out.Conditions[i].Why, most) || cut
		cut = cutTo(&out.Conditions[i].Condition, most) || cut
	}
	return cut
}

// cutTo shortens a text to most characters; false if it is short enough.
func cutTo(s *string, most int) bool {
	if utf8.RuneCountInString(*s) <= most {
		return false
	}
	*s = string([]rune(*s)[:most-3]) + "..."
	return true
}

func dropLast[T any](list *[]T) bool {
	if len(*list) == 0 {
		return false
	}
	*list = (*list)[:len(*list)-1]
	return true
}
