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

// variables lists them in the order in which they count. Variables that harnesses
// set for hooks alone come first: the others are inherited by harnesses that were
// started from the shell of another, those of an editor's terminals most of all.
// Among the first, later harnesses count before earlier ones, because they set the
// variables of those that they imitate: Cursor sets CLAUDE_PROJECT_DIR too.
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

// parse finds a harness that calls hooks by a name of it.
func parse(name string) (hub.Harness, bool) {
	h, _ := hub.ParseHarness(name)
	return h, h.Facts().Hooks != nil
}

// Recognize tells the harness: by the flag of the command line, if it names one;
// else by the payload's marks; else by the environment. The payload counts before
// the environment because variables are inherited: of two nested harnesses the
// inner one wrote the payload.
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

// byTranscript goes by where the transcript of the session lies. The harnesses
// whose payloads look alike differ in that.
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
