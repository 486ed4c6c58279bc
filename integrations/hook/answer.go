package hook

import (
	"bytes"
	"encoding/json"
	"strings"

	"hubcli/hub"
)

// Event is what happened in the harness.
type Event string

// The events that hooks are called for.
const (
	SessionStart Event = "session-start"
	Prompt       Event = "prompt"        // the agent gets a prompt
	Tool         Event = "tool"          // tools of the agent have ended
	BeforeEdit   Event = "before-edit"   // a tool of the agent is about to change a file
	BeforeCall   Event = "before-call"   // an agent is about to call a tool of the hub
	BeforeCommit Event = "before-commit" // Git is about to commit; it gives no payload
	Permission   Event = "permission"    // the harness asks a user whether a tool may run
	OwnTool      Event = "own-tool"      // the same; it allows the tools of the hub, and says nothing of others
	Notice       Event = "notice"        // the harness tells its user something
	SubStart     Event = "subagent-start"
	SubStop      Event = "subagent-stop"
	Stop         Event = "stop"
	Compact      Event = "compact"      // the harness is about to forget what the model has read
	Failure      Event = "failure"      // a turn ends because the model failed
	TaskCreated  Event = "task-created" // the harness has put a task on its own list
	TaskDone     Event = "task-completed"
	SessionEnd   Event = "session-end"
)

// Events lists them.
func Events() []Event {
	return []Event{SessionStart, Prompt, Tool, BeforeEdit, BeforeCall, BeforeCommit, Permission, OwnTool, Notice, SubStart, SubStop, Stop, Failure, Compact, TaskCreated, TaskDone, SessionEnd}
}

// Answer is what the process of a hook prints, and how it ends.
type Answer struct {
	Stdout string
	Stderr string
	Exit   int
}

// form is the form in which a harness reads answers. It adds nothing to the row
// of the harness, because some harnesses refuse unknown members.
type form struct{ *hub.HookForm }

func formOf(h hub.Harness) form { return form{h.HookForm()} }

func (f form) of(e Event) hub.HookAnswer {
	switch e {
	case SessionStart:
		return f.Start
	case Prompt:
		return f.Prompt
	case Tool:
		return f.Tool
	case BeforeEdit:
		return f.Warn
	case Stop:
		return f.Stop
	case SubStart:
		return f.Sub
	case BeforeCall, BeforeCommit, Permission, OwnTool, Notice, SubStop, Failure, Compact, TaskCreated, TaskDone, SessionEnd: // nobody reads an answer in the harness's form
	}
	return hub.HookAnswer{}
}

// hears reports whether the harness shows a hook's answer to the event to the
// agent. If it does not, the agent must not be recorded as notified.
func (f form) hears(e Event) bool { return f.of(e).Heard() }

// answer renders a text in the harness's form. An empty text gives the silent
// answer.
func (f form) answer(e Event, text string) Answer { return f.render(f.of(e), text) }

func (f form) render(a hub.HookAnswer, text string) Answer {
	switch {
	case text == "" || !a.Heard():
		return f.silence()
	case a.Exit != 0:
		return Answer{Stderr: text + "\n", Exit: a.Exit}
	case a.Text:
		return Answer{Stdout: text + "\n"}
	default:
		return Answer{Stdout: strings.Replace(a.JSON, "$text", encode(text), 1)}
	}
}

// tagged answers with the _meta of a call: what the harness has set there, and the id of the call.
func (f form) tagged(member, id string, meta json.RawMessage) Answer {
	all, _ := members(meta)
	all[member] = json.RawMessage(encode(id))
	b, err := json.Marshal(map[string]fields{f.Tagged: all})
	if err != nil {
		return f.silence() // the harness has set what is no JSON
	}
	return Answer{Stdout: string(b)}
}

func (f form) silence() Answer { return Answer{Stdout: f.Silence} }

// encode writes a text as a JSON string. Nothing in it is escaped for HTML: a model
// reads it, not a browser.
func encode(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic("hook: a string is JSON: " + err.Error())
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
