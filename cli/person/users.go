package person

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

type usersOptions struct {
	opt.BaseURL
	json bool
}

// NewUsers makes the command users.
func NewUsers(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "users",
		Short: "Choose which other users of this machine may use the hub",
		Long: `Choose which other users of this machine may use the hub. The hub takes the calls of the
user who started it and of root. It refuses those of all others until you let one in.

Programs of a user who is let in are agents like yours: they read, post, work on tasks and
take locks. They start no processes, bind no folders and learn of none, and are never you.
What they write is marked with the user.`,
		Example: "  hubcli app users list\n  hubcli app users allow bob\n  hubcli app users refuse bob",
	}
	return opt.Group(cmd, newUsersList(env), newUsersAllow(env), newUsersRefuse(env))
}

func (o *usersOptions) flags(env *term.Env, cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

func newUsersList(env *term.Env) *cobra.Command {
	var o list.Listing
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List whom you have let in, and whom the hub has refused",
		Long: `List the other users of this machine whom you have let in, and those whose calls the hub
has refused since it started. It also says if the system does not tell whose a call is:
then the hub takes the calls of all users.`,
		Example: "  hubcli app users list\n  hubcli app users list --json",
		Args:    opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Sees = list.SightOfSecrets
			return o.Run(cmd, env, findUsers)
		},
	}
	o.Add(env, cmd.Flags())
	return cmd
}

func findUsers(ctx context.Context, s *list.Spectator) (list.Found, error) {
	users, err := s.LocalUsers(ctx)
	if err != nil {
		return list.Found{}, err
	}
	t := term.NewTable("no other user is let in, and none was refused", "USER", "NUMBER", "CALLS", ">SINCE")
	now := s.Now()
	for i := range users.Allowed {
		t.Add(users.Allowed[i].Name, users.Allowed[i].ID, "taken", term.Age(now, users.Allowed[i].AllowedAt))
	}
	for i := range users.Refused {
		if row := &users.Refused[i]; !lets(&users, row.ID) {
			t.Add(row.Name, row.ID, fmt.Sprintf("%d refused", row.Connections), term.Age(now, row.LastAt))
		}
	}
	got := list.Found{Rows: users, Text: t}
	if users.Told == "" {
		got.Unknown = "this system does not tell whose a call is, so the hub takes the calls of all users: " + peertext.TerminalLine(users.Why)
	}
	return got, nil
}

// lets reports whether a user is let in, who may have been refused before.
func lets(users *hub.LocalUsers, id string) bool {
	for i := range users.Allowed {
		if users.Allowed[i].ID == id {
			return true
		}
	}
	return false
}

func newUsersAllow(env *term.Env) *cobra.Command {
	return changeUser(env, &cobra.Command{
		Use:   "allow <user>",
		Short: "Let another user of this machine in",
		Long: `Let another user of this machine in, named by its name or its number. It holds until
"hubcli app users refuse", also after a restart of the hub.

The user names the hub with --base-url or HUB_BASE_URL. What its programs write is marked
with the user, in every list and for every agent that reads it.`,
		Example: "  hubcli app users allow bob\n  hubcli app users allow 1001",
		Args:    opt.Arity("user"),
	}, (*client.Client).AllowUser, "the hub takes the calls of %s (%s)\n")
}

func newUsersRefuse(env *term.Env) *cobra.Command {
	return changeUser(env, &cobra.Command{
		Use:     "refuse <user>",
		Short:   "Let another user of this machine in no longer",
		Long:    `Let another user of this machine in no longer. Calls of its programs that wait end at once.`,
		Example: "  hubcli app users refuse bob",
		Args:    opt.Arity("user"),
	}, (*client.Client).RefuseUser, "the hub refuses the calls of %s (%s)\n")
}

func changeUser(env *term.Env, cmd *cobra.Command, change func(*client.Client, context.Context, hub.LocalUser) (hub.Outcome[hub.AllowedUser], error), said string) *cobra.Command {
	var o usersOptions
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
			return err
		}
		c, err := o.Client()
		if err != nil {
			return err
		}
		defer c.Close()
		out, err := change(c, cmd.Context(), hub.LocalUser{Name: args[0]})
		if err != nil {
			return err
		}
		if o.json {
			return term.PrintJSON(env.Stdout, out.Row)
		}
		_, err = fmt.Fprintf(env.Stdout, said, peertext.TerminalLine(out.Row.Name), peertext.TerminalLine(out.Row.ID))
		return err
	}
	return o.flags(env, cmd)
}
