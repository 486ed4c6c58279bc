package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hubcli/internal/testcli"
	"hubcli/internal/testfeature"
)

// withoutJSON are the commands without --json, each with the reason.
var withoutJSON = map[string]string{
	"hubcli":                       "runs a hub, which logs",
	"hubcli stop":                  "stops a hub; the exit code says how it went",
	"hubcli reset":                 "deletes a store; the exit code says how it went",
	"hubcli hook":                  "prints what the harness expects",
	"hubcli mcp":                   "speaks MCP",
	"hubcli relay":                 "is a server",
	"hubcli smoke-agent":           "is a test, and its exit code says how it went",
	"hubcli artifact get":          "prints the content as it is; artifact list --json has the rest",
	"hubcli browser install":       "downloads, and tells how far it is; browser engines --json says what is there",
	"hubcli connection delete":     "deletes; the exit code says how it went",
	"hubcli license activate":      "asks a person; license show --json says what is there then",
	"hubcli license deactivate":    "asks a person; license show --json says what is there then",
	"hubcli app start":             "starts a hub; the exit code says how it went, and hubcli app status --json the rest",
	"hubcli app stop":              "stops a hub; the exit code says how it went",
	"hubcli app top":               "is a screen",
	"hubcli app demo":              "runs until it is stopped",
	"hubcli app logs":              "prints the log as it is; its lines are JSON where the hub writes JSON",
	"hubcli app service preview":   "prints a file as it would be written",
	"hubcli app service install":   "asks a person and tells what it does",
	"hubcli app service uninstall": "asks a person and tells what it does",
	"hubcli app spawns output":     "prints the output as it is",
	"hubcli app spawns policy":     "prints the policy as JSON anyway; --set says in a line that it is set",
	"hubcli app spawns stop":       "asks for an end; hubcli spawns --json says how it went",
}

// TestEveryCommandPrintsJSON: each command has --json, or a reason not to.
func TestEveryCommandPrintsJSON(t *testing.T) {
	testfeature.Need(t, testfeature.All()...)
	root := newRoot(testcli.World(t, nil))
	left := map[string]bool{}
	for path := range withoutJSON {
		left[path] = true
	}
	for _, cmd := range append(commands(root), root) {
		path := cmd.CommandPath()
		delete(left, path)
		has := cmd.Flags().Lookup("json") != nil
		switch _, excused := withoutJSON[path]; {
		case excused && has:
			t.Errorf("%s has --json, and is listed as one that has not", path)
		case !excused && !has && cmd.Runnable() && !isGroup(cmd):
			t.Errorf("%s has no --json", path)
		}
	}
	for path := range left {
		t.Errorf("%s is listed, and there is no such command", path)
	}
}

// isGroup reports whether a command only leads to others.
func isGroup(cmd *cobra.Command) bool {
	return cmd.HasSubCommands() && cmd.HasParent() && !strings.Contains(cmd.Use, "[")
}
