package person

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// NewTask makes the command task.
func NewTask(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "task",
		Short: "Show or create a task, give it to an agent, complete or cancel it, as the operator",
		Long: `Show a task, or change it with the operator's authority, whoever has it, also one that
a direct message opened. The agents concerned are told.`,
		Example: `  hubcli app task show 12
  hubcli app task create "Write the tests of the parser"
  hubcli app task assign 12 dev-b
  hubcli app task complete 12 --note "merged by hand"
  hubcli app task cancel 12 --reason "the customer left"`,
	}
	return opt.Group(cmd, newTaskShow(env), newTaskCreate(env), newAppTaskAssign(env), newAppTaskComplete(env), newAppTaskCancel(env), newAppTaskLeases(env))
}

// taskArgument reads the id of a task.
func taskArgument(text string) (hub.TaskID, error) {
	var id int64
	if (term.IDValue{To: &id}).Set(strings.TrimPrefix(text, "#")) != nil || id == 0 {
		return 0, term.Usage("a task has the number of the message that opened it", "%q is no task id", text)
	}
	return hub.TaskID(id), nil
}

// taskOptions is what the commands about a task share.
type taskOptions struct {
	opt.BaseURL
	json bool
}

// change makes a call about a task as the operator and prints the row.
func (o *taskOptions) change(w io.Writer, says func(*hub.Task) string, call func(*client.Client) (hub.Outcome[hub.Task], error)) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := call(c.AsOperator())
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(w, out.Row)
	}
	_, err = fmt.Fprintf(w, "task %d \"%s\": %s\n", out.Row.TaskID, peertext.TerminalLine(out.Row.Title), says(&out.Row))
	return err
}

// orAlready gives what was found to be so already, else the status.
func orAlready(already *string) func(*hub.Task) string {
	return func(t *hub.Task) string { return cmp.Or(*already, statusOf(t)) }
}

// statusOf gives the status of a task and its assignee.
func statusOf(t *hub.Task) string {
	if t.Assignee == nil {
		return string(t.Status) + ", nobody has it"
	}
	return string(t.Status) + ", " + peertext.TerminalLine(string(*t.Assignee)) + " has it"
}

// endedBefore says that a task has ended so already, when, and by whom if that is known:
// the sender of its result is. It is empty for a task that has another status.
func endedBefore(ctx context.Context, env *term.Env, c *client.Client, t *hub.Task, status hub.TaskStatus) (string, error) {
	if t.Status != status {
		return "", nil
	}
	said := string(status) + " already"
	if t.ResultMessageID != nil {
		encoded, err := c.Message(ctx, *t.ResultMessageID, "")
		if err != nil {
			return "", err
		}
		m, err := encoded.Decode()
		if err != nil {
			return "", opt.UnknownShape(err)
		}
		said += ", by " + peertext.TerminalLine(string(m.FromAgent))
	}
	return said + ", " + term.Age(hub.TimeOf(env.Now()), t.UpdatedAt) + " ago", nil
}

func newAppTaskAssign(env *term.Env) *cobra.Command {
	var o struct {
		taskOptions
		opt.Addressee
	}
	cmd := &cobra.Command{
		Use:   "assign <task> <agent>",
		Short: "Give a task to an agent",
		Long: `Give a task to an agent, without its consent. The new and the former assignee get a
notice, and the claims and locks for the task pass with it, each with a higher fence.
The command says so if no agent of that name has ever registered.
The agent "" stands for nobody: then any agent may take the task.`,
		Example: `  hubcli app task assign 12 dev-b
  hubcli app task assign 12 ""`,
		Args: opt.Arity("task", "agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := taskArgument(args[0])
			if err != nil {
				return err
			}
			to := hub.AgentID(args[1])
			if to != "" {
				if err := hub.CheckSender("the agent", to); err != nil {
					return opt.AsUsage(err)
				}
			}
			return o.change(env.Stdout, statusOf, func(c *client.Client) (hub.Outcome[hub.Task], error) {
				out, err := c.UpdateTask(cmd.Context(), id, hub.TaskUpdateInput{AgentID: hub.AgentOperator, Assignee: &to, UnlessNear: !o.IsNew})
				if err == nil && to != "" {
					noteUnknown(cmd.Context(), env, c, to)
				}
				return out, err
			})
		},
	}
	o.Addressee.Add(cmd.Flags())
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the task as JSON")
	return cmd
}

// noteUnknown says so if nobody has ever registered under a name. The change itself is done, so
// a failure to look says nothing.
func noteUnknown(ctx context.Context, env *term.Env, c *client.Client, agent hub.AgentID) {
	if r, err := c.Recipient(ctx, agent); err == nil && r.State == hub.RecipientNeverRegistered {
		env.Note("%s", r.Why())
	}
}

func newAppTaskComplete(env *term.Env) *cobra.Command {
	var o taskOptions
	var note string
	var force, release bool
	cmd := &cobra.Command{
		Use:   "complete <task>",
		Short: "End a task as done",
		Long: `End a task as done, whoever has it. Parent tasks that wait for it alone are done too.
A task that waits for others needs --force. Of a task that is done already the command
says so, and by whom, and changes nothing; one that has ended otherwise is refused.`,
		Example: `  hubcli app task complete 12 --note "merged by hand"
  hubcli app task complete 12 --force --release`,
		Args: opt.Arity("task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := taskArgument(args[0])
			if err != nil {
				return err
			}
			already := ""
			return o.change(env.Stdout, orAlready(&already), func(c *client.Client) (out hub.Outcome[hub.Task], err error) {
				if out.Row, err = c.Task(cmd.Context(), id, hub.AgentOperator); err != nil {
					return out, err
				}
				if already, err = endedBefore(cmd.Context(), env, c, &out.Row, hub.TaskDone); err != nil || already != "" {
					return out, err
				}
				return c.CompleteTask(cmd.Context(), id, hub.CompleteInput{AgentID: hub.AgentOperator, Note: note, Force: force, Release: release})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&note, "note", "", "`text` of the result")
	f.BoolVar(&force, "force", false, "complete the task although it waits for others")
	f.BoolVar(&release, "release", false, "release the claims and locks for the task")
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the task as JSON")
	return cmd
}

func newAppTaskCancel(env *term.Env) *cobra.Command {
	var o taskOptions
	var reason string
	cmd := &cobra.Command{
		Use:   "cancel <task>",
		Short: "End a task without a result",
		Long: `Cancel a task, whoever has it, and release the claims and locks for it. The agent that
has it, or was offered it, gets a message with the reason; if there is none, the agent
that opened the task gets it. Of a task that is cancelled already the command says so,
and posts the message again; one that has ended otherwise is refused.`,
		Example: `  hubcli app task cancel 12
  hubcli app task cancel 12 --reason "the customer left"`,
		Args: opt.Arity("task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := taskArgument(args[0])
			if err != nil {
				return err
			}
			already := ""
			return o.change(env.Stdout, orAlready(&already), func(c *client.Client) (out hub.Outcome[hub.Task], err error) {
				out, already, err = cancelTask(cmd.Context(), env, c, id, reason)
				return out, err
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`text` that the agent is told")
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the task as JSON")
	return cmd
}

func newAppTaskLeases(env *term.Env) *cobra.Command {
	var o taskOptions
	cmd := &cobra.Command{
		Use:   "leases <task>",
		Short: "List the claims and locks that are held for a task",
		Long: `List the claims on a task, and the claims and locks that its assignee holds for it. They
pass on when the task gets another assignee, and "task cancel" releases them.`,
		Example: `  hubcli app task leases 12`,
		Args:    opt.Arity("task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := taskArgument(args[0])
			if err != nil {
				return err
			}
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			held, err := c.AsOperator().TaskLeases(cmd.Context(), id, hub.AgentOperator)
			if err != nil {
				return err
			}
			if o.json {
				return term.PrintJSON(env.Stdout, held)
			}
			return printTaskLeases(env, &held)
		},
	}
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the claims and locks as JSON")
	return cmd
}

func printTaskLeases(env *term.Env, held *hub.TaskLeases) error {
	now := hub.TimeOf(env.Now())
	t := term.NewTable("nothing is held for the task", "KIND", "NAME(16)", "FROM(8)", ">LEFT")
	for i := range held.Claims {
		row := &held.Claims[i]
		t.Add("claim", string(row.ClaimKey), row.OwnerAgentID, term.Span(row.ExpiresAt-now))
	}
	for i := range held.Locks {
		row := &held.Locks[i]
		t.Add("lock", row.FilePath, row.AgentID, term.Span(row.ExpiresAt-now))
	}
	if more := held.ClaimCount + held.LockCount - len(held.Claims) - len(held.Locks); more > 0 {
		env.Note("%d more are not shown", more)
	}
	if none := t.Empty(); none != "" {
		env.Note("%s", none)
		return nil
	}
	_, err := io.WriteString(env.Stdout, strings.Join(t.Lines(env.Screen(term.ColorAuto)), "\n")+"\n")
	return err
}

// cancelTask ends the task and then tells the agent that it concerns. The words are a message of
// their own, which a repetition of the command posts if the first one was cut off.
func cancelTask(ctx context.Context, env *term.Env, c *client.Client, id hub.TaskID, reason string) (out hub.Outcome[hub.Task], already string, err error) {
	before, err := c.Task(ctx, id, hub.AgentOperator)
	if err != nil {
		return out, "", err
	}
	out.Row = before
	if already, err = endedBefore(ctx, env, c, &before, hub.TaskCancelled); err != nil {
		return out, "", err
	}
	if already == "" {
		cancelled := hub.TaskCancelled
		out, err = c.UpdateTask(ctx, id, hub.TaskUpdateInput{AgentID: hub.AgentOperator, Status: &cancelled, Release: true})
		if err != nil {
			return out, "", err
		}
	}
	to := before.CreatedBy
	for _, agent := range []*hub.AgentID{before.OfferedTo, before.Assignee} {
		if agent != nil {
			to = *agent
		}
	}
	if to.Reserved() {
		return out, already, nil
	}
	body := fmt.Sprintf("I have cancelled task %d.", id)
	if reason != "" {
		body = fmt.Sprintf("I have cancelled task %d: %s", id, reason)
	}
	_, err = c.Post(ctx, hub.PostInput{FromAgent: hub.AgentOperator, ToAgent: to, Kind: hub.KindChat, Body: body, ReplyTo: id})
	return out, already, err
}
