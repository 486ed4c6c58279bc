package hook

import (
	"bytes"
	"encoding/json"
)

// Event is what happened in the harness.
type Event string

// The events that hooks are called for.
const (
	SessionStart Event = "session-start"
	Stop         Event = "stop"
)

// Events lists them.
func Events() []Event { return []Event{SessionStart, Stop} }

// Answer is what the process of a hook prints, and how it ends.
type Answer struct {
	Stdout string
	Stderr string
	Exit   int
}

// dialect is the form in which a harness takes an answer.
type dialect int

const (
	dialectClaude dialect = iota
	dialectCodex
	dialectGemini
	dialectVSCode
	dialectCopilot
	dialectCursor
	dialectGoose
	dialectKimi
	dialectKiro
)

// The answers, field by field. Codex refuses fields that it does not know, so
// nothing is ever added to one dialect for the sake of another.
type (
	specific struct {
		HookEventName     string `json:"hookEventName"`
		AdditionalContext string `json:"additionalContext,omitempty"`
		Decision          string `json:"decision,omitempty"`
		Reason            string `json:"reason,omitempty"`
	}
	nestedAnswer struct {
		HookSpecificOutput specific `json:"hookSpecificOutput"`
	}
	decisionAnswer struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	copilotContext struct {
		AdditionalContext string `json:"additionalContext"`
	}
	cursorContext struct {
		AdditionalContext string `json:"additional_context"`
	}
	cursorFollowUp struct {
		FollowupMessage string `json:"followup_message"`
	}
)

// kimiHolds is the exit code by which Kimi keeps a turn going, with what is on
// stderr. To every other harness this package ends with 0.
const kimiHolds = 2

// hears reports whether the harness shows the agent what a hook answers to the
// event. Where it does not, nothing may be counted as told.
func (d dialect) hears(e Event) bool {
	if e == Stop {
		return d != dialectKiro
	}
	return d != dialectGoose
}

// answer puts a text into the harness's form. An empty text is silence.
func (d dialect) answer(e Event, text string) Answer {
	switch {
	case text == "" || !d.hears(e):
		return d.silence()
	case e == Stop:
		return d.hold(text)
	}
	return d.context(text)
}

func (d dialect) silence() Answer {
	switch d {
	case dialectCodex, dialectGemini, dialectCursor:
		return Answer{Stdout: "{}"}
	default:
		return Answer{}
	}
}

// context hands a beginning session its text.
func (d dialect) context(text string) Answer {
	switch d {
	case dialectCopilot:
		return Answer{Stdout: encode(copilotContext{text})}
	case dialectCursor:
		return Answer{Stdout: encode(cursorContext{text})}
	case dialectKimi, dialectKiro:
		return Answer{Stdout: text + "\n"}
	default:
		return Answer{Stdout: encode(nestedAnswer{specific{HookEventName: "SessionStart", AdditionalContext: text}})}
	}
}

// hold makes the turn go on with the text.
func (d dialect) hold(text string) Answer {
	switch d {
	case dialectGemini:
		return Answer{Stdout: encode(decisionAnswer{"deny", text})}
	case dialectVSCode:
		return Answer{Stdout: encode(nestedAnswer{specific{HookEventName: "Stop", Decision: "block", Reason: text}})}
	case dialectCursor:
		return Answer{Stdout: encode(cursorFollowUp{text})}
	case dialectKimi:
		return Answer{Stderr: text + "\n", Exit: kimiHolds}
	default:
		return Answer{Stdout: encode(decisionAnswer{"block", text})}
	}
}

// encode writes one line of JSON without its end.
func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the text is read by a model, not by a browser
	if err := enc.Encode(v); err != nil {
		panic("hook: a struct of strings is JSON: " + err.Error())
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
