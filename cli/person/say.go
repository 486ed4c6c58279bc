package person

import (
	"context"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

type sayOptions struct {
	opt.BaseURL
	list.RoomRef
	opt.MessageBody
	opt.Addressee
	to      string
	channel string
	replyTo int64
	json    bool
}

// NewSay makes the command say.
func NewSay(env *term.Env) *cobra.Command {
	var o sayOptions
	cmd := &cobra.Command{
		Use:   "say [body]",
		Short: "Say something to a room, a channel or an agent as the operator",
		Long: `Post a message with the operator's authority: to a room, to a channel, or to one
agent. Without any of these it goes to the room that is bound to the current folder.
The body - is read from standard input, and --body-file names a file with the body.

Agents see that the message comes from the operator. It is for everybody who works in
the room, so it wakes each of them that can be woken. The command needs the secret of
the hub, which it reads from the store, and registers nobody.`,
		Example: `  hubcli app say --room web-shop/checkout "stop at noon and commit what works"
  hubcli app say --to dev-a "leave the parser to dev-b"
  hubcli app say --channel general --body-file plan.md
  git log -3 | hubcli app say --room checkout -`,
		Args: opt.BodyArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := o.input(cmd)
			if err == nil {
				in.Body, err = o.MessageBody.Read(cmd.Context(), env, args)
			}
			if err != nil {
				return err
			}
			return runSay(cmd.Context(), env, &o, in)
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomUsage)
	f.StringVar(&o.to, "to", "", "`agent` to send a direct message to")
	o.Addressee.Add(f)
	f.StringVar(&o.channel, "channel", "", "`name` of the channel to post to")
	f.Int64Var(&o.replyTo, "reply-to", 0, "`id` of the message that this one answers")
	o.MessageBody.Add(f)
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the stored message as JSON")
	return cmd
}

// input checks what can be checked without the hub and without the body.
func (o *sayOptions) input(cmd *cobra.Command) (hub.PostInput, error) {
	in := hub.PostInput{FromAgent: hub.AgentOperator, Kind: hub.KindChat}
	if err := o.CheckRoom(cmd); err != nil {
		return in, err
	}
	flags, places := cmd.Flags(), 0
	for _, name := range []string{"room", "to", "channel"} {
		if flags.Changed(name) {
			places++
		}
	}
	switch {
	case places > 1:
		return in, term.Usage("give one of --room, --to and --channel", "a message goes to one place")
	case flags.Changed("to"):
		in.ToAgent, in.UnlessNear = hub.AgentID(o.to), !o.IsNew
		if err := hub.CheckRecipient("--to", in.ToAgent); err != nil {
			return in, opt.AsUsage(err)
		}
	case flags.Changed("channel"):
		if in.Channel = hub.ChannelName(o.channel); o.channel == "" {
			return in, term.Usage("name a channel, such as "+string(hub.DefaultChannel), "--channel cannot be empty")
		}
		if in.Channel == hub.DirectChannel {
			return in, term.Usage("name the agent with --to, or a room with --room", "direct messages are in no channel")
		}
	}
	if flags.Changed("reply-to") {
		if o.replyTo < 1 || o.replyTo > hub.MaxMessageID {
			return in, term.Usage("give the number that poll shows after the #", "--reply-to %d is no message id", o.replyTo)
		}
		in.ReplyTo = hub.MessageID(o.replyTo)
	}
	return in, nil
}

func runSay(ctx context.Context, env *term.Env, o *sayOptions, in hub.PostInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if in.ToAgent == "" && in.Channel == "" {
		room, err := o.FindRoom(ctx, c)
		if err != nil {
			return err
		}
		in.Channel = room.Channel
	}
	posted, err := c.AsOperator().Post(ctx, in)
	if err != nil {
		return err
	}
	return list.PrintPosted(env, in.ToAgent, &posted, o.json)
}
