package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// forPeople are the subcommands of app with which a person sees what is in the hub, and
// takes part in it.
func forPeople(env *Env) (all []*cobra.Command) {
	for _, m := range peoplesCommands {
		all = append(all, m.make(env))
	}
	return all
}

var peoplesCommands = []subcommand{
	{"agents", newAppAgents},
	{"log", newAppLog},
	{"tasks", newAppTasks},
	{"claims", newAppClaims},
	{"locks", newAppLocks},
	{"runs", newAppRuns},
	{"search", newAppSearch},
	{"channels", newAppChannels},
	{"threads", newAppThreads},
	{"memory", newAppMemory},
	{"decisions", newAppDecisions},
	{"spawns", newAppSpawns},
	{"logs", newAppLogs},
	{"ask", newAppAsk},
	{"inbox", newAppInbox},
	{"answer", newAppAnswer},
	{"say", newAppSay},
	{"claim", newAppClaim},
	{"lock", newAppLock},
}

// shortName marks the commands that are hidden because they have a longer name too.
const shortName = "short"

// shortNames are the same commands at the top. The listing of hubcli --help leaves them
// out; that of hubcli app --help has them.
func shortNames() []subcommand {
	var all []subcommand
	for _, m := range append(slices.Clone(peoplesCommands), subcommand{"top", newAppTop}) {
		all = append(all, subcommand{m.name, shortened(m.make, "app "+m.name)})
	}
	overview := func(env *Env) *cobra.Command { return newAppOverview(env, "status") } // app status shows the daemon alone
	return append(all, subcommand{"status", shortened(overview, "app overview")})
}

// shortened marks a command that has a longer name too.
func shortened(newCommand func(*Env) *cobra.Command, long string) func(*Env) *cobra.Command {
	return func(env *Env) *cobra.Command {
		c := newCommand(env)
		c.Annotations, c.Hidden = map[string]string{shortName: long}, true
		return c
	}
}
