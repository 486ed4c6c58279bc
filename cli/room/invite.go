package room

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/api"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// NewInvite makes the command invite.
func NewInvite(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Manage room invites",
		Long: `Let agents into a room. An invite is a code of eight letters and digits that is
shown once; an agent that has it joins with "hubcli join".`,
		Example: `  hubcli invite create --room shop/checkout --role reviewer
  hubcli invite preview 7KQ2-M9XD
  hubcli invite list --project shop
  hubcli invite revoke i_2c`,
	}
	return opt.Group(cmd, newInviteCreate(env), newInvitePreview(env), newInviteRevoke(env), newInviteList(env))
}

type inviteCreateOptions struct {
	opt.BaseURL
	list.RoomRef
	in     hub.InviteInput
	handle string
	ttl    time.Duration
	json   bool
}

func newInviteCreate(env *term.Env) *cobra.Command {
	o := inviteCreateOptions{in: hub.InviteInput{MaxUses: 1}, ttl: hub.DefaultInviteTTLSec * time.Second}
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make an invite to a room",
		Long: `Make an invite to a room and print its code and the command to pass on. The code is
shown only this once. Role, handle and harness are hints for the agent that joins.
An agent that names no id gets the handle, or a name made of the role.

An invite ends when it has been accepted --max-uses times, after --ttl-sec, a time
in which the hub runs, or when it is revoked.`,
		Example: `  hubcli invite create --role reviewer --handle rev-1
  hubcli invite create --room shop/checkout --max-uses 5 --ttl-sec 1h`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			o.in.Project, o.in.Room = cmp.Or(o.Project, string(list.Somewhere)), cmp.Or(o.Room, string(list.Somewhere))
			o.in.Handle, o.in.TTLSec = hub.AgentID(o.handle), int(o.ttl.Seconds())
			if err := api.ValidateInvite(&o.in, false); err != nil {
				return opt.AsUsage(err)
			}
			return runInviteCreate(cmd.Context(), env, &o)
		},
	}
	f := cmd.Flags()
	o.AddProject(f)
	o.AddRoom(f, list.RoomUsage)
	f.StringVar(&o.in.Role, "role", "", "role of the agent that joins, for example implementer")
	f.StringVar(&o.handle, "handle", "", "`agent` id to suggest")
	f.StringVar(&o.in.Harness, "harness", "", "preferred harness, for example generic")
	f.Var(term.DurationValue{To: &o.ttl, Min: hub.MinTTLSec * time.Second, Max: hub.MaxInviteTTLSec * time.Second, Style: term.InWholeSeconds}, "ttl-sec", "`time` until it expires, such as 3600 or 1h")
	f.Var(term.IntValue{To: &o.in.MaxUses, Min: 1, Max: hub.MaxInviteUses}, "max-uses", "how often it may be accepted")
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the invite as JSON")
	return cmd
}

func runInviteCreate(ctx context.Context, env *term.Env, o *inviteCreateOptions) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := o.FindRoom(ctx, c)
	if err != nil {
		return err
	}
	o.in.Project, o.in.Room = string(room.ProjectID), string(room.RoomID)
	out, err := c.CreateInvite(ctx, o.in)
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	i := out.Row
	_, err = fmt.Fprintf(env.Stdout, `invite %s to room %s, for %s, until %s
code: %s
The code is not shown again. The invited agent runs:
  hubcli join %s%s
`, i.InviteID, i.RoomID, uses(i.MaxUses), i.ExpiresAt, i.Code, i.Code, o.Elsewhere())
	return err
}

func uses(n int) string {
	if n == 1 {
		return "one use"
	}
	return fmt.Sprintf("%d uses", n)
}

type inviteCodeOptions struct {
	opt.BaseURL
	json bool
}

func (o *inviteCodeOptions) add(env *term.Env, f *pflag.FlagSet) {
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the answer as JSON")
}

func newInvitePreview(env *term.Env) *cobra.Command {
	var o inviteCodeOptions
	cmd := &cobra.Command{
		Use:   "preview <code>",
		Short: "Show the room of a code without using the code up",
		Long: `Show the invite of a code, its room and project. Nothing is used up. Wrong codes
are slowed down after the tenth.`,
		Example: `  hubcli invite preview 7KQ2-M9XD`,
		Args:    opt.Arity("code"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			p, err := c.PreviewInvite(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if o.json {
				return term.PrintJSON(env.Stdout, p)
			}
			if _, err := fmt.Fprintf(env.Stdout, "room %s (%s) of project %s (%s)\n",
				peertext.TerminalLine(p.Room.Name), p.Room.RoomID, peertext.TerminalLine(p.Project.Name), p.Project.ProjectID); err != nil {
				return err
			}
			_, err = fmt.Fprintln(env.Stdout, peertext.TerminalLine(inviteLine(p.Invite)))
			return err
		},
	}
	o.add(env, cmd.Flags())
	return cmd
}

func newInviteRevoke(env *term.Env) *cobra.Command {
	var o inviteCodeOptions
	cmd := &cobra.Command{
		Use:   "revoke <code>",
		Short: "End an invite",
		Long: `End an invite, named by its code or by its id. Agents that joined by it stay. One
that is over already is shown as it is.`,
		Example: `  hubcli invite revoke 7KQ2-M9XD
  hubcli invite revoke i_2c`,
		Args: opt.Arity("code"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			out, err := c.RevokeInvite(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if o.json {
				return term.PrintJSON(env.Stdout, out.Row)
			}
			_, err = fmt.Fprintln(env.Stdout, peertext.TerminalLine(inviteLine(out.Row)))
			return err
		},
	}
	o.add(env, cmd.Flags())
	return cmd
}

type inviteListOptions struct {
	opt.BaseURL
	list.RoomRef
	q     hub.InvitesQuery
	state string
	limit int
	json  bool
}

func newInviteList(env *term.Env) *cobra.Command {
	var o inviteListOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List invites, latest first",
		Long: `List invites without their codes, latest first: of all rooms, of a project, or of
a room.`,
		Example: `  hubcli invite list --project shop --state active
  hubcli invite list --room . --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			o.q.State = hub.InviteState(o.state)
			return runInviteList(cmd.Context(), env, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Project, "project", "", "only this `project`, by its id, slug or name")
	o.AddRoom(f, list.RoomOnlyUsage)
	f.Var(term.ChoiceValue{To: &o.state, Choices: []string{"active", "exhausted", "expired", "revoked"}}, "state", "`state` of the invites: active, exhausted, expired or revoked")
	list.AddLimit(f, &o.limit)
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, list.JSONRows)
	return cmd
}

func runInviteList(ctx context.Context, env *term.Env, o *inviteListOptions) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := o.OnlyRoom(ctx, c)
	if err != nil {
		return err
	}
	o.q.Limit, o.q.Project, o.q.Room = list.PageOf(o.limit), o.Project, string(room)
	rows := list.UpTo(o.limit, hub.Walk(ctx, c.Invites, o.q))
	return list.PrintList(env, o.json, "no invites", rows, inviteLine)
}

func inviteLine(i hub.Invite) string {
	hints := ""
	for _, hint := range [][2]string{{"role", i.Role}, {"handle", string(i.Handle)}, {"harness", i.Harness}} {
		if hint[1] != "" {
			hints += ", " + hint[0] + " " + hint[1]
		}
	}
	return fmt.Sprintf("%s %s: room %s, used %d of %d, until %s%s", i.InviteID, i.State, i.RoomID, i.Uses, i.MaxUses, i.ExpiresAt, hints)
}
