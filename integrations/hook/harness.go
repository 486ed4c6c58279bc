package hook

import (
	"path/filepath"
	"slices"
	"strings"

	"hubcli/hub"
)

// variable is an environment variable by which a harness is recognized.
type variable struct {
	name    string
	harness hub.Harness
}

// variables lists them in order of precedence. Variables that harnesses set for
// hooks alone come first. A harness that was started from the shell of another
// inherits the other variables, above all those of an editor's terminals. Among
// the first, later harnesses come before earlier ones, because they also set
// the variables of the harnesses that they imitate: Cursor sets
// CLAUDE_PROJECT_DIR too.
func variables() []variable {
	var all []variable
	add := func(h hub.Harness, names ...string) {
		for _, name := range names {
			if name != "" {
				all = append(all, variable{name, h})
			}
		}
	}
	facts := hub.AllHarnessFacts()
	for _, f := range slices.Backward(facts) {
		add(f.ID, f.ProjectVariable)
		add(f.ID, f.HookVariables...)
	}
	for _, f := range facts {
		add(f.ID, f.Variables...)
	}
	for _, f := range facts {
		add(f.ID, f.TerminalVariables...)
	}
	return all
}

// Wakes reports whether the exit of a background process begins a new turn of an
// agent in this harness.
func Wakes(h hub.Harness) bool { return h.Facts().Wakes }

// parse returns the harness with this name, if it calls hooks.
func parse(name string) (hub.Harness, bool) {
	h, _ := hub.ParseHarness(name)
	return h, h.Facts().Hooks != nil
}

// Recognize returns the harness: the one that the flag of the command line
// names, else the one that the payload's marks indicate, else the one of the
// environment. The payload counts before the environment because variables are
// inherited: of two nested harnesses the inner one wrote the payload.
func Recognize(flag string, p Payload, getenv func(string) string) hub.Harness {
	if h, ok := parse(flag); ok {
		return h
	}
	if p.Harness != "" {
		return p.Harness
	}
	if h, ok := byTranscript(p.Transcript, getenv); ok {
		return h
	}
	for _, v := range variables() {
		if getenv(v.name) != "" {
			return v.harness
		}
	}
	for _, name := range []string{"AI_AGENT", "AGENT"} {
		if h, ok := parse(getenv(name)); ok {
			return h
		}
	}
	return hub.HarnessGeneric
}

// byTranscript recognizes a harness by the path of the session's transcript.
// Harnesses with similar payloads differ in it.
func byTranscript(path string, getenv func(string) string) (hub.Harness, bool) {
	if path == "" {
		return "", false
	}
	facts := hub.AllHarnessFacts()
	for _, f := range facts {
		if f.HomeVariable == "" {
			continue
		}
		dir := getenv(f.HomeVariable)
		if rel, err := filepath.Rel(dir, path); dir != "" && err == nil && filepath.IsLocal(rel) {
			return f.ID, true
		}
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		for _, f := range facts {
			if slices.Contains(f.Homes, part) {
				return f.ID, true
			}
		}
	}
	return "", false
}
