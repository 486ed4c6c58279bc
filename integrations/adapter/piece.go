package adapter

import (
	"slices"
	"strings"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

// piece is one entry in one file.
type piece struct {
	places []place // where the file may be; see World.choose
	format edit.Format
	keys   []string           // of the entry; see edit.Pointer
	mark   func(Entry) string // makes it an element of the list at keys; nil: it is none
	value  func(Entry) any    // what is written
	seed   bool               // it is written only where nothing stands, and belongs to nobody then
}

// at is the entry's place in the file.
func (p *piece) at(e Entry) edit.Pointer {
	at := edit.Pointer{Keys: p.keys}
	if p.mark != nil {
		at.Mark = p.mark(e)
	}
	return at
}

// member is the entry of a bridge in a file of servers.
func server(h hub.Harness, f edit.Format, s shape, keys []string, places ...place) piece {
	return piece{places: places, format: f, keys: append(slices.Clone(keys), serverName), value: func(e Entry) any { return s(e, h) }}
}

// whole is a file that is the hub's alone.
func whole(value func(Entry) string, places ...place) piece {
	return piece{places: places, format: edit.Whole, value: func(e Entry) any { return value(e) }}
}

// event is an event for which the hub has a hook.
type event string

const (
	eventStart event = "session-start"
	eventStop  event = "stop"
)

// hookLimit is how long a harness should wait for a hook, in seconds: hooks are
// done within two.
const hookLimit = 5

// command is the line that calls a hook. It is one string that every shell takes:
// some harnesses read the settings of others and know no list of arguments. For
// the same reason a file that several harnesses read names none of them.
func (e Entry) command(ev event, h hub.Harness) string {
	line := e.quoted() + " hook " + string(ev)
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

// argument is a path as an argument in a line for a shell. On Windows it has
// slashes, which everything there takes and no shell drops.
func (e Entry) argument(path string) string {
	if e.GOOS == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	switch {
	case !strings.ContainsFunc(path, odd):
		return path
	case e.GOOS == "windows":
		return `"` + path + `"` // no path of Windows holds a quote
	}
	return single(path)
}

// quoted is the executable as the first word of a line for a shell. Of a path
// that has to be quoted only the folder is, as far as shells take that: so the name
// stands before what it is called for, wherever the executable moves.
func (e Entry) quoted() string {
	odd := func(r rune) bool { return odd(r) && (r != '\\' || e.GOOS != "windows") }
	slash := strings.LastIndex(e.Command, "/")
	switch {
	case !strings.ContainsFunc(e.Command, odd):
		return e.Command
	case e.GOOS == "windows":
		return `"` + e.Command + `"` // no path of Windows holds a quote
	case slash < 0 || strings.ContainsFunc(e.Command[slash:], odd):
		return single(e.Command)
	}
	return single(e.Command[:slash]) + e.Command[slash:]
}

// marker is the part of a hook's line by which it is found among those of others:
// the name of the executable and what it is called for.
func marker(ev event) func(Entry) string {
	return func(e Entry) string {
		line, separators := e.quoted(), "/"
		if e.GOOS == "windows" {
			separators = `/\`
		}
		return line[strings.LastIndexAny(line, separators)+1:] + " hook " + string(ev)
	}
}

// calls are the elements of two lists of hooks, one an event.
func calls(h hub.Harness, keys []string, start, stop string, value func(line string) any, places ...place) []piece {
	one := func(ev event, name string) piece {
		return piece{
			places: places, format: edit.JSON, keys: append(slices.Clone(keys), name), mark: marker(ev),
			value: func(e Entry) any { return value(e.command(ev, h)) },
		}
	}
	return []piece{one(eventStart, start), one(eventStop, stop)}
}

// claudeCall is an element of a list of hooks as Claude Code has it and many
// others after it. unit is how many units of the timeout a second has.
func claudeCall(unit int, before, inner object) func(string) any {
	return func(line string) any {
		one := append(slices.Clone(inner), object{{"type", "command"}, {"command", line}, {"timeout", hookLimit * unit}}...)
		return append(slices.Clone(before), member{"hooks", []any{one}})
	}
}

// claudeHooks are in the member hooks, by Claude Code's names of events.
func claudeHooks(h hub.Harness, places ...place) []piece {
	return calls(h, []string{"hooks"}, "SessionStart", "Stop", claudeCall(1, nil, nil), places...)
}
