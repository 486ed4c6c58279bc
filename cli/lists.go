package cli

import "github.com/spf13/cobra"

// lists are the commands that show a person what is in the hub: subcommands of app.
func lists(env *Env) []*cobra.Command {
	return []*cobra.Command{
		newAppAgents(env), newAppLog(env), newAppTasks(env), newAppClaims(env), newAppLocks(env), newAppRuns(env),
		newAppSearch(env), newAppChannels(env), newAppThreads(env), newAppMemory(env), newAppDecisions(env), newAppSpawns(env), newAppLogs(env),
	}
}

// shortName marks the commands that are hidden because they have a longer name too.
const shortName = "short"

// shortNames are the same commands at the top. The listing of hubcli --help leaves them
// out; that of hubcli app --help has them.
func shortNames(env *Env) []*cobra.Command {
	all := lists(env)
	for _, c := range all {
		c.Hidden, c.Annotations = true, map[string]string{shortName: "app " + c.Name()}
	}
	return all
}
