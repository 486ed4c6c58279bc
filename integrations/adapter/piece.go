package adapter

import (
	"io/fs"
	"slices"
	"strings"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

// piece is one entry in one file.
type piece struct {
	places []place // where the file may be; see World.choose
	// file and root replace the places once they are known: the absolute path, and the
	// folder that it must stay in.
	file, root string
	mode       fs.FileMode // of a new file; see files.Entry
	format     edit.Format
	keys       []string           // of the entry; see edit.Pointer
	mark       func(Entry) string // makes it an element of the list at keys; nil: it is a member
	value      func(Entry) any    // what is written
	exact      bool               // the mark is the whole element; see edit.Pointer
	note       string             // what the operator is told before it is written; or empty
	seed       bool               // it is written only if the place is free, and is not recorded
}

// at returns the entry's place in the file.
func (p *piece) at(e Entry) edit.Pointer {
	at := edit.Pointer{Keys: p.keys}
	if p.mark != nil {
		at.Mark, at.Exact = p.mark(e), p.exact
	}
	return at
}

// server is the entry of a bridge in a file of servers.
func server(h hub.Harness, f edit.Format, s shape, keys []string, places ...place) piece {
	return piece{places: places, format: f, keys: append(slices.Clone(keys), serverName), value: func(e Entry) any { return s(e, h) }}
}

// whole is a file of the hub's own.
func whole(value func(Entry) string, places ...place) piece {
	return piece{places: places, format: edit.Whole, value: func(e Entry) any { return value(e) }}
}

// event is an event for which the hub has a hook.
type event string

const (
	eventStart  event = "session-start"
	eventPrompt event = "prompt"
	eventTool   event = "tool"
	eventEdit   event = "before-edit"
	eventCall   event = "before-call"
	eventCommit event = "before-commit"
	eventPermit event = "permission"
	eventOwn    event = "own-tool"
	eventNotice event = "notice"
	eventSub    event = "subagent-start"
	eventSubEnd event = "subagent-stop"
	eventFold   event = "compact"
	eventStop   event = "stop"
	eventFail   event = "failure"
	eventTask   event = "task-created"
	eventDone   event = "task-completed"
	eventEnd    event = "session-end"
)

// events lists them in the order in which they are written and tried.
var events = []event{
	eventStart, eventPrompt, eventTool, eventEdit, eventCall, eventCommit, eventPermit, eventNotice, eventSub, eventSubEnd, eventStop, eventFail, eventFold, eventTask, eventDone, eventEnd,
}

// occasions are a harness's names of the events. An event without a name gets no
// hook.
type occasions struct {
	start, prompt, tool, edit, permission, stop, end string
	call, sub, subEnd, notice                        string
	failed                                           string // after a tool that failed
	failure                                          string // a turn ends because the model failed
	compact                                          string // what the model has read is put together
	taskCreated, taskDone                            string // of the harness's own list of tasks

	editTools string // matches the tools that change files
	hubTools  string // matches the tools of the hub
	decides   bool   // the answer about a permission prompt counts, and may be waited for
	// of is the harness that sends these names. The lines about sub-agents name it also in a
	// file that other harnesses read: by these payloads nobody tells them apart.
	of hub.Harness
}

// name returns the harness's name of an event, or "".
func (o *occasions) name(ev event) string {
	switch ev {
	case eventStart:
		return o.start
	case eventPrompt:
		return o.prompt
	case eventTool:
		return o.tool
	case eventEdit:
		return o.edit
	case eventCall:
		return o.call
	case eventPermit:
		return o.permission
	case eventNotice:
		return o.notice
	case eventFail:
		return o.failure
	case eventFold:
		return o.compact
	case eventTask:
		return o.taskCreated
	case eventDone:
		return o.taskDone
	case eventSub:
		return o.sub
	case eventSubEnd:
		return o.subEnd
	case eventStop:
		return o.stop
	case eventEnd:
		return o.end
	case eventCommit, eventOwn: // Git's alone, and in no list of hooks
	}
	return ""
}

// tools matches the tools for which a hook is called; empty: all.
func (o *occasions) tools(ev event) string {
	switch ev { //nolint:exhaustive // the others are called for every tool
	case eventEdit:
		return o.editTools
	case eventCall:
		return o.hubTools
	}
	return ""
}

// limit is the time that a hook gets, in seconds.
func (o *occasions) limit(ev event) int {
	switch {
	case ev == eventEnd:
		return endLimit
	case ev == eventPermit && o.decides:
		return promptLimit
	}
	return hookLimit
}

// occasionsOf returns the names in the table of harnesses.
func occasionsOf(h hub.Harness) occasions {
	form := h.HookForm()
	call := form.Call
	return occasions{
		start: "SessionStart", prompt: call.Prompt, tool: call.Tool, edit: call.Edit, permission: call.Permission, stop: call.Stop, end: call.End,
		call: call.Call, sub: call.SubStart, subEnd: call.SubStop, notice: call.Notice, failed: call.Failed, failure: call.Failure, compact: call.Compact, taskCreated: call.TaskCreated, taskDone: call.TaskDone,
		editTools: call.EditTools, hubTools: call.HubTools, decides: form.Allow.Heard(), of: h,
	}
}

// promptLimit is the time, in seconds, for a hook that may wait for the operator's answer
// to a permission prompt: the longest wait that the operator can set, and some more.
const promptLimit = hub.MaxPermissionWaitSec + 10

// hookLimit is the time that a harness should give a hook, in seconds. Hooks
// end within two.
const hookLimit = 5

// endLimit is the same for the hook of a session's end. Codex allows that one no more
// than this, and warns its user of a longer time whenever it starts.
const endLimit = 3

// command returns the line that calls a hook. It is one string for any shell,
// because some harnesses read the settings of others and accept no list of
// arguments. A file that several harnesses read names none of them.
func (e Entry) command(ev event, h hub.Harness) string {
	line := e.quoted() + " hook " + string(ev)
	if ev == eventStart {
		line += " --tools" // every row has a bridge too
	}
	if h != "" {
		line += " --harness " + string(h)
	}
	if e.BaseURL != "" {
		line += " --base-url " + e.BaseURL
	}
	if e.DataRoot != "" {
		line += " --data-root " + e.argument(e.DataRoot)
	}
	return line
}

// odd reports whether a character may mean something to a shell.
func odd(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune("/._+-:", r)
}

func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// argument returns a path as an argument in a line for a shell. On Windows it
// has slashes, which all programs accept and no shell drops.
func (e Entry) argument(path string) string {
	if e.GOOS == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	switch {
	case !strings.ContainsFunc(path, odd):
		return path
	case e.GOOS == "windows":
		return `"` + path + `"` // no Windows path holds a quote
	}
	return single(path)
}

// quoted returns the executable as the first word of a line for a shell. If the
// path needs quotes, only the folder is quoted where the shell allows it. So
// the name stands unquoted right before its arguments, and marker finds it
// after a move of the executable.
func (e Entry) quoted() string {
	odd := func(r rune) bool { return odd(r) && (r != '\\' || e.GOOS != "windows") }
	slash := strings.LastIndex(e.Command, "/")
	switch {
	case !strings.ContainsFunc(e.Command, odd):
		return e.Command
	case e.GOOS == "windows":
		return `"` + e.Command + `"` // no Windows path holds a quote
	case slash < 0 || strings.ContainsFunc(e.Command[slash:], odd):
		return single(e.Command)
	}
	return single(e.Command[:slash]) + e.Command[slash:]
}

// marker is the part of a hook's line by which it is found among other lines:
// the name of the executable and its arguments.
func marker(ev event) func(Entry) string {
	return func(e Entry) string {
		line, separators := e.quoted(), "/"
		if e.GOOS == "windows" {
			separators = `/\`
		}
		return line[strings.LastIndexAny(line, separators)+1:] + " hook " + string(ev)
	}
}

// calls returns the elements of the lists of hooks, one for each event.
func calls(h hub.Harness, keys []string, on occasions, value func(line, tools string, limit int) any, places ...place) (all []piece) {
	for _, ev := range events {
		name := on.name(ev)
		if name == "" {
			continue
		}
		all = append(all, piece{
			places: places, format: edit.JSON, keys: append(slices.Clone(keys), name), mark: marker(ev),
			value: func(e Entry) any {
				named := h
				if ev == eventCall || ev == eventSub || ev == eventSubEnd {
					named = on.of
				}
				return value(e.command(ev, named), on.tools(ev), on.limit(ev))
			},
		})
	}
	return all
}

// claudeCall is an element of a list of hooks in Claude Code's form, which many
// others copied. unit is the number of timeout units in a second, and limit is in
// seconds. The element is for the tools that match, or for all if tools is empty.
func claudeCall(unit int, before, inner object) func(line, tools string, limit int) any {
	return func(line, tools string, limit int) any {
		before := before
		if tools != "" {
			before = object{{"matcher", tools}}
		}
		one := append(slices.Clone(inner), object{{"type", "command"}, {"command", line}, {"timeout", limit * unit}}...)
		return append(slices.Clone(before), member{"hooks", []any{one}})
	}
}

// claudeHooks are in the member hooks. Their lines name the harness h; on are its
// names of events.
func claudeHooks(h hub.Harness, on occasions, places ...place) []piece {
	return calls(h, []string{"hooks"}, on, claudeCall(1, nil, nil), places...)
}
