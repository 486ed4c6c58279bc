package adapter

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// launch tells how an installed entry starts the bridge.
type launch struct {
	command string
	args    []string
	env     map[string]string
}

// launchOf reads an installed entry of any shape. raw is its canonical form;
// the text of a file of the hub's own is a JSON string.
func launchOf(raw []byte) (launch, error) {
	var doc string
	if json.Unmarshal(raw, &doc) == nil {
		d, ok := documentOf(doc)
		if !ok {
			return launch{}, errors.New("the file names no server")
		}
		raw = d.entry()
	}
	var entry struct {
		Command     json.RawMessage   `json:"command"`
		Args        []string          `json:"args"`
		Env         map[string]string `json:"env"`
		Environment map[string]string `json:"environment"`
	}
	if err := json.Unmarshal(raw, &entry); err != nil {
		return launch{}, errors.New("the entry does not start a server: " + err.Error())
	}
	l := launch{args: entry.Args, env: map[string]string{}}
	maps.Copy(l.env, entry.Env)
	maps.Copy(l.env, entry.Environment)
	var list []string
	switch {
	case json.Unmarshal(entry.Command, &l.command) == nil:
	case json.Unmarshal(entry.Command, &list) == nil && len(list) > 0:
		l.command, l.args = list[0], list[1:]
	}
	if l.command == "" {
		return launch{}, errors.New("the entry names no command")
	}
	return l, nil
}

// linesOf finds the lines by which an installed entry calls the hook of an event,
// sorted and each once.
func linesOf(raw []byte, ev event) []string {
	var doc any
	if json.Unmarshal(raw, &doc) != nil {
		return nil
	}
	found := map[string]bool{}
	if s, ok := doc.(string); ok && json.Unmarshal([]byte(s), &doc) != nil {
		if ev == eventCommit {
			doc = scriptLines(s)
		} else {
			doc = nil // a program, not a document
		}
	}
	collect(doc, " hook "+string(ev), found)
	return slices.Sorted(maps.Keys(found))
}

// scriptLines returns the commands of the hub's block in a script, without what the script
// does when they fail.
func scriptLines(script string) (all []any) {
	for line := range strings.Lines(script) {
		all = append(all, strings.TrimSuffix(strings.TrimSpace(line), commitRefused))
	}
	return all
}

// collect gathers the strings that hold part, except those for PowerShell.
func collect(v any, part string, found map[string]bool) {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, part) {
			found[v] = true
		}
	case []any:
		for _, e := range v {
			collect(e, part, found)
		}
	case map[string]any:
		for name, e := range v {
			if name != "powershell" {
				collect(e, part, found)
			}
		}
	}
}

// passed are the variables that the strictest harness passes on to its servers
// and hooks.
var passed = []string{
	"HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ",
	"SystemRoot", "SystemDrive", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "COMSPEC",
}

// environment returns the environment that a harness gives its servers and
// hooks, with the variables that an entry adds.
func environment(getenv func(string) string, more map[string]string) []string {
	all := map[string]string{}
	for _, name := range passed {
		if v := getenv(name); v != "" {
			all[name] = v
		}
	}
	maps.Copy(all, more)
	list := make([]string, 0, len(all))
	for name, v := range all {
		list = append(list, name+"="+v)
	}
	slices.Sort(list)
	return list
}
