package cli

import "github.com/spf13/cobra"

// forPeople are the subcommands of app with which a person sees what is in the hub, and
// takes part in it.
func forPeople(env *Env) []*cobra.Command {
	return []*cobra.Command{
		newAppAgents(env), newAppLog(env), newAppTasks(env), newAppClaims(env), newAppLocks(env), newAppRuns(env),
		newAppSearch(env), newAppChannels(env), newAppThreads(env), newAppMemory(env), newAppDecisions(env), newAppSpawns(env), newAppLogs(env),
		newAppAsk(env), newAppInbox(env), newAppAnswer(env), newAppSay(env),
		newAppClaim(env), newAppLock(env),
	}
}

// shortName marks the commands that are hidden because they have a longer name too.
const shortName = "short"

// shortNames are the same commands at the top. The listing of hubcli --help leaves them
// out; that of hubcli app --help has them.
func shortNames(env *Env) []*cobra.Command {
	all := append(forPeople(env), newAppTop(env))
	for _, c := range all {
		c.Annotations = map[string]string{shortName: "app " + c.Name()}
	}
	status := newAppOverview(env, "status") // app status shows the daemon alone
	status.Annotations = map[string]string{shortName: "app overview"}
	all = append(all, status)
	for _, c := range all {
		c.Hidden = true
	}
	return all
}
