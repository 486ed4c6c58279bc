package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// helpGroup is a part of the listing of "hubcli --help".
type helpGroup struct {
	title    string
	commands []string
}

// helpGroups have every command at the top once, in the order in which a person comes to need them.
var helpGroups = []helpGroup{
	{"Every day", []string{"init", "run", "status", "top", "agents", "log", "inbox", "answer", "say"}},
	{"Team", []string{"project", "room", "tasks", "task", "runs", "claims", "locks", "channels", "threads", "search", "memory", "decisions", "spawns", "invite"}},
	{"Operator", []string{"app", "capsule", "connection", "providers", "license"}},
	{"Set up", []string{"adapter", "ensure", "stop", "reset", "logs", "config", "browser", "data-root"}},
	{"For agents and programs", []string{
		"post", "poll", "watch", "whoami", "ask", "claim", "lock", "decision", "artifact", "join", "resolve", "hook", "mcp", "relay", "smoke-agent",
	}},
}

// groupedCommands lists the commands of the program by groups, the short names with them.
func groupedCommands(root *cobra.Command) string {
	var b strings.Builder
	all := root.Commands()
	for _, g := range helpGroups {
		b.WriteString("\n\n" + g.title + ":")
		for _, name := range g.commands {
			if i := slices.IndexFunc(all, func(c *cobra.Command) bool { return c.Name() == name }); i >= 0 {
				fmt.Fprintf(&b, "\n  %-*s %s", all[i].NamePadding(), name, all[i].Short)
			}
		}
	}
	return b.String()
}
