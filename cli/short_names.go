package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"hubcli/cli/agent"
	"hubcli/cli/machine"
	"hubcli/cli/opt"
	"hubcli/cli/person"
	"hubcli/cli/term"
)

// forPeople are the subcommands of app with which a person sees what is in the hub, and
// takes part in it.
func forPeople(env *term.Env) (all []*cobra.Command) {
	for _, m := range peoplesCommands {
		all = append(all, m.make(env))
	}
	return all
}

var peoplesCommands = []subcommand{
	{"agents", person.NewAgents},
	{"log", person.NewLog},
	{"tasks", person.NewTasks},
	{"claims", person.NewClaims},
	{"locks", person.NewLocks},
	{"runs", person.NewRuns},
	{"search", person.NewSearch},
	{"channels", person.NewChannels},
	{"threads", person.NewThreads},
	{"memory", person.NewMemory},
	{"decisions", person.NewDecisions},
	{"spawns", person.NewSpawns},
	{"logs", machine.NewLogs},
	{"config", machine.NewConfig},
	{"ask", agent.NewAsk},
	{"inbox", person.NewInbox},
	{"answer", person.NewAnswer},
	{"say", person.NewSay},
	{"task", person.NewTask},
	{"claim", agent.NewClaim},
	{"lock", agent.NewLock},
}

// shortNames are the same commands at the top, where the groups of hubcli --help list them.
func shortNames() []subcommand {
	var all []subcommand
	for _, m := range append(slices.Clone(peoplesCommands), subcommand{"top", newTop}) {
		all = append(all, subcommand{m.name, shortened(m.make, "app "+m.name)})
	}
	overview := func(env *term.Env) *cobra.Command { return person.NewOverview(env, "status") } // app status shows the daemon alone
	return append(all, subcommand{"status", shortened(overview, "app overview")})
}

// shortened marks a command that has a longer name too.
func shortened(newCommand func(*term.Env) *cobra.Command, long string) func(*term.Env) *cobra.Command {
	return func(env *term.Env) *cobra.Command {
		c := newCommand(env)
		c.Annotations, c.Hidden = map[string]string{opt.ShortName: long}, true
		return c
	}
}
