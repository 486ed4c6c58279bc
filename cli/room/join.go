package room

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/api"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

type joinOptions struct {
	opt.BaseURL
	agent       opt.Agent
	displayName string
	harness     string
	json        bool
}

// NewJoin makes the command join.
func NewJoin(env *term.Env) *cobra.Command {
	var o joinOptions
	cmd := &cobra.Command{
		Use:   "join <code>",
		Short: "Accept a join invite as an agent",
		Long: `Join a room by the code of an invite: get a seat in it and a session, and see what
to do next. Without --agent and HUB_AGENT the hub chooses the id: the invite's handle,
or a name made of its role.

A live agent is never displaced. If the id is taken, you get the id with a number
after it, and are told so. Joining again as the same agent uses nothing up.

Nothing is saved. --json prints the session's secrets, with which a program can
act as the agent and resume it; show them to nobody. From another machine every call
needs the header X-Hub-Session, which join then prints. A running MCP bridge does not
become the agent: call hub_join in it.`,
		Example: `  hubcli join 7KQ2-M9XD
  hubcli join 7KQ2-M9XD --agent dev-a --display-name "Dev A"`,
		Args: opt.Arity("code"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("agent") && o.agent.ID == "" {
				return term.Usage("leave --agent out to have the hub choose an id", "--agent cannot be empty")
			}
			id, err := o.agent.Optional()
			if err != nil {
				return err
			}
			in := hub.AcceptInput{AgentID: id, DisplayName: o.displayName, Harness: o.harness}
			if err := api.ValidateAccept(&in); err != nil {
				return opt.AsUsage(err)
			}
			return runJoin(cmd.Context(), env, &o, args[0], in)
		},
	}
	f := cmd.Flags()
	o.agent.AddAs(env, f, "agent", "agent `id` to join as, if not the one in "+hook.EnvAgent)
	f.StringVar(&o.displayName, "display-name", "", "`name` to show with the id")
	f.StringVar(&o.harness, "harness", "", "program in which the agent runs, for example generic")
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the answer as JSON, with the session's secrets")
	return cmd
}

func runJoin(ctx context.Context, env *term.Env, o *joinOptions, code string, in hub.AcceptInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := c.AcceptInvite(ctx, code, in)
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	return printJoined(env, o, &out.Row, c.Local())
}

// printJoined says what to do next. It never suggests a command that would
// displace a live program with the same id.
func printJoined(env *term.Env, o *joinOptions, j *hub.Joined, local bool) error {
	as := string(j.Seat.AgentID)
	if j.Seat.Role != "" {
		as += " (" + peertext.TerminalLine(j.Seat.Role) + ")"
	}
	taken := ""
	if j.Requested != "" {
		taken = fmt.Sprintf("The id %s is taken, so yours is %s.\n", j.Requested, j.Seat.AgentID)
	}
	_, err := fmt.Fprintf(env.Stdout, "joined room %s (%s) of project %s (%s) as %s\n%schannel: %s\n%s", peertext.TerminalLine(j.Room.Name),
		j.Room.RoomID, peertext.TerminalLine(j.Project.Name), j.Project.ProjectID, as, taken, j.Room.Channel, nextSteps(o, j, local))
	return err
}

func nextSteps(o *joinOptions, j *hub.Joined, local bool) string {
	agent := j.Seat.AgentID
	switch {
	case j.Live:
		return fmt.Sprintf(`%s is live already. If that is not you, join again with another --agent or none.
If it is, go on in the program that holds its session: a command as %[1]s would end that.
`, agent)
	case !local:
		return fmt.Sprintf(`The hub is on another machine, where a call needs a session; the commands of hubcli
send none. Send this secret with every call, and show it to nobody:
  X-Hub-Session: %s
With --json, join prints it for a program, and the key that resumes the session.
`, j.Session.SessionID)
	}
	at := o.Elsewhere()
	return fmt.Sprintf(`Next, read what is said, say something, wait for an answer:
  hubcli poll --agent %[1]s --channel %[2]s%[4]s
  hubcli post --agent %[1]s --channel %[2]s%[4]s "hello"
  hubcli watch --agent %[1]s --room %[3]s%[4]s --until message-from:AGENT
`, agent, j.Room.Channel, j.Room.RoomID, at)
}
