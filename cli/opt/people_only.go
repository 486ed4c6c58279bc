package opt

import (
	"slices"

	"github.com/spf13/cobra"

	"hubcli/cli/term"
	"hubcli/integrations/hook"
)

// forPeopleOnly are the subcommands of app, room and project that act with the operator's
// secret in place of a person: they steer agents, or answer them. An agent of the same user
// could read the secret, so this stops no attack. It keeps an agent that means well from
// lifting a pause or answering its own question.
var forPeopleOnly = []string{
	"answer", "say", "pause", "resume", "mute", "unmute", "budget", "assign", "complete", "cancel", "release", "end", "notify", "top", "backup", "debug",
	"on", "off", "allow", "deny", "move", "remove", "policy", "stop", // of app permissions and app spawns
	"archive", "unarchive", "clear", "retire", "rename", "guard",
}

// RefuseAgents makes these commands refuse where the environment names an agent.
func RefuseAgents(env *term.Env, parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		RefuseAgents(env, cmd)
		if !slices.Contains(forPeopleOnly, cmd.Name()) || cmd.RunE == nil || !actsForPeople(cmd) {
			continue
		}
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if err := PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			return run(cmd, args)
		}
	}
}

// actsForPeople reports whether a command of such a name is one of those meant: hubcli stop
// and hubcli app stop end a hub, which every user of the machine may do.
func actsForPeople(cmd *cobra.Command) bool {
	return cmd.Name() != "stop" || cmd.Parent().Name() == "spawns"
}

// PersonOnly refuses what is for people where the environment names an agent.
func PersonOnly(env *term.Env, what string) error {
	if env.Getenv(hook.EnvAgent) == "" {
		return nil
	}
	return term.Usage("a person does that in a shell without "+hook.EnvAgent+"; an agent asks with: hubcli ask", "%s is set, and %s is for people", hook.EnvAgent, what)
}
