package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

type askOptions struct {
	opt.Agent
	opt.BaseURL
	list.RoomRef
	opt.MessageBody
	options  []string
	fallback string
	deadline time.Duration
	task     int64
	artifact string
	json     bool
}

// NewAsk makes the command ask.
func NewAsk(env *term.Env) *cobra.Command {
	var o askOptions
	cmd := &cobra.Command{
		Use:   "ask [question]",
		Short: "Ask the operator a question as an agent",
		Long: `Ask the operator, a human, as --agent, for programs without the tools of the hub. The
command does not wait: the answer comes as a direct message to the agent, and
"hubcli watch --until answered:<message id>" waits for it. A question is also what an
agent posts with --to operator; this command adds options, a deadline and a default.

The question - is read from standard input, and --body-file names a file with it.`,
		Example: `  hubcli app ask --agent dev-a --option yes --option no "Deploy to the shop now?"
  hubcli app ask --agent dev-a --default no --deadline 10m "Deploy to the shop now?"`,
		Args:              opt.BodyArgument,
		ValidArgsFunction: cobra.NoFileCompletions, // the words of a question are nobody's to offer
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := o.input(cmd)
			if err == nil {
				in.Question, err = o.MessageBody.Read(cmd.Context(), env, args)
			}
			if err != nil {
				return err
			}
			return runAsk(cmd.Context(), env, &o, in)
		},
	}
	f := cmd.Flags()
	o.Agent.Add(env, f)
	f.StringArrayVar(&o.options, "option", nil, "a suggested answer, as `text`; may be given again")
	f.StringVar(&o.fallback, "default", "", "`text` that is the answer if there is none in time; needs --deadline")
	f.Var(term.DurationValue{To: &o.deadline, Min: time.Second, Max: hub.MaxAskDeadlineSec * time.Second, Style: term.InWholeSeconds}, "deadline", "`time` for which the question is open, such as 600 or 10m (default: until it is answered)")
	f.Int64Var(&o.task, "task", 0, "`id` of the task that waits for the answer")
	f.StringVar(&o.artifact, "artifact", "", "`id` of the artifact to look at")
	o.AddRoom(f, "`room` that the question is about, by its id, slug or project/slug; . is the one that is bound to the current folder")
	o.MessageBody.Add(f)
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the question as JSON")
	return cmd
}

// input checks what can be checked without the hub and without the question.
func (o *askOptions) input(cmd *cobra.Command) (hub.AskInput, error) {
	id, err := o.Agent.Check()
	if err != nil {
		return hub.AskInput{}, err
	}
	if err := o.CheckRoom(cmd); err != nil {
		return hub.AskInput{}, err
	}
	switch {
	case o.fallback != "" && o.deadline == 0:
		return hub.AskInput{}, term.Usage("add --deadline, such as --deadline 10m", "--default is taken at a deadline, and there is none")
	case cmd.Flags().Changed("task") && (o.task < 1 || o.task > hub.MaxMessageID):
		return hub.AskInput{}, term.Usage("hubcli tasks lists the tasks with their numbers", "--task %d is no task id", o.task)
	}
	return hub.AskInput{
		AgentID: id, Options: o.options, Default: o.fallback, DeadlineSec: int(o.deadline / time.Second),
		Blocks: hub.TaskID(o.task), ArtifactID: hub.ArtifactID(o.artifact),
	}, nil
}

func runAsk(ctx context.Context, env *term.Env, o *askOptions, in hub.AskInput) error {
	anyone, err := o.Client()
	if err != nil {
		return err
	}
	defer anyone.Close()
	if in.RoomID, err = o.OnlyRoom(ctx, anyone); err != nil {
		return err
	}
	c, err := register(ctx, anyone, in.AgentID, o.Agent.Replaces())
	if err != nil {
		return err
	}
	out, err := c.Ask(ctx, in)
	switch {
	case err != nil:
		return err
	case o.json:
		return term.PrintJSON(env.Stdout, out.Row)
	}
	_, err = fmt.Fprintf(env.Stdout, "asked the operator: %s, with message #%d\n", out.Row.AskID, out.Row.MessageID)
	return err
}
