package room

import (
	"strings"

	"hubcli/hub"
)

func errNoPage(what string) error {
	return hub.NewError(hub.CodePageFailed, what).WithFix("open one first: the action open takes a URL")
}

func errStopped() error {
	return hub.NewError(hub.CodeBrowserFailed, "the hub stops").WithFix("try again when the hub runs again")
}

func errEngineSlow() error {
	return hub.NewError(hub.CodeBrowserFailed, "the browser engine did not start in time").
		WithFix("try again: it starts faster the second time; then go on without a browser")
}

// errStart says why an engine has not started, as far as its output tells.
func errStart(e *hub.BrowserEngine, why, output string) error {
	switch {
	case strings.Contains(output, "Running as root without --no-sandbox"):
		why = "it refuses to run as root with its sandbox"
	case strings.Contains(output, "No usable sandbox"), strings.Contains(output, "The SUID sandbox helper binary"),
		strings.Contains(output, "Failed to move to new namespace"):
		why = "the system allows it no sandbox"
	case strings.Contains(output, "error while loading shared libraries"):
		why = "a library is missing that it needs: " + lineWith(output, "error while loading shared libraries")
	case strings.Contains(output, ":FATAL:"):
		why += ", and says " + lineWith(output, ":FATAL:")
	}
	err := hub.Errorf(hub.CodeBrowserFailed, "the browser engine %s does not start: %s", e.Path, why).With("engine", e.Path)
	if strings.Contains(why, "sandbox") {
		return err.WithFix("the operator allows user namespaces to unprivileged users, or runs the hub as another user than root; " +
			"as a last resort the variable " + EnvNoSandbox + "=1 in the environment of the hub starts engines without a sandbox")
	}
	return err
}

// lineWith returns the line of a text that holds a part, shortened.
func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return cut(strings.TrimSpace(line), 200)
		}
	}
	return ""
}

// cut returns the beginning of a text.
func cut(s string, max int) string {
	n := 0
	for i := range s {
		if n == max {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// EnvNoSandbox names the variable by which the operator has engines started without
// their sandbox.
const EnvNoSandbox = "HUBCLI_BROWSER_NO_SANDBOX"
