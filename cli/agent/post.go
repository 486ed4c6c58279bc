package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

type postOptions struct {
	opt.Agent
	opt.BaseURL
	channel  string
	to       string
	kind     string
	threadID string
	replyTo  int64
	blockers []int64
	run      string
	list.RoomRef
	force bool
	opt.Addressee
	opt.MessageBody
	json bool
}

// NewPost makes the command post.
func NewPost(env *term.Env) *cobra.Command {
	var o postOptions
	cmd := &cobra.Command{
		Use:   "post [body]",
		Short: "Post a message (or direct message with --to)",
		Long: `Post a message to a channel, or to one agent with --to. The channel "general"
always exists. The body - is read from standard input, and --body-file names a file
with the body; the last line end of either is left out.

A task or task_request opens a tracked task whose id is the message's. A
task_result completes the task that --reply-to names. With --blocked-by a task waits
for others: until they have ended, it can be begun or completed only with force. With
--run it belongs to a run. --room posts to the channel of a room.

The command registers --agent anew, which displaces a live session of that id:
use an id of your own, not that of a running agent. An id from HUB_AGENT displaces
nobody: a live session of that id stays, and the command acts without a session.`,
		Example: `  hubcli post --agent lead "the build is green"
  hubcli post --agent lead --to dev-a --kind task_request "please fix the parser"
  hubcli post --agent dev-a --to lead --kind task_result --reply-to 7 "fixed"
  hubcli post --agent lead --room . --to dev-b --kind task --run run_9 "test the parser"
  git log -3 | hubcli post --agent dev-a -
  hubcli post --agent dev-a --body-file report.md`,
		Args: opt.BodyArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := o.input(cmd)
			if err == nil {
				in.Body, err = o.MessageBody.Read(cmd.Context(), env, args)
			}
			if err != nil {
				return err
			}
			return runPost(cmd.Context(), env, &o, in)
		},
	}
	f := cmd.Flags()
	o.Agent.Add(env, f)
	o.BaseURL.Add(env, f)
	f.StringVar(&o.channel, "channel", string(hub.DefaultChannel), "`name` of the channel to post to")
	f.StringVar(&o.to, "to", "", "`agent` to send a direct message to")
	o.Addressee.Add(f)
	o.kind = string(hub.KindChat)
	f.Var(term.ChoiceValue{To: &o.kind, Choices: kindNames()}, "kind", "`kind` of the message: artifact, chat, claim, handoff, notice, release, task, task_request or task_result")
	f.StringVar(&o.threadID, "thread-id", "", "`thread` that the message belongs to")
	f.Int64Var(&o.replyTo, "reply-to", 0, "`id` of the message that this one answers")
	f.Int64SliceVar(&o.blockers, "blocked-by", nil, "`ids` of the tasks that must end before this task")
	f.StringVar(&o.run, "run", "", "`run` that the task belongs to; see: hubcli app runs open")
	o.AddRoom(f, "`room` to post to, by its id, slug or project/slug; . is the one that is bound to the current folder")
	f.BoolVar(&o.force, "force", false, "complete the task although it waits for others")
	o.MessageBody.Add(f)
	f.BoolVar(&o.json, "json", false, "print the stored message as JSON")
	return cmd
}

func kindNames() []string {
	var names []string
	for _, k := range hub.Kinds() {
		names = append(names, string(k))
	}
	return names
}

// input checks what can be checked without the hub and without the body.
func (o *postOptions) input(cmd *cobra.Command) (hub.PostInput, error) {
	id, err := o.Agent.Check()
	if err != nil {
		return hub.PostInput{}, err
	}
	in := hub.PostInput{
		FromAgent: id, Channel: hub.ChannelName(o.channel), Kind: hub.Kind(o.kind),
		ThreadID: hub.ThreadID(o.threadID), Force: o.force,
	}
	for _, id := range o.blockers {
		in.BlockedBy = append(in.BlockedBy, hub.TaskID(id))
	}
	if cmd.Flags().Changed("to") {
		in.ToAgent, in.UnlessNear = hub.AgentID(o.to), !o.IsNew
		if err := hub.CheckRecipient("--to", in.ToAgent); err != nil {
			return hub.PostInput{}, opt.AsUsage(err)
		}
		if !cmd.Flags().Changed("channel") {
			in.Channel = "" // the hub's label for direct messages
		}
	}
	if cmd.Flags().Changed("reply-to") {
		if o.replyTo < 1 || o.replyTo > hub.MaxMessageID {
			return hub.PostInput{}, term.Usage("give the number that poll shows after the #", "--reply-to %d is no message id", o.replyTo)
		}
		in.ReplyTo = hub.MessageID(o.replyTo)
	}
	if in.Kind == hub.KindTaskResult && in.ReplyTo == 0 {
		return hub.PostInput{}, term.Usage("name the request with --reply-to", "a task_result answers a message")
	}
	if o.channel == "" {
		return hub.PostInput{}, term.Usage("leave --channel out for "+string(hub.DefaultChannel), "--channel cannot be empty")
	}
	return in, o.place(cmd, &in)
}

// place checks --room and --run.
func (o *postOptions) place(cmd *cobra.Command, in *hub.PostInput) (err error) {
	switch {
	case o.Room != "" && cmd.Flags().Changed("channel"):
		return term.Usage("leave one of them out", "--room and --channel exclude each other")
	case o.run != "" && !in.Kind.OpensTask():
		return term.Usage("add --kind task or --kind task_request", "--run is for tasks, and %s opens none", in.Kind)
	case o.run != "":
		in.Metadata, err = json.Marshal(map[string]string{"run_id": o.run})
	}
	if err != nil {
		return err
	}
	return o.CheckRoom(cmd)
}

func runPost(ctx context.Context, env *term.Env, o *postOptions, in hub.PostInput) error {
	anonymous, err := o.BaseURL.Client()
	if err != nil {
		return err
	}
	defer anonymous.Close()
	if o.Room != "" {
		room, err := o.FindRoom(ctx, anonymous)
		if err != nil {
			return err
		}
		in.Channel = room.Channel
	}
	c, err := register(ctx, anonymous, in.FromAgent, o.Agent.Replaces())
	if err != nil {
		return err
	}
	posted, err := c.Post(ctx, in)
	if err != nil {
		return err
	}
	return list.PrintPosted(env, in.ToAgent, &posted, o.json)
}

// register makes a session for agent and returns a client that proves it. With
// replace it displaces a live session. Without replace, the client of an agent
// with a live session proves nothing, which the hub accepts from its own
// machine. The same holds while the hub's disk is full: no session can be made,
// but reads go on. The session ends by silence: closing it would make an agent
// that works through single commands come and go.
func register(ctx context.Context, c *client.Client, agent hub.AgentID, replace bool) (*client.Client, error) {
	got, err := c.Register(ctx, hub.RegisterInput{AgentID: agent, Replace: &replace})
	var h *hub.Error
	if errors.As(err, &h) && h.Code == hub.CodeSessionConflict && !replace {
		return c.As(agent, ""), nil
	}
	if h != nil && h.Code == hub.CodeStorageFull && c.Local() {
		return c.As(agent, ""), nil
	}
	if err != nil {
		return nil, err
	}
	return c.As(agent, got.Row.SessionID), nil
}
