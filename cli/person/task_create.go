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

// taskCreation are the flags of task create.
type taskCreation struct {
	taskOptions
	opt.MessageBody
	opt.Addressee
	list.RoomRef
	to     string
	parent int64
	after  []string
	quiet  bool
}

func newTaskCreate(env *term.Env) *cobra.Command {
	var o taskCreation
	cmd := &cobra.Command{
		Use:   "create [body]",
		Short: "Open a task, as the operator",
		Long: `Open a task in a room, which any agent there may take, or with --to for one agent. The
first line of the body is its title. - reads the body from standard input.

Without --room it is the room that is bound to the current folder.`,
		Example: `  hubcli app task create "Write the tests of the parser"
  hubcli app task create --room checkout --after 12,13 "Merge both"
  hubcli app task create --to dev-b --quiet "Look at the log of last night"`,
		Args: opt.BodyArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := o.input(cmd)
			if err != nil {
				return err
			}
			if in.Body, err = o.Read(cmd.Context(), env, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), env, in)
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomUsage)
	f.StringVar(&o.to, "to", "", "`agent` that is asked to do it, in place of a room")
	f.Var(term.IDValue{To: &o.parent}, "parent", "`task` of which it is a part")
	f.StringSliceVar(&o.after, "after", nil, "`tasks` that it waits for, as 12,13")
	o.Addressee.Add(f)
	o.MessageBody.Add(f)
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the task as JSON")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print the number of the task alone")
	return cmd
}

// input checks what can be checked without the hub and without the text.
func (o *taskCreation) input(cmd *cobra.Command) (hub.PostInput, error) {
	in := hub.PostInput{FromAgent: hub.AgentOperator, Kind: hub.KindTask, ParentTaskID: hub.TaskID(o.parent)}
	if err := o.CheckRoom(cmd); err != nil {
		return in, err
	}
	for _, text := range o.after {
		id, err := taskArgument(text)
		if err != nil {
			return in, err
		}
		in.BlockedBy = append(in.BlockedBy, id)
	}
	switch {
	case o.json && o.quiet:
		return in, term.Usage("leave one of them out", "--json and --quiet do not go together")
	case cmd.Flags().Changed("to") && cmd.Flags().Changed("room"):
		return in, term.Usage("leave one of them out; a room needs no agent, and an agent no room", "a task goes to a room, or to an agent")
	case cmd.Flags().Changed("to"):
		in.ToAgent, in.Kind, in.UnlessNear = hub.AgentID(o.to), hub.KindTaskRequest, !o.IsNew
		return in, opt.AsUsage(hub.CheckRecipient("--to", in.ToAgent))
	}
	return in, nil
}

func (o *taskCreation) run(ctx context.Context, env *term.Env, in hub.PostInput) error {
	anyone, err := o.Client()
	if err != nil {
		return err
	}
	defer anyone.Close()
	if in.ToAgent == "" {
		room, err := o.FindRoom(ctx, anyone)
		if err != nil {
			return err
		}
		in.Channel = room.Channel
	}
	t, err := opened(ctx, anyone.AsOperator(), in)
	switch {
	case err != nil:
		return err
	case o.json:
		return term.PrintJSON(env.Stdout, t)
	case o.quiet:
		_, err = fmt.Fprintln(env.Stdout, t.TaskID)
		return err
	}
	if in.ToAgent != "" {
		noteUnknown(ctx, env, anyone, in.ToAgent)
	}
	_, err = fmt.Fprintf(env.Stdout, "task %d \"%s\": %s\n", t.TaskID, peertext.TerminalLine(t.Title), statusOf(&t))
	return err
}

// opened posts what opens a task, and returns the task.
func opened(ctx context.Context, c *client.Client, in hub.PostInput) (hub.Task, error) {
	posted, err := c.Post(ctx, in)
	if err != nil {
		return hub.Task{}, err
	}
	m, err := posted.Row.Decode()
	if err != nil {
		return hub.Task{}, opt.UnknownShape(err)
	}
	return c.Task(ctx, m.ID, hub.AgentOperator)
}
